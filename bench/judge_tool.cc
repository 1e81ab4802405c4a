// What a judge says of texts: the figures of `punt eval stories`, for texts from anywhere.
//
//   judge_tool JUDGE.gguf [FILE [THREADS]]
//
// FILE (- or none: the standard input) has a JSON string per line. Prints one JSON object: the perplexity of all texts
// together with its 95 % interval, nats per token, and how many texts and tokens were judged.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/processors.h"
#include "eval/judges/perplexity.h"
#include "report/confidence_json.h"
#include "tool.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> ReadTexts(std::istream& in, const std::string& name) {
  std::vector<std::string> texts;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const Json text = Json::parse(line, nullptr, false);
    if (!text.is_string()) BadInput("{}, line {}: not a JSON string", name, number);
    texts.push_back(text.get<std::string>());
  }
  if (in.bad()) BadInput("cannot read '{}'", name);
  return texts;
}

std::vector<std::string> ReadTexts(const std::string& path) {
  if (path == "-") return ReadTexts(std::cin, "the standard input");
  std::ifstream file(path, std::ios::binary);
  if (!file) BadInput("cannot read '{}'", path);
  return ReadTexts(file, path);
}

int Main(int argc, char** argv) {
  if (argc < 2 || argc > 4) BadInput("usage: judge_tool JUDGE.gguf [FILE [THREADS]]");
  const std::vector<std::string> texts = ReadTexts(argc > 2 ? argv[2] : "-");
  const int threads = argc > 3 ? std::stoi(argv[3]) : UsableProcessors();
  TextJudge judge(argv[1], threads);
  std::vector<Likelihood> judged;
  std::int64_t tokens = 0;
  for (const std::string& text : texts) {
    judged.push_back(JudgeGenerated(judge, text));
    tokens += judged.back().tokens;
  }
  const std::optional<Estimate> nats = NatsPerToken(judged);
  if (!nats) BadInput("there is no text to judge");
  const Estimate perplexity = ExpOf(*nats);
  const Json result = {{"texts", texts.size()},
                       {"judge_tokens", tokens},
                       {"judge_perplexity", perplexity.value},
                       {"judge_perplexity_ci95", IntervalJson(perplexity.ci95)},
                       {"judge_nll_per_token", nats->value}};
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("judge_tool", [&] { return punt::Main(argc, argv); });
}
