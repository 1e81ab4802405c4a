// How fast rows are reduced, against a plain read of the same memory. 1,024 rows of V = 32,000 floats (131 MB) do
// not fit any cache, so the read is the best any pass over them could do; `of_memory_read` is each kernel's
// share of it. Divergences read two rows; both count.
//
//   build/release/row_kernels_bench
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <span>
#include <vector>

#include "kernels/row_kernels.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr std::size_t kVocab = 32000;
constexpr std::size_t kRows = 1024;

using Row = std::span<const float>;

/// Rows whose logits are roughly normal with a deviation of 2.5: several nats between the bulk and the best tokens.
class Table {
 public:
  explicit Table(std::uint64_t seed) : values_(kRows * kVocab) {
    RandomStream stream({.seed = seed}, 0, Purpose::kToyModel);
    std::vector<float> pool(1 << 20);
    for (float& value : pool) {
      const double sum = stream.Uniform() + stream.Uniform() + stream.Uniform() + stream.Uniform();
      value = static_cast<float>(2.5 * std::sqrt(3.0) * (sum - 2));
    }
    for (std::size_t i = 0; i < values_.size(); i += 16) {
      const std::size_t from = stream.Below(pool.size() - 16);
      std::copy_n(pool.begin() + static_cast<std::ptrdiff_t>(from), 16,
                  values_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  Row At(std::size_t row) const { return Row(values_).subspan(row * kVocab, kVocab); }

 private:
  std::vector<float> values_;
};

const Table& Base() {
  static const Table table(1);
  return table;
}

const Table& Fresh() {
  static const Table table(2);
  return table;
}

/// Independent sums, which the compiler turns into vectors: bound by memory alone.
float PlainRead(Row row) {
  float sums[64] = {};
  for (std::size_t i = 0; i + 64 <= row.size(); i += 64) {
    for (std::size_t j = 0; j < 64; ++j) sums[j] += row[i + j];
  }
  float total = 0;
  for (float sum : sums) total += sum;
  return total;
}

/// Seconds of work of this thread: other users of the machine steal wall time, not this.
double Now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds for one sweep over all rows.
template <typename Reduce>
double Sweep(const Reduce& reduce) {
  const double start = Now();
  for (std::size_t row = 0; row < kRows; ++row) benchmark::DoNotOptimize(reduce(row));
  return Now() - start;
}

/// Runs `reduce` on one row after another; it reads `rows_per_call` of them. Every sweep is followed by a plain read,
/// so that both meet the same neighbours, and the best of each are compared: noise only ever adds time.
template <typename Reduce>
void Run(benchmark::State& state, int rows_per_call, const Reduce& reduce) {
  Base();
  Fresh();
  double fastest = 1e9;
  double fastest_read = 1e9;
  for (auto _ : state) {
    const double seconds = Sweep(reduce);
    fastest = std::min(fastest, seconds);
    fastest_read = std::min(fastest_read, Sweep([](std::size_t row) { return PlainRead(Base().At(row)); }));
    state.SetIterationTime(seconds);
  }
  const auto bytes = static_cast<double>(kRows * kVocab * sizeof(float));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * rows_per_call *
                          static_cast<std::int64_t>(state.iterations()));
  state.counters["us_per_row"] = fastest / static_cast<double>(kRows) * 1e6;
  state.counters["best_GB_per_s"] = bytes * rows_per_call / fastest / 1e9;
  state.counters["of_memory_read"] = rows_per_call * fastest_read / fastest;
}

void MemoryRead(benchmark::State& state) {
  Run(state, 1, [](std::size_t row) { return PlainRead(Base().At(row)); });
}

void Summarise(benchmark::State& state) {
  Run(state, 1, [](std::size_t row) { return SummariseRow(Base().At(row)); });
}

void SummariseDraw(benchmark::State& state, double temperature) {
  Run(state, 1, [temperature](std::size_t row) {
    Token token = 0;
    RowStats stats = SummariseAndDraw(Base().At(row), temperature, row, &token);
    stats.top_token = token;
    return stats;
  });
}

void Diverge(benchmark::State& state, Divergence kind) {
  Run(state, 2, [kind](std::size_t row) { return RowDivergence(Base().At(row), Fresh().At(row), kind); });
}

void Propose(benchmark::State& state, const ProposalOptions& options) {
  RowScratch scratch;
  Run(state, 1, [&](std::size_t row) {
    return ProposeRow(Base().At(row), static_cast<Position>(row), options, StreamKey{}, scratch);
  });
}

constexpr ProposalOptions kNucleus{.convention = Convention::kDream, .temperature = 0.7, .top_p = 0.9};
constexpr ProposalOptions kNucleusGumbel{.convention = Convention::kLlada, .temperature = 0.7, .top_p = 0.9};

BENCHMARK(MemoryRead)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Summarise)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SummariseDraw, temperature_0_1, 0.1)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(SummariseDraw, temperature_0_7, 0.7)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Diverge, kl_base_new, Divergence::kKlBaseNew)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Diverge, kl_new_base, Divergence::kKlNewBase)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Diverge, js, Divergence::kJs)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Diverge, tv, Divergence::kTv)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Propose, nucleus_dream, kNucleus)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Propose, nucleus_llada, kNucleusGumbel)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace punt
