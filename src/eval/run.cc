#include "eval/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "punt/sampling.h"
#include "writer/answer_constraint.h"
#include "writer/stop_strings.h"

namespace punt {
namespace {

bool IsCancelled(const EvalJob& job) { return job.cancel != nullptr && job.cancel->load(); }

}  // namespace

ItemRunner::ItemRunner(const EvalJob& job) : job_(job) {
  if (job.model == nullptr) return;
  session_ = SessionOf({});
  language_ = std::make_unique<AnswerLanguage>(job.language, *job.model, BannedTokens());
}

ItemRunner::~ItemRunner() = default;

std::vector<Token> ItemRunner::BannedTokens() const {
  std::vector<Token> banned = job_.session.banned_tokens;
  const std::vector<Token> own = job_.task->BannedTokens();
  banned.insert(banned.end(), own.begin(), own.end());
  return banned;
}

std::unique_ptr<DenoiserSession> ItemRunner::SessionOf(std::span<const Token> canvas) const {
  SessionOptions options = job_.session;
  options.banned_tokens = BannedTokens();
  options.prompt = GivenPositions(canvas, job_.model->denoiser->info().mask_token);
  return job_.model->denoiser->NewSession(options);
}

/// The job's, or the item's own.
Constraint ItemRunner::ConstraintOf(const EvalItem& item) {
  const bool is_asked = job_.recipe.needs_constraint;
  if (item.language == nullptr) {
    if (!is_asked) return {};
    return language_->For({item.canvas, PlaceOfMasks(item.canvas, job_.model->denoiser->info().mask_token)});
  }
  if (is_asked) BadInput("item {}: a constraint and what the task knows of right texts exclude each other", item.id);
  return AnswerLanguage(*item.language, "what the task knows of a right text", *job_.model, BannedTokens())
      .For({item.canvas, {.begin = item.language_begin, .end = item.language_end}});
}

/// Generates, or lets the task do it; no response after a cancellation.
std::optional<EvalResponse> ItemRunner::Respond(std::size_t index, const EvalItem& item, EvalRecord& record) {
  const EvalJob& job = job_;
  DenoiserSession* session = session_.get();
  if (session == nullptr) {
    const auto start = std::chrono::steady_clock::now();
    std::optional<EvalResponse> response = job.task->OwnResponse(index);
    Check(response.has_value(), "a task without a model and without responses");
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    record.stop = "own";
    return response;
  }
  const DenoiserInfo& info = session->info();
  Recipe recipe = job.recipe;
  recipe.sample = index;
  if (static_cast<int>(item.canvas.size()) > info.max_length) {
    BadInput("item {} has {} positions, {} takes {}", item.id, item.canvas.size(), job.model->name, info.max_length);
  }
  const TextPlace place = PlaceOfMasks(item.canvas, info.mask_token);
  EndAtStops(recipe, *job.model, place, job.stop);
  recipe.constraint = ConstraintOf(item);
  GenerateResult result =
      Generate(*session, Canvas(item.canvas, info.mask_token, info.vocab_size), recipe, {.cancel = job.cancel});
  if (result.stop == StopReason::kCancelled) return std::nullopt;
  CutAtStop(*job.model, place, job.stop, result.tokens);
  record.base_passes = result.counters.base_passes;
  record.test_passes = result.counters.test_passes;
  record.steps = result.steps;
  record.work =
      Work{.calls = result.counters.calls, .row_passes = result.counters.row_passes, .tokens = result.committed};
  record.seconds = result.seconds;
  record.stop = Name(result.stop);
  std::string text = job.task->ResponseText(item, result.tokens);
  return EvalResponse{.tokens = std::move(result.tokens), .text = std::move(text)};
}

std::optional<EvalRecord> ItemRunner::Run(std::size_t index) {
  const EvalItem item = job_.task->Item(index);
  if (session_ != nullptr && job_.session.guidance != 0) session_ = SessionOf(item.canvas);
  EvalRecord record{.id = item.id, .prompt = item.prompt, .reference = item.reference};
  const std::optional<EvalResponse> response = Respond(index, item, record);
  if (!response) return std::nullopt;
  record.response = response->text;
  record.verdict = job_.task->Judge(index, item, *response);
  return ParseRecord(RecordLine(record));
}

std::vector<EvalRecord> RunItems(const EvalJob& job) {
  ItemRunner runner(job);
  std::vector<EvalRecord> records;
  for (std::size_t index = 0; index < job.count && !IsCancelled(job); ++index) {
    const std::string id = job.task->Item(index).id;
    if (job.log != nullptr && job.log->resumed().contains(id)) {
      records.push_back(job.log->resumed().at(id));
      continue;
    }
    if (job.on_progress) job.on_progress(records.size());
    std::optional<EvalRecord> record = runner.Run(index);
    if (!record) break;
    if (job.log != nullptr) job.log->Add(RecordLine(*record));
    records.push_back(std::move(*record));
  }
  return records;
}

namespace {

/// Nothing when a record does not say, or when there was no pass at all.
std::optional<WorkSummary> SummariseWork(std::span<const EvalRecord> records) {
  const double share = 1.0 / static_cast<double>(records.size());
  WorkSummary summary;
  std::vector<double> tokens;
  std::vector<double> passes;
  double sum = 0;
  for (const EvalRecord& record : records) {
    if (!record.work) return std::nullopt;
    summary.calls += share * static_cast<double>(record.work->calls);
    summary.row_passes += share * static_cast<double>(record.work->row_passes);
    tokens.push_back(static_cast<double>(record.work->tokens));
    summary.tokens += share * tokens.back();
    passes.push_back(static_cast<double>(record.nfe()));
    sum += passes.back();
  }
  if (sum == 0) return std::nullopt;
  summary.tokens_per_forward = RatioOf(tokens, passes, kNotNegative);
  return summary;
}

}  // namespace

bool IsUnfinished(std::string_view stop) {
  return stop == Name(StopReason::kStepLimit) || stop == Name(StopReason::kNfeLimit);
}

std::string UnfinishedNote(std::size_t unfinished, std::size_t all) {
  if (unfinished == 0) return "";
  return fmt::format("{} of {} texts {} unfinished: a limit on passes or steps ended {}", unfinished, all,
                     unfinished == 1 ? "is" : "are", unfinished == 1 ? "it" : "them");
}

EvalSummary Summarise(const Task& task, std::span<const EvalRecord> records) {
  Check(!records.empty(), "a summary of nothing");
  EvalSummary summary{.items = records.size(), .figures = task.Summarise(records), .notes = task.Notes()};
  const double share = 1.0 / static_cast<double>(records.size());
  std::vector<double> nfe;
  std::vector<double> steps;
  std::int64_t judged = 0;
  std::int64_t correct = 0;
  for (const EvalRecord& record : records) {
    nfe.push_back(static_cast<double>(record.nfe()));
    steps.push_back(record.steps);
    summary.base_passes += share * static_cast<double>(record.base_passes);
    summary.test_passes += share * static_cast<double>(record.test_passes);
    summary.seconds += share * record.seconds;
    summary.unfinished += IsUnfinished(record.stop) ? 1 : 0;
    const auto verdict = record.verdict.find(kCorrect);
    if (verdict == record.verdict.end()) continue;
    ++judged;
    correct += verdict->second != 0 ? 1 : 0;
  }
  summary.nfe = MeanOf(nfe, kNotNegative);
  summary.steps = MeanOf(steps, kNotNegative);
  summary.work = SummariseWork(records);
  if (summary.unfinished > 0) summary.notes.push_back(UnfinishedNote(summary.unfinished, summary.items));
  if (judged > 0) summary.accuracy = ShareOf(correct, judged);
  return summary;
}

std::vector<Figure> CostFigures(const EvalSummary& summary) {
  std::vector<Figure> figures = {{.name = "base_mean", .value = summary.base_passes, .is_detail = true},
                                 {.name = "test_mean", .value = summary.test_passes, .is_detail = true}};
  if (!summary.work) return figures;
  figures.push_back({.name = "calls_mean", .value = summary.work->calls, .is_detail = true});
  figures.push_back({.name = "row_passes_mean", .value = summary.work->row_passes, .is_detail = true});
  figures.push_back({.name = "tokens_mean", .value = summary.work->tokens, .is_detail = true});
  figures.push_back(FigureOf("tokens_per_forward", summary.work->tokens_per_forward));
  return figures;
}

}  // namespace punt
