#include "serve/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>

#include "base/check.h"
#include "base/json_text.h"
#include "generate/canvas_replay.h"
#include "generate/misfit.h"
#include "generate/sampling_language.h"
#include "generate/trace_pieces.h"
#include "punt/planner.h"
#include "punt/trace.h"
#include "serve/api_error.h"
#include "serve/input_error.h"
#include "serve/logprob_json.h"
#include "serve/tool_language.h"
#include "writer/answer_constraint.h"
#include "writer/text_tokens.h"

namespace punt {
namespace {

constexpr std::size_t kMostWaitingBytes = 8 << 20;

/// Below 2^53: JavaScript and others read numbers as floats, and must be able to send the same number back.
RequestSeed DrawSeed() {
  std::random_device device;
  return {.bits = ((static_cast<std::uint64_t>(device()) << 32) | device()) >> 11};
}

std::size_t BytesOf(const StreamPart& part) {
  return part.text.size() + part.reasoning.size() + part.event.size() + part.logprobs.size();
}

}  // namespace

/// Passes on what a choice's run does, in the form that the stream wants.
class Completion::Watcher : public Observer {
 public:
  Watcher(Completion& owner, int choice, const PromptCanvas& canvas)
      : owner_(owner),
        choice_(choice),
        masks_(canvas.masks),
        thinking_(canvas.place.thinking),
        text_(owner.model_, canvas.place, owner.request_.sampling.stop),
        canvas_(canvas.tokens, owner.model_.denoiser->info().mask_token),
        annotator_(*owner.model_.tokenizer, lines_),
        tokens_(text_) {
    lines_.watcher = this;
    for (const PlannerRow& row : Planners()) {
      if (row.name == ParseSpec(owner.planner_).name) may_take_back_ = row.remasks;
    }
  }

  void On(const TraceEvent& event) override {
    if (owner_.request_.stream_kind == StreamKind::kEvents && owner_.request_.stream) annotator_.On(event);
    if (const auto* round = std::get_if<RoundEvent>(&event)) Count(round->round);
    if (const auto* commit = std::get_if<CommitEvent>(&event)) Follow(*commit);
  }

  /// What Settled has held back.
  void SendRest(std::span<const Token> canvas) {
    if (owner_.request_.stream_kind != StreamKind::kSettled) return;
    SplitText rest = text_.SettledParts(canvas, true);
    SendText(std::move(rest), 1, Logprobs(canvas, true));
  }

  const GrowingText& text() const { return text_; }

 private:
  /// Receives events with their pieces.
  struct Lines : Observer {
    void On(const TraceEvent& event) override {
      watcher->owner_.Put({.choice = watcher->choice_, .event = ToJsonLine(event)});
    }
    Watcher* watcher = nullptr;
  };

  void Count(const Round& round) {
    Metrics& metrics = owner_.metrics_;
    metrics.tested += static_cast<std::int64_t>(round.tests.size());
    metrics.kept += std::count(round.kept.begin(), round.kept.end(), true);
    for (double divergence : round.divergences) metrics.divergences.Add(divergence);
  }

  /// Of the tokens whose text has been sent and which have not been told before, as JSON.
  std::string Logprobs(std::span<const Token> canvas, bool is_last = false) {
    const bool wanted = owner_.request_.likelihood.logprobs && owner_.request_.stream;
    if (!wanted) return "";
    const std::vector<TextToken> tokens =
        is_last ? tokens_.UpTo(canvas, static_cast<std::size_t>(text_.Finish(canvas).tokens), rows_)
                : tokens_.Within(canvas, text_.sent(), rows_);
    return tokens.empty() ? "" : Dump(LogprobsJson(tokens, owner_.request_.chat, owner_.tokenizer()));
  }

  void Follow(const CommitEvent& commit) {
    canvas_.On(commit);
    for (Position position : commit.remasked) rows_.erase(position);
    for (const CommitRow& row : commit.rows) rows_[row.position] = row;
    filled_ += static_cast<double>(commit.positions.size()) - static_cast<double>(commit.remasked.size());
    const double progress = filled_ / static_cast<double>(masks_);
    if (may_take_back_ && owner_.request_.stream_kind == StreamKind::kSettled) return;
    if (owner_.request_.stream && owner_.request_.stream_kind == StreamKind::kSnapshots) {
      SplitText snapshot = ThinkingSplit(thinking_).Add(text_.Snapshot(canvas_.tokens()), true);
      owner_.Put({.choice = choice_,
                  .text = std::move(snapshot.content),
                  .reasoning = std::move(snapshot.reasoning),
                  .progress = progress});
    }
    SplitText settled = text_.SettledParts(canvas_.tokens());
    if (owner_.request_.stream_kind == StreamKind::kSettled) {
      SendText(std::move(settled), progress, Logprobs(canvas_.tokens()));
    }
    if (text_.has_stopped()) owner_.cancels_[static_cast<std::size_t>(choice_)] = true;  // the rest does not matter
  }

