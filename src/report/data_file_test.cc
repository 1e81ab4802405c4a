#include "report/data_file.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "punt/error.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

class DataFile : public testing::Test {
 protected:
  DataFile() : path_(fs::path(testing::TempDir()) / ("punt_data_file_" + std::to_string(getpid()))) {}
  ~DataFile() override { fs::remove(path_); }

  std::string Read(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ReadDataFile(path_.string());
  }

  std::string Packed(const std::string& text) {
    gzFile file = gzopen(path_.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  fs::path path_;
};

TEST_F(DataFile, GzipIsUnpacked) {
  std::string text = "line\n";
  while (text.size() < 3'000'000) text += text;  // packed to almost nothing: more comes out of a byte than fits a piece
  for (const std::string& content : {std::string("a"), std::string(), text}) {
    const std::string packed = Packed(content);
    EXPECT_EQ(Read(packed), content);
    EXPECT_EQ(Read(packed + packed), content + content) << "two members";
    for (std::size_t cut : {std::size_t{1}, packed.size() / 2}) {
      EXPECT_THROW(Read(packed.substr(0, packed.size() - cut)), Error);
    }
    EXPECT_THROW(Read(packed + "x"), Error);
    std::string damaged = packed;
    damaged[damaged.size() - 6] ^= 1;  // its checksum
    EXPECT_THROW(Read(damaged), Error);
  }
  EXPECT_EQ(Read("plain"), "plain");
}

TEST_F(DataFile, WhatUnpacksToTooMuchIsRefused) {
  constexpr std::size_t kSize = 1 << 20;
  Read(Packed(std::string(kSize, 'a')));  // leaves the file there
  EXPECT_EQ(ReadDataFile(path_.string(), kSize).size(), kSize);
  try {
    ReadDataFile(path_.string(), kSize - 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("unpacks to more than 1048575 bytes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace punt
