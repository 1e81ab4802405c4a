// What a chat asks for of tools.
#pragma once

#include <string>
#include <vector>

#include "punt/tokenizer.h"

namespace punt {

struct Tool {
  std::string name;        // letters, digits, _ - .
  std::string parameters;  // the schema of its arguments, as text; empty: it takes none
  std::string text;        // the whole object as it came
  std::size_t index = 0;   // in the list of the request
};

///   kNone       no calls: the text is the answer, whatever it holds
///   kAuto       the model decides
///   kRequired   the answer consists of calls
enum class ToolChoice { kNone, kAuto, kRequired };

struct ToolRequest {
  std::vector<Tool> tools = {};  // those that may be called; none with kNone
  ToolChoice choice = ToolChoice::kNone;
  bool is_single = false;  // at most one call: parallel_tool_calls is false, or one function is named

  // How the model's template has calls written, not read from the request. kNone: calls are tagged, and tools, calls
  // and what they gave are told as text (tool_texts.h).
  ToolForm form = ToolForm::kNone;

  bool is_on() const { return choice != ToolChoice::kNone; }
};

}  // namespace punt
