// What caches do to steps of generation: how far divergences and committed sets move, and what a step costs.
//
//   cache_tool agree MODEL [--length 255] [--samples 4] [--planner punt] [--caches step,...]
//   cache_tool cost  MODEL [--length 512] [--masked 256,64] [--planner punt] [--caches step,...] [--repeats 3]
//
// Both: [--threads N] [--compute auto] [--temperature 0.7] [--top-p 0.9] [--seed 0].
//
// agree: generates without a cache; at every step the same step is also taken with each cache, from the same canvas and
// on the same proposals. (So only what test passes see differs: base passes of a single step are exact under every
// policy.) Prints for each cache the mean Jaccard index of committed sets, the share of steps in which they are equal,
// and the median and 95th percentile of |change of divergence| over tests with equal anchors.
//
// cost: takes one step on a canvas of random tokens of which so many are masked, with and without caches in turn.
// Prints the best and median time of each and their ratio to the step without a cache, rows and tests. On a model with
// random weights the planner's epsilon decides how many tests survive: 1e6 keeps all (the most expensive step), 0 drops
// nearly all.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/processors.h"
#include "generate/step.h"
#include "punt/model.h"
#include "punt/random.h"
#include "tool.h"

namespace punt {
namespace {

struct Flags {
  std::string model;
  int length = 0;
  int samples = 4;
  std::string masked = "256,64";
  std::string planner = "punt";
  std::string caches = "step step:tests=read";
  int repeats = 3;
  int threads = UsableProcessors();
  std::string compute = "auto";
  double temperature = 0.7;
  double top_p = 0.9;
  std::uint64_t seed = 0;
};

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

Recipe MakeRecipeOf(const Flags& flags, const Model& model) {
  const ProposalOptions proposal{.temperature = flags.temperature, .top_p = flags.top_p};
  Recipe recipe = MakeRecipe(flags.planner, "", proposal, model.denoiser->info());
  recipe.seed = flags.seed;
  return recipe;
}

struct Agreement {
  std::vector<double> jaccard;
  std::vector<double> changes;
  int equal = 0;