  void SendText(SplitText text, double progress, std::string logprobs) {
    const bool is_empty = text.content.empty() && text.reasoning.empty() && logprobs.empty();
    if (is_empty || !owner_.request_.stream) return;
    owner_.Put({.choice = choice_,
                .text = std::move(text.content),
                .reasoning = std::move(text.reasoning),
                .logprobs = std::move(logprobs),
                .progress = progress});
  }

  Completion& owner_;
  int choice_;
  std::size_t masks_;
  Thinking thinking_;
  GrowingText text_;
  CanvasReplay canvas_;
  Lines lines_;
  PieceAnnotator annotator_;
  TextTokens tokens_;
  std::map<Position, CommitRow> rows_;  // of what is committed
  double filled_ = 0;
  bool may_take_back_ = false;
};

Completion::Completion(const Model& model, Scheduler& scheduler, Metrics& metrics, const CompletionRequest& request,
                       const std::string& client)
    : model_(model),
      scheduler_(scheduler),
      metrics_(metrics),
      request_(request),
      planner_(CanonicalPlannerSpec(request.sampling.planner)) {
  canvases_ = BuildCanvases(request, model);
  MakeRecipeFor(model.denoiser->info());
  Constrain(model.denoiser->info());
  RequireScorable(request, canvases_, model, request.sampling.max_nfe);
  std::vector<Scheduler::Demand> demands;
  for (const PromptCanvas& canvas : canvases_) {
    const Scheduler::Demand demand{.client = client,
                                   .rows = static_cast<std::int64_t>(canvas.tokens.size()),
                                   .banned_tokens = BannedTokens(recipe_.eos, model.denoiser->info())};
    demands.insert(demands.end(), static_cast<std::size_t>(request.choices), demand);
  }
  StartThreads(scheduler.Admit(demands));
  metrics.prompt_tokens += usage().prompt_tokens;
}

void Completion::MakeRecipeFor(const DenoiserInfo& info) {
  recipe_ = InField("diffusion", [&] { return MakeRecipe(request_.sampling, info); });
  seed_ = request_.seed ? *request_.seed : DrawSeed();
  recipe_.seed = seed_.bits;
  for (const PromptCanvas& canvas : canvases_) {
    const auto misfit = FindMisfit(recipe_, Canvas(canvas.tokens, info.mask_token, info.vocab_size), info);
    if (!misfit) continue;
    const std::string field = misfit->setting == "length" ? "max_tokens" : "diffusion." + misfit->setting;
    throw ApiError(400, "invalid_value", fmt::format("{}: {}", field, misfit->message), field);
  }
}

void Completion::Constrain(const DenoiserInfo& info) {
  const bool has_calls = request_.tools.choice == ToolChoice::kRequired;
  const std::string field = has_calls                           ? "tools"
                            : request_.constraint_field.empty() ? "response_format"
                                                                : request_.constraint_field;
  InField(field, [&] {
    const LanguageSpec spec = LanguageOf(request_.sampling);
    AnswerLanguage language(AnswerLanguageOf(request_.tools, spec), has_calls ? "a call of the tools" : spec.what(),
                            model_, BannedTokens(recipe_.eos, info));
    for (const PromptCanvas& canvas : canvases_) constraints_.push_back(language.For({canvas.tokens, canvas.place}));
  });
}

Completion::~Completion() {
  Cancel();
  Join();
}

void Completion::Cancel() {
  for (std::size_t i = 0; i < results_.size(); ++i) cancels_[i] = true;
  scheduler_.Wake();
}

void Completion::Join() {
  for (std::thread& thread : threads_) thread.join();
}

void Completion::StartThreads(std::vector<std::unique_ptr<Scheduler::Slot>> slots) {
  results_.resize(slots.size());
  cancels_ = std::make_unique<std::atomic<bool>[]>(slots.size());
  running_ = static_cast<int>(slots.size());
  try {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      threads_.emplace_back([this, i, slot = std::move(slots[i])]() mutable { Generate(i, std::move(slot)); });
    }
  } catch (const std::system_error&) {
    Cancel();
    Join();
    throw ApiError(503, "no_threads", "the server cannot start more threads");
  }
}

