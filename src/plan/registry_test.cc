#include <fmt/format.h>

#include <filesystem>

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

TEST(Registry, EveryPlannerIsMadeWithItsDefaults) {
  for (const PlannerRow& row : Planners()) {
    EXPECT_NE(MakePlanner(row.name), nullptr) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    for (const ParamRow& param : row.params) {
      const std::string value(param.default_value);
      const std::string wrapped = param.kind == ParamKind::kSpec ? "(" + value + ")" : value;
      const std::string spec = std::string(row.name) + ":" + std::string(param.key) + "=" + wrapped;
      EXPECT_EQ(WhyRefused(spec), "accepted");
      EXPECT_FALSE(param.help.empty()) << spec;
    }
  }
}

TEST(Registry, PuntIsFirstAndNamesAreUnique) {
  std::set<std::string_view> names;
  for (const PlannerRow& row : Planners()) names.insert(row.name);
  EXPECT_EQ(names.size(), Planners().size());
  EXPECT_EQ(Planners().front().name, "punt");
}

// Who names no planner gets an answer from every model, in a stream that takes nothing back.
TEST(Registry, TheDefaultFitsEveryModelAndStream) {
  const auto row = std::find_if(Planners().begin(), Planners().end(),
                                [](const PlannerRow& planner) { return planner.name == kDefaultPlanner; });
  ASSERT_NE(row, Planners().end());
  EXPECT_FALSE(row->needs_network || row->remasks);
  const PlannerNeeds needs = MakePlanner(kDefaultPlanner)->needs();
  EXPECT_FALSE(needs.shadow_rows || needs.influence || !needs.attention.empty());
}

// One algorithm, one file, one row: the name is the file's stem.
TEST(Registry, EveryRowHasItsFile) {
  for (const PlannerRow& row : Planners()) {
    std::string stem(row.name);
    std::replace(stem.begin(), stem.end(), '-', '_');
    const std::filesystem::path folder = std::filesystem::path(PUNT_SOURCE_DIR) / "src" / "plan";
    EXPECT_TRUE(std::filesystem::exists(folder / (stem + ".cc"))) << stem;
    EXPECT_TRUE(std::filesystem::exists(folder / (stem + "_test.cc"))) << stem;
  }
}

TEST(Registry, UnknownNamesAndKeysListTheValidOnes) {
  const std::string name = WhyRefused("top-p");
  EXPECT_NE(name.find("'top-p'"), std::string::npos) << name;
  for (const PlannerRow& row : Planners()) {
    EXPECT_NE(name.find(row.name), std::string::npos);
    const std::string key = WhyRefused(std::string(row.name) + ":colour=red");
    EXPECT_NE(key.find("colour"), std::string::npos) << key;
    for (const ParamRow& param : row.params) EXPECT_NE(key.find(param.key), std::string::npos) << key;
  }
}

TEST(Registry, ValuesOutOfRangeAreRefused) {
  for (const PlannerRow& row : Planners()) {
    for (const ParamRow& param : row.params) {
      std::vector<std::string> bad = {"nonsense"};
      if (param.kind == ParamKind::kReal || param.kind == ParamKind::kInteger) {
        bad = {"nonsense", "nan", "inf", std::to_string(param.min - 1), std::to_string(param.max + 1)};
      }
      if (param.kind == ParamKind::kInteger) bad.push_back(std::to_string(param.min) + "5");
      for (const std::string& value : bad) {
        const std::string spec = std::string(row.name) + ":" + std::string(param.key) + "=" + value;
        const std::string why = WhyRefused(spec);
        EXPECT_NE(why, "accepted") << spec;
        EXPECT_EQ(why.find('\n'), std::string::npos) << why;
      }
    }
  }
}

TEST(Registry, CanonicalWritesEverythingOut) {
  EXPECT_EQ(CanonicalPlannerSpec("top-k"), "top-k:k=1");
  EXPECT_EQ(CanonicalPlannerSpec("entropy-bound:unit=bits"), "entropy-bound:gamma=0.1,unit=bits");
  EXPECT_EQ(CanonicalPlannerSpec("left-to-right"), "left-to-right");
  EXPECT_EQ(CanonicalPlannerSpec("spacing:planner=(top-k)"), "spacing:planner=(top-k:k=1),gap=2");
  EXPECT_EQ(CanonicalPlannerSpec("hybrid:then=(spacing:planner=(random)),at=0.3"),
            "hybrid:first=(top-k:k=1),then=(spacing:planner=(random:k=1),gap=2),at=0.3");
}

