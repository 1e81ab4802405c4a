// Rules that a machine can check: includes point down, the library neither prints nor exits, every planner, task,
// scorer and architecture has its own file, CONTRIBUTING.md names the files that exist, and files stay short.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "model/architecture.h"
#include "punt/planner.h"
#include "tasks/scorers.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = fs::path(PUNT_SOURCE_DIR) / "src";

// Lowest first. Layers on one level do not see each other.
const std::map<std::string, int> kLevels = {
    {"base", 0},   {"kernels", 1}, {"weights", 1},   {"text", 2},     {"model", 3},      {"denoise", 4},
    {"plan", 5},   {"sample", 5},  {"constrain", 5}, {"generate", 6}, {"likelihood", 7}, {"writer", 7},
    {"report", 7}, {"analyze", 8}, {"eval", 9},      {"tasks", 10},   {"serve", 10},     {"app", 11}};

// Above the denoiser interface nothing knows of a model.
const std::vector<std::string> kAboveTheLine = {"sample", "plan", "generate"};
const std::vector<std::string> kBelowTheLine = {"weights", "text", "model", "denoise"};

std::string Read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct SourceFile {
  fs::path path;
  std::string layer;
  bool is_test;
};

std::vector<SourceFile> SourceFiles() {
  std::vector<SourceFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    const std::string extension = entry.path().extension();
    if (extension != ".cc" && extension != ".h") continue;
    const std::string name = entry.path().filename();
    const bool is_test = name.ends_with("_test.cc") || name.ends_with("_testing.h");
    files.push_back({entry.path(), fs::relative(entry.path(), kSource).begin()->string(), is_test});
  }
  return files;
}

/// Files of that name in the folders of benchmarks.
std::ptrdiff_t FilesNamed(const std::string& name) {
  const std::vector<SourceFile> files = SourceFiles();
  return std::count_if(files.begin(), files.end(),
                       [&](const SourceFile& file) { return file.layer == "tasks" && file.path.filename() == name; });
}

/// How to add something, as CONTRIBUTING.md tells it: "### A thing: 3 files", and items that begin with a path.
struct Guide {
  std::string title;
  std::size_t promised = 0;
  std::vector<std::string> paths;
};

std::vector<Guide> Guides() {
  const std::regex heading("### (.+): ([0-9]+) files");
  const std::regex item("- `([^`]+)`.*");
  std::vector<Guide> guides;
  bool is_in_guide = false;
  std::istringstream lines(Read(kSource.parent_path() / "CONTRIBUTING.md"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("##")) {
      is_in_guide = std::regex_match(line, match, heading);
      if (is_in_guide) guides.push_back({.title = match[1].str(), .promised = std::stoul(match[2].str()), .paths = {}});
    } else if (is_in_guide && std::regex_match(line, match, item)) {
      guides.back().paths.push_back(match[1].str());
    }
  }
  return guides;
}

/// Whether the source has such a file. "<name>" stands for any name; the folder before the first one must be there.
bool HasFileLike(const std::string& path) {
  const fs::path root = kSource.parent_path();
  const std::size_t bracket = path.find('<');
  if (bracket == std::string::npos) return fs::is_regular_file(root / path);
  const std::size_t slash = path.rfind('/', bracket);
  if (slash == std::string::npos || !fs::is_directory(root / path.substr(0, slash))) return false;
  const std::string escaped = std::regex_replace(path, std::regex("[.]"), "[.]");
  const std::regex shape(std::regex_replace(escaped, std::regex("<[a-z]+>"), "[A-Za-z0-9_]+"));
  for (const auto& entry : fs::recursive_directory_iterator(root / path.substr(0, slash))) {
    if (!entry.is_regular_file()) continue;
    if (std::regex_match(entry.path().lexically_relative(root).generic_string(), shape)) return true;
  }
  return false;
}

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

TEST(Rules, EveryLayerHasALevel) {
  for (const SourceFile& file : SourceFiles()) EXPECT_TRUE(kLevels.contains(file.layer)) << file.path;
}