std::optional<ChoiceResult> Completion::Run(std::size_t choice, DenoiserSession& session) {
  const DenoiserInfo& info = model_.denoiser->info();
  const PromptCanvas& canvas = canvas_of(choice);
  const auto choices = static_cast<std::size_t>(request_.choices);
  std::optional<EchoedPrompt> echoed;
  if (request_.likelihood.echo && choice % choices == 0) {
    echoed = ScorePrompt(session, model_, request_, request_.prompts[choice / choices], canvas, cancels_[choice]);
    if (!echoed) return std::nullopt;
    metrics_.base_passes += echoed->passes;
  }
  Watcher watcher(*this, static_cast<int>(choice), canvas);
  Recipe recipe = recipe_;
  recipe.constraint = constraints_[choice / static_cast<std::size_t>(request_.choices)];
  recipe.logprobs = request_.likelihood.logprobs;
  recipe.sample = canvas.first_sample + choice % static_cast<std::size_t>(request_.choices);
  Company company = CompanyFor(request_.sampling, model_.name, info);
  company.observer = &watcher;
  company.cancel = &cancels_[choice];
  GenerateResult run =
      punt::Generate(session, Canvas(canvas.tokens, info.mask_token, info.vocab_size), recipe, company);
  watcher.SendRest(run.tokens);
  metrics_.base_passes += run.counters.base_passes;
  metrics_.test_passes += run.counters.test_passes;
  metrics_.steps += run.steps;
  metrics_.committed_tokens += run.committed;
  FinishedText text = watcher.text().Finish(run.tokens);
  if (run.stop == StopReason::kCancelled && text.finish_reason != "stop") ++metrics_.cancelled;
  std::vector<TextToken> tokens;
  if (recipe.logprobs) {
    tokens = TextTokens(watcher.text()).UpTo(run.tokens, static_cast<std::size_t>(text.tokens), run.rows);
  }
  return ChoiceResult{
      .text = std::move(text), .run = std::move(run), .tokens = std::move(tokens), .echoed = std::move(echoed)};
}

void Completion::Generate(std::size_t choice, std::unique_ptr<Scheduler::Slot> slot) {
  try {
    DenoiserSession* session = slot->Start(cancels_[choice]);
    if (session != nullptr) {
      std::optional<ChoiceResult> result = Run(choice, *session);
      std::lock_guard lock(mutex_);
      results_[choice] = std::move(result);
    }
  } catch (...) {
    std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  slot.reset();  // others in the batch wait for every participant
  {
    std::lock_guard lock(mutex_);
    --running_;
  }
  Put({.choice = static_cast<int>(choice), .is_end = true});
}

void Completion::Put(StreamPart part) {
  {
    std::lock_guard lock(mutex_);
    if (waiting_bytes_ > kMostWaitingBytes && !part.is_end) {
      Cancel();
      return;
    }
    // A snapshot that has not been taken yet is replaced by the newer one.
    const bool replaces = request_.stream_kind == StreamKind::kSnapshots && !part.is_end && !parts_.empty() &&
                          parts_.back().choice == part.choice && !parts_.back().is_end;
    if (replaces) {
      waiting_bytes_ -= BytesOf(parts_.back());
      parts_.pop_back();
    }
    waiting_bytes_ += BytesOf(part);
    parts_.push_back(std::move(part));
  }
  changed_.notify_all();
}

std::optional<StreamPart> Completion::Next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return !parts_.empty() || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  if (parts_.empty()) return std::nullopt;
  StreamPart part = std::move(parts_.front());
  parts_.pop_front();
  waiting_bytes_ -= BytesOf(part);
  return part;
}

bool Completion::is_done() {
  std::lock_guard lock(mutex_);
  return running_ == 0 && parts_.empty();
}

bool Completion::is_overfull() {
  std::lock_guard lock(mutex_);
  return waiting_bytes_ > kMostWaitingBytes;
}

Usage Completion::usage() const {
  Usage usage;
  for (const PromptCanvas& canvas : canvases_) usage.prompt_tokens += static_cast<std::int64_t>(canvas.given());
  std::lock_guard lock(mutex_);
  for (const std::optional<ChoiceResult>& result : results_) {
    if (!result) continue;
    // The text of an infill includes what was given.
    usage.completion_tokens += request_.infill.empty() ? result->text.tokens : result->run.committed;
    usage.base_passes += result->run.counters.base_passes + (result->echoed ? result->echoed->passes : 0);
    usage.test_passes += result->run.counters.test_passes;
    usage.steps += result->run.steps;
  }
  return usage;
}

}  // namespace punt
