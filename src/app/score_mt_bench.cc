#include "app/score_mt_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/eval_report.h"
#include "app/help.h"
#include "app/judge_client.h"
#include "app/score_files.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "base/json_text.h"
#include "report/confidence_json.h"
#include "report/data_file.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kKeyVariable = "PUNT_JUDGE_KEY";

/// Reads a file and parses it; errors name the file.
template <typename Parse>
auto ParseFile(const std::string& path, const Parse& parse) {
  const std::string text = ReadDataFile(path);
  try {
    return parse(text);
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
}

Json EstimateJson(const Estimate& estimate) {
  return {{"score", estimate.value}, {"ci95", IntervalJson(estimate.ci95)}};
}

std::string SummaryJson(const MtBenchCommand& command, const MtBenchSummary& summary, int indent) {
  Json object = {{"task", kMtBench},
                 {"data", command.data},
                 {"responses", command.responses},
                 {"judgments", command.judgments},
                 {"ratings", summary.ratings},
                 {"unrated", summary.unrated},
                 {"missing", summary.missing},
                 {"score", summary.score.value},
                 {"ci95", IntervalJson(summary.score.ci95)}};
  object["turns"] = Json::array();
  for (const auto& turn : summary.turns) object["turns"].push_back(turn ? EstimateJson(*turn) : Json());
  object["categories"] = Json::object();
  for (const auto& [name, estimate] : summary.categories) object["categories"][name] = EstimateJson(estimate);
  return Dump(object, indent);
}

std::string Table(const MtBenchCommand& command, const MtBenchSummary& summary, int columns) {
  std::vector<Figure> lines = {FigureOf("score", summary.score)};
  for (int i = 0; i < kMtBenchTurns; ++i) {
    if (summary.turns[i]) lines.push_back(FigureOf(fmt::format("turn_{}", i + 1), *summary.turns[i]));
  }
  for (const auto& [name, estimate] : summary.categories) lines.push_back(FigureOf(name, estimate));
  return FigureTable({fmt::format("{}, {} ratings", kMtBench, summary.ratings), command.responses}, lines, columns);
}

/// What is left of a file of judgments whose last line was cut off when its writer was killed: whole lines.
std::string WholeLines(std::string text) {
  if (text.empty() || text.ends_with('\n')) return text;
  const std::size_t last = text.rfind('\n') + 1;  // 0 without one
  if (Json::accept(text.substr(last))) return text + "\n";
  return text.substr(0, last);
}

/// Asks for what the file lacks, and appends each judgment as it arrives.
void AskForMissing(const MtBenchCommand& command, const std::vector<JudgeRequest>& requests, const std::string& model) {
  if (command.judgments.empty()) BadInput("--judge-url needs --judgments: the file that keeps what the judge says");
  Judgments known;
  if (fs::exists(command.judgments)) {
    const std::string text = ReadDataFile(command.judgments);
    const std::string whole = WholeLines(text);
    if (whole != text) WriteFileAtomically(command.judgments, whole);
    known = ParseFile(command.judgments, [&](const std::string& lines) { return ParseJudgments(lines, model); });
  }
  errno = 0;  // checked before judgments cost anything
  if (!std::ofstream(command.judgments, std::ios::binary | std::ios::app)) {
    BadInput("cannot write {}: {}", command.judgments, std::strerror(errno));
  }
  const char* key = std::getenv(kKeyVariable);
  const JudgeEndpoint endpoint{.url = command.judge_url, .key = key == nullptr ? "" : key};
  SweepProgress progress(requests.size(), "judgments");
  std::size_t done = 0;
  for (const JudgeRequest& request : requests) {
    if (!known.contains({request.id, request.turn})) {
      const std::string text = AskJudge(endpoint, JudgeRequestBody(request, command.judge));
      AppendLine(command.judgments, JudgmentLine(request, {text, ParseRating(text)}, model, command.judge));
    }
    progress.Show(++done);
  }
}

void WriteRequests(const MtBenchCommand& command, const std::vector<JudgeRequest>& requests) {
  std::string lines;
  for (const JudgeRequest& request : requests) lines += JudgeRequestLine(request, command.judge) + "\n";
  WriteFileAtomically(command.requests, lines);
  fmt::print(stderr, "punt: note: {} requests to {} written to '{}'\n", requests.size(), command.judge,
             command.requests);
}

void Report(const MtBenchCommand& command, const std::vector<JudgeRequest>& requests, const std::string& model) {
  const auto parse = [&](const std::string& text) { return ParseJudgments(text, model); };
  const Judgments judgments = ParseFile(command.judgments, parse);
  const MtBenchSummary summary = SummariseMtBench(requests, judgments);
  if (!command.out.empty()) {
    for (const std::string& input : {command.data, command.responses, command.judgments}) {
      CheckNotOverwritten(command.out, input);
    }
    ScoreFiles files(command.out, {{"score", kMtBench},
                                   {"data", command.data},
                                   {"responses", command.responses},
                                   {"judgments", command.judgments}});
    for (const JudgeRequest& request : requests) {
      const auto judgment = judgments.find({request.id, request.turn});
      if (judgment != judgments.end()) files.Add(JudgmentLine(request, judgment->second, model, command.judge));
    }
    files.Finish(SummaryJson(command, summary, 2) + "\n");
  }
  if (command.json) {
    fmt::print("{}\n", SummaryJson(command, summary, -1));
    return;
  }
  fmt::print("{}", Table(command, summary, OutputColumns()));
  FlushOutput();
  if (summary.unrated > 0) fmt::print(stderr, "punt: note: {} judgments have no rating\n", summary.unrated);
  if (summary.missing > 0) fmt::print(stderr, "punt: note: {} turns have no judgment\n", summary.missing);
}

}  // namespace

