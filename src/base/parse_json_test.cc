#include "base/parse_json.h"

#include <gtest/gtest.h>

#include "base/error_testing.h"

namespace punt {
namespace {

std::string Nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(ParseJson, DeepTextsAreRefused) {
  EXPECT_TRUE(ParseJson(Nested(kMostJsonDepth)).is_array());
  EXPECT_EQ(ErrorOf([] { ParseJson(Nested(100'000)); }), "the JSON nests deeper than 64 levels");
  EXPECT_EQ(ErrorOf([] { ParseJson<nlohmann::json>(Nested(100'000)); }), "the JSON nests deeper than 64 levels");
}

TEST(ParseJson, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf([] { ParseJson("{\"a\":}"); }), "not JSON (or not UTF-8) at column 6");
  EXPECT_EQ(ErrorOf([] { ParseJson("[1,\n2,,]"); }), "not JSON (or not UTF-8) at line 2, column 3");
  EXPECT_EQ(ErrorOf([] { ParseJson("[1,"); }), "not JSON: it ends too early");
  EXPECT_EQ(ErrorOf([] { ParseJson("[1e999]"); }), "a number is too large");
}

TEST(ParseJson, ReasonsHaveNoNumberOfTheLibrary) {
  try {
    static_cast<void>(ParseJson("{}").at("id"));
    FAIL() << "no exception";
  } catch (const nlohmann::json::exception& error) {
    EXPECT_EQ(ReasonOf(error), "key 'id' not found");
  }
}

}  // namespace
}  // namespace punt
