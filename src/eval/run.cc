#include "eval/run.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace punt {
namespace {

bool IsCancelled(const EvalJob& job) { return job.cancel != nullptr && job.cancel->load(); }

/// Generates, or lets the task: no response after a cancellation.
std::optional<EvalResponse> Respond(const EvalJob& job, DenoiserSession* session, std::size_t index,
                                    const EvalItem& item, EvalRecord& record) {
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
  GenerateResult result =
      Generate(*session, Canvas(item.canvas, info.mask_token, info.vocab_size), recipe, {.cancel = job.cancel});
  if (result.stop == StopReason::kCancelled) return std::nullopt;
  record.base_passes = result.counters.base_passes;
  record.test_passes = result.counters.test_passes;
  record.steps = result.steps;
  record.seconds = result.seconds;
  record.stop = Name(result.stop);
  std::string text = job.task->ResponseText(item, result.tokens);
  return EvalResponse{.tokens = std::move(result.tokens), .text = std::move(text)};
}

}  // namespace

std::vector<EvalRecord> RunItems(const EvalJob& job) {
  std::unique_ptr<DenoiserSession> session;
  if (job.model != nullptr) {
    SessionOptions options = job.session;
    const std::vector<Token> banned = job.task->BannedTokens();
    options.banned_tokens.insert(options.banned_tokens.end(), banned.begin(), banned.end());
    session = job.model->denoiser->NewSession(options);
  }
  std::vector<EvalRecord> records;
  for (std::size_t index = 0; index < job.count && !IsCancelled(job); ++index) {
    const EvalItem item = job.task->Item(index);
    if (job.log != nullptr && job.log->resumed().contains(item.id)) {
      records.push_back(job.log->resumed().at(item.id));
      continue;
    }
    if (job.on_progress) job.on_progress(records.size());
    EvalRecord record{.id = item.id, .prompt = item.prompt, .reference = item.reference};
    const std::optional<EvalResponse> response = Respond(job, session.get(), index, item, record);
    if (!response) break;
    record.response = response->text;
    record.verdict = job.task->Judge(index, item, *response);
    const std::string line = RecordLine(record);
    if (job.log != nullptr) job.log->Add(line);
    records.push_back(ParseRecord(line));  // as a resumed run will see it
  }
  return records;
}

EvalSummary Summarise(const Task& task, std::span<const EvalRecord> records) {
  Check(!records.empty(), "a summary of nothing");
  EvalSummary summary{.items = records.size(), .figures = task.Summarise(records), .notes = task.Notes()};
  std::vector<double> nfe;
  std::vector<double> steps;
  std::int64_t judged = 0;
  std::int64_t correct = 0;
  for (const EvalRecord& record : records) {
    nfe.push_back(static_cast<double>(record.nfe()));
    steps.push_back(record.steps);
    summary.seconds += record.seconds / static_cast<double>(records.size());
    const auto verdict = record.verdict.find(kCorrect);
    if (verdict == record.verdict.end()) continue;
    ++judged;
    correct += verdict->second != 0 ? 1 : 0;
  }
  summary.nfe = MeanOf(nfe);
  summary.steps = MeanOf(steps);
  if (judged > 0) summary.accuracy = ShareOf(correct, judged);
  return summary;
}

}  // namespace punt
