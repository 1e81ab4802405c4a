// How far types of weights and ways to compute move a model's output: the mean KL divergence, at masked positions of
// real text, from the float32 file computed exactly.
//
//   compute_error_tool MODEL_F32 TEXT [PIECES [LENGTH]] [--types f16,q8_0,...] [--computes ggml,exact,...]
//
// The text is cut into pieces of LENGTH tokens; in piece i a random 25, 50 or 75 % of the positions are masked. The
// file is converted to each type in a temporary folder, and every way to compute reads the same file and the same
// pieces. Prints a Markdown table: mean and largest KL(p || q) in nats, how often the most probable token is the same
// one.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/check.h"
#include "model/bundled_models.h"
#include "model/model_files.h"
#include "model/network.h"
#include "model/network_runner.h"
#include "punt/random.h"
#include "punt/weights.h"
#include "text/vocabulary.h"
#include "tool.h"

namespace punt {
namespace {

struct Piece {
  std::vector<Token> tokens;
  std::vector<Position> masked;
};

std::vector<Piece> CutPieces(const Network& network, const std::string& file, std::size_t count, std::size_t length) {
  std::ifstream in(file);
  if (!in) BadInput("cannot read '{}'", file);
  std::stringstream text;
  text << in.rdbuf();
  const Vocabulary vocabulary = OpenVocabulary(network.metadata());
  // A token is rarely longer than 20 bytes.
  const std::vector<Token> tokens = vocabulary.tokenizer->Encode(text.str().substr(0, count * length * 20));
  if (tokens.size() < count * length) BadInput("'{}' has {} tokens, not {}", file, tokens.size(), count * length);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream stream({.seed = 1, .sample = i}, 0, Purpose::kPlan);
    Piece& piece = pieces.emplace_back();
    const double share = 0.25 * static_cast<double>(1 + i % 3);
    for (std::size_t j = 0; j < length; ++j) {
      const bool masks = stream.Uniform() < share;
      piece.tokens.push_back(masks ? network.mask_token() : tokens[i * length + j]);
      if (masks) piece.masked.push_back(static_cast<Position>(j));
    }
  }
  return pieces;
}

/// Logits of all masked positions of all pieces.
std::vector<float> MaskedLogits(const Network& network, const std::vector<Piece>& pieces) {
  NetworkRunner runner(network, {});
  std::vector<float> all;
  for (const Piece& piece : pieces) {
    const Sequence sequence{.tokens = piece.tokens, .rows = piece.masked, .shadow_of = {}};
    std::vector<float> logits(piece.masked.size() * static_cast<std::size_t>(network.hyper().vocab_size));
    runner.Logits(runner.Hidden({&sequence, 1}), logits);
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

std::vector<double> LogSoftmax(std::span<const float> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits) sum += std::exp(logit - top);
  std::vector<double> result;
  for (float logit : logits) result.push_back(logit - top - std::log(sum));
  return result;
}

struct Difference {
  double mean = 0;
  double largest = 0;
  double agreement = 0;  // of the most probable token
};

Difference Compare(std::span<const float> truth, std::span<const float> other, std::size_t vocab) {
  Difference difference;
  const std::size_t rows = truth.size() / vocab;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<double> p = LogSoftmax(truth.subspan(row * vocab, vocab));
    const std::vector<double> q = LogSoftmax(other.subspan(row * vocab, vocab));
    double divergence = 0;
    for (std::size_t v = 0; v < vocab; ++v) divergence += std::exp(p[v]) * (p[v] - q[v]);
    difference.mean += divergence / static_cast<double>(rows);
    difference.largest = std::max(difference.largest, divergence);
    const bool agrees =
        std::max_element(p.begin(), p.end()) - p.begin() == std::max_element(q.begin(), q.end()) - q.begin();
    difference.agreement += agrees ? 1.0 / static_cast<double>(rows) : 0;
  }
  return difference;
}

int Main(int argc, char** argv) {
  std::vector<std::string> arguments;
  std::vector<std::string> types = {"f32", "f16", "q8_0", "q4_k_m", "q4_0"};
  std::vector<std::string> computes = {"ggml", "exact", "auto", "int8"};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool is_option = argument == "--types" || argument == "--computes";
    if (!is_option) arguments.push_back(argument);
    if (is_option && ++i < argc) (argument == "--types" ? types : computes) = Split(argv[i]);
  }
  if (arguments.size() < 2) {
    BadInput("usage: compute_error_tool MODEL_F32 TEXT [PIECES [LENGTH]] [--types LIST] [--computes LIST]");
  }
  const std::size_t count = arguments.size() > 2 ? std::stoul(arguments[2]) : 12;
  const std::size_t length = arguments.size() > 3 ? std::stoul(arguments[3]) : 128;

  const Network exact(OpenModelFiles(LocateModel(arguments[0])), {.device = "cpu", .compute = Compute::kExact});
  const auto vocab = static_cast<std::size_t>(exact.hyper().vocab_size);
  const std::vector<Piece> pieces = CutPieces(exact, arguments[1], count, length);
  const std::vector<float> truth = MaskedLogits(exact, pieces);
  fmt::print("{} masked positions in {} pieces of {} tokens\n\n", truth.size() / vocab, count, length);
  fmt::print("| weights | compute | mean KL, nats | largest KL | same top token |\n|---|---|---:|---:|---:|\n");

  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("compute-error-{}.gguf", getpid());
  for (const std::string& type : types) {
    ConvertModel(arguments[0], file, {.type = type});
    for (const std::string& compute : computes) {
      const Network network(OpenModelFiles(file), {.device = "cpu", .compute = ParseCompute(compute)});
      const Difference d = Compare(truth, MaskedLogits(network, pieces), vocab);
      fmt::print("| {} | {} | {:.3g} | {:.3g} | {:.2f} % |\n", type, compute, d.mean, d.largest, 100 * d.agreement);
      std::fflush(stdout);
    }
  }
  std::filesystem::remove(file);
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("compute_error_tool", [&] { return punt::Main(argc, argv); });
}
