#include "app/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/glyphs.h"
#include "base/check.h"

namespace punt {

TextTable::TextTable(std::string title, std::span<const std::string> names, std::vector<TextColumn> others, int columns)
    : title_(std::move(title)), others_(std::move(others)) {
  for (const std::string& name : names) name_width_ = std::max(name_width_, TextWidth(name));
  int room = columns;
  for (const TextColumn& column : others_) room -= column.gap + column.width;
  name_width_ = std::min(name_width_, std::max(kNarrowestNames, room));
}

std::string TextTable::Head() const {
  std::vector<std::string> titles;
  for (const TextColumn& column : others_) titles.push_back(column.title);
  return Row(title_, titles);
}

std::string TextTable::Row(const std::string& name, const std::vector<std::string>& cells) const {
  Check(cells.size() == others_.size(), "a row with other columns than its table");
  std::string line = PadToWidth(name, name_width_);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const TextColumn& column = others_[i];
    const bool is_last = i + 1 == cells.size();
    if (is_last && cells[i].empty()) break;
    line.append(static_cast<std::size_t>(column.gap), ' ');
    line += !column.is_text ? fmt::format("{:>{}}", cells[i], column.width)
            : is_last       ? cells[i]
                            : PadToWidth(cells[i], column.width);
  }
  return line;
}

}  // namespace punt
