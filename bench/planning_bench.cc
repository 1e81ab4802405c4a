// What planning itself costs: whole PUNT steps on a denoiser whose forward pass is free, because its rows
// lie ready in memory. L = m = 1,024 masked positions, V = 32,000. Everything that remains is ours:
// proposals, scores, ranking, rounds, divergences, bookkeeping.
//
// Reported: seconds per million rows, that is microseconds per row, to be held against row_kernels_bench. A base
// pass reads 1,024 rows, a test pass the rows it tests.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>

#include "base/processors.h"
#include "base/thread_pool.h"
#include "kernels/row_kernels.h"
#include "punt/generator.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr int kLength = 1024;
constexpr int kVocab = 32000;
constexpr std::size_t kRowSize = kVocab;

using Table = std::vector<float>;

Table RandomTable(std::uint64_t seed) {
  Table table(static_cast<std::size_t>(kLength) * kRowSize);
  RandomStream stream(Mix64(seed));
  for (float& logit : table) logit = static_cast<float>(4 * stream.Uniform() + (stream.Next() % 997 == 0 ? 8 : 0));
  return table;
}

/// Base passes read the first table, test passes the second, a slight disturbance of it.
class MemorySession : public DenoiserSession {
 public:
  MemorySession(const DenoiserInfo& info, int threads, const Table& base, const Table& test)
      : DenoiserSession(info), base_(base), test_(test), pool_(threads), scratch_(static_cast<std::size_t>(threads)) {}

 private:
  struct TablePass : Pass {
    TablePass(std::span<const Token> canvas, const Table& rows) : Pass(canvas), table(rows) {}
    const Table& table;
  };

  static std::span<const float> Row(const Pass* pass, Position position) {
    return std::span(static_cast<const TablePass*>(pass)->table)
        .subspan(static_cast<std::size_t>(position) * kRowSize, kRowSize);
  }

  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::vector<PassRef> passes;
    for (const Query& query : queries) {
      passes.push_back(std::make_shared<TablePass>(query.canvas, query.kind == PassKind::kBase ? base_ : test_));
    }
    return passes;
  }

  void DoPropose(std::span<const ProposalRequest> requests) override {
    for (const ProposalRequest& request : requests) {
      pool_.For(request.rows.size(), [&](std::size_t begin, std::size_t end, int worker) {
        for (std::size_t i = begin; i < end; ++i) {
          request.out[i] = ProposeRow(Row(request.pass, request.rows[i]), request.rows[i], *request.options,
                                      request.key, scratch_[static_cast<std::size_t>(worker)]);
        }
      });
    }
  }

  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    for (const DivergenceRequest& request : requests) {
      pool_.For(request.rows.size(), [&](std::size_t begin, std::size_t end, int worker) {
        for (std::size_t i = begin; i < end; ++i) {
          request.out[i] = DivergeRows(Row(request.base, request.rows[i]), Row(request.fresh, request.rows[i]),
                                       *request.options, scratch_[static_cast<std::size_t>(worker)]);
        }
      });
    }
  }

  void DoLogProbs(std::span<const LogProbRequest>) override {}
  void DoTokenProbs(std::span<const TokenProbRequest>) override {}

  const Table& base_;
  const Table& test_;
  ThreadPool pool_;
  std::vector<RowScratch> scratch_;
};

void BM_PuntStep(benchmark::State& state) {
  static const Table base = RandomTable(1);
  static const Table test = [] {
    Table table = base;
    RandomStream stream(Mix64(2));
    for (float& logit : table) logit += static_cast<float>(0.2 * stream.Uniform());
    return table;
  }();
  const DenoiserInfo info{.name = "memory", .vocab_size = kVocab, .mask_token = kVocab - 1, .max_length = kLength};
  MemorySession session(info, static_cast<int>(state.range(0)), base, test);
  const Canvas canvas(std::vector<Token>(kLength, info.mask_token), info.mask_token, kVocab);
  const double temperature = static_cast<double>(state.range(1)) / 10;
  Recipe recipe = MakeRecipe("punt:epsilon=0.004", "margin", {.temperature = temperature}, info);
  recipe.max_steps = 1;

  std::int64_t rows = 0;
  for (auto _ : state) {
    const GenerateResult result = Generate(session, canvas, recipe);
    rows += result.counters.rows_read;
    state.counters["passes"] = static_cast<double>(result.counters.nfe());
    state.counters["committed"] = result.committed;
  }
  state.counters["per_million_rows"] =
      benchmark::Counter(static_cast<double>(rows) * 1e-6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(BM_PuntStep)
    ->ArgNames({"threads", "temperature_x10"})
    ->Args({1, 0})
    ->Args({1, 7})
    ->Args({UsableProcessors(), 7})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace punt
