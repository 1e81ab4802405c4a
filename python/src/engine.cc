#include "engine.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "convert.h"
#include "py_denoiser.h"
#include "signals.h"
#include "text/letters.h"
#include "writer/answer_constraint.h"
#include "writer/stop_strings.h"

namespace punt::py {
namespace {

/// Keeps what happens. The header of a trace names a planner object by its class.
class Collector : public Observer {
 public:
  explicit Collector(const Settings& settings, std::stop_token stop = {})
      : label_(settings.planner ? settings.planner->label() : ""), stop_(std::move(stop)) {}

  void On(const TraceEvent& event) override {
    CheckSignals();
    // A step that changes nothing runs no pass, before which the engine would look whether it is to stop.
    const auto* commit = std::get_if<CommitEvent>(&event);
    const bool is_idle = commit != nullptr && commit->positions.empty() && commit->remasked.empty();
    if (is_idle && stop_.stop_requested()) throw Error(ErrorCode::kFailed, "the run was stopped");
    events.push_back(event);
    auto* run = std::get_if<RunEvent>(&events.back());
    if (run != nullptr && !label_.empty()) run->planner = label_;
  }

  std::vector<TraceEvent> events;

 private:
  std::string label_;
  std::stop_token stop_;
};

Model WithSignals(Model model) {
  model.denoiser = Watched(std::move(model.denoiser));
  return model;
}

/// Python's progress callback; the exception that it threw ends the opening and is thrown on.
class Progress {
 public:
  explicit Progress(nb::object callback) : callback_(std::move(callback)) {}

  bool operator()(double share) {
    nb::gil_scoped_acquire lock;
    try {
      callback_(share);
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }
  void Rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  nb::object callback_;
  std::exception_ptr failure_;
};

/// What filling a canvas takes.
struct Filling {
  Filling(const Model& model, const Settings& settings, int threads)
      : info(model.denoiser->info()),
        recipe(MakeRecipe(settings.sampling, info)),
        options(SessionFor(settings.sampling, info)),
        company(CompanyFor(settings.sampling, model.name, info)) {
    recipe.logprobs = settings.logprobs;
    if (!settings.sampling.stop.empty()) BadInput("stop: a canvas of tokens has no stop strings");
    options.threads = threads;
  }

  /// To a constraint, from the first mask of the canvas to the last.
  void Constrain(const Sampling& sampling, const Model& model, const std::vector<Token>& tokens) {
    ConstrainAnswer(recipe, sampling, model, {tokens, PlaceOfMasks(tokens, info.mask_token)}, options.banned_tokens);
  }

  Canvas CanvasOf(const std::vector<Token>& tokens) const { return Canvas(tokens, info.mask_token, info.vocab_size); }

