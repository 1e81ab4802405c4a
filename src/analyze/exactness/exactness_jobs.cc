// What the exactness report measures: models, planners and their grids.
//
// Law. Models with few enough sequences to enumerate, several random ones of each family. The planners
// whose law must be the joint, whatever the model (one token at a time, in an order that does not depend on the values
// drawn); one whose order does (score token-prob); PUNT with epsilon -> 0 in its three forms, and with its default.
// Then every other planner, for comparison. Tables and mixtures are flat (everything influences everything a little, at
// every value) or peaked (whether a token says anything depends on its value).
//
// Epsilon. Random joint tables, in which everything depends on everything: how the law leaves the joint as epsilon
// grows, from one token at a time (almost) to everything at once.
//
// Trade-off. Chains and trees of the length of a real generation, in position order and scattered. PUNT over
// the paper's grid, baselines over theirs (their NFE decides where they are on the horizontal axis), scores as the
// methods define them. The n-th seed names both the n-th model and the n-th sample.
#include <fmt/format.h>

#include "analyze/exactness/exactness.h"
#include "base/check.h"

namespace punt {
namespace {

constexpr const char* kTiny = "1e-10";

struct Configuration {
  std::string family;
  std::string planner;
  std::string score;
};

/// One configuration per value; `pattern` has {} where the value goes.
void AddGrid(std::vector<Configuration>& out, const std::string& family, const std::string& pattern,
             const std::string& score, const std::vector<double>& values) {
  for (double value : values)
    out.push_back({family, fmt::format(fmt::runtime(pattern), fmt::format("{:g}", value)), score});
}

std::vector<double> Thinned(const std::vector<double>& values, bool quick) {
  if (!quick) return values;
  std::vector<double> thin = {values.front()};
  if (values.size() > 1) thin.push_back(values[values.size() / 2]);
  return thin;
}

void AddPunt(std::vector<Configuration>& out, bool quick) {
  // The report compares forms and orders at 0.01, so every grid has it.
  const std::vector<double> few = {0.01, 0.04};
  const std::vector<double> epsilons = quick ? few : std::vector{0.001, 0.004, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32};
  const std::vector<double> coarse = quick ? few : std::vector{0.01, 0.04, 0.16, 0.32};
  AddGrid(out, "punt", "punt:epsilon={},fallback=false", "margin", epsilons);
  AddGrid(out, "punt, random order", "punt:epsilon={},fallback=false", "random", epsilons);
  AddGrid(out, "punt recursive", "punt:epsilon={},form=recursive,fallback=false", "margin", coarse);
  AddGrid(out, "punt parallel", "punt:epsilon={},form=parallel,fallback=false", "margin", coarse);
}

void AddPaperBaselines(std::vector<Configuration>& out, bool quick) {
  AddGrid(out, "top-k", "top-k:k={}", "margin", Thinned({1, 2, 3, 4, 6, 8, 12, 16, 32, 64}, quick));
  AddGrid(out, "entropy-bound", "entropy-bound:gamma={}", "neg-entropy",
          Thinned({0.01, 0.05, 0.1, 0.5, 1, 2, 4, 5, 10}, quick));
  const std::vector<double> windows = Thinned({3, 4, 5, 6, 7, 10}, quick);
  AddGrid(out, "dilated", "dilated:log_window={},skip_threshold=0", "margin", windows);
  AddGrid(out, "dilated skip", "dilated:log_window={}", "margin", windows);
  AddGrid(out, "dilated global", "dilated:log_window={},form=global,skip_threshold=0", "margin", windows);
}

void AddOthers(std::vector<Configuration>& out, bool quick) {
  const std::vector<double> steps = Thinned({8, 16, 32, 64, 128, 256}, quick);
  out.push_back({"left-to-right", "left-to-right", "margin"});
  AddGrid(out, "random", "random:k={}", "margin", Thinned({1, 2, 4, 8, 16, 32, 64, 128}, quick));
  AddGrid(out, "threshold", "threshold:tau={}", "token-prob", Thinned({0.5, 0.7, 0.9, 0.95}, quick));
  AddGrid(out, "factor", "factor:f={}", "token-prob", Thinned({0.5, 1, 1.5, 2}, quick));
  AddGrid(out, "timestep", "timestep:steps={}", "margin", steps);
  AddGrid(out, "timestep origin", "timestep:steps={},origin=true", "margin", steps);
  AddGrid(out, "halton", "halton:steps={}", "margin", steps);
  AddGrid(out, "klass", "klass:kl_threshold={}", "token-prob", Thinned({0.001, 0.01, 0.1}, quick));
  AddGrid(out, "klass", "klass:kl_threshold={},conf_threshold=0.6", "token-prob", Thinned({0.015}, quick));
  AddGrid(out, "info-gain", "info-gain:k={}", "margin", Thinned({4, 16, 64}, quick));
  AddGrid(out, "remdm", "remdm:steps={}", "margin", Thinned({32, 128, 512}, quick));
  for (const char* variant : {"rescale", "conf", "loop"}) {
    out.push_back({"remdm", fmt::format("remdm:variant={},steps=128", variant), "margin"});
  }
  AddGrid(out, "p2", "p2:steps={}", "margin", Thinned({16, 64, 256}, quick));
  AddGrid(out, "p2", "p2:eta=0,steps={}", "margin", Thinned({16, 64, 256}, quick));
  AddGrid(out, "wino", "wino:tau={}", "token-prob", Thinned({0.4, 0.6, 0.8}, quick));
  AddGrid(out, "frechet", "frechet:delta={}", "token-prob", Thinned({0, 0.25, 0.5}, quick));
  AddGrid(out, "less", "less:drift_threshold={}", "token-prob", Thinned({0.01, 0.04, 0.16}, quick));
  AddGrid(out, "scout", "scout:epsilon={}", "margin", Thinned({0.001, 0.01, 0.04, 0.16}, quick));
  AddGrid(out, "distilled", "distilled:epsilon={}", "margin", Thinned({0.001, 0.01, 0.04, 0.16}, quick));
  AddGrid(out, "saber", "saber:n={}", "token-prob", Thinned({2, 8, 32}, quick));
  AddGrid(out, "joint-threshold", "joint-threshold:tau={}", "token-prob", Thinned({0.5, 0.7, 0.9}, quick));
}

void AddCombinations(std::vector<Configuration>& out) {
  for (const char* planner : {"top-k:k=8", "entropy-bound:gamma=1", "punt:epsilon=0.04,fallback=false"}) {
    out.push_back({"spacing", fmt::format("spacing:planner=({}),gap=8", planner), "margin"});
  }
  out.push_back({"upstream", "upstream", "token-prob"});
  out.push_back({"upstream", "upstream:of=(punt:epsilon=0.04,fallback=false),floor=0", "margin"});
  out.push_back({"freedave", "freedave", "margin"});
  out.push_back({"freedave", "freedave:of=(top-k:k=4)", "margin"});
  for (const char* parts :
       {"first=(top-k:k=2),then=(punt:fallback=false),at=0.3", "first=(random:k=8),then=(punt:fallback=false),at=0.3",
        "first=(random:k=16),then=(punt:epsilon=0.01,fallback=false),at=0.5",
        "first=(punt:fallback=false),then=(random:k=64),at=0.5"}) {
    out.push_back({"hybrid", fmt::format("hybrid:{}", parts), "margin"});
  }
}

std::vector<Configuration> ExactConfigurations() {
  std::vector<Configuration> out = {{"left-to-right", "left-to-right", "margin"},
                                    {"random", "random", "margin"},
                                    {"top-k", "top-k:k=1", "margin"},
                                    {"top-k", "top-k:k=1", "token-prob"}};
  for (const char* form : {"iterative", "recursive", "parallel"}) {
    out.push_back({"punt", fmt::format("punt:epsilon={},form={},fallback=false", kTiny, form), "margin"});
  }
  out.push_back({"punt", fmt::format("punt:epsilon={},fallback=false", kTiny), "token-prob"});
  out.push_back({"punt", "punt:epsilon=0.04,fallback=false", "margin"});
  return out;
}

std::vector<Configuration> OtherLawConfigurations() {
  return {{"top-k", "top-k:k=2", "margin"},
          {"random", "random:k=2", "margin"},
          {"entropy-bound", "entropy-bound:gamma=0.5", "neg-entropy"},
          {"dilated", "dilated:log_window=3,skip_threshold=0", "margin"},
          {"threshold", "threshold:tau=0.9", "token-prob"},
          {"threshold", "threshold:tau=0.9", "margin"},
          {"factor", "factor", "token-prob"},
          {"timestep", "timestep:steps=3", "margin"},
          {"timestep origin", "timestep:steps=3,origin=true", "margin"},
          {"halton", "halton:steps=3", "margin"},
          {"klass", "klass", "token-prob"},
          {"info-gain", "info-gain:k=2", "margin"},
          {"remdm", "remdm:steps=4", "margin"},
          {"p2", "p2:steps=3", "margin"},
          {"wino", "wino", "token-prob"},
          {"frechet", "frechet", "token-prob"},
          {"less", "less", "token-prob"},
          {"saber", "saber", "token-prob"},
          {"joint-threshold", "joint-threshold", "token-prob"},
          {"scout", "scout", "margin"},
          {"distilled", "distilled:epsilon=1e-10", "margin"},
          {"distilled", "distilled:epsilon=0.04", "margin"},
          {"upstream", "upstream", "token-prob"},
          {"spacing", "spacing:planner=(top-k:k=3),gap=2", "margin"},
          {"hybrid", "hybrid:first=(top-k:k=1),then=(punt:epsilon=0.04,fallback=false),at=0.4", "margin"}};
}

void AddLawJobs(std::vector<ExactnessJob>& jobs, const ExactnessOptions& options, std::string_view section,
                const std::vector<Configuration>& configurations) {
  const std::string size = options.quick ? "length=4,vocab=2" : "length=5,vocab=3";
  const std::pair<const char*, const char*> models[] = {{"product", "toy:product,{}"},
                                                        {"chain", "toy:markov,{}"},
                                                        {"chain, permuted", "toy:markov,{},permute=true"},
                                                        {"tree", "toy:tree,{},shape=binary"},
                                                        {"joint table", "toy:joint,{}"},
                                                        {"joint, peaked", "toy:joint,{},concentration=0.01"},
                                                        {"mixture", "toy:mixture,{}"},
                                                        {"mixture, peaked", "toy:mixture,{},concentration=0.001"}};
  for (const Configuration& configuration : configurations) {
    for (const auto& [column, pattern] : models) {
      for (int seed = 1; seed <= (options.quick ? 2 : 6); ++seed) {
        jobs.push_back({.kind = ExactnessJob::Kind::kLaw,
                        .section = std::string(section),
                        .family = configuration.family,
                        .column = column,
                        .model = fmt::format(fmt::runtime(pattern), fmt::format("{},seed={}", size, seed)),
                        .planner = configuration.planner,
                        .score = configuration.score,
                        .seed = static_cast<std::uint64_t>(seed)});
      }
    }
  }
}

void AddEpsilonJobs(std::vector<ExactnessJob>& jobs, const ExactnessOptions& options) {
  const std::vector<std::string> epsilons = {kTiny, "0.001", "0.01", "0.04", "0.08", "0.16", "0.32", "0.64", "1000"};
  for (const char* form : {"iterative", "recursive", "parallel"}) {
    for (const std::string& epsilon : epsilons) {
      for (int seed = 1; seed <= (options.quick ? 4 : 24); ++seed) {
        jobs.push_back({.kind = ExactnessJob::Kind::kLaw,
                        .section = std::string(kEpsilonSection),
                        .family = form,
                        .column = epsilon,
                        .model = fmt::format("toy:joint,length=4,vocab={},seed={}", options.quick ? 2 : 3, 100 + seed),
                        .planner = fmt::format("punt:epsilon={},form={},fallback=false", epsilon, form),
                        .score = "margin",
                        .seed = static_cast<std::uint64_t>(seed)});
      }
    }
  }
}

void AddTradeOffJobs(std::vector<ExactnessJob>& jobs, const ExactnessOptions& options) {
  std::vector<Configuration> configurations;
  AddPunt(configurations, options.quick);
  AddPaperBaselines(configurations, options.quick);
  AddOthers(configurations, options.quick);
  AddCombinations(configurations);
  for (const TradeOffSetting& setting : TradeOffSettings(options)) {
    for (const Configuration& configuration : configurations) {
      for (int seed = 1; seed <= options.seeds; ++seed) {
        jobs.push_back({.kind = ExactnessJob::Kind::kRun,
                        .section = setting.name,
                        .family = configuration.family,
                        .column = "",
                        .model = fmt::format("{},seed={}", setting.model, seed),
                        .planner = configuration.planner,
                        .score = configuration.score,
                        .seed = static_cast<std::uint64_t>(seed)});
      }
    }
  }
}

}  // namespace

std::vector<TradeOffSetting> TradeOffSettings(const ExactnessOptions& options) {
  std::vector<TradeOffSetting> settings;
  const auto add = [&](std::string_view kind, int length, bool permute, double coupling) {
    settings.push_back(
        {.name = fmt::format("{}, L = {}, {}{}", kind == "tree" ? "tree" : "chain", length,
                             permute ? "randomly permuted" : "in position order",
                             coupling == 0.9 ? "" : fmt::format(", coupling {}", coupling)),
         .model = fmt::format("toy:{},length={},vocab=8,coupling={},permute={}", kind, length, coupling, permute),
         .length = length});
  };
  for (const char* kind : {"markov", "tree"}) {
    for (int length : options.quick ? std::vector{32} : std::vector{256, 1024}) {
      for (bool permute : {false, true}) add(kind, length, permute, 0.9);
    }
  }
  // Weaker links: less to find, and more that may be committed together.
  if (!options.quick) add("markov", 256, true, 0.7);
  return settings;
}

std::vector<ExactnessJob> ExactnessJobs(const ExactnessOptions& options) {
  if (options.seeds < 1 || options.seeds > 1000) BadInput("seeds must be in 1..1000, got {}", options.seeds);
  std::vector<ExactnessJob> jobs;
  AddLawJobs(jobs, options, kLawSection, ExactConfigurations());
  AddLawJobs(jobs, options, kOtherLawSection, OtherLawConfigurations());
  AddEpsilonJobs(jobs, options);
  AddTradeOffJobs(jobs, options);
  return jobs;
}

}  // namespace punt
