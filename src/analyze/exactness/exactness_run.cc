// Measuring: one job is one law or one generated sequence. Jobs share nothing, so they run on any number of threads;
// each opens its own model (cheap for toys) and sessions. No timings are taken: a report made twice is the same
// report.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <mutex>
#include <numeric>
#include <thread>

#include "analyze/exactness/exactness.h"
#include "analyze/law.h"
#include "analyze/parallel_error.h"
#include "base/check.h"
#include "denoise/exact_model.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

Canvas MaskedCanvas(const DenoiserInfo& info) {
  return Canvas(std::vector<Token>(static_cast<std::size_t>(info.max_length), info.mask_token), info.mask_token,
                info.vocab_size);
}

Recipe RecipeOf(const ExactnessJob& job, const DenoiserInfo& info) {
  Recipe recipe = MakeRecipe(job.planner, job.score, {}, info);
  recipe.seed = job.seed;
  return recipe;
}

/// Whether a planner reads when or how surely a token was committed.
bool LooksBack(std::string_view planner) {
  constexpr std::string_view kNames[] = {"dilated", "hybrid", "remdm", "saber", "wino"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return planner.find(name) != std::string_view::npos; });
}

Measurement MeasureLaw(const ExactnessJob& job) {
  const Model model = OpenModel(job.model);
  const auto& exact = dynamic_cast<const ExactDenoiser&>(*model.denoiser);
  const Recipe recipe = RecipeOf(job, exact.info());
  const Law law = EnumerateLaw(exact, MaskedCanvas(exact.info()), recipe,
                               {.measure_error = true, .remember_commits = LooksBack(job.planner)});
  return {{"tv", TotalVariation(law, exact.model())},
          {"kl", KlFromModel(law, exact.model())},
          {"total", TotalProbability(law)},
          {"nfe", law.mean_nfe},
          {"calls", law.mean_calls},
          {"steps", law.mean_steps},
          {"error", law.mean_error_new_base}};
}

/// Mean of -ln p(x_i | all others), nats per token. Its mean over the joint is a property of the model, so an average
/// that is lower than an exact sampler's means sequences that are too typical, a higher one sequences that do
/// not fit together. It shows what the parallel error cannot: a choice of positions that depends on the values drawn.
double Surprise(DenoiserSession& session, std::span<const Token> tokens) {
  std::vector<Position> rows(tokens.size());
  std::iota(rows.begin(), rows.end(), 0);
  const Query query{.canvas = tokens, .rows = rows};
  const PassRef pass = session.Forward({&query, 1}).front();
  const auto vocab = static_cast<std::size_t>(session.info().vocab_size);
  std::vector<double> table(rows.size() * vocab);
  const LogProbRequest read{.pass = pass.get(), .rows = rows, .out = table};
  session.LogProbs({&read, 1});
  double sum = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) sum -= table[i * vocab + static_cast<std::size_t>(tokens[i])];
  return sum / static_cast<double>(tokens.size());
}

Measurement MeasureRun(const ExactnessJob& job) {
  const Model model = OpenModel(job.model);
  const DenoiserInfo& info = model.denoiser->info();
  const std::unique_ptr<DenoiserSession> session = model.denoiser->NewSession({});
  CommitCollector collector;
  const GenerateResult result = Generate(*session, MaskedCanvas(info), RecipeOf(job, info), {.observer = &collector});
  const ParallelErrorReport report = MeasureParallelError(*model.denoiser, collector.steps());
  return {{"nfe", static_cast<double>(result.counters.nfe())}, {"calls", static_cast<double>(result.counters.calls)},
          {"steps", static_cast<double>(result.steps)},        {"error", report.total_new_base},
          {"error_base_new", report.total_base_new},           {"surprise", Surprise(*session, result.tokens)}};
}

}  // namespace

std::string ExactnessJob::Key() const {
  return fmt::format("{} {} {} {} {}", kind == Kind::kLaw ? "law" : "run", model, planner, score, seed);
}

Measurement RunExactnessJob(const ExactnessJob& job) {
  return job.kind == ExactnessJob::Kind::kLaw ? MeasureLaw(job) : MeasureRun(job);
}

void RunExactnessJobs(std::span<const ExactnessJob> jobs, int threads, ExactnessResults& results,
                      const std::function<void(const ExactnessJob&, const Measurement&)>& done,
                      const std::atomic<bool>* cancel) {
  if (threads < 1) BadInput("threads must be at least 1, got {}", threads);
  std::vector<const ExactnessJob*> open;
  for (const ExactnessJob& job : jobs) {
    if (results.count(job.Key()) == 0) open.push_back(&job);
  }
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    while (!failed && (cancel == nullptr || !cancel->load())) {
      const std::size_t index = next++;
      if (index >= open.size()) return;
      try {
        const Measurement values = RunExactnessJob(*open[index]);
        std::lock_guard lock(mutex);
        results[open[index]->Key()] = values;
        done(*open[index], values);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        failed = true;
      }
    }
  };
  std::vector<std::thread> team;
  for (int i = 1; i < threads; ++i) team.emplace_back(work);
  work();
  for (std::thread& thread : team) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace punt