TEST(Rules, IncludesPointDown) {
  const std::regex include("#include \"([a-z]+)/([a-z0-9_./-]+)\"");
  int seen = 0;
  for (const SourceFile& file : SourceFiles()) {
    const std::string text = Read(file.path);
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      const std::string target = (*it)[1];
      if (target == "punt") continue;
      ++seen;
      ASSERT_TRUE(kLevels.contains(target)) << file.path << " includes " << (*it)[0];
      const bool down = target == file.layer || kLevels.at(target) < kLevels.at(file.layer);
      EXPECT_TRUE(down) << file.path << " includes " << (*it)[0];
      if (Contains(kAboveTheLine, file.layer) && !file.is_test) {  // tests may bring toy models along
        EXPECT_FALSE(Contains(kBelowTheLine, target)) << file.path << " looks below the denoiser: " << (*it)[0];
      }
    }
  }
  EXPECT_GT(seen, 20);
}

// The name alone tells what is for tests: such headers may print and may look below the line, and others are not used
// by tests alone.
TEST(Rules, HeadersForTestsAreNamedSo) {
  const std::regex include("#include \"([a-z0-9_./-]+\\.h)\"");
  std::map<std::string, bool> has_users;  // other than tests
  for (const SourceFile& file : SourceFiles()) {
    if (file.path.extension() == ".h") has_users.try_emplace(fs::relative(file.path, kSource), false);
  }
  const std::size_t headers = has_users.size();
  for (const char* folder : {"src", "bench", "fuzz"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource.parent_path() / folder)) {
      const std::string name = entry.path().filename();
      if (!(name.ends_with(".cc") || name.ends_with(".h")) || name.ends_with("_test.cc")) continue;
      const std::string text = Read(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
        const bool is_for_tests = (*it)[1].str().ends_with("_testing.h");
        const bool is_user = !name.ends_with("_testing.h");
        EXPECT_FALSE(is_for_tests && is_user && folder == std::string("src")) << entry.path() << ": " << (*it)[0];
        if (is_user) has_users[(*it)[1]] = true;
      }
    }
  }
  EXPECT_GT(headers, 100u);
  for (const SourceFile& file : SourceFiles()) {
    if (file.path.extension() != ".h" || file.is_test) continue;
    EXPECT_TRUE(has_users.at(fs::relative(file.path, kSource))) << file.path << " is for tests: name it *_testing.h";
  }
}

TEST(Rules, PublicHeadersStandAlone) {
  const std::regex include("#include [\"<]([a-z_]+)/");
  for (const auto& entry : fs::directory_iterator(kSource.parent_path() / "include/punt")) {
    const std::string text = Read(entry.path());
    EXPECT_NE(text.find("#pragma once"), std::string::npos) << entry.path();
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      EXPECT_EQ((*it)[1], "punt") << entry.path() << " drags in " << (*it)[0];
    }
  }
}

TEST(Rules, TheLibraryNeitherPrintsNorExits) {
  const std::regex forbidden(
      "\\b(std::cout|std::cerr|printf|fmt::print|puts|abort|std::terminate|std::exit|exit)\\s*[(<]");
  for (const SourceFile& file : SourceFiles()) {
    if (file.layer == "app" || file.is_test) continue;
    std::istringstream lines(Read(file.path));
    for (std::string line; std::getline(lines, line);) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, forbidden)) << file.path << ": " << line;
    }
  }
}

TEST(Rules, JsonIsWrittenInOnePlace) {
  const std::regex forbidden("(\\.|->)dump\\(|error_handler_t");
  for (const SourceFile& file : SourceFiles()) {
    if (file.is_test || file.path == kSource / "base/json_text.h") continue;
    EXPECT_FALSE(std::regex_search(Read(file.path), forbidden))
        << file.path << ": Dump of base/json_text.h does not throw";
  }
}

/// The texts of string literals, raw ones too; comments and characters are passed over.
std::vector<std::string> LiteralsOf(const std::string& code) {
  std::vector<std::string> literals;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code.compare(i, 2, "//") == 0) {
      i = std::min(code.find('\n', i), code.size());
    } else if (code.compare(i, 2, "/*") == 0) {
      i = std::min(code.find("*/", i), code.size());
    } else if (code[i] == '\'' && (i == 0 || std::isdigit(code[i - 1]) == 0)) {  // not 1'000
      while (++i < code.size() && code[i] != '\'') i += code[i] == '\\' ? 1 : 0;
    } else if (code.compare(i, 3, "R\"(") == 0) {
      const std::size_t end = std::min(code.find(")\"", i), code.size());
      literals.push_back(code.substr(i + 3, end - i - 3));
      i = end + 1;
    } else if (code[i] == '"') {
      const std::size_t begin = ++i;
      while (i < code.size() && code[i] != '"') i += code[i] == '\\' ? 2 : 1;
      literals.push_back(code.substr(begin, i - begin));
    }
  }
  return literals;
}