TEST(Registry, CanonicalIsAFixedPoint) {
  for (const PlannerRow& row : Planners()) {
    const std::string canonical = CanonicalPlannerSpec(row.name);
    EXPECT_EQ(CanonicalPlannerSpec(canonical), canonical);
    for (const ParamRow& param : row.params) EXPECT_NE(canonical.find(param.key), std::string::npos);
  }
}

TEST(Registry, ShortSaysOnlyWhatDiffersFromTheDefaults) {
  EXPECT_EQ(ShortPlannerSpec("punt"), "punt");
  EXPECT_EQ(ShortPlannerSpec(CanonicalPlannerSpec("punt")), "punt");
  EXPECT_EQ(ShortPlannerSpec("top-k:k=1"), "top-k");
  EXPECT_EQ(ShortPlannerSpec("entropy-bound:unit=bits,gamma=0.10"), "entropy-bound:unit=bits");
  EXPECT_EQ(ShortPlannerSpec("hybrid:first=(top-k:k=1)"), "hybrid");
  EXPECT_EQ(ShortPlannerSpec("spacing:planner=(top-k:k=2)"), "spacing:planner=(top-k:k=2)");
  EXPECT_THROW(ShortPlannerSpec("top-k:k=0"), Error);
  EXPECT_THROW(ShortPlannerSpec("nobody"), Error);
}

// What is left out is what is there without being said: short and long specs are the same planner.
TEST(Registry, ShortAndCanonicalSpecsSayTheSame) {
  for (const PlannerRow& row : Planners()) {
    EXPECT_EQ(ShortPlannerSpec(CanonicalPlannerSpec(row.name)), row.name);
    for (const ParamRow& param : row.params) {
      std::vector<std::string> values;
      if (param.kind == ParamKind::kReal) values = {fmt::format("{}", param.min), "0.3"};
      if (param.kind == ParamKind::kInteger) values = {fmt::format("{}", param.min + 1)};
      if (param.kind == ParamKind::kBoolean) values = {"true", "false"};
      if (param.kind == ParamKind::kSpec) values = {"(halton)", "(spacing:planner=(random),gap=3)"};
      for (std::string_view choice : param.choices) values.emplace_back(choice);
      for (const std::string& value : values) {
        const std::string spec = fmt::format("{}:{}={}", row.name, param.key, value);
        if (WhyRefused(spec) != "accepted") continue;  // some values are refused only in combination
        const std::string written = ShortPlannerSpec(spec);
        EXPECT_EQ(CanonicalPlannerSpec(written), CanonicalPlannerSpec(spec));
        EXPECT_EQ(ShortPlannerSpec(written), written);
        EXPECT_LE(written.size(), CanonicalPlannerSpec(spec).size());
      }
    }
  }
}

TEST(Registry, CanonicalRefusesWhatMakingRefuses) {
  EXPECT_THROW(CanonicalPlannerSpec("spacing:planner=(top-k:k=0)"), Error);
  EXPECT_THROW(CanonicalPlannerSpec("remdm:t_on=0.1,t_off=0.2"), Error);
  EXPECT_THROW(CanonicalPlannerSpec(""), Error);
}

TEST(Registry, NestedErrorsNameTheNestedPlanner) {
  EXPECT_NE(WhyRefused("spacing:planner=(top-k:k=0)").find("planner top-k"), std::string::npos);
  EXPECT_NE(WhyRefused("hybrid:first=(nope)").find("nope"), std::string::npos);
}

TEST(Registry, NestingHasALimit) {
  const auto nested = [](int depth, bool with_parentheses) {
    std::string spec = "top-k";
    for (int i = 0; i < depth; ++i)
      spec = with_parentheses ? "spacing:planner=(" + spec + ")" : "spacing:planner=" + spec;
    return spec;
  };
  for (bool with_parentheses : {true, false}) {
    EXPECT_EQ(WhyRefused(nested(8, with_parentheses)), "accepted");
    EXPECT_NE(WhyRefused(nested(9, with_parentheses)).find("nest"), std::string::npos);
    EXPECT_NE(WhyRefused(nested(3000, with_parentheses)).find("nest"), std::string::npos);
  }
}

}  // namespace
}  // namespace punt
