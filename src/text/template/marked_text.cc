#include "text/template/marked_text.h"

#include <algorithm>

namespace punt {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";

}  // namespace

MarkedText::MarkedText(const jinja::string& text) {
  for (const jinja::string_part& part : text.parts) {
    text_ += part.val;
    is_input_.append(part.val.size(), part.is_input ? '\1' : '\0');
  }
}

jinja::string MarkedText::Parts() const {
  jinja::string result;
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::size_t end = std::min(is_input_.find(is_input_[begin] == '\0' ? '\1' : '\0', begin), text_.size());
    result.parts.push_back({is_input_[begin] != '\0', text_.substr(begin, end - begin)});
    begin = end;
  }
  return result;
}

void MarkedText::Append(const MarkedText& other) {
  text_ += other.text_;
  is_input_ += other.is_input_;
}

MarkedText MarkedText::Part(std::size_t begin, std::size_t end) const {
  MarkedText part;
  part.text_ = text_.substr(begin, end - begin);
  part.is_input_ = is_input_.substr(begin, end - begin);
  return part;
}

MarkedText MarkedText::Replaced(std::string_view old_text, const MarkedText& new_text, std::int64_t count) const {
  MarkedText result;
  std::size_t begin = 0;
  std::size_t from = 0;
  while (count != 0) {
    const std::size_t at = text_.find(old_text, from);
    if (at == std::string::npos) break;
    result.Append(Part(begin, at));
    result.Append(new_text);
    begin = at + old_text.size();
    from = begin;
    if (old_text.empty()) {  // found before every character and at the end
      do ++from;
      while (from < text_.size() && (text_[from] & 0xC0) == 0x80);
    }
    --count;
  }
  result.Append(Part(begin, text_.size()));
  return result;
}

std::vector<MarkedText> MarkedText::Split(const std::optional<std::string>& separator, std::int64_t count,
                                          bool from_end) const {
  std::vector<std::pair<std::size_t, std::size_t>> cuts;  // where separators are
  const auto in_spaces = [&](std::size_t at) { return kSpaces.find(text_[at]) != std::string_view::npos; };
  if (!separator) {
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const std::size_t begin = at;
      while (at < text_.size() && in_spaces(at)) ++at;
      if (at > begin) cuts.push_back({begin, at});
    }
  } else if (!from_end) {
    for (std::size_t at = text_.find(*separator); at != std::string::npos; at = text_.find(*separator, at)) {
      cuts.push_back({at, at + separator->size()});
      at += separator->size();
    }
  } else {
    for (std::size_t end = text_.size(); end >= separator->size();) {
      const std::size_t at = text_.rfind(*separator, end - separator->size());
      if (at == std::string::npos) break;
      cuts.push_back({at, at + separator->size()});
      end = at;
    }
    std::reverse(cuts.begin(), cuts.end());
  }
  std::size_t first = 0;
  std::size_t last = text_.size();
  if (!separator && !cuts.empty() && cuts.front().first == 0) {  // white space at the ends surrounds nothing
    first = cuts.front().second;
    cuts.erase(cuts.begin());
  }
  if (!separator && !cuts.empty() && cuts.back().second == text_.size()) {
    last = cuts.back().first;
    cuts.pop_back();
  }
  if (count >= 0 && static_cast<std::size_t>(count) < cuts.size()) {
    const auto extra = static_cast<std::ptrdiff_t>(cuts.size() - static_cast<std::size_t>(count));
    from_end ? cuts.erase(cuts.begin(), cuts.begin() + extra) : cuts.erase(cuts.end() - extra, cuts.end());
  }
  std::vector<MarkedText> pieces;
  if (!separator && first >= last) return pieces;
  for (const auto& [begin, end] : cuts) {
    pieces.push_back(Part(first, begin));
    first = end;
  }
  pieces.push_back(Part(first, last));
  return pieces;
}

MarkedText MarkedText::Stripped(bool left, bool right, const std::optional<std::string>& characters) const {
  const std::string_view drop = characters ? std::string_view(*characters) : kSpaces;
  const std::size_t begin = left ? text_.find_first_not_of(drop) : 0;
  if (begin == std::string::npos) return {};
  const std::size_t last = right ? text_.find_last_not_of(drop) : text_.size() - 1;
  if (text_.empty() || last == std::string::npos) return {};
  return Part(begin, last + 1);
}

std::vector<std::size_t> MarkedText::Characters() const {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if ((text_[i] & 0xC0) != 0x80) begins.push_back(i);
  }
  begins.push_back(text_.size());
  return begins;
}

std::vector<std::size_t> SliceIndices(std::size_t size, std::optional<std::int64_t> start,
                                      std::optional<std::int64_t> stop, std::int64_t step) {
  const auto length = static_cast<std::int64_t>(size);
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? length : length - 1;
  const auto bound = [&](std::int64_t index) {
    if (index < 0) index = index < -length ? -1 : index + length;
    return std::clamp(index, lowest, highest);
  };
  const std::int64_t first = start ? bound(*start) : (step > 0 ? 0 : length - 1);
  const std::int64_t last = stop ? bound(*stop) : (step > 0 ? length : -1);
  step = std::clamp(step, -length - 1, length + 1);
  std::vector<std::size_t> indices;
  for (std::int64_t i = first; step > 0 ? i < last : i > last; i += step) {
    indices.push_back(static_cast<std::size_t>(i));
  }
  return indices;
}

}  // namespace punt