TEST(Rules, LiteralsAreFound) {
  const std::vector<std::string> wanted = {"a--b", "c \\\" d", "e\n\"f"};
  EXPECT_EQ(LiteralsOf("x(\"a--b\");  // \"no\"\ny('\"', 1'000, \"c \\\" d\") /* \"no\" */ R\"(e\n\"f)\" --z"), wanted);
}

// The program spells settings (src/app/setting_hint.cc); a library is used by others too.
TEST(Rules, TextsOfTheLibraryNameNoFlagsAndNoCommands) {
  std::string names;
  const std::string table = Read(kSource / "app/commands.cc");
  const std::regex row("\\{\"([a-z]+)\", \"");
  for (std::sregex_iterator it(table.begin(), table.end(), row), end; it != end; ++it)
    names.append("|").append((*it)[1].str());
  ASSERT_NE(names.find("|generate"), std::string::npos);
  const std::regex flag("(^|[^a-z-])--[a-z]"), command(std::string("punt (").append(names, 1).append(")\\b"));
  const std::string bubblewrap = "tasks/code/sandbox.cc";  // its arguments
  std::size_t seen = 0;
  for (const SourceFile& file : SourceFiles()) {
    if (file.layer == "app" || file.layer == "serve" || file.is_test) continue;
    if (file.path == kSource / bubblewrap) continue;
    for (const std::string& text : LiteralsOf(Read(file.path))) {
      ++seen;
      EXPECT_FALSE(std::regex_search(text, flag)) << file.path << ": \"" << text << '"';
      EXPECT_FALSE(std::regex_search(text, command)) << file.path << ": \"" << text << '"';
    }
  }
  EXPECT_GT(seen, 1000u);
}

TEST(Rules, EveryPlannerHasAFileOfItsName) {
  for (const PlannerRow& row : Planners()) {
    std::string stem(row.name);
    std::replace(stem.begin(), stem.end(), '-', '_');
    EXPECT_TRUE(fs::exists(kSource / "plan" / (stem + ".cc"))) << row.name;
  }
}

TEST(Rules, EveryTaskHasAFileOfItsName) {
  for (const TaskRow& row : Tasks()) {
    std::string stem(row.name);
    std::replace(stem.begin(), stem.end(), '-', '_');
    EXPECT_EQ(FilesNamed(stem + ".cc"), 1) << row.name;
  }
}

TEST(Rules, EveryScorerHasAFileOfItsName) {
  for (const ScorerRow& row : Scorers()) {
    EXPECT_EQ(FilesNamed(std::string(row.name) + "_scorer.cc"), 1) << row.name;
  }
}

TEST(Rules, EveryArchitectureHasAFileOfItsName) {
  for (const ArchitectureRow& row : Architectures()) {
    std::string stem(row.name);
    std::replace(stem.begin(), stem.end(), '-', '_');
    EXPECT_TRUE(fs::exists(kSource / "model" / (stem + ".cc"))) << row.name;
  }
}

TEST(Rules, GuidesListTheFilesThatAnAdditionTouches) {
  const std::vector<Guide> guides = Guides();
  EXPECT_GE(guides.size(), 7u);
  for (const Guide& guide : guides) {
    EXPECT_EQ(guide.paths.size(), guide.promised) << guide.title;
    for (const std::string& path : guide.paths) EXPECT_TRUE(HasFileLike(path)) << guide.title << ": " << path;
  }
}

TEST(Rules, FilesStayReadable) {
  for (const SourceFile& file : SourceFiles()) {
    const std::string text = Read(file.path);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 500) << file.path << ": split it by noun";
  }
}

TEST(Rules, NoMachinePathsAndNoLeftovers) {
  const std::regex leftovers("TODO|FIXME|XXX|/home/|/root/|/tmp/build");
  for (const SourceFile& file : SourceFiles()) {
    const std::string text = Read(file.path);
    EXPECT_FALSE(std::regex_search(text, leftovers)) << file.path;
  }
}

}  // namespace
}  // namespace punt