  const DenoiserInfo& info;
  Recipe recipe;
  SessionOptions options;
  Company company;
};

Ask AskWith(nb::dict fields, const Settings& settings) {
  Ask ask = AskOf(fields);
  ask.logprobs = settings.logprobs;
  return ask;
}

Outcome OutcomeOf(const Model& model, GenerateResult run, std::vector<TraceEvent> events) {
  Answer answer{.text = model.tokenizer->DecodeText(run.tokens),
                .finish_reason = run.stop == StopReason::kFull || run.stop == StopReason::kEos ? "stop" : "length",
                .tokens = run.committed};
  answer.run = std::move(run);
  return {std::move(answer), std::move(events)};
}

nb::list TraceOf(const Outcome& outcome) {
  nb::list lines;
  for (const TraceEvent& event : outcome.events) lines.append(NewText(ToJsonLine(event)));
  return lines;
}

}  // namespace

Engine::Engine(Model model, ModelChoice choice)
    : writer_(WithSignals(std::move(model)), static_cast<int>(choice.threads)),
      choice_(std::move(choice)),
      threads_(choice_.ThreadsFor(writer_.model())) {}

std::unique_ptr<Engine> Engine::Open(const std::string& name, nb::dict options, int threads, nb::object progress) {
  ModelChoice choice{.name = name, .threads = threads};
  for (auto [key, value] : options) {
    const auto option = nb::cast<std::string>(key);
    const auto set = [&]<typename Member>(Member& member, const char* kind) {
      if (!nb::try_cast(value, member, false)) BadInput("{} must be {}, got {}", option, kind, KindOf(value));
    };
    if (option == "compute") {
      set(choice.compute, "a string");
    } else if (option == "influence") {
      set(choice.influence, "a string");
    } else if (option == "device") {
      set(choice.device, "a string");
    } else if (option == "lora") {
      set(choice.lora, "a list of strings");
    } else if (option == "gpu_layers") {
      set(choice.gpu_layers, "a whole number");
    } else if (option == "repack") {
      bool repacks = true;
      set(repacks, "True or False");
      choice.no_repack = !repacks;
    } else {
      BadInput("unknown model option '{}'; valid: compute, device, gpu_layers, influence, lora, repack", option);
    }
  }
  const bool is_told = !progress.is_none();
  Progress tell(std::move(progress));
  ModelOptions model_options = choice.Options();
  if (is_told) model_options.on_progress = std::ref(tell);
  nb::gil_scoped_release release;
  try {
    return std::make_unique<Engine>(OpenModel(name, model_options), choice);
  } catch (const Error&) {
    tell.Rethrow();
    throw;
  }
}

std::unique_ptr<Engine> Engine::Wrap(nb::object denoiser, nb::object tokenizer, int threads) {
  Model model{.denoiser = NewPyDenoiser(std::move(denoiser))};
  const DenoiserInfo& info = model.denoiser->info();
  model.name = info.name;
  if (tokenizer.is_none()) {
    model.tokenizer = std::make_shared<LettersTokenizer>(info.vocab_size, info.mask_token);
  } else {
    model.has_chat_template = nb::cast<bool>(tokenizer.attr("has_chat_template"));
    model.tokenizer = NewPyTokenizer(std::move(tokenizer));
  }
  return std::make_unique<Engine>(std::move(model), ModelChoice{.name = info.name, .threads = threads});
}

Outcome Engine::Write(nb::dict ask, nb::dict sampling) const {
  const Settings how = SettingsOf(sampling);
  const Ask asked = AskWith(ask, how);
  const CallScope call;
  nb::gil_scoped_release release;
  const SignalScope signals;
  Collector collector(how, call.stop());
  Answer answer = writer_.Write(asked, how.sampling, {.observer = &collector, .stop = call.stop()});
  return {std::move(answer), std::move(collector.events)};
}

Outcome Engine::Fill(nb::handle canvas, nb::dict sampling, std::uint64_t sample) const {
  const std::vector<Token> tokens = Integers(canvas, "a canvas");
  const Settings how = SettingsOf(sampling);
  const CallScope call;
  nb::gil_scoped_release release;
  const SignalScope signals;
  Validate(how.sampling);
  Filling filling(model(), how, threads_);
  Collector collector(how, call.stop());
  filling.recipe.sample = sample;
  filling.company.observer = &collector;
  filling.company.cancel = call.cancel();
  filling.options.prompt = GivenPositions(tokens, filling.info.mask_token);
  filling.Constrain(how.sampling, model(), tokens);
  const std::unique_ptr<DenoiserSession> session = model().denoiser->NewSession(filling.options);
  GenerateResult run = Generate(*session, filling.CanvasOf(tokens), filling.recipe, filling.company);
  return OutcomeOf(model(), std::move(run), std::move(collector.events));
}

std::unique_ptr<Job> Engine::Stream(nb::dict ask, nb::dict sampling, nb::object notify) const {
  const Settings settings = SettingsOf(sampling);
  return std::make_unique<Job>(
      [writer = writer_, asked = AskWith(ask, settings), how = settings](const Job::Tell& tell, std::stop_token stop) {
        Collector collector(how, stop);
        Answer answer = writer.Write(asked, how.sampling, {.on_text = tell, .observer = &collector, .stop = stop});
        std::vector<Outcome> outcomes;
        outcomes.push_back({std::move(answer), std::move(collector.events)});
        return outcomes;
      },
      std::move(notify));
}

std::unique_ptr<Job> Engine::Batch(nb::list asks, nb::dict sampling, nb::object notify) const {
  const Settings settings = SettingsOf(sampling);
  std::vector<Ask> asked;
  for (nb::handle ask : asks) asked.push_back(AskWith(nb::cast<nb::dict>(ask), settings));
  return std::make_unique<Job>(
      [writer = writer_, asked = std::move(asked), how = settings](const Job::Tell&, std::stop_token stop) {
        std::vector<Collector> collectors(asked.size(), Collector(how, stop));
        std::vector<Watch> watches;
        for (Collector& collector : collectors) watches.push_back({.observer = &collector, .stop = stop});
        std::vector<Answer> answers = writer.WriteBatch(asked, how.sampling, watches);
        std::vector<Outcome> outcomes;
        for (std::size_t i = 0; i < asked.size(); ++i) {
          outcomes.push_back({std::move(answers[i]), std::move(collectors[i].events)});
        }
        return outcomes;
      },
      std::move(notify));
}

std::unique_ptr<Job> Engine::FillBatch(nb::list canvases, nb::dict sampling, nb::object notify) const {
  std::vector<std::vector<Token>> given;
  for (nb::handle canvas : canvases) given.push_back(Integers(canvas, "a canvas"));
  const Settings how = SettingsOf(sampling);
  if (how.sampling.guidance != 0)
    BadInput("guidance: canvases of a batch have prompts of their own; fill them one by one");
  return std::make_unique<Job>(
      [writer = writer_, given = std::move(given), how, threads = threads_](const Job::Tell&, std::stop_token stop) {
        Validate(how.sampling);
        const Model& model = writer.model();
        const Filling filling(model, how, threads);
        std::atomic<bool> is_cancelled = false;
        const std::stop_callback on_stop(stop, [&] { is_cancelled = true; });
        std::vector<Collector> collectors(given.size(), Collector(how, stop));
        std::vector<Canvas> filled;
        std::vector<Company> companies;
        for (std::size_t i = 0; i < given.size(); ++i) {
          filled.push_back(filling.CanvasOf(given[i]));
          companies.push_back(filling.company);
          companies.back().observer = &collectors[i];
          companies.back().cancel = &is_cancelled;
        }
        std::vector<GenerateResult> runs;
        if (!filling.recipe.needs_constraint) {
          runs = GenerateBatch(*model.denoiser, filling.options, filled, filling.recipe, companies);
        } else {  // each canvas has its own
          const std::unique_ptr<DenoiserSession> session = model.denoiser->NewSession(filling.options);
          for (std::size_t i = 0; i < filled.size(); ++i) {
            Filling one = filling;
            one.recipe.sample = i;
            one.Constrain(how.sampling, model, given[i]);
            runs.push_back(Generate(*session, filled[i], one.recipe, companies[i]));
          }
        }
        std::vector<Outcome> outcomes;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          outcomes.push_back(OutcomeOf(model, std::move(runs[i]), std::move(collectors[i].events)));
        }
        return outcomes;
      },
      std::move(notify));
}

nb::object Engine::LogProbs(nb::handle tokens, nb::handle rows) const {
  const std::vector<Token> canvas = Integers(tokens, "tokens");
  const std::vector<Position> asked = Integers(rows, "rows");
  const auto vocab = static_cast<std::size_t>(model().denoiser->info().vocab_size);
  std::vector<double> values(asked.size() * vocab);
  const CallScope call;
  {
    nb::gil_scoped_release release;
    const SignalScope signals;
    const std::unique_ptr<DenoiserSession> session = model().denoiser->NewSession({.threads = threads_});
    const Query query{.canvas = canvas, .rows = asked};
    const PassRef pass = session->Forward({&query, 1}).front();
    const LogProbRequest request{.pass = pass.get(), .rows = asked, .out = values};
    session->LogProbs({&request, 1});
  }
  return NewArray(std::move(values), {asked.size(), vocab});
}

nb::object Engine::Encode(nb::handle text, bool specials, bool whole) const {
  const Tokenizer& tokenizer = *model().tokenizer;
  std::vector<Token> tokens = whole ? tokenizer.Prefix() : std::vector<Token>{};
  for (Token token : tokenizer.Encode(TextOf("text", text), {.specials = specials})) tokens.push_back(token);
  if (whole) {
    for (Token token : tokenizer.Suffix()) tokens.push_back(token);
  }
  return NewArray<Token>(tokens);
}

nb::object Engine::Decode(nb::handle tokens, bool controls) const {
  const std::vector<Token> all = Integers(tokens, "tokens");
  const int vocab = model().denoiser->info().vocab_size;
  for (Token token : all) {
    if (token < 0 || token >= vocab) BadInput("token {} lies outside the vocabulary of {}", token, vocab);
  }
  return NewText(controls ? model().tokenizer->Decode(all) : model().tokenizer->DecodeText(all));
}

nb::object Engine::Pieces(nb::handle tokens) const {
  nb::list pieces;
  for (Token token : Integers(tokens, "tokens")) pieces.append(NewText(model().tokenizer->Piece(token)));
  return pieces;
}

void BindEngine(nb::module_& module) {
  nb::class_<Outcome>(module, "Outcome")
      .def_prop_ro("text", [](const Outcome& o) { return NewText(o.answer.text); })
      .def_prop_ro("reasoning", [](const Outcome& o) { return NewText(o.answer.reasoning); })
      .def_prop_ro("finish_reason", [](const Outcome& o) { return NewText(o.answer.finish_reason); })
      .def_prop_ro("token_count", [](const Outcome& o) { return o.answer.tokens; })
      .def_prop_ro("tokens", [](const Outcome& o) { return NewArray<Token>(o.answer.run.tokens); })
      .def_prop_ro("stop", [](const Outcome& o) { return NewText(Name(o.answer.run.stop)); })
      .def_prop_ro("steps", [](const Outcome& o) { return o.answer.run.steps; })
      .def_prop_ro("seconds", [](const Outcome& o) { return o.answer.run.seconds; })
      .def_prop_ro("counters", [](const Outcome& o) { return CountersOf(o.answer.run.counters); })
      .def_prop_ro("trace_lines", &TraceOf);
  nb::class_<Job>(module, "Job")
      .def("next", &Job::Next)
      .def("take", &Job::Take)
      .def("wait", &Job::Wait)
      .def("stop", &Job::Stop);
  nb::class_<Engine>(module, "Engine")
      .def_static("open", &Engine::Open, nb::arg("name"), nb::arg("options"), nb::arg("threads"),
                  nb::arg("progress").none())
      .def_static("wrap", &Engine::Wrap, nb::arg("denoiser"), nb::arg("tokenizer").none(), nb::arg("threads"))
      .def_prop_ro("name", [](const Engine& e) { return e.model().name; })
      .def_prop_ro("architecture", [](const Engine& e) { return e.model().architecture; })
      .def_prop_ro("vocab_size", [](const Engine& e) { return e.model().denoiser->info().vocab_size; })
      .def_prop_ro("mask_token", [](const Engine& e) { return e.model().denoiser->info().mask_token; })
      .def_prop_ro("eos_tokens", [](const Engine& e) { return e.model().denoiser->info().eos_tokens; })
      .def_prop_ro("max_length", [](const Engine& e) { return e.model().denoiser->info().max_length; })
      .def_prop_ro("default_score", [](const Engine& e) { return e.model().denoiser->info().default_score; })
      .def_prop_ro("has_chat_template", [](const Engine& e) { return e.model().has_chat_template; })
      .def_prop_ro("warnings", [](const Engine& e) { return e.model().warnings; })
      .def("write", &Engine::Write)
      .def("fill", &Engine::Fill)
      .def("stream", &Engine::Stream, nb::arg("ask"), nb::arg("sampling"), nb::arg("notify").none())
      .def("batch", &Engine::Batch, nb::arg("asks"), nb::arg("sampling"), nb::arg("notify").none())
      .def("fill_batch", &Engine::FillBatch, nb::arg("canvases"), nb::arg("sampling"), nb::arg("notify").none())
      .def("log_probs", &Engine::LogProbs)
      .def("encode", &Engine::Encode)
      .def("decode", &Engine::Decode)
      .def("pieces", &Engine::Pieces);
}

}  // namespace punt::py
