// Measures forward passes over a file: whole passes, output head included, as llama-bench's prompt processing does.
//
//   forward_tool MODEL ROWS[,ROWS...] [THREADS [REPEATS [DEVICE [packed|mapped]]]]
//
// Prints one JSON object per number of rows: the best of the repeats, which disturbances can only make worse.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "model/model_files.h"
#include "model/network.h"
#include "model/network_runner.h"

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

int Main(int argc, char** argv) {
  if (argc < 3) BadInput("usage: forward_tool MODEL ROWS[,ROWS...] [THREADS [REPEATS [DEVICE [packed|mapped]]]]");
  const int threads = argc > 3 ? std::stoi(argv[3]) : static_cast<int>(std::thread::hardware_concurrency());
  const int repeats = argc > 4 ? std::stoi(argv[4]) : 3;
  const auto begin = std::chrono::steady_clock::now();
  const Network network(OpenModelFiles(argv[1]), {.device = argc > 5 ? argv[5] : "cpu",
                                                  .repack = argc <= 6 || std::string_view(argv[6]) != "mapped"});
  const double load = Seconds(begin);
  NetworkRunner runner(network, {.threads = threads});
  std::vector<float> logits;
  std::istringstream list(argv[2]);
  for (std::string item; std::getline(list, item, ',');) {
    const std::int64_t rows = std::stoll(item);
    double best = OnePass(runner, network.hyper(), rows, logits);  // also warms up
    for (int i = 0; i < repeats; ++i) best = std::min(best, OnePass(runner, network.hyper(), rows, logits));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        "{{\"rows\":{},\"seconds\":{:.4f},\"tokens_per_second\":{:.1f},\"load_seconds\":{:.3f},\"weight_bytes\":{},"
        "\"compute_bytes\":{},\"peak_rss_bytes\":{}}}\n",
        rows, best, static_cast<double>(rows) / best, load, network.weight_bytes(), runner.compute_bytes(),
        usage.ru_maxrss * 1024);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  try {
    return punt::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "forward_tool: {}\n", error.what());
    return 2;
  }
}
