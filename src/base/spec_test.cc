#include "punt/spec.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/error_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

const std::vector<ParamRow>& Rows() {
  static const std::vector<ParamRow> rows = {
      {.key = "epsilon", .kind = ParamKind::kReal, .default_value = "0.04", .help = "tolerance", .min = 0, .max = 1},
      {.key = "k", .kind = ParamKind::kInteger, .default_value = "2", .help = "count", .min = 1, .max = 1000},
      {.key = "skip", .kind = ParamKind::kBoolean, .default_value = "false", .help = "whether"},
      {.key = "form",
       .kind = ParamKind::kChoice,
       .default_value = "iterative",
       .help = "which",
       .choices = {"iterative", "recursive", "parallel"}},
      {.key = "first", .kind = ParamKind::kSpec, .default_value = "top-k:k=2", .help = "what"},
  };
  return rows;
}

Params Make(std::string_view text) { return Params(ParseSpec(text), Rows(), "planner punt"); }

std::string ParseError(std::string_view text) {
  return ErrorOf([text] { ParseSpec(text); });
}

std::string MakeError(std::string_view text) {
  return ErrorOf([text] { Make(text); });
}

TEST(ParseSpec, TakesNamesKeysAndNestedSpecs) {
  EXPECT_EQ(ParseSpec("punt").name, "punt");
  EXPECT_TRUE(ParseSpec("punt").values.empty());
  const Spec spec = ParseSpec("hybrid:first=(top-k:k=2,score=(a:b=c)),at=0.3");
  EXPECT_EQ(spec.name, "hybrid");
  ASSERT_EQ(spec.values.size(), 2u);
  EXPECT_EQ(spec.values[0], std::pair(std::string("first"), std::string("top-k:k=2,score=(a:b=c)")));
  EXPECT_EQ(spec.values[1], std::pair(std::string("at"), std::string("0.3")));
  // The value of a nested key is a spec again.
  const Spec inner = ParseSpec(spec.values[0].second);
  EXPECT_EQ(inner.name, "top-k");
  EXPECT_EQ(inner.values[1].second, "a:b=c");
}

TEST(ParseSpec, NamesWhatIsWrong) {
  EXPECT_EQ(ParseError(""), "a name is missing in ''");
  EXPECT_EQ(ParseError(":k=1"), "a name is missing in ':k=1'");
  EXPECT_EQ(ParseError("punt:"), "expected key=value, got '' in 'punt:'");
  EXPECT_EQ(ParseError("punt:k"), "expected key=value, got 'k' in 'punt:k'");
  EXPECT_EQ(ParseError("punt:=1"), "expected key=value, got '=1' in 'punt:=1'");
  EXPECT_EQ(ParseError("punt:k="), "expected key=value, got 'k=' in 'punt:k='");
  EXPECT_EQ(ParseError("punt:k=1,,skip=true"), "expected key=value, got '' in 'punt:k=1,,skip=true'");
  EXPECT_EQ(ParseError("punt:k=1,k=2"), "k is given twice in 'punt:k=1,k=2'");
  EXPECT_NE(ParseError("punt:first=(top-k").find("unbalanced '('"), std::string::npos);
  EXPECT_NE(ParseError("punt:first=top-k)").find("unbalanced ')'"), std::string::npos);
  EXPECT_NE(ParseError("punt:first=)top-k(").find("unbalanced ')'"), std::string::npos);
}

TEST(Params, DefaultsAndValues) {
  const Params defaults = Make("punt");
  EXPECT_EQ(defaults.Real("epsilon"), 0.04);
  EXPECT_EQ(defaults.Integer("k"), 2);
  EXPECT_FALSE(defaults.Boolean("skip"));
  EXPECT_EQ(defaults.Choice("form"), "iterative");
  EXPECT_EQ(defaults.ChoiceIndex("form"), 0);
  EXPECT_EQ(defaults.Nested("first"), "top-k:k=2");
  const Params params = Make("punt:epsilon=1e-3,k=1000,skip=true,form=parallel,first=(punt:k=3)");
  EXPECT_EQ(params.Real("epsilon"), 1e-3);
  EXPECT_EQ(params.Integer("k"), 1000);
  EXPECT_TRUE(params.Boolean("skip"));
  EXPECT_EQ(params.ChoiceIndex("form"), 2);
  EXPECT_EQ(params.Nested("first"), "punt:k=3");
}

