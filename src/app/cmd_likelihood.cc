// punt likelihood: how likely a model finds given texts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/command.h"
#include "app/eval_report.h"
#include "app/glyphs.h"
#include "app/help.h"
#include "app/likelihood_items.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "app/text_table.h"
#include "base/check.h"
#include "base/json_text.h"
#include "punt/planner.h"
#include "report/confidence_json.h"
#include "report/record_folder.h"
#include "tasks/evaluation.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct LikelihoodFlags {
  LikelihoodSource source;
  ModelFlags model;
  std::string method = "bound";
  std::int64_t draws = 128;
  bool independent = false;
  std::uint64_t seed = 0;
  std::string planner{kDefaultPlanner};
  std::string score;
  std::string out;
  bool json = false;
  CLI::App* command = nullptr;

  bool IsGiven(const char* option) const { return command->get_option(option)->count() > 0; }
};

void RequireConsistent(const LikelihoodFlags& flags) {
  const LikelihoodSource& source = flags.source;
  const int sources = !source.texts.empty() + !source.lines.empty() + !source.pairs.empty() + !source.fasta.empty();
  if (sources != 1) {
    BadInput("{}: give texts, or one of --lines, --pairs and --fasta",
             sources == 0 ? "there is nothing to measure" : "there are several sources of texts");
  }
  const bool has_own = !source.pairs.empty() || !source.fasta.empty();
  if (has_own && !source.prompt.empty()) BadInput("--prompt is for texts and --lines");
  const LikelihoodMethod method = ParseLikelihoodMethod(flags.method);
  for (const char* option : {"--draws", "--seed"}) {
    const bool is_used = IsRandom(method) || (method == LikelihoodMethod::kPlanner && option == std::string("--seed"));
    if (flags.IsGiven(option) && !is_used)
      BadInput("{} is not for method {}, which draws nothing", option, flags.method);
  }
  if (flags.independent && method != LikelihoodMethod::kBound) BadInput("--independent is for method bound");
  for (const char* option : {"--planner", "--score"}) {
    if (flags.IsGiven(option) && method != LikelihoodMethod::kPlanner) BadInput("{} is for method planner", option);
  }
  if (method == LikelihoodMethod::kPlanner) CanonicalPlannerSpec(flags.planner);
}

/// What decides the records.
Configuration ConfigurationOf(const LikelihoodFlags& flags, const Model& model) {
  const LikelihoodMethod method = ParseLikelihoodMethod(flags.method);
  std::string texts;
  for (const std::string& text : flags.source.texts) texts += Dump(Json(text)) + " ";
  Configuration configuration = {
      {"likelihood", flags.method},
      {"model", FileIdentity(model.name, true)},
      {"texts", flags.source.file().empty() ? texts : FileIdentity(flags.source.file(), false)},
      {"prompt", flags.source.prompt},
      {"compute", flags.model.compute},
      {"lora", AdapterIdentity(flags.model.lora)}};
  const auto add = [&](const char* name, const std::string& value) { configuration.emplace_back(name, value); };
  if (IsRandom(method)) add("draws", std::to_string(flags.draws));
  if (method == LikelihoodMethod::kBound) add("stratified", flags.independent ? "no" : "yes");
  if (IsRandom(method) || method == LikelihoodMethod::kPlanner) add("seed", std::to_string(flags.seed));
  if (method == LikelihoodMethod::kPlanner) add("planner", ShortPlannerSpec(flags.planner));
  if (method == LikelihoodMethod::kPlanner && !flags.score.empty()) add("score", flags.score);
  return configuration;
}

/// The records of earlier runs, by id, and the folder for those to come.
struct Log {
  Log(const std::string& folder, const Configuration& configuration)
      : records(folder, configuration, "measurement", [this](std::string_view line) {
          LikelihoodRecord record = ParseLikelihoodRecord(line);
          resumed.insert_or_assign(record.id, std::move(record));
        }) {}

  std::map<std::string, LikelihoodRecord> resumed;
  RecordFolder records;
};

struct Result {
  Configuration configuration;
  std::vector<LikelihoodRecord> records;

  /// Nats per token over all texts, which weigh as much as they are long.
  Estimate PerToken() const {
    std::vector<double> nats, tokens;
    for (const LikelihoodRecord& record : records) {
      nats.push_back(record.measured.nats);
      tokens.push_back(static_cast<double>(record.measured.token_nats.size()));
    }
    return RatioOf(nats, tokens, kNotNegative);
  }
  bool is_finite() const {
    return std::all_of(records.begin(), records.end(),
                       [](const LikelihoodRecord& record) { return std::isfinite(record.measured.nats); });
  }
};

