#include "punt/sampling.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/error_testing.h"
#include "punt/model.h"

namespace punt {
namespace {

/// A value that is not the default, and that every field takes.
struct Changed {
  void operator()(std::string& value) const { value = "changed"; }
  void operator()(double& value) const { value = 0.5; }
  void operator()(std::int64_t& value) const { value = 3; }
  void operator()(std::uint64_t& value) const { value = 3; }
  void operator()(bool& value) const { value = true; }
  void operator()(std::vector<std::string>& value) const { value = {"end", "."}; }
};

Sampling WithChanged(const SamplingField& field) {
  Sampling sampling;
  std::visit([&](auto member) { Changed()(sampling.*member); }, field.member);
  return sampling;
}

TEST(Sampling, EveryMemberHasARowOfItsOwn) {
  // A member without a row would be left out of files and commands: the sizes of all that rows name fill the struct.
  std::set<std::string_view> keys;
  Sampling all;
  for (const SamplingField& field : SamplingFields()) {
    EXPECT_TRUE(keys.insert(field.key).second) << field.key;
    const Sampling changed = WithChanged(field);
    EXPECT_NE(changed, Sampling()) << field.key;
    std::visit([&](auto member) { all.*member = changed.*member; }, field.member);
    for (const SamplingField& other : SamplingFields()) {
      EXPECT_EQ(TextOf(changed, other) != TextOf(Sampling(), other), &other == &field) << field.key << " " << other.key;
    }
  }
  const auto& [planner, score, temperature, top_p, top_k, min_p, convention, score_on, eos, window, grow_to, cache,
               guidance, freeze_mask_ratio, stop, regex, choices, json_schema, text_template, json_depth, motifs,
               allowed_residues, composition, max_steps, max_nfe, seed] = all;
  EXPECT_EQ(keys.size(), 26u) << "as many as there are names above";
  EXPECT_TRUE(freeze_mask_ratio && !stop.empty() && seed == 3 && planner == "changed" && guidance == 0.5);
  EXPECT_TRUE(score == cache && convention == score_on && eos == planner && window == top_k && max_steps == max_nfe &&
              grow_to == window);
  EXPECT_TRUE(temperature == top_p && min_p == top_p);
  EXPECT_TRUE(regex == json_schema && choices == stop && json_depth == max_steps && text_template == regex);
  EXPECT_TRUE(motifs == stop && composition == stop && allowed_residues == regex);
}

TEST(Sampling, ConfigurationsSayWhatIsAskedAndWhatDiffers) {
  constexpr std::string_view kKeys[] = {"seed", "temperature"};
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(SamplingConfiguration({}, kKeys), (Pairs{{"temperature", "1"}, {"seed", "0"}}));
  const Sampling sampling{.temperature = 0.7, .min_p = 0.05, .stop = {"a b", "c"}};
  EXPECT_EQ(SamplingConfiguration(sampling, kKeys),
            (Pairs{{"temperature", "0.7"}, {"min_p", "0.05"}, {"stop_strings", "\"a b\" \"c\""}, {"seed", "0"}}));
}

TEST(Sampling, RefusalsNameTheField) {
  const auto refusal = [](const Sampling& sampling) { return ErrorOf([&] { Validate(sampling); }); };
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_EQ(refusal({.top_p = 0}), "top_p must be above 0 and at most 1, got 0");
  EXPECT_EQ(refusal({.min_p = 1.5}), "min_p must be at least 0 and at most 1, got 1.5");
  EXPECT_EQ(refusal({.window = -1}).substr(0, 24), "window must be at least ");
  EXPECT_EQ(refusal({.temperature = std::numeric_limits<double>::quiet_NaN()}).substr(0, 20), "temperature must be ");
  EXPECT_EQ(refusal({.grow_to = -1}).substr(0, 25), "grow_to must be at least ");
  EXPECT_NE(refusal({.planner = "pant"}).find("unknown planner 'pant'"), std::string::npos);
  EXPECT_NE(refusal({.score = "sore"}).find("'sore'"), std::string::npos);
  EXPECT_NE(refusal({.eos = "never"}).find("'never'"), std::string::npos);
  EXPECT_NE(refusal({.cache = "all"}).find("'all'"), std::string::npos);
  EXPECT_EQ(refusal({.stop = {""}}).substr(0, 6), "stop: ");
  EXPECT_NE(refusal({.convention = "gpt"}), "accepted");
  EXPECT_NE(refusal({.score_on = "both"}), "accepted");
}

TEST(Sampling, ARecipeHasWhatWasAskedFor) {
  const Model model = OpenModel("toy:markov,length=8,vocab=4");
  const DenoiserInfo& info = model.denoiser->info();
  const Sampling sampling{.planner = "top-k:k=2",
                          .eos = "deprioritise",
                          .window = 4,
                          .cache = "settled",
                          .guidance = 2,
                          .freeze_mask_ratio = true,
                          .max_steps = 5,
                          .max_nfe = 6,
                          .seed = 7};
  const Recipe recipe = MakeRecipe(sampling, info);
  EXPECT_EQ(recipe.eos, EosPolicy::kDeprioritise);
  EXPECT_EQ(recipe.window, 4);
  EXPECT_EQ(Name(recipe.cache), Name(ParseCachePolicy("settled")));
  EXPECT_EQ(recipe.max_steps, 5);
  EXPECT_EQ(recipe.max_nfe, 6);
  EXPECT_EQ(recipe.seed, 7u);
  const SessionOptions session = SessionFor(sampling, info);
  EXPECT_EQ(session.guidance, 2);
  EXPECT_TRUE(session.freeze_mask_ratio);
  const Company company = CompanyFor(sampling, "m", info);
  EXPECT_EQ(company.planner_spec, "top-k:k=2");
  EXPECT_EQ(company.score_spec, info.default_score);
}

}  // namespace
}  // namespace punt
