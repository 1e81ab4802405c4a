// Any text as an answer of a model that has tools: content and calls, the same however the text is cut. Calls have a
// known name and an object of arguments.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "serve/tool_calls.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void Read(std::string_view text, std::size_t cut, punt::ToolForm form) {
  punt::ToolRequest request{.choice = punt::ToolChoice::kAuto, .form = form};
  for (const char* name : {"f", "look"}) {
    request.tools.emplace_back();
    request.tools.back().name = name;
  }
  const punt::CallReading reading(request);
  const punt::CallParts whole = punt::SplitCalls(reading, text);
  punt::CallSplit split(reading);
  punt::CallParts parts = split.Add(text.substr(0, cut));
  const punt::CallParts rest = split.Add(text.substr(cut), true);
  parts.calls.insert(parts.calls.end(), rest.calls.begin(), rest.calls.end());
  Require(parts.content + rest.content == whole.content && parts.calls.size() == whole.calls.size());
  for (std::size_t i = 0; i < parts.calls.size(); ++i) {
    const punt::ToolCall& call = whole.calls[i];
    Require(call.name == parts.calls[i].name && call.arguments == parts.calls[i].arguments);
    Require((call.name == "f" || call.name == "look") && call.arguments.front() == '{' && call.arguments.back() == '}');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t cut = data[0] % (text.size() + 1);
  Read(text, cut, punt::ToolForm::kTagged);
  Read(text, cut, punt::ToolForm::kBare);
  return 0;
}
