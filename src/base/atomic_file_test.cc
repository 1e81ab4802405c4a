#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error_testing.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public ::testing::Test {
 protected:
  AtomicFileTest() : folder_(fs::path(::testing::TempDir()) / ("atomic_file_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~AtomicFileTest() override { fs::remove_all(folder_); }

  static std::string Text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

/// Files cannot grow beyond `bytes` while it lives.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(AtomicFileTest, TextsAreReplacedWhole) {
  const fs::path path = folder_ / "a";
  WriteFileAtomically(path, "one");
  WriteFileAtomically(path, "two");
  EXPECT_EQ(Text(path), "two");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(AtomicFileTest, AFullDiskLeavesTheOldText) {
  const fs::path path = folder_ / "a";
  WriteFileAtomically(path, "old");
  {
    const SmallDisk disk(100);
    EXPECT_EQ(ErrorOf([&] { WriteFileAtomically(path, std::string(200, 'x')); }, ErrorCode::kFailed),
              "cannot write " + path.string() + ": File too large");
  }
  EXPECT_EQ(Text(path), "old");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(AtomicFileTest, ALineIsAppendedWholeOrNotAtAll) {
  const fs::path path = folder_ / "log";
  AppendLine(path, "one");
  AppendLine(path, "");
  EXPECT_EQ(Text(path), "one\n\n");
  {
    const SmallDisk disk(20);
    EXPECT_EQ(ErrorOf([&] { AppendLine(path, std::string(50, 'x')); }, ErrorCode::kFailed),
              "cannot write " + path.string() + ": File too large");
    AppendLine(path, "fits");
  }
  EXPECT_EQ(Text(path), "one\n\nfits\n");
}

TEST_F(AtomicFileTest, NamesThatCannotBeWrittenAreBadInput) {
  const std::string path = (folder_ / "missing/a").string();
  const std::string message = "cannot write " + path + ": No such file or directory";
  EXPECT_EQ(ErrorOf([&] { WriteFileAtomically(path, "x"); }), message);
  EXPECT_EQ(ErrorOf([&] { AppendLine(path, "x"); }), message);
  EXPECT_EQ(ErrorOf([&] { WriteFileAtomically(folder_, "x"); }),
            "cannot write " + folder_.string() + ": it is a directory");
}

// A pipe stands for all that is no regular file: a defect must not rename over a device.
TEST_F(AtomicFileTest, WhatIsNoFileIsWrittenToAndNotReplaced) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::fstream reader(pipe, std::ios::in | std::ios::out);  // as long as it is open, nobody waits
  WriteFileAtomically(pipe, "text\n");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(Files(), 1u);
}

// As /dev/stdout is in a pipeline: where the link leads, no path says.
TEST_F(AtomicFileTest, ALinkToAPipeWithoutANameIsWrittenTo) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const fs::path link = folder_ / "link";
  fs::create_symlink("/proc/self/fd/" + std::to_string(ends[1]), link);
  WriteFileAtomically(link, "text\n");
  char text[16] = {};
  EXPECT_EQ(::read(ends[0], text, sizeof text), 5);
  EXPECT_STREQ(text, "text\n");
  EXPECT_TRUE(fs::is_symlink(link));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(AtomicFileTest, ALinkToAFileStaysALink) {
  WriteFileAtomically(folder_ / "target", "old");
  fs::create_symlink("target", folder_ / "link");
  WriteFileAtomically(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(Text(folder_ / "target"), "new");
  EXPECT_EQ(Files(), 2u);
}

}  // namespace
}  // namespace punt