Json SummaryJson(const Result& result) {
  Json object = {{"texts", result.records.size()}};
  for (const auto& [name, value] : result.configuration) {
    if (name != "texts") object[name == "likelihood" ? "method" : name] = value;
  }
  double nats = 0, variance = 0;
  bool has_error = true;
  std::int64_t tokens = 0, passes = 0;
  for (const LikelihoodRecord& record : result.records) {
    nats += record.measured.nats;
    has_error = has_error && record.measured.standard_error.has_value();
    variance += std::pow(record.measured.standard_error.value_or(0), 2);
    tokens += std::ssize(record.measured.token_nats);
    passes += record.measured.counters.nfe();
  }
  object["tokens"] = tokens;
  object["nats"] = result.is_finite() ? Json(nats) : Json(nullptr);
  if (has_error) object["standard_error"] = std::sqrt(variance);
  if (result.is_finite()) {
    const Estimate per_token = result.PerToken();
    const Estimate perplexity = ExpOf(per_token);
    object["nats_per_token"] = per_token.value;
    object["nats_per_token_ci95"] = IntervalJson(per_token.ci95);
    object["perplexity"] = perplexity.value;
    object["perplexity_ci95"] = IntervalJson(perplexity.ci95);
  }
  object["nfe"] = passes;
  return object;
}

void PrintTable(const Result& result) {
  std::vector<std::string> names;
  for (const LikelihoodRecord& record : result.records) names.push_back(SafeText(record.id + " " + record.text));
  const bool has_truth = result.records.front().true_nats.has_value();
  std::vector<TextColumn> columns = {{"tokens", 7},     {"nats", 11},       {"+-", 9},
                                     {"per token", 10}, {"perplexity", 11}, {"NFE", 7}};
  if (has_truth) columns.push_back({"true nats", 11});
  const TextTable table("text", names, columns, OutputColumns());
  fmt::print("{}\n", table.Head());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Likelihood& measured = result.records[i].measured;
    const auto tokens = static_cast<double>(measured.token_nats.size());
    std::vector<std::string> cells = {fmt::format("{}", measured.token_nats.size()),
                                      fmt::format("{:.4f}", measured.nats),
                                      measured.standard_error ? fmt::format("{:.4f}", *measured.standard_error) : "",
                                      fmt::format("{:.4f}", measured.nats / tokens),
                                      fmt::format("{:.4f}", std::exp(measured.nats / tokens)),
                                      fmt::format("{}", measured.counters.nfe())};
    if (has_truth) cells.push_back(fmt::format("{:.4f}", *result.records[i].true_nats));
    fmt::print("{}\n", table.Row(names[i], cells));
  }
  if (result.records.size() < 2 || !result.is_finite()) return;
  const std::vector<Figure> figures = {FigureOf("nats_per_token", result.PerToken()),
                                       FigureOf("perplexity", ExpOf(result.PerToken()))};
  fmt::print("\n{}", FigureTable({fmt::format("{}, {} texts", result.configuration.front().second, names.size())},
                                 figures, OutputColumns()));
}

/// False when it was interrupted.
bool MeasureAll(const LikelihoodFlags& flags, const Model& model, const std::vector<LikelihoodItem>& items, Log* log,
                Result& result) {
  const std::unique_ptr<DenoiserSession> session =
      model.denoiser->NewSession({.threads = flags.model.ThreadsFor(model)});
  SweepProgress progress(items.size(), "texts");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (log != nullptr && log->resumed.contains(items[i].id)) {
      result.records.push_back(log->resumed.at(items[i].id));
      continue;
    }
    progress.Show(i);
    auto measured = MeasureLikelihood(*session, items[i].canvas,
                                      {.method = ParseLikelihoodMethod(flags.method),
                                       .draws = static_cast<int>(flags.draws),
                                       .is_stratified = !flags.independent,
                                       .seed = flags.seed,
                                       .sample = i,
                                       .planner = flags.planner,
                                       .score = flags.score,
                                       .cancel = &InstallInterruptHandlers()});
    if (!measured) return false;
    result.records.push_back({.id = items[i].id,
                              .prompt = items[i].prompt,
                              .text = items[i].text,
                              .measured = std::move(*measured),
                              .true_nats = TrueNats(*model.denoiser, items[i].canvas)});
    if (log != nullptr) log->records.Add(RecordLine(result.records.back()));
  }
  return true;
}