TEST(Params, BoundsAreInclusive) {
  EXPECT_EQ(Make("punt:epsilon=0").Real("epsilon"), 0);
  EXPECT_EQ(Make("punt:epsilon=1").Real("epsilon"), 1);
  EXPECT_EQ(Make("punt:k=1").Integer("k"), 1);
  EXPECT_EQ(MakeError("punt:epsilon=1.0001"), "planner punt: epsilon must be between 0 and 1, got 1.0001");
  EXPECT_EQ(MakeError("punt:epsilon=-1e-9"), "planner punt: epsilon must be between 0 and 1, got -1e-9");
  EXPECT_EQ(MakeError("punt:k=0"), "planner punt: k must be between 1 and 1000, got 0");
  EXPECT_EQ(MakeError("punt:k=1001"), "planner punt: k must be between 1 and 1000, got 1001");
  EXPECT_EQ(MakeError("punt:k=99999999999999999999"),
            "planner punt: k must be between 1 and 1000, got 99999999999999999999");
}

TEST(Params, RefusesWhatIsNotANumber) {
  for (const char* text : {"x", "1e999", "-1e999", "nan", "inf", "-inf", "1.5x", " 1", "1 ", "0x10", "1,5", "--1"}) {
    const std::string error = MakeError(std::string("punt:epsilon=") + text);
    EXPECT_NE(error, "accepted") << text;
  }
  EXPECT_EQ(MakeError("punt:epsilon=nan"), "planner punt: epsilon must be a number, got 'nan'");
  EXPECT_EQ(MakeError("punt:epsilon=1e999"), "planner punt: epsilon must be a number, got '1e999'");
  EXPECT_EQ(MakeError("punt:k=1.5"), "planner punt: k must be a whole number, got '1.5'");
  EXPECT_EQ(MakeError("punt:k=two"), "planner punt: k must be a number, got 'two'");
}

TEST(Params, ListsWhatIsValid) {
  EXPECT_EQ(MakeError("punt:eps=0.1"),
            "planner punt has no key 'eps' (did you mean epsilon?); valid keys: epsilon, k, skip, form, first");
  EXPECT_EQ(MakeError("punt:form=spiral"),
            "planner punt: form must be one of iterative, recursive, parallel, got 'spiral'");
  EXPECT_EQ(MakeError("punt:skip=1"), "planner punt: skip must be true or false, got '1'");
  EXPECT_EQ(ErrorOf([] { Params(ParseSpec("margin:k=1"), {}, "score margin"); }),
            "score margin takes no keys, got 'k'");
}

TEST(Params, CanonicalSaysEverythingAndReadsBack) {
  EXPECT_EQ(Make("punt").Canonical(), "punt:epsilon=0.04,k=2,skip=false,form=iterative,first=(top-k:k=2)");
  for (const char* text : {"punt", "punt:k=7", "punt:first=(a:b=(c:d=1),e=2),epsilon=0.5", "punt:form=recursive"}) {
    const std::string canonical = Make(text).Canonical();
    EXPECT_EQ(Make(canonical).Canonical(), canonical);
  }
  EXPECT_EQ(Params(ParseSpec("margin"), {}, "score margin").Canonical(), "margin");
}

TEST(Params, AskingForWhatIsNotThereIsABug) {
  const Params params = Make("punt");
  EXPECT_THROW(params.Real("delta"), std::logic_error);
  EXPECT_THROW(params.Real("k"), std::logic_error);
  EXPECT_THROW(params.Integer("epsilon"), std::logic_error);
  EXPECT_THROW(params.Boolean("form"), std::logic_error);
  EXPECT_THROW(params.ChoiceIndex("skip"), std::logic_error);
  EXPECT_THROW(params.Nested("form"), std::logic_error);
}

TEST(ParamKind, Names) {
  EXPECT_EQ(Name(ParamKind::kReal), "real");
  EXPECT_EQ(Name(ParamKind::kInteger), "integer");
  EXPECT_EQ(Name(ParamKind::kBoolean), "boolean");
  EXPECT_EQ(Name(ParamKind::kChoice), "choice");
  EXPECT_EQ(Name(ParamKind::kSpec), "spec");
}

}  // namespace
}  // namespace punt
