// A call ends where its JSON object ends, which is found by counting brackets outside strings: a closing tag within a
// string of the arguments ends nothing. An object that is not closed when the text ends, and anything but the closing
// tag after it, make the opening tag content; only the tag may be missing at the very end of the text, where models
// end the sequence in its place.
//
// Tested by tool_calls_test.cc; fuzz/tool_calls_fuzz.cc.
#include "serve/tool_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "base/parse_json.h"
#include "punt/error.h"
#include "serve/tool_texts.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::string_view kSpaces = " \t\r\n";

std::size_t SkipSpaces(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpaces, at), text.size());
}

/// Behind the string that begins at `at`; kNowhere if it does not end.
std::size_t StringEnd(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return kNowhere;
}

/// Behind the value that begins at `at`, if it is JSON; kNowhere if it does not end.
std::size_t ValueEnd(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = StringEnd(text, at);
      if (depth == 0 || at == kNowhere) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth <= 0 && (c == '}' || c == ']')) return at;
    if (depth == 0 && c != '{' && c != '[' &&
        (at == text.size() || std::string_view(",}] \t\r\n").find(text[at]) != kNowhere)) {
      return at;
    }
  }
  return kNowhere;
}

std::string NewId() {
  std::random_device device;
  return fmt::format("call_{:08x}{:08x}{:08x}", device(), device(), device());
}

/// How many bytes at the end of `text` are white space, or begin a call, with the white space before it.
std::size_t Undecided(std::string_view text) {
  std::size_t size = std::min(text.size(), kCallOpen.size() - 1);
  while (size > 0 && !text.ends_with(kCallOpen.substr(0, size))) --size;
  const std::size_t last = text.substr(0, text.size() - size).find_last_not_of(kSpaces);
  return text.size() - (last == kNowhere ? 0 : last + 1);
}

std::string_view WithoutTrailing(std::string_view text) { return text.substr(0, text.find_last_not_of(kSpaces) + 1); }

}  // namespace

CallReading::CallReading(const ToolRequest& request) : is_on(request.is_on()), form(request.form) {
  for (const Tool& tool : request.tools) names.push_back(tool.name);
}

/// The members are taken from the text as they stand there: numbers keep all their digits.
std::optional<ToolCall> CallSplit::ReadCall(std::string_view object) const {
  Json parsed;
  try {
    parsed = ParseJson<Json>(object);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!parsed.is_object()) return std::nullopt;
  const bool is_bare = reading_.form == ToolForm::kBare;
  ToolCall call{.id = NewId(), .name = "", .arguments = ""};
  std::size_t at = SkipSpaces(object, 1);
  while (object[at] == '"') {
    const std::size_t name_end = StringEnd(object, at);
    const auto name = Json::parse(object.substr(at, name_end - at)).get<std::string>();
    at = SkipSpaces(object, SkipSpaces(object, name_end) + 1);
    const std::size_t end = ValueEnd(object, at);
    const std::string_view value = object.substr(at, end - at);
    at = SkipSpaces(object, end);
    if (object[at] == ',') at = SkipSpaces(object, at + 1);
    const bool is_arguments = name == "arguments" || (is_bare && name == "parameters");
    if (name == "name" && call.name.empty() && value.starts_with('"')) {
      call.name = Json::parse(value).get<std::string>();
    } else if (is_arguments && call.arguments.empty() && value.starts_with('{')) {
      call.arguments = value;
    } else {
      return std::nullopt;
    }
  }
  const bool is_known = std::find(reading_.names.begin(), reading_.names.end(), call.name) != reading_.names.end();
  if (!is_known || call.arguments.empty()) return std::nullopt;
  return call;
}

void CallSplit::AddContent(std::string_view text, CallParts& parts) {
  const bool is_blank = SkipSpaces(text, 0) == text.size();
  if (text.empty() || (is_behind_call_ && is_blank)) return;
  if (is_behind_call_ && !has_content_) text.remove_prefix(SkipSpaces(text, 0));
  parts.content += text;
  has_content_ = true;
  is_behind_call_ = false;
}

/// Whether something was decided: held_ begins with what comes next.
bool CallSplit::TakeTagged(bool is_last, CallParts& parts) {
  const std::size_t open = held_.find(kCallOpen, scanned_);
  if (open == kNowhere) {
    const std::size_t kept = is_last ? 0 : Undecided(std::string_view(held_).substr(scanned_));
    AddContent(std::string_view(held_).substr(0, held_.size() - kept), parts);
    held_.erase(0, held_.size() - kept);
    scanned_ = 0;
    return false;
  }
  const std::string_view text = held_;
  const std::size_t begin = SkipSpaces(text, open + kCallOpen.size());
  const bool may_go_on = !is_last;
  std::size_t end = begin < text.size() && text[begin] == '{' ? ValueEnd(text, begin) : kNowhere;
  if (end == kNowhere && may_go_on && (begin == text.size() || text[begin] == '{')) return false;
  std::optional<ToolCall> call;
  if (end != kNowhere) {
    const std::size_t close = SkipSpaces(text, end);
    const std::string_view rest = text.substr(close);
    if (may_go_on && rest.size() < kCallClose.size() && kCallClose.starts_with(rest)) return false;
    const bool is_closed = rest.starts_with(kCallClose);
    if (is_closed || rest.empty()) call = ReadCall(text.substr(begin, end - begin));
    end = is_closed ? close + kCallClose.size() : close;
  }
  if (!call) {  // the tag is content
    scanned_ = open + kCallOpen.size();
    return true;
  }
  AddContent(WithoutTrailing(text.substr(0, open)), parts);
  parts.calls.push_back(std::move(*call));
  is_behind_call_ = true;
  held_.erase(0, end);
  scanned_ = 0;
  return true;
}

void CallSplit::TakeBare(bool is_last, CallParts& parts) {
  const std::size_t begin = SkipSpaces(held_, 0);
  const bool may_be_call = !has_content_ && (begin == held_.size() || held_[begin] == '{');
  if (may_be_call && !is_last) return;
  if (may_be_call) {
    if (auto call = ReadCall(WithoutTrailing(std::string_view(held_).substr(begin)))) {
      parts.calls.push_back(std::move(*call));
      held_.clear();
    }
  }
  has_content_ = true;
  parts.content += held_;
  held_.clear();
}

CallParts CallSplit::Add(std::string_view more, bool is_last) {
  CallParts parts;
  held_ += more;
  if (!reading_.is_on) {
    parts.content.swap(held_);
  } else if (reading_.form == ToolForm::kBare) {
    TakeBare(is_last, parts);
  } else {
    while (TakeTagged(is_last, parts)) {
    }
  }
  return parts;
}

CallParts SplitCalls(const CallReading& reading, std::string_view text) { return CallSplit(reading).Add(text, true); }

}  // namespace punt
