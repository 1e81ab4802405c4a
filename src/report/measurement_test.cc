#include "report/measurement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "punt/error.h"

namespace punt {
namespace {

TEST(Measurement, ComesBackAsItWas) {
  const auto [key, values] = ParseMeasurement(MeasurementLine("one", {{"x", 0.1}, {"y", INFINITY}}));
  EXPECT_EQ(key, "one");
  EXPECT_EQ(values, (Measurement{{"x", 0.1}, {"y", INFINITY}}));
}

TEST(Measurement, RefusesOtherLines) {
  for (const char* line : {"", "1", "[]", R"({"key":"one"})", R"({"key":1,"values":{}})", R"({"values":{"x":1}})",
                           R"({"key":"one","values":{"x":"1"}})"}) {
    EXPECT_THROW(ParseMeasurement(line), Error) << line;
  }
}

}  // namespace
}  // namespace punt
