#include "punt/writer.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "base/processors.h"
#include "generate/batch_hub.h"
#include "generate/canvas_replay.h"
#include "writer/answer_constraint.h"
#include "writer/ask_canvas.h"
#include "writer/growing_text.h"
#include "writer/stop_strings.h"
#include "writer/text_tokens.h"

namespace punt {
namespace {

/// Reports settled text as the canvas fills, and passes every event on.
class Teller : public Observer {
 public:
  Teller(const Model& model, const AskCanvas& canvas, const Sampling& sampling, const Watch& watch)
      : watch_(watch),
        text_(model, canvas.place, sampling.stop),
        canvas_(canvas.tokens, model.denoiser->info().mask_token) {
    for (const PlannerRow& row : Planners()) {
      if (row.name == ParseSpec(sampling.planner).name) may_take_back_ = row.remasks;
    }
  }

  void On(const TraceEvent& event) override {
    if (watch_.observer != nullptr) watch_.observer->On(event);
    if (const auto* commit = std::get_if<CommitEvent>(&event)) Follow(*commit);
  }

  /// The rest of the text, once the run has ended.
  FinishedText Finish(std::span<const Token> tokens) {
    Tell(text_.SettledParts(tokens, true).content);
    return text_.Finish(tokens);
  }

  const GrowingText& text() const { return text_; }

 private:
  void Follow(const CommitEvent& commit) {
    canvas_.On(commit);
    if (!may_take_back_) Tell(text_.SettledParts(canvas_.tokens()).content);
  }

  void Tell(const std::string& more) const {
    if (watch_.on_text && !more.empty()) watch_.on_text(more);
  }

  const Watch& watch_;
  GrowingText text_;
  CanvasReplay canvas_;
  bool may_take_back_ = false;
};

/// One answer in the making: everything that the run needs.
class Task {
 public:
  Task(const Model& model, const Ask& ask, const Sampling& sampling, const Watch& watch)
      : model_(model),
        canvas_(BuildCanvas(ask, model)),
        recipe_(MakeRecipe(sampling, model.denoiser->info())),
        company_(CompanyFor(sampling, model.name, model.denoiser->info())),
        teller_(model, canvas_, sampling, watch),
        on_stop_(watch.stop, [this] { is_cancelled_ = true; }) {
    recipe_.sample = ask.sample;
    recipe_.logprobs = ask.logprobs;
    EndAtStops(recipe_, model, canvas_.place, sampling.stop);
    ConstrainAnswer(recipe_, sampling, model, {canvas_.tokens, canvas_.place});
    company_.observer = &teller_;
    company_.cancel = &is_cancelled_;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  Canvas canvas() const {
    const DenoiserInfo& info = model_.denoiser->info();
    return Canvas(canvas_.tokens, info.mask_token, info.vocab_size);
  }
  std::span<const Token> tokens() const { return canvas_.tokens; }
  void LetGrow(const Sampling& sampling, SessionOptions& session) {
    punt::LetGrow(sampling, model_.denoiser->info(), recipe_, session);
  }

  Answer Run(DenoiserSession& session) {
    GenerateResult run = Generate(session, canvas(), recipe_, company_);
    FinishedText text = teller_.Finish(run.tokens);
    std::vector<TextToken> tokens;
    if (recipe_.logprobs) {
      tokens = TextTokens(teller_.text()).UpTo(run.tokens, static_cast<std::size_t>(text.tokens), run.rows);
    }
    return {.text = std::move(text.text),
            .finish_reason = std::move(text.finish_reason),
            .tokens = text.tokens,
            .run = std::move(run),
            .reasoning = std::move(text.reasoning),
            .logprobs = std::move(tokens)};
  }

 private:
  const Model& model_;
  AskCanvas canvas_;
  Recipe recipe_;
  Company company_;
  Teller teller_;
  std::atomic<bool> is_cancelled_ = false;
  std::stop_callback<std::function<void()>> on_stop_;  // last: it uses the members above
};

}  // namespace

Writer::Writer(Model model, int threads) : threads_(threads) {
  // A toy model's passes are too small to share between threads.
  if (threads_ <= 0) threads_ = model.is_toy ? 1 : UsableProcessors();
  model_ = std::make_shared<const Model>(std::move(model));
}

Writer Writer::Open(std::string_view model, const ModelOptions& options, int threads) {
  return Writer(OpenModel(model, options), threads);
}

Answer Writer::Write(const Ask& ask, const Sampling& sampling, const Watch& watch) const {
  Validate(sampling);
  Task task(*model_, ask, sampling, watch);
  SessionOptions options = SessionFor(sampling, model_->denoiser->info());
  options.prompt = GivenPositions(task.tokens(), model_->denoiser->info().mask_token);
  if (!ask.infill.empty()) task.LetGrow(sampling, options);
  options.threads = threads_;
  return task.Run(*model_->denoiser->NewSession(options));
}

std::vector<Answer> Writer::WriteBatch(std::span<const Ask> asks, const Sampling& sampling,
                                       std::span<const Watch> watches) const {
  Check(watches.empty() || watches.size() == asks.size(), "one watch per question");
  Validate(sampling);
  const Watch nobody;
  const auto watch_of = [&](std::size_t i) -> const Watch& { return watches.empty() ? nobody : watches[i]; };
  std::vector<Answer> answers(asks.size());
  const bool may_grow = model_->denoiser->info().length_tokens.is_known() && sampling.grow_to > 0 &&
                        std::any_of(asks.begin(), asks.end(), [](const Ask& ask) { return !ask.infill.empty(); });
  // Every question has its own prompt to mask, or its own tokens to ban.
  if (sampling.guidance != 0 || may_grow) {
    for (std::size_t i = 0; i < asks.size(); ++i) answers[i] = Write(asks[i], sampling, watch_of(i));
    return answers;
  }
  std::vector<std::unique_ptr<Task>> tasks;  // a question that cannot be asked is refused before the first pass
  for (std::size_t i = 0; i < asks.size(); ++i) {
    tasks.push_back(std::make_unique<Task>(*model_, asks[i], sampling, watch_of(i)));
  }
  SessionOptions options = SessionFor(sampling, model_->denoiser->info());
  options.threads = threads_;
  const std::unique_ptr<DenoiserSession> shared = model_->denoiser->NewSession(options);
  RunTogether(*shared, tasks.size(),
              [&](std::size_t i, DenoiserSession& session) { answers[i] = tasks[i]->Run(session); });
  return answers;
}

}  // namespace punt
