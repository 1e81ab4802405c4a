// Tables for people: lines of names and numbers, printed one by one as they come.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace punt {

/// Numbers stand on the right and are never cut. Text stands on the left; in the last column it may take what it likes.
struct TextColumn {
  std::string title;
  int width = 0;
  bool is_text = false;
  int gap = 1;  // spaces before it
};

class TextTable {
 public:
  /// The first column is that of the names: as wide as the longest, at least kNarrowestNames, but no wider than lets
  /// lines end within `columns`. Names that are longer are cut.
  TextTable(std::string title, std::span<const std::string> names, std::vector<TextColumn> others, int columns);

  /// Without line feeds.
  std::string Head() const;
  /// `cells` are those of the other columns.
  std::string Row(const std::string& name, const std::vector<std::string>& cells) const;

  static constexpr int kNarrowestNames = 20;

 private:
  std::string title_;
  std::vector<TextColumn> others_;
  int name_width_ = kNarrowestNames;
};

}  // namespace punt
