// Measures forward passes over a file: whole passes, output head included, as llama-bench's prompt processing does.
//
//   forward_tool MODEL ROWS[,ROWS...] [THREADS [REPEATS [DEVICE [packed|mapped]]]] [--compute NAME[,NAME...]]
//
// Prints one JSON object per number of rows and way to compute (auto, exact, float, int8, ggml): the best of the
// repeats, which disturbances can only make worse. Several ways take turns, pass by pass. cpu_seconds is the processor
// time of the pass that needed least: on one thread it tells ways apart even where other programs compete for the
// cores. samples are the seconds of every pass but the first, which warms up.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "base/processors.h"
#include "model/bundled_models.h"
#include "model/model_files.h"
#include "model/network.h"
#include "model/network_runner.h"
#include "tool.h"

namespace punt {
namespace {

double Seconds(const std::chrono::steady_clock::time_point& begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One pass over `rows` tokens, logits of all rows.
double OnePass(NetworkRunner& runner, const Hyperparameters& hyper, std::int64_t rows, std::vector<float>& logits) {
  std::vector<Token> tokens(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<Token>(i * 7 % 256);
  std::vector<Position> all(tokens.size());
  std::iota(all.begin(), all.end(), 0);
  const Sequence sequence{.tokens = tokens, .rows = all, .shadow_of = {}};
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<float> hidden = runner.Hidden({&sequence, 1});
  constexpr std::int64_t kPortion = 64;  // as sessions do
  const auto dim = static_cast<std::size_t>(hyper.model_dim);
  for (std::int64_t first = 0; first < rows; first += kPortion) {
    const auto count = static_cast<std::size_t>(std::min(kPortion, rows - first));
    logits.resize(count * static_cast<std::size_t>(hyper.vocab_size));
    runner.Logits(std::span(hidden).subspan(static_cast<std::size_t>(first) * dim, count * dim), logits);
  }
  return Seconds(begin);
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A model open for one way to compute, and its best times so far.
struct Way {
  std::string name;
  double load = 0;
  std::unique_ptr<Network> network;
  std::unique_ptr<NetworkRunner> runner;
  double seconds = 0;
  double cpu_seconds = 0;
  std::vector<double> samples = {};  // seconds of every pass but the first

  void Pass(std::int64_t rows, std::vector<float>& logits, bool is_first) {
    const double before = CpuSeconds();
    const double wall = OnePass(*runner, network->hyper(), rows, logits);
    const double cpu = CpuSeconds() - before;
    if (is_first) {
      samples.clear();
    } else {
      samples.push_back(wall);
    }
    seconds = is_first ? wall : std::min(seconds, wall);
    cpu_seconds = is_first ? cpu : std::min(cpu_seconds, cpu);
  }
};

void Print(const Way& way, std::int64_t rows) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{{\"compute\":\"{}\",\"rows\":{},\"seconds\":{:.4f},\"cpu_seconds\":{:.4f},\"tokens_per_second\":{:.1f},"
      "\"load_seconds\":{:.3f},\"weight_bytes\":{},\"compute_bytes\":{},\"peak_rss_bytes\":{},\"samples\":[{:.6f}]}}\n",
      way.name, rows, way.seconds, way.cpu_seconds, static_cast<double>(rows) / way.seconds, way.load,
      way.network->weight_bytes(), way.runner->compute_bytes(), usage.ru_maxrss * 1024, fmt::join(way.samples, ","));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  std::vector<std::string> arguments;
  std::vector<std::string> computes = {"auto"};
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--compute") {
      arguments.emplace_back(argv[i]);
    } else if (++i < argc) {
      computes = Split(argv[i]);
    }
  }
  if (arguments.size() < 2) {
    BadInput(
        "usage: forward_tool MODEL ROWS[,ROWS...] [THREADS [REPEATS [DEVICE [packed|mapped]]]] "
        "[--compute NAME[,NAME...]]");
  }
  arguments.resize(6);
  const auto& [model, rows_list, threads_text, repeats_text, device, layout] =
      std::tie(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  const int threads = threads_text.empty() ? UsableProcessors() : std::stoi(threads_text);
  const int repeats = repeats_text.empty() ? 3 : std::stoi(repeats_text);
  std::vector<Way> ways;
  for (const std::string& name : computes) {
    const auto begin = std::chrono::steady_clock::now();
    Way& way = ways.emplace_back();
    way.name = name;
    way.network = std::make_unique<Network>(
        OpenModelFiles(LocateModel(model)),
        NetworkOptions{
            .device = device.empty() ? "cpu" : device, .compute = ParseCompute(name), .repack = layout != "mapped"});
    way.load = Seconds(begin);
    way.runner = std::make_unique<NetworkRunner>(*way.network, NetworkRunnerOptions{.threads = threads});
  }
  std::vector<float> logits;
  for (const std::string& item : Split(rows_list)) {
    const std::int64_t rows = std::stoll(item);
    for (int i = 0; i <= repeats; ++i) {  // the first pass also warms up
      for (Way& way : ways) way.Pass(rows, logits, i == 0);
    }
    for (const Way& way : ways) Print(way, rows);
  }
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("forward_tool", [&] { return punt::Main(argc, argv); });
}
