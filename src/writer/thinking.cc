#include "writer/thinking.h"

#include <algorithm>
#include <utility>

namespace punt {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::size_t kFewTokens = 16;  // that an opened block takes at the end of a template's text

std::string_view WithoutLeading(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text;
}

std::string_view WithoutTrailing(std::string_view text) { return text.substr(0, text.find_last_not_of(kSpaces) + 1); }

/// How many bytes at the end of `text` begin the closing mark.
std::size_t Overlap(std::string_view text) {
  for (std::size_t size = std::min(text.size(), kClose.size() - 1); size > 0; --size) {
    if (text.ends_with(kClose.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

Thinking ThinkingBehind(std::span<const Token> before, const Tokenizer& tokenizer) {
  const std::string end = tokenizer.Decode(before.last(std::min(before.size(), kFewTokens)));
  return WithoutTrailing(end).ends_with(kOpen) ? Thinking::kOpened : Thinking::kBlock;
}

ThinkingSplit::ThinkingSplit(Thinking thinking)
    : state_(thinking == Thinking::kNone     ? State::kAnswer
             : thinking == Thinking::kOpened ? State::kThoughts
                                             : State::kBefore) {}

/// Whether the text begins with a block shows with its first characters that are not white space.
void ThinkingSplit::Begin(bool is_last) {
  const std::string_view text = WithoutLeading(held_);
  if (text.starts_with(kOpen)) {
    held_.erase(0, held_.size() - text.size() + kOpen.size());
    state_ = State::kThoughts;
  } else if (is_last || !kOpen.starts_with(text)) {
    state_ = State::kAnswer;
  }
}

void ThinkingSplit::TakeThoughts(bool is_last, SplitText& parts) {
  if (!has_thoughts_) held_.erase(0, held_.size() - WithoutLeading(held_).size());
  const std::size_t close = held_.find(kClose);
  const std::string_view all = held_;
  const std::size_t end = close != held_.npos ? close : is_last ? all.size() : all.size() - Overlap(all);
  const std::string_view taken = WithoutTrailing(all.substr(0, end));
  parts.reasoning += taken;
  has_thoughts_ = has_thoughts_ || !taken.empty();
  if (close != held_.npos) state_ = State::kGap;
  held_.erase(0, close != held_.npos ? close + kClose.size() : is_last ? held_.size() : taken.size());
}

SplitText ThinkingSplit::Add(std::string_view more, bool is_last) {
  SplitText parts;
  held_ += more;
  if (state_ == State::kBefore) Begin(is_last);
  if (state_ == State::kThoughts) TakeThoughts(is_last, parts);
  if (state_ == State::kGap) {
    held_.erase(0, held_.size() - WithoutLeading(held_).size());
    if (!held_.empty()) state_ = State::kAnswer;
  }
  if (state_ == State::kAnswer) parts.content = std::exchange(held_, {});
  return parts;
}

}  // namespace punt
