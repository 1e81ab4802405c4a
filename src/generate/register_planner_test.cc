// What is registered stays, and tests that go through all planners would meet it: ctest runs each of these alone.
#include <gtest/gtest.h>

#include "base/error_testing.h"
#include "punt/generator.h"
#include "punt/model.h"
#include "punt/planner.h"

namespace punt {
namespace {

class Last : public Planner {
 public:
  explicit Last(int count) : count_(count) {}
  Plan Decide(const StepView& view) const override {
    Plan plan;
    for (std::size_t i = view.proposals.size(); i > 0 && std::ssize(plan.commit) < count_; --i) {
      plan.commit.push_back(view.proposals[i - 1].position);
    }
    return plan;
  }

 private:
  int count_;
};

const ParamRow kParams[] = {{"count", ParamKind::kInteger, "2", "tokens a step", 1, 100}};

PlannerRow LastRow(std::string_view name) {
  return {.name = name, .summary = "the least sure", .params = kParams, .make = [](const Params& params) {
            return std::make_shared<const Last>(params.Integer("count"));
          }};
}

TEST(RegisterPlanner, ItIsNamedAsAnyOther) {
  const std::size_t before = Planners().size();
  const PlannerRow* first = Planners().data();
  RegisterPlanner(LastRow("last"));
  ASSERT_EQ(Planners().size(), before + 1);
  EXPECT_EQ(Planners().data(), first) << "spans from before stay valid";
  EXPECT_EQ(CanonicalPlannerSpec("last"), "last:count=2");
  EXPECT_EQ(ShortPlannerSpec("last:count=2"), "last");
  EXPECT_NE(CanonicalPlannerSpec("spacing:planner=(last:count=3)").find("last:count=3"), std::string::npos);
  EXPECT_NE(ErrorOf([] { MakePlanner("last:count=0"); }), "accepted");
  EXPECT_NE(ErrorOf([] { MakePlanner("lost"); }).find("did you mean last?"), std::string::npos);

  const Model model = OpenModel("toy:markov,length=8,vocab=4");
  const DenoiserInfo& info = model.denoiser->info();
  const std::vector<Token> masks(8, info.mask_token);
  const auto session = model.denoiser->NewSession({});
  const GenerateResult result = Generate(*session, Canvas(masks, info.mask_token, info.vocab_size),
                                         MakeRecipe("last:count=4", "margin", {}, info));
  EXPECT_EQ(result.steps, 2);
}

TEST(RegisterPlanner, NamesAreRefusedThatAreNone) {
  for (const char* name : {"", "punt", "Mine", "a:b", "a,b", "a b"}) {
    EXPECT_NE(ErrorOf([&] { RegisterPlanner(LastRow(name)); }), "accepted") << name;
  }
}

TEST(RegisterPlanner, ThereIsAnEnd) {
  static std::vector<std::string> names;
  names.reserve(100);
  std::string said = "accepted";
  while (names.size() < 100 && said == "accepted") {
    names.push_back("more-" + std::to_string(names.size()));
    said = ErrorOf([] { RegisterPlanner(LastRow(names.back())); });
  }
  EXPECT_NE(said.find("at most 64"), std::string::npos);
}

}  // namespace
}  // namespace punt
