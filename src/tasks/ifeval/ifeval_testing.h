// Small Punkt parameters and language profiles in files, for tests.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/utf8.h"

namespace punt::testing {

/// A folder of its own that goes away with it.
class DataFolder {
 public:
  explicit DataFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("punt-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~DataFolder() { std::filesystem::remove_all(path_); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  std::string Path(const std::string& name = "") const { return (path_ / name).string(); }
  void Write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
  }

 private:
  std::filesystem::path path_;
};

/// In `folder`/punkt: "dr" and "e.g" are abbreviations, "p. 7" belongs together, "we" often begins sentences, "the"
/// is written in lower case inside them and "oslo" never.
inline void WritePunkt(const DataFolder& folder) {
  folder.Write("punkt/abbrev_types.txt", "dr\ne.g\n");
  folder.Write("punkt/sent_starters.txt", "we\n");
  folder.Write("punkt/collocations.tab", "p\t##number##\n");
  folder.Write("punkt/ortho_context.tab", "the\t34\noslo\t4\nwe\t36\n");
}

/// The n-grams of lower-case words with a space on both sides, counted one by one.
inline std::map<std::string, int> CountGrams(const std::string& words) {
  std::map<std::string, int> counts;
  const std::string text = " " + words + " ";
  for (std::size_t end = 1; end <= text.size(); ++end) {
    for (std::size_t size = 1; size <= 3 && size <= end; ++size) {
      const std::string gram = text.substr(end - size, size);
      const bool crosses = size == 3 && gram[1] == ' ';
      const bool ends_before = size == 2 && gram == "  ";
      if (gram != " " && !crosses && !ends_before) ++counts[gram];
    }
  }
  return counts;
}

inline std::string Profile(const std::string& name, const std::string& words) {
  std::vector<int> sums(3, 0);
  const std::map<std::string, int> counts = CountGrams(words);
  for (const auto& [gram, count] : counts) sums[gram.size() - 1] += count;
  return nlohmann::json{{"name", name}, {"freq", counts}, {"n_words", sums}}.dump();
}

/// In `folder`/profiles.
inline void WriteProfiles(const DataFolder& folder) {
  folder.Write("profiles/en", Profile("en",
                                      "the cat sat with the other cat on the mat and they thought that this was "
                                      "the best thing they had ever done in the whole of the world"));
  folder.Write("profiles/de", Profile("de",
                                      "die katze sitzt auf der matte und denkt dass das leben schon ist weil die "
                                      "sonne scheint und der himmel uber der stadt blau ist"));
}

inline std::string Utf8(std::u32string_view text) {
  std::string bytes;
  for (char32_t code : text) AppendUtf8(code, bytes);
  return bytes;
}

}  // namespace punt::testing
