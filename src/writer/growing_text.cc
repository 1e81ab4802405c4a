#include "writer/growing_text.h"

#include <algorithm>

#include "text/utf8.h"

namespace punt {
namespace {

constexpr const char* kShade = "\xe2\x96\x91";

/// How much of `text` is whole characters.
std::size_t WholeCharacters(std::string_view text) {
  const std::size_t bad = InvalidUtf8(text);
  // Only a character that may still be completed is waited for; bytes that can never be valid are passed on.
  return bad != std::string_view::npos && text.size() - bad < 4 ? bad : text.size();
}

/// How many bytes at the end of `text` begin `stop`, at most.
std::size_t Overlap(std::string_view text, std::string_view stop) {
  for (std::size_t size = std::min(text.size(), stop.size() - 1); size > 0; --size) {
    if (text.ends_with(stop.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

GrowingText::GrowingText(const Model& model, TextPlace place, std::vector<std::string> stops)
    : model_(model), place_(place), stops_(std::move(stops)), split_(place.thinking) {}

std::size_t GrowingText::End(std::span<const Token> canvas) const {
  return place_.canvas == 0 ? place_.end : place_.end + canvas.size() - place_.canvas;
}

std::size_t GrowingText::Prefix(std::span<const Token> canvas) const {
  const DenoiserInfo& info = model_.denoiser->info();
  const std::span<const Token> all = canvas.subspan(place_.begin, End(canvas) - place_.begin);
  const auto ends = [&](Token token) {
    return token == info.mask_token ||
           std::find(info.eos_tokens.begin(), info.eos_tokens.end(), token) != info.eos_tokens.end();
  };
  return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), ends) - all.begin());
}

std::string GrowingText::Decode(std::span<const Token> canvas, std::size_t begin, std::size_t count) const {
  const Tokenizer& tokenizer = *model_.tokenizer;
  const bool is_first = begin == place_.begin;
  std::vector<Token> tokens = tokenizer.WithoutControls(canvas.subspan(begin, count));
  if ((is_first && !place_.goes_on) || begin == 0) return tokenizer.Decode(tokens);
  // Alone, a first word would lose the space in front of it, and the rest of a word would be a word of its own.
  const std::size_t before = tokenizer.Decode(canvas.subspan(begin - 1, 1)).size();
  tokens.insert(tokens.begin(), canvas[begin - 1]);
  std::string text = tokenizer.Decode(tokens).substr(before);
  if (is_first && place_.has_space && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

std::size_t GrowingText::StopIn(std::string_view text) const {
  std::size_t first = text.size();
  for (const std::string& stop : stops_) first = std::min(first, text.find(stop));
  return first;
}

std::string GrowingText::Settled(std::span<const Token> canvas, bool is_last) {
  const std::string text = Decode(canvas, place_.begin, Prefix(canvas));
  std::size_t end = StopIn(text);
  has_stopped_ = has_stopped_ || end < text.size();
  if (!has_stopped_ && !is_last) {
    std::size_t held = 0;
    for (const std::string& stop : stops_) held = std::max(held, Overlap(text, stop));
    end = WholeCharacters(std::string_view(text).substr(0, text.size() - held));
  }
  if (end <= sent_) return "";
  const std::string added = text.substr(sent_, end - sent_);
  sent_ = end;
  return added;
}

SplitText GrowingText::SettledParts(std::span<const Token> canvas, bool is_last) {
  return split_.Add(Settled(canvas, is_last), is_last);
}

std::string GrowingText::Snapshot(std::span<const Token> canvas) const {
  const DenoiserInfo& info = model_.denoiser->info();
  std::string text;
  std::size_t begin = place_.begin;
  const std::size_t end = End(canvas);
  for (std::size_t i = begin; i <= end; ++i) {
    const bool is_end =
        i == end || std::find(info.eos_tokens.begin(), info.eos_tokens.end(), canvas[i]) != info.eos_tokens.end();
    if (!is_end && canvas[i] != info.mask_token) continue;
    text += Decode(canvas, begin, i - begin);
    if (is_end) break;
    text += kShade;
    begin = i + 1;
  }
  return text.substr(0, StopIn(text));
}

FinishedText GrowingText::Finish(std::span<const Token> canvas) const {
  const std::size_t prefix = Prefix(canvas);
  const std::string text = Decode(canvas, place_.begin, prefix);
  const std::size_t stop = StopIn(text);
  FinishedText finished{.text = text.substr(0, stop), .finish_reason = "length", .tokens = static_cast<int>(prefix)};
  if (stop < text.size()) {
    // The fewest tokens that hold the text before the stop string.
    std::size_t count = 0;
    while (count < prefix && Decode(canvas, place_.begin, count).size() < stop) ++count;
    finished.tokens = static_cast<int>(count);
    finished.finish_reason = "stop";
  }
  SplitText parts = ThinkingSplit(place_.thinking).Add(finished.text, true);
  finished.text = std::move(parts.content);
  finished.reasoning = std::move(parts.reasoning);
  const std::size_t at = place_.begin + prefix;
  if (at < End(canvas) && canvas[at] != model_.denoiser->info().mask_token) finished.finish_reason = "stop";
  return finished;
}

}  // namespace punt