void AddMtBenchOptions(CLI::App& command, MtBenchCommand& flags) {
  command.add_option("--references", flags.references, "Reference answers");
  command.add_option("--judge-prompts", flags.prompts, "What a judge is asked: judge_prompts.jsonl");
  command.add_option("--judgments", flags.judgments, "What a judge has said");
  command.add_option("--write-requests", flags.requests, "Write what to ask it, for a batch elsewhere");
  command.add_option("--judge-url", flags.judge_url, "Ask it here (.../v1); adds to --judgments");
  command.add_option("--judge-model", flags.judge, "The judge's name")->capture_default_str();
  SetGroup(command, "MT-Bench",
           {"--references", "--judge-prompts", "--judgments", "--write-requests", "--judge-url", "--judge-model"},
           kInFullHelp);
}

std::string GivenMtBenchFlag(const MtBenchCommand& flags) {
  const std::pair<const char*, const std::string*> given[] = {{"--references", &flags.references},
                                                              {"--judge-prompts", &flags.prompts},
                                                              {"--judgments", &flags.judgments},
                                                              {"--write-requests", &flags.requests},
                                                              {"--judge-url", &flags.judge_url}};
  for (const auto& [name, value] : given) {
    if (!value->empty()) return name;
  }
  return "";
}

std::string MtBenchHelp() {
  return fmt::format(
      "  {}: answers to questions of two turns, rated by a language model\n"
      "    data: JSON lines with question_id, category and turns: question.jsonl of FastChat's mt_bench\n"
      "    answer: JSON lines with question_id, model_id and choices[0].turns, as FastChat writes them\n"
      "      score            mean rating from 1 to 10; --judge-url sends the key in ${}, if it is set\n",
      kMtBench, kKeyVariable);
}

int RunMtBench(const MtBenchCommand& command) {
  if (command.data.empty()) BadInput("--data is missing: question.jsonl of FastChat's mt_bench");
  if (command.responses.empty()) BadInput("--responses is missing: answers as FastChat writes them");
  if (command.prompts.empty()) BadInput("--judge-prompts is missing: judge_prompts.jsonl of FastChat");
  if (command.judgments.empty() && command.requests.empty() && command.judge_url.empty()) {
    BadInput("no judge: give --judgments, --write-requests or --judge-url");
  }
  const auto questions = ParseFile(command.data, ParseMtBenchQuestions);
  const MtBenchAnswers answers = ParseFile(command.responses, ParseMtBenchAnswers);
  const JudgePrompts prompts = ParseFile(command.prompts, ParseJudgePrompts);
  const MtBenchAnswers references =
      command.references.empty() ? MtBenchAnswers() : ParseFile(command.references, ParseMtBenchAnswers);
  for (const auto& [id, turns] : answers.by_question) {
    const bool is_asked = std::any_of(questions.begin(), questions.end(), [&](const auto& q) { return q.id == id; });
    if (!is_asked) BadInput("{}: there is no question {}", command.responses, id);
  }
  const std::vector<JudgeRequest> requests = MakeJudgeRequests(questions, answers, references, prompts);
  if (!command.requests.empty()) WriteRequests(command, requests);
  if (!command.judge_url.empty()) AskForMissing(command, requests, answers.model);
  if (!command.judgments.empty()) Report(command, requests, answers.model);
  return 0;
}

}  // namespace punt
