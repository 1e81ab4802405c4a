#include "base/json_text.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(JsonText, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Dump({{"file", "a\xff.gguf"}, {"n", 1}}), "{\"file\":\"a\ufffd.gguf\",\"n\":1}");
  EXPECT_EQ(Dump(nlohmann::json("\xe2\x86")), "\"\ufffd\"");
}

TEST(JsonText, IsIndentedWhereAsked) { EXPECT_EQ(Dump({{"n", 1}}, 2), "{\n  \"n\": 1\n}"); }

TEST(JsonText, QuotedTextIsOneLineOfAscii) { EXPECT_EQ(Quoted("\"\xc3\xa9\n\xff"), R"("\"\u00e9\n\ufffd")"); }

}  // namespace
}  // namespace punt
