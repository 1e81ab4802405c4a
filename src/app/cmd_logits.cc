// punt logits: the raw logits of a model, for comparison with other implementations. No token is banned, no guidance
// and, unless asked for, no shift applied.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "app/command.h"
#include "app/help.h"
#include "app/hub_pull.h"
#include "app/interruptible.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "app/terminal.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "model/bundled_models.h"
#include "model/merged_source.h"
#include "model/network.h"
#include "model/network_runner.h"
#include "weights/safetensors.h"

namespace punt {
namespace {

struct LogitsFlags {
  ModelFlags model;
  std::string inputs;
  std::string out;
  std::string attention;
  bool shifted = false;
};

struct Case {
  std::string name;
  std::vector<Token> tokens;
  std::vector<Token> types;
  std::int64_t attention_block = -1;
};

std::vector<Token> ReadTokens(const nlohmann::json& list, std::string_view where, std::int64_t limit) {
  if (!list.is_array()) BadInput("{} must be an array of tokens", where);
  std::vector<Token> tokens;
  for (const nlohmann::json& item : list) {
    if (!item.is_number_integer() || item.get<std::int64_t>() < 0 || item.get<std::int64_t>() >= limit) {
      BadInput("{}[{}] is {}, must be an integer in 0..{}", where, tokens.size(), Dump(item), limit - 1);
    }
    tokens.push_back(item.get<Token>());
  }
  return tokens;
}

Case ReadCase(const nlohmann::json& item, const std::string& where, const Hyperparameters& hyper) {
  if (!item.is_object() || !item.contains("name") || !item["name"].is_string()) BadInput("{}: name is missing", where);
  if (!item.contains("input_ids")) BadInput("{}: input_ids is missing", where);
  Case c{.name = item["name"].get<std::string>(),
         .tokens = ReadTokens(item["input_ids"], where + ".input_ids", hyper.vocab_size),
         .types = {}};
  if (c.tokens.empty()) BadInput("{}.input_ids is empty", where);
  if (std::ssize(c.tokens) > hyper.context_length) {
    BadInput("{}.input_ids has {} tokens, the model takes {}", where, c.tokens.size(), hyper.context_length);
  }
  if (item.contains("token_type_ids") && !item["token_type_ids"].is_null()) {
    c.types =
        ReadTokens(item["token_type_ids"], where + ".token_type_ids", std::max<std::int64_t>(hyper.token_types, 1));
    if (c.types.size() != c.tokens.size()) BadInput("{}.token_type_ids must be as long as input_ids", where);
  }
  if (item.contains("block_length")) {
    const nlohmann::json& block = item["block_length"];
    if (!block.is_null() && (!block.is_number_integer() || block.get<std::int64_t>() < 1)) {
      BadInput("{}.block_length is {}, must be null or a positive integer", where, Dump(block));
    }
    c.attention_block = block.is_null() ? 0 : block.get<std::int64_t>();
  }
  return c;
}

std::vector<Case> ReadCases(const std::string& file, const Hyperparameters& hyper) {
  std::ifstream in(file);
  if (!in) BadInput("cannot read '{}'", file);
  const nlohmann::json root = nlohmann::json::parse(in, IsShallow<nlohmann::json>, false);
  if (root.is_discarded()) BadInput("{}: not JSON", file);
  if (!root.is_object() || !root.contains("cases") || !root["cases"].is_array()) {
    const bool refers = root.is_object() && root.contains("see") && root["see"].is_string();
    BadInput("{}: 'cases' is missing{}; expected {{\"cases\": [{{\"name\": \"a\", \"input_ids\": [1, 2, 3]}}, ...]}}",
             file, refers ? fmt::format(" (its cases are those of {})", root["see"].get<std::string>()) : "");
  }
  std::vector<Case> cases;
  for (const nlohmann::json& item : root["cases"]) {
    cases.push_back(ReadCase(item, fmt::format("{}: cases[{}]", file, cases.size()), hyper));
  }
  return cases;
}

/// Row i of a shifted model's prediction is row i - 1 of the network, row 0 its own.
std::vector<Position> Rows(std::size_t length, bool shifted) {
  std::vector<Position> rows(length);
  std::iota(rows.begin(), rows.end(), shifted ? -1 : 0);
  if (!rows.empty()) rows.front() = 0;
  return rows;
}

/// In the order of names, as the format's own library writes files.
void WriteByName(const std::string& file, std::vector<SafetensorsTensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  WriteSafetensors(file, tensors);
}

int Run(const LogitsFlags& flags) {
  const std::atomic<bool>& interrupted = InstallInterruptHandlers();
  PullIfMissing(flags.model.name, flags.model.lora);
  const std::unique_ptr<const Network> opened = Interruptibly("while the model was opened", [flags] {
    return std::make_unique<Network>(OpenMergedFiles(LocateModel(flags.model.name), flags.model.lora),
                                     NetworkOptions{.device = flags.model.device,
                                                    .gpu_layers = static_cast<int>(flags.model.gpu_layers),
                                                    .compute = ParseCompute(flags.model.compute),
                                                    .repack = !flags.model.no_repack});
  });
  const Network& network = *opened;
  PrintWarnings(network.warnings());
  const Hyperparameters& hyper = network.hyper();
  const std::vector<Case> cases = ReadCases(flags.inputs, hyper);
  NetworkRunner runner(network, {.threads = ThreadCount(flags.model.threads)});

  std::vector<std::vector<float>> values;
  std::vector<SafetensorsTensor> logits;
  std::vector<std::vector<float>> maps;
  std::vector<SafetensorsTensor> attention;
  const int last = static_cast<int>(hyper.layers) - 1;
  for (const Case& c : cases) {
    if (interrupted) return kInterruptedExit;
    const std::vector<Position> rows = Rows(c.tokens.size(), flags.shifted && hyper.shift_logits);
    const Sequence sequence{
        .tokens = c.tokens, .rows = rows, .shadow_of = {}, .types = c.types, .attention_block = c.attention_block};
    std::vector<AttentionProbabilities> probabilities;
    const bool wants_attention = !flags.attention.empty();
    const std::vector<float> hidden =
        runner.Hidden({&sequence, 1}, {&last, wants_attention ? 1u : 0u}, wants_attention ? &probabilities : nullptr);
    values.emplace_back(rows.size() * static_cast<std::size_t>(hyper.vocab_size));
    runner.Logits(hidden, values.back());
    const auto length = std::ssize(c.tokens);
    logits.push_back({.name = c.name, .shape = {length, hyper.vocab_size}, .values = values.back()});
    if (!wants_attention) continue;
    maps.push_back(std::move(probabilities.front().values));
    attention.push_back({.name = c.name, .shape = {hyper.heads, length, length}, .values = maps.back()});
  }
  WriteByName(flags.out, logits);
  if (!flags.attention.empty()) WriteByName(flags.attention, attention);
  fmt::print(stderr, "punt: wrote the logits of {} cases to {}\n", cases.size(), flags.out);
  return 0;
}

constexpr const char* kExamples = R"(Examples:
  punt logits --model LLaDA-8B-Instruct --inputs inputs.json --out logits.safetensors
  punt logits --model dream.gguf --inputs inputs.json --out shifted.safetensors --shifted
  punt logits --model bert.gguf --inputs inputs.json --out l.safetensors --attention a.safetensors

Inputs are {"cases": [{"name": "a", "input_ids": [1, 2, 3]}, ...]}, with "token_type_ids" for models with segments and
"block_length" for block-causal attention (null: every position sees every other). The output holds a float32 tensor
[length, vocabulary] per case, attention [heads, queries, keys] of the last layer.)";

}  // namespace

Runner AddLogits(CLI::App& command) {
  const auto flags = std::make_shared<LogitsFlags>();
  command.footer(kExamples);
  AddModel(command, flags->model, "A GGUF file or a Hugging Face folder")->required();
  command.add_option("--inputs", flags->inputs, "JSON file with the cases")->required();
  command.add_option("--out", flags->out, "Safetensors file to write")->required();
  command.add_option("--attention", flags->attention, "Also write the last layer's attention to this file");
  command.add_flag("--shifted", flags->shifted, "Apply the shift of models that have one (Dream)");
  SetGroup(command, "Output", {"--out", "--attention", "--shifted"});
  return [flags] { return Run(*flags); };
}

}  // namespace punt