  void Compare(const Plan& exact, const Plan& cached) {
    std::vector<Position> a = exact.commit, b = cached.commit, both;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    jaccard.push_back(static_cast<double>(both.size()) / static_cast<double>(a.size() + b.size() - both.size()));
    equal += a == b;
    for (std::size_t i = 0; i < std::min(exact.rounds.size(), cached.rounds.size()); ++i) {
      const Round& round = exact.rounds[i];
      if (round.anchors != cached.rounds[i].anchors || round.tests != cached.rounds[i].tests) break;
      for (std::size_t j = 0; j < round.tests.size(); ++j) {
        changes.push_back(std::abs(round.divergences[j] - cached.rounds[i].divergences[j]));
      }
    }
  }
};

void Agree(const Flags& flags, const Model& model) {
  const DenoiserInfo& info = model.denoiser->info();
  const auto session = model.denoiser->NewSession({.threads = flags.threads});
  const std::vector<std::string> caches = Split(flags.caches, ' ');
  std::map<std::string, Agreement> agreements;
  for (int sample = 0; sample < flags.samples; ++sample) {
    Recipe recipe = MakeRecipeOf(flags, model);
    recipe.sample = static_cast<std::uint64_t>(sample);
    Meter meter(*session, 0, nullptr);
    const std::vector<Token> prefix = model.tokenizer->Prefix();
    std::vector<Token> tokens(prefix.size() + static_cast<std::size_t>(flags.length), info.mask_token);
    std::copy(prefix.begin(), prefix.end(), tokens.begin());
    RunState state(Canvas(tokens, info.mask_token, info.vocab_size));
    while (!state.canvas.is_full()) {
      std::vector<Plan> plans;
      for (const std::string& cache : caches) {
        RunState copy = state;
        Recipe cached = recipe;
        cached.cache = ParseCachePolicy(cache);
        copy.next_base = nullptr;
        plans.push_back(TakeStep(meter, cached, copy).plan);
      }
      const Plan exact = TakeStep(meter, recipe, state).plan;
      for (std::size_t i = 0; i < caches.size(); ++i) agreements[caches[i]].Compare(exact, plans[i]);
    }
    fmt::print(stderr, "cache_tool: sample {} of {}\n", sample + 1, flags.samples);
  }
  fmt::print("| cache | steps | mean Jaccard | equal sets | median change of divergence | 95 % |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|\n");
  for (const auto& [cache, agreement] : agreements) {
    double sum = 0;
    for (double j : agreement.jaccard) sum += j;
    const auto steps = static_cast<double>(agreement.jaccard.size());
    fmt::print("| {} | {} | {:.3f} | {:.0f} % | {:.2g} | {:.2g} |\n", Name(ParseCachePolicy(cache)), steps, sum / steps,
               100 * agreement.equal / steps, Quantile(agreement.changes, 0.5), Quantile(agreement.changes, 0.95));
  }
}

struct Cost {
  std::vector<double> seconds;
  Counters counters;
  std::size_t committed = 0;
};

/// One step from a canvas, with a cache or without.
void TakeTimedStep(DenoiserSession& session, const Recipe& recipe, const Canvas& canvas, Cost& cost) {
  Meter meter(session, 0, nullptr);
  RunState state(canvas);
  const auto begin = std::chrono::steady_clock::now();
  const StepOutcome outcome = TakeStep(meter, recipe, state);
  cost.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  cost.counters = meter.spent();
  cost.committed = outcome.plan.commit.size();
}

void MeasureCost(const Flags& flags, const Model& model) {
  const DenoiserInfo& info = model.denoiser->info();
  const auto session = model.denoiser->NewSession({.threads = flags.threads});
  std::vector<std::string> caches = {"none"};
  for (const std::string& cache : Split(flags.caches, ' ')) caches.push_back(cache);
  fmt::print("| masked of {} | cache | best, s | median, s | ratio of best | passes | rows | committed |\n",
             flags.length);
  fmt::print("|---:|---|---:|---:|---:|---:|---:|---:|\n");
  for (const std::string& item : Split(flags.masked, ',')) {
    const auto masked = static_cast<std::size_t>(std::stoul(item));
    RandomStream stream({.seed = flags.seed}, 0, Purpose::kPlan);
    std::vector<Token> tokens(static_cast<std::size_t>(flags.length));
    for (Token& token : tokens) {
      do {
        token = static_cast<Token>(stream.Below(static_cast<std::uint64_t>(info.vocab_size)));
      } while (token == info.mask_token);
    }
    if (masked == 0 || masked > tokens.size()) BadInput("--masked must lie in 1..{}, got {}", tokens.size(), item);
    // Spread evenly over the canvas.
    for (std::size_t i = 0; i < masked; ++i) tokens[i * tokens.size() / masked] = info.mask_token;
    const Canvas canvas(tokens, info.mask_token, info.vocab_size);
    std::map<std::string, Cost> costs;
    for (int repeat = 0; repeat < flags.repeats; ++repeat) {
      for (const std::string& cache : caches) {
        Recipe recipe = MakeRecipeOf(flags, model);
        recipe.cache = ParseCachePolicy(cache);
        TakeTimedStep(*session, recipe, canvas, costs[cache]);
      }
    }
    const double without = Quantile(costs["none"].seconds, 0);
    for (const std::string& cache : caches) {
      const Cost& cost = costs[cache];
      fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.3f} | {} | {} | {} |\n", masked, Name(ParseCachePolicy(cache)),
                 Quantile(cost.seconds, 0), Quantile(cost.seconds, 0.5), Quantile(cost.seconds, 0) / without,
                 cost.counters.nfe(), cost.counters.row_passes, cost.committed);
    }
    std::fflush(stdout);
  }
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("What caches do to steps of generation");
  app.require_subcommand(1);
  for (const char* name : {"agree", "cost"}) {
    CLI::App& command = *app.add_subcommand(name);
    command.add_option("model", flags.model)->required();
    command.add_option("--length", flags.length);
    command.add_option("--samples", flags.samples);
    command.add_option("--masked", flags.masked);
    command.add_option("--planner", flags.planner);
    command.add_option("--caches", flags.caches, "separated by spaces");
    command.add_option("--repeats", flags.repeats);
    command.add_option("--threads", flags.threads);
    command.add_option("--compute", flags.compute);
    command.add_option("--temperature", flags.temperature);
    command.add_option("--top-p", flags.top_p);
    command.add_option("--seed", flags.seed);
  }
  CLI11_PARSE(app, argc, argv);
  const Model model = OpenModel(flags.model, {.compute = flags.compute});
  const bool agrees = app.got_subcommand("agree");
  if (flags.length == 0) flags.length = agrees ? 255 : 512;
  agrees ? Agree(flags, model) : MeasureCost(flags, model);
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("cache_tool", [&] { return punt::Main(argc, argv); });
}
