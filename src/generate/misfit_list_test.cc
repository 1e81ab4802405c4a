#include "generate/misfit_list.h"

#include <gtest/gtest.h>

#include "base/error_testing.h"
#include "base/setting_error.h"
#include "punt/sampling.h"

namespace punt {
namespace {

void Look(const Model& model, const char* planner, MisfitList& misfits) {
  const DenoiserInfo& info = model.denoiser->info();
  const Canvas canvas(std::vector<Token>(8, info.mask_token), info.mask_token, info.vocab_size);
  misfits.Look(planner, MakeRecipe(Sampling{.planner = planner}, info), canvas, model);
}

TEST(MisfitList, NamesEveryPlannerOnce) {
  const Model model = OpenModel("toy:markov,length=8,vocab=4,seed=1");
  MisfitList misfits;
  Look(model, "punt", misfits);
  misfits.RequireNone();
  for (const char* planner : {"dawn", "clad", "top-k", "dawn"}) Look(model, planner, misfits);
  const std::string lack = ": the planner needs attention maps, which " + model.name + " does not give";
  EXPECT_EQ(ErrorOf([&] { misfits.RequireNone(); }), "planner dawn" + lack + "; planner clad" + lack);
}

TEST(MisfitList, SaysWhichSettingWouldHelp) {
  MisfitList misfits;
  Look(OpenModel(PUNT_SOURCE_DIR "/tests/golden/llada"), "distilled", misfits);
  try {
    misfits.RequireNone();
    FAIL() << "distilled was taken";
  } catch (const SettingError& error) {
    EXPECT_EQ(error.setting(), "influence");
  }
}

}  // namespace
}  // namespace punt
