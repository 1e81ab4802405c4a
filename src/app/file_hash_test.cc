#include "app/file_hash.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(FileHash, KnownHashes) {
  FileHash sha256 = FileHash::Sha256();
  sha256.Add("a");
  sha256.Add("bc");
  EXPECT_EQ(sha256.Finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(FileHash::Sha256().Finish(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  FileHash git = FileHash::GitBlob(6);  // git hash-object
  git.Add("hello\n");
  EXPECT_EQ(git.Finish(), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(FileHash::GitBlob(0).Finish(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

}  // namespace
}  // namespace punt