int Run(const LikelihoodFlags& flags) {
  RequireConsistent(flags);
  const Model model = OpenAndWarn(flags.model);
  const std::vector<LikelihoodItem> items = ReadLikelihoodItems(flags.source, model);
  Result result{.configuration = ConfigurationOf(flags, model)};
  std::optional<Log> log;
  if (!flags.out.empty()) log.emplace(flags.out, result.configuration);
  if (!MeasureAll(flags, model, items, log ? &*log : nullptr, result)) {
    return SayInterrupted(fmt::format("after {} of {} texts{}", result.records.size(), items.size(),
                                      log ? "; the same command goes on from there" : ""));
  }
  Json summary = SummaryJson(result);
  if (log) log->records.Write("summary.json", Dump(summary, 2) + "\n");
  if (!flags.json) {
    PrintTable(result);
    return 0;
  }
  if (!log) {
    summary["records"] = Json::array();
    for (const LikelihoodRecord& record : result.records) summary["records"].push_back(Json::parse(RecordLine(record)));
  }
  fmt::print("{}\n", Dump(summary));
  return 0;
}

constexpr const char* kExamples = R"(Examples:
  punt likelihood "Once upon a time there was a dog."
  punt likelihood --prompt "The dog wagged its" " tail" " ear" --method left-to-right
  punt likelihood --pairs questions.jsonl --draws 512 --seed 1 --out runs/questions --json
  punt likelihood --fasta designs.fasta --method pseudo --model esm2.gguf     pseudo-perplexities of proteins
  punt likelihood abba --model toy:markov,length=4,vocab=3                    beside the true value
)";

constexpr const char* kDetails = R"(Methods, in nats of loss (docs/likelihood.md):
  bound          the mean over all orders, from --draws masks (LLaDA's Monte Carlo bound); a pass per draw
  left-to-right  the chain rule from left to right; a pass per token
  random-orders  the chain rule along --draws random orders; a pass per token and order
  planner        in the steps in which --planner would commit the tokens; its passes, tests included
  pseudo         each token given all others; a pass per token

Pairs are JSON lines {"prompt": ..., "continuation": ...} or {"text": ...}, with an "id" if you like; the continuation
is measured, given the prompt. With --out DIR, DIR/items.jsonl has a record per text, also of the nats of each token;
the same command goes on where an interrupted one stopped, and DIR/summary.json is written at the end. Draws depend on
the seed and the number of a text, not on threads or batches. "+-" is a standard error of the estimate.)";

}  // namespace

Runner AddLikelihood(CLI::App& command) {
  const auto flags = std::make_shared<LikelihoodFlags>();
  flags->command = &command;
  command.footer(std::string(kExamples) + kRestOfFooter + kDetails);
  command.add_option("texts", flags->source.texts, "Texts to measure");
  command.add_option("-p,--prompt", flags->source.prompt, "Text before each of them, which is given");
  command.add_option("--lines", flags->source.lines, "File with a text in each line");
  command.add_option("--pairs", flags->source.pairs, "JSON lines of prompts and continuations");
  command.add_option("--fasta", flags->source.fasta, "Proteins");
  SetGroup(command, "Text", {"--prompt", "--lines", "--pairs", "--fasta"});
  AddModel(command, flags->model)->default_str("stories");
  command.add_option("--method", flags->method, "bound, left-to-right, random-orders, planner or pseudo")
      ->capture_default_str();
  AddInteger(command, "--draws", flags->draws, 1, 1'000'000, "Masks of the bound, or random orders")
      ->default_str("128");
  AddSeed(command, "--seed", flags->seed, "Seed of the draws");
  command.add_flag("--independent", flags->independent, "Draw numbers of masks independently instead of stratified");
  command.add_option("--planner", flags->planner, "Whose order it is, for method planner")->capture_default_str();
  command.add_option("--score", flags->score, "Its score; default: the model's own");
  SetGroup(command, "Method", {"--method", "--draws", "--seed", "--planner"});
  SetGroup(command, "Method", {"--independent", "--score"}, kInFullHelp);
  command.add_option("--out", flags->out, "Folder of records and summary");
  command.add_flag("--json", flags->json, "Print the summary as JSON; without --out with all records");
  SetGroup(command, "Output", {"--out", "--json"});
  return [flags] { return Run(*flags); };
}

}  // namespace punt
