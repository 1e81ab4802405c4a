#include "eval/answer_marks.h"

#include <algorithm>

#include "base/trim.h"

namespace punt {
namespace {

/// The text inside the braces that open at `open`; none if they do not close.
std::optional<std::string_view> InBraces(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return text.substr(open + 1, i - open - 1);
  }
  return std::nullopt;
}

/// The text enclosed by the mark that ends just before `begin`.
std::optional<std::string_view> Boxed(std::string_view text, std::size_t begin) {
  if (begin < text.size() && text[begin] == '{') return InBraces(text, begin);
  if (begin < text.size() && text[begin] == ' ') {
    return Trim(text.substr(begin, std::min(text.find('$', begin), text.size()) - begin));
  }
  return std::nullopt;
}

}  // namespace

std::string_view BeforeEnd(std::string_view text) {
  std::size_t end = text.size();
  for (std::string_view marker : {"<|eot_id|>", "<|endoftext|>", "<|im_end|>"}) end = std::min(end, text.find(marker));
  return text.substr(0, end);
}

std::string_view BeforeStops(std::string_view text, std::span<const std::string_view> stops) {
  std::size_t end = text.size();
  for (std::string_view stop : stops) end = std::min(end, text.find(stop));
  return text.substr(0, end);
}

std::optional<std::string_view> TaggedAnswer(std::string_view text) {
  constexpr std::string_view kOpen = "<answer>";
  const std::size_t open = text.rfind(kOpen);
  if (open == std::string_view::npos) return std::nullopt;
  text.remove_prefix(open + kOpen.size());
  return Trim(text.substr(0, text.find("</answer>")));
}

std::optional<std::string_view> LastBoxed(std::string_view text) {
  constexpr std::string_view kMarks[] = {"\\boxed", "\\fbox"};
  for (std::size_t from = text.size(); from-- > 0;) {
    if (text[from] != '\\') continue;
    for (std::string_view mark : kMarks) {
      if (!text.substr(from).starts_with(mark)) continue;
      if (const auto inside = Boxed(text, from + mark.size())) return inside;
    }
  }
  return std::nullopt;
}

std::string CollapseSpace(std::string_view text) {
  std::string out;
  for (char c : Trim(text)) {
    const bool is_space = kWhiteSpace.find(c) != std::string_view::npos;
    if (!is_space) out += c;
    if (is_space && out.back() != ' ') out += ' ';
  }
  return out;
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (;;) {
    const std::size_t at = text.find(from);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += to;
    text.remove_prefix(at + from.size());
  }
}

}  // namespace punt
