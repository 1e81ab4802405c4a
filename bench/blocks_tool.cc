// What the cache of blocks saves: seconds per token of a model in blocks, behind beginnings of several lengths, with
// the cache and without.
//
//   blocks_tool MODEL [--prefixes 64,256,1024,4096] [--length 32] [--whole 2] [--planner top-k:k=1] [--threads N]
//               [--compute auto] [--rival FILE] [--processor-time]
//
// The beginning is random tokens. With the cache, the first step computes it and is told apart; then `length` positions
// are filled. Without, every step computes everything, and is measured for `whole` steps after one to warm up. The
// rival is an autoregressive model of the same sizes in llama.cpp: how long it takes to read the same number of tokens,
// and a token behind them. All take turns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/processors.h"
#include "llama_tokens.h"
#include "punt/generator.h"
#include "punt/model.h"
#include "punt/random.h"
#include "tool.h"

namespace punt {
namespace {

struct Flags {
  std::string model;
  std::string prefixes = "64,256,1024,4096";
  int length = 32;
  int whole = 2;
  std::string planner = "top-k:k=1";
  int threads = UsableProcessors();
  std::string compute = "auto";
  std::string rival;
  bool of_processor = false;
};

/// When each step ended, and what had been filled by then.
class Watch : public Observer {
 public:
  explicit Watch(bool of_processor) : of_processor_(of_processor) {}

  void On(const TraceEvent& event) override {
    if (std::holds_alternative<RunEvent>(event)) start = Seconds(of_processor_);
    if (const auto* commit = std::get_if<CommitEvent>(&event)) {
      ends.push_back(Seconds(of_processor_));
      filled.push_back((filled.empty() ? 0 : filled.back()) + static_cast<int>(commit->positions.size()));
      rows.push_back(commit->counters.row_passes);
    }
  }

  double first() const { return ends.front() - start; }
  /// Of the steps after the first.
  double per_token() const { return (ends.back() - ends.front()) / (filled.back() - filled.front()); }
  double rows_per_token() const {
    return static_cast<double>(rows.back() - rows.front()) / (filled.back() - filled.front());
  }

 private:
  const bool of_processor_;
  double start = 0;
  std::vector<double> ends;
  std::vector<int> filled;
  std::vector<std::int64_t> rows;
};

Watch Measure(const Flags& flags, const Model& model, int prefix, CacheKind cache) {
  const DenoiserInfo& info = model.denoiser->info();
  RandomStream random(StreamKey{.seed = static_cast<std::uint64_t>(prefix)}, 0, Purpose::kPlan);
  std::vector<Token> tokens(static_cast<std::size_t>(prefix + flags.length), info.mask_token);
  for (Token& token : std::span(tokens).first(static_cast<std::size_t>(prefix))) {
    token = static_cast<Token>(random.Below(200));
  }
  Recipe recipe = MakeRecipe(flags.planner, "", {.temperature = 0}, info);
  recipe.cache.kind = cache;
  recipe.max_steps = cache == CacheKind::kNone ? 1 + flags.whole : 0;
  const auto session = model.denoiser->NewSession({.threads = flags.threads});
  Watch watch(flags.of_processor);
  Generate(*session, Canvas(tokens, info.mask_token, info.vocab_size), recipe, {.observer = &watch});
  return watch;
}

int Main(int argc, char** argv) {
  CLI::App app("blocks_tool");
  Flags flags;
  app.add_option("model", flags.model)->required();
  app.add_option("--prefixes", flags.prefixes);
  app.add_option("--length", flags.length);
  app.add_option("--whole", flags.whole);
  app.add_option("--planner", flags.planner);
  app.add_option("--threads", flags.threads);
  app.add_option("--compute", flags.compute);
  app.add_option("--rival", flags.rival);
  app.add_flag("--processor-time", flags.of_processor);
  CLI11_PARSE(app, argc, argv);
  Model model = OpenModel(flags.model, {.compute = flags.compute});
  if (model.denoiser->info().block_size == 0) BadInput("{} has no blocks", flags.model);
  std::vector<int> prefixes;
  for (const std::string& prefix : Split(flags.prefixes)) prefixes.push_back(std::stoi(prefix));
  if (prefixes.empty()) BadInput("--prefixes is empty");
  const int longest = *std::max_element(prefixes.begin(), prefixes.end()) + flags.length;
  std::optional<LlamaTokens> rival;
  if (!flags.rival.empty()) rival.emplace(flags.rival, longest, flags.threads, flags.of_processor);
  fmt::print(
      "| prefix | without, s per token | rows | with, s per token | rows | ratio | the prefix and a step, s |{}\n",
      rival ? " llama.cpp: the prefix, s | s per token |" : "");
  fmt::print("|---:|---:|---:|---:|---:|---:|---:|{}\n", rival ? "---:|---:|" : "");
  for (int prefix : prefixes) {
    const Watch with = Measure(flags, model, prefix, CacheKind::kBlocks);
    const Watch without = Measure(flags, model, prefix, CacheKind::kNone);
    fmt::print("| {} | {:.4f} | {:.0f} | {:.4f} | {:.1f} | {:.1f} | {:.3f} |", prefix, without.per_token(),
               without.rows_per_token(), with.per_token(), with.rows_per_token(),
               without.per_token() / with.per_token(), with.first());
    if (rival) {
      const LlamaTokens::Took seconds = rival->Measure(prefix, flags.length);
      fmt::print(" {:.3f} | {:.4f} |", seconds.prefix, seconds.per_token);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("blocks_tool", [&] { return punt::Main(argc, argv); });
}
