// Calls of tools in what a model writes. Strict: a call counts if it has the form that the model's template asks for,
// names a tool of the request and has an object of arguments; whatever else the model writes is content, unchanged.
// Nothing that it writes is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/tokenizer.h"
#include "serve/tool_request.h"

namespace punt {

/// What to look for in an answer.
struct CallReading {
  bool is_on = false;
  ToolForm form = ToolForm::kNone;  // kNone: tagged
  std::vector<std::string> names = {};

  CallReading() = default;
  explicit CallReading(const ToolRequest& request);
};

struct CallParts {
  std::string content;  // without the white space around calls, except in front of text that follows other text
  std::vector<ToolCall> calls;
};

/// Takes an answer piece by piece. The parts put together are the same however the text was cut, except for the ids of
/// the calls, which are drawn.
class CallSplit {
 public:
  explicit CallSplit(const CallReading& reading) : reading_(reading) {}

  /// What `more` adds to the parts. What may turn out to belong to a call is held back; with `is_last` nothing follows.
  CallParts Add(std::string_view more, bool is_last = false);

 private:
  bool TakeTagged(bool is_last, CallParts& parts);
  void TakeBare(bool is_last, CallParts& parts);
  void AddContent(std::string_view text, CallParts& parts);
  std::optional<ToolCall> ReadCall(std::string_view object) const;

  CallReading reading_;
  std::string held_;
  std::size_t scanned_ = 0;  // of held_, in which no call begins
  bool has_content_ = false;
  bool is_behind_call_ = false;  // with white space at most since
};

/// All of an answer.
CallParts SplitCalls(const CallReading& reading, std::string_view text);

}  // namespace punt
