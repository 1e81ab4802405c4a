// punt generate: options, a model, a canvas, a recipe; then one run per sample.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "app/canvas_view.h"
#include "app/command.h"
#include "app/event_list.h"
#include "app/generate_report.h"
#include "app/options.h"
#include "app/protein_request.h"
#include "app/request.h"
#include "app/terminal.h"
#include "app/tokenizer_input.h"
#include "app/trace_file.h"
#include "base/check.h"
#include "generate/trace_pieces.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000;
constexpr std::int64_t kMostBatch = 64;

struct GenerateFlags {
  std::string prompt;
  std::string infill;
  std::int64_t length = 0;
  std::string model;  // empty: DefaultModel()
  std::string planner = "punt";
  std::string score;
  ProposalFlags proposal;
  std::string eos = "none";
  std::int64_t window = 0;
  std::string cache = "none";
  std::uint64_t seed = 0;
  std::int64_t samples = 1;
  std::int64_t batch = 0;
  std::uint64_t first_sample = 0;
  std::int64_t max_steps = 0;
  std::int64_t max_nfe = 0;
  std::int64_t threads = 0;
  bool chat = false;
  std::string device = "auto";
  std::string compute = "auto";
  std::int64_t gpu_layers = -1;
  bool no_repack = false;
  double guidance = 0;
  bool freeze_mask_ratio = false;
  ProteinRequest protein;
  std::string trace;
  ViewFlags view;
  bool json = false;
  CLI::Option* infill_option = nullptr;
  CLI::Option* length_option = nullptr;
  CLI::Option* trace_option = nullptr;
};

/// Passes every event to all of them.
class Broadcast : public Observer {
 public:
  void Add(Observer& observer) { observers_.push_back(&observer); }
  bool empty() const { return observers_.empty(); }
  void On(const TraceEvent& event) override {
    for (Observer* observer : observers_) observer->On(event);
  }

 private:
  std::vector<Observer*> observers_;
};

std::string ReadPrompt(const std::string& prompt) {
  if (prompt != "-") return prompt;
  std::string text = ReadStandardInput();
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Everything that is fixed before the first sample.
struct Job {
  Model model;
  Recipe recipe;
  std::vector<Token> canvas;             // of every sample, or of the longest
  std::optional<SampleLengths> lengths;  // where samples differ
  Company company;                       // observer not set
  ReportContext report;
  SessionOptions session;
};

/// Which part of the canvas is shown as text.
void FindText(const GenerateFlags& flags, Job& job) {
  const Token mask = job.model.denoiser->info().mask_token;
  const std::size_t size = job.canvas.size();
  job.report.text_begin = job.model.tokenizer->Prefix().size();
  job.report.text_end = size - (flags.chat ? 0 : job.model.tokenizer->Suffix().size());
  std::size_t tail = job.report.text_end;
  while (tail > 0 && job.canvas[tail - 1] == mask) --tail;
  job.report.tail_begin = tail;
  if (flags.chat) job.report.text_begin = tail;
}

void RequireConsistent(const GenerateFlags& flags) {
  if (flags.protein.format != "text" && !flags.protein.is_fasta()) {
    BadInput("unknown format '{}'; valid: text, fasta", flags.protein.format);
  }
  if (flags.protein.is_fasta() && flags.json) BadInput("--format fasta and --json exclude each other");
  if (flags.protein.lengths.empty()) return;
  if (flags.length_option->count() > 0) BadInput("--length and --lengths exclude each other");
  if (flags.infill_option->count() > 0) BadInput("--infill and --lengths exclude each other: the holes have lengths");
  if (!flags.prompt.empty()) BadInput("a prompt and --lengths exclude each other: lengths are those of whole proteins");
  if (flags.chat || flags.guidance != 0) BadInput("--lengths goes with neither --chat nor --guidance");
}

void ReadLengths(const GenerateFlags& flags, CanvasRequest& request, Job& job) {
  if (flags.protein.lengths.empty()) return;
  const Tokenizer& tokenizer = *job.model.tokenizer;
  const auto around = static_cast<int>(tokenizer.Prefix().size() + tokenizer.Suffix().size());
  job.lengths.emplace(flags.protein.lengths, job.model.denoiser->info().max_length - around);
  if (job.lengths->left_out() > 0) {
    fmt::print(stderr, "punt: note: {} lengths in '{}' are more than {} takes and are not drawn\n",
               job.lengths->left_out(), flags.protein.lengths, job.model.name);
  }
  request.length = job.lengths->longest();
}

/// Sample by sample: the same, or as much shorter as its length is.
Canvas CanvasOf(const Job& job, std::uint64_t sample) {
  const DenoiserInfo& info = job.model.denoiser->info();
  std::vector<Token> tokens = job.canvas;
  if (job.lengths) {
    const auto tail = tokens.begin() + static_cast<std::ptrdiff_t>(job.report.tail_begin);
    tokens.erase(tail, tail + (job.lengths->longest() - job.lengths->Of(job.recipe.seed, sample)));
  }
  return Canvas(tokens, info.mask_token, info.vocab_size);
}

Job Prepare(const GenerateFlags& flags) {
  RequireConsistent(flags);
  Job job;
  job.model =
      OpenModel(flags.model.empty() ? DefaultModel() : flags.model, {.compute = flags.compute,
                                                                     .device = flags.device,
                                                                     .gpu_layers = static_cast<int>(flags.gpu_layers),
                                                                     .repack = !flags.no_repack});
  PrintWarnings(job.model.warnings);
  const DenoiserInfo& info = job.model.denoiser->info();
  const ProposalOptions proposal = flags.proposal.Options();
  job.recipe = MakeRecipe(flags.planner, flags.score, proposal, info);
  job.recipe.eos = ParseEosPolicy(flags.eos);
  job.recipe.window = static_cast<int>(flags.window);
  job.recipe.cache = ParseCachePolicy(flags.cache);
  job.recipe.seed = flags.seed;
  job.recipe.max_steps = flags.max_steps;
  job.recipe.max_nfe = flags.max_nfe;
  CanvasRequest request{.prompt = ReadPrompt(flags.prompt), .chat = flags.chat};
  if (flags.infill_option->count() > 0) request.infill = flags.infill;
  if (flags.length_option->count() > 0) request.length = flags.length;
  ReadLengths(flags, request, job);
  job.canvas = BuildCanvas(request, job.model);
  PrintWarnings(PromptWarnings(request, job.model));
  job.company = {.cancel = &InstallInterruptHandlers(),
                 .model_name = job.model.name,
                 .planner_spec = CanonicalPlannerSpec(flags.planner),
                 .score_spec = flags.score.empty() ? info.default_score : flags.score,
                 .proposal = proposal};
  const auto masks = std::count(job.canvas.begin(), job.canvas.end(), info.mask_token);
  job.report = {.planner = job.company.planner_spec,
                .seed = flags.seed,
                .prompt_tokens = static_cast<int>(job.canvas.size()) - static_cast<int>(masks)};
  FindText(flags, job);
  // A toy model's passes are too small to be shared out.
  job.session = {.banned_tokens = BannedTokens(job.recipe.eos, info),
                 .guidance = flags.guidance,
                 .freeze_mask_ratio = flags.freeze_mask_ratio,
                 .threads = job.model.is_toy && flags.threads == 0 ? 1 : ThreadCount(flags.threads)};
  if (flags.protein.wants_residues()) {
    const std::vector<Token> banned = AllButResidues(job.model, job.canvas);
    job.session.banned_tokens.insert(job.session.banned_tokens.end(), banned.begin(), banned.end());
  }
  for (std::size_t i = 0; i < job.canvas.size(); ++i) {
    if (job.canvas[i] != info.mask_token) job.session.prompt.push_back(static_cast<Position>(i));
  }
  return job;
}

/// Prints results as they come: texts line by line, FASTA, or JSON (an object, or an array of them).
class ResultPrinter {
 public:
  ResultPrinter(const GenerateFlags& flags, const Job& job, bool text_was_shown)
      : flags_(flags), job_(job), context_(job.report), text_was_shown_(text_was_shown) {
    context_.model = &job.model;
  }

  void Print(const GenerateResult& result) {
    context_.text_end = job_.report.text_end + result.tokens.size() - job_.canvas.size();
    if (flags_.protein.is_fasta()) {
      // Half a protein is none; a limit that was asked for is another thing.
      if (result.stop != StopReason::kCancelled) fmt::print("{}", Fasta(result));
    } else if (flags_.json) {
      const bool in_array = flags_.samples > 1;
      fmt::print("{}{}{}", in_array ? (printed_ == 0 ? "[" : ",\n ") : "", ResultJson(result, context_),
                 in_array ? "" : "\n");
    } else if (!text_was_shown_) {
      fmt::print("{}\n", ResultText(result, context_));
    }
    ++printed_;
    const std::string note = IncompleteNote(result, job_.model);
    if (!note.empty() && !text_was_shown_) {
      std::fflush(stdout);
      fmt::print(stderr, "punt: {}\n", note);
    }
  }

  void Finish() {
    if (flags_.json && flags_.samples > 1) fmt::print("]\n");
  }

 private:
  std::string Fasta(const GenerateResult& result) const {
    const std::uint64_t sample = flags_.first_sample + static_cast<std::uint64_t>(printed_);
    const std::string sequence = ResultText(result, context_);
    return FastaText(fmt::format("seed{}_sample{}", flags_.seed, sample),
                     {{"model", job_.model.name},
                      {"planner", context_.planner},
                      {"temperature", fmt::format("{}", flags_.proposal.temperature)},
                      {"seed", fmt::format("{}", flags_.seed)},
                      {"sample", fmt::format("{}", sample)},
                      {"nfe", fmt::format("{}", result.counters.nfe())},
                      {"length", fmt::format("{}", sequence.size())}},
                     sequence);
  }

  const GenerateFlags& flags_;
  const Job& job_;
  ReportContext context_;
  bool text_was_shown_;
  std::int64_t printed_ = 0;
};

/// Sequences that run together. Forward passes with many rows gain nothing from more of them, and each sequence holds
/// logits of its own.
std::int64_t BatchSize(const GenerateFlags& flags, const Job& job) {
  constexpr std::int64_t kRows = 2048;
  constexpr std::int64_t kMost = 16;
  const std::int64_t paying = std::clamp<std::int64_t>(kRows / std::ssize(job.canvas), 1, kMost);
  const std::int64_t wanted = flags.batch > 0 ? flags.batch : job.model.is_toy ? 1 : paying;
  return std::min(wanted, flags.samples);
}

/// Whoever watches wants events in order, run by run: they come when a batch is done.
std::vector<GenerateResult> GenerateTogether(const Job& job, std::size_t count) {
  std::vector<Canvas> canvases;
  for (std::size_t i = 0; i < count; ++i) canvases.push_back(CanvasOf(job, job.recipe.sample + i));
  std::vector<Company> companies(count, job.company);
  std::vector<EventList> events(job.company.observer == nullptr ? 0 : count);
  for (std::size_t i = 0; i < events.size(); ++i) companies[i].observer = &events[i];
  std::vector<GenerateResult> results =
      GenerateBatch(*job.model.denoiser, job.session, canvases, job.recipe, companies);
  for (const EventList& list : events) list.ReplayTo(*job.company.observer);
  return results;
}

int Run(const GenerateFlags& flags) {
  Job job = Prepare(flags);
  // Standard output belongs to the result; a view beside JSON goes where messages go.
  const bool for_machines = flags.json || flags.protein.is_fasta();
  const ViewOptions view_options =
      for_machines ? flags.view.Options(stderr, ViewKind::kNone) : flags.view.Options(stdout, ViewKind::kNone);
  const bool view_wanted = view_options.kind != ViewKind::kNone && !(for_machines && flags.view.view == "auto");

  Broadcast observers;
  std::optional<TraceFile> trace;
  if (flags.trace_option->count() > 0) observers.Add(trace.emplace(flags.trace));
  std::optional<CanvasView> view;
  if (view_wanted) observers.Add(view.emplace(view_options));
  PieceAnnotator annotator(*job.model.tokenizer, observers);
  if (!observers.empty()) job.company.observer = &annotator;

  ResultPrinter printer(flags, job, view_wanted && !for_machines);
  const std::int64_t batch = view_wanted ? 1 : BatchSize(flags, job);
  const std::unique_ptr<DenoiserSession> session =
      batch == 1 ? job.model.denoiser->NewSession(job.session) : nullptr;  // batches have their own
  for (std::int64_t i = 0; i < flags.samples && !WasInterrupted(); i += batch) {
    job.recipe.sample = flags.first_sample + static_cast<std::uint64_t>(i);
    if (batch == 1) {
      printer.Print(Generate(*session, CanvasOf(job, job.recipe.sample), job.recipe, job.company));
    } else {
      const auto count = static_cast<std::size_t>(std::min(batch, flags.samples - i));
      for (const GenerateResult& result : GenerateTogether(job, count)) printer.Print(result);
    }
  }
  printer.Finish();
  if (trace) trace->Finish();
  return WasInterrupted() ? kInterruptedExit : 0;
}

constexpr const char* kExamples = R"(Examples:
  punt generate                                   a story of the bundled model, live on a terminal
  punt generate "Lily had a red ball." --temperature 0.7 --top-p 0.9
  punt generate --model llada-8b.gguf --chat "Why is the sky blue?" --window 32
  punt generate --model esm2 --infill "MKV[MASK:40]GG"
  punt generate --model membrane --length 120 --format fasta --samples 10 > designs.fasta
  punt generate --model membrane --lengths known.fasta --format fasta --samples 10
  punt generate abcab --model toy:markov,length=64 --length 20    a prompt, and 20 positions behind it
  punt generate --infill "Tom saw a [MASK:3]. He was sad."        fill a hole
  echo "One day" | punt generate - --json         prompt from the standard input
  punt generate --planner top-k:k=4 --samples 5 --trace runs.jsonl
  punt generate --cache settled --compute int8    faster, approximately: see punt list caches, docs/performance.md

The default temperature of 1 samples a model from its own law. A window that divides the generation into
blocks fills them left to right. Sample i of a run is sample i of any run with the same seed: see --first-sample.)";

}  // namespace

Runner AddGenerate(CLI::App& command) {
  const auto flags = std::make_shared<GenerateFlags>();
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  constexpr std::int64_t kBig = std::numeric_limits<std::int64_t>::max();
  command.footer(kExamples);
  command.add_option("prompt", flags->prompt, "Text to continue; - reads it from the standard input");
  command
      .add_option("--model", flags->model, "Bundled model, GGUF file, folder or toy:KIND,... (see punt list models)")
      ->default_str("stories");
  command.add_flag("--chat", flags->chat, "The prompt is a message: put it into the model's template, show the answer");
  command.add_option("--planner", flags->planner, "name or name:key=value,... (see punt list planners)")
      ->capture_default_str();
  command.add_option("--score", flags->score, "Confidence score (see punt list scores); default: the model's own");
  flags->proposal.AddTo(command);
  flags->length_option = AddInteger(command, "--length", flags->length, 1, kInt,
                                    "Positions to generate; default: 128, or all that a small model takes");
  AddInteger(command, "--window", flags->window, 0, kInt, "Fill blocks of so many positions left to right (0: one)");
  AddCache(command, flags->cache);
  AddSeed(command, "--seed", flags->seed, "Seed of all random numbers");
  AddInteger(command, "--samples", flags->samples, 1, kMostSamples, "How many sequences")->default_str("1");
  AddInteger(command, "--batch", flags->batch, 0, kMostBatch,
             "Sequences that run together (0: as many as pay); never changes a result")
      ->default_str("0");
  AddSeed(command, "--first-sample", flags->first_sample, "Number of the first sequence");
  command.add_option("--eos", flags->eos, "End-of-sequence tokens: none, deprioritise or forbid")
      ->capture_default_str();
  flags->infill_option =
      command.add_option("--infill", flags->infill,
                         "Text with holes of n tokens, [MASK:n]: ab[MASK:12]cd. A space before a hole is the hole's");
  AddInteger(command, "--max-steps", flags->max_steps, 0, kBig, "Stop after so many steps (0: no limit)");
  AddInteger(command, "--max-nfe", flags->max_nfe, 0, kBig, "Stop before exceeding so many forward passes");
  flags->protein.AddTo(command);
  flags->trace_option = command.add_option("--trace", flags->trace, "Write every event to this file (JSON lines)");
  flags->view.AddTo(command);
  AddReal(command, "--guidance", flags->guidance, 0, 1e6, "Classifier-free guidance: twice the passes (0: none)");
  command.add_flag("--freeze-mask-ratio", flags->freeze_mask_ratio,
                   "Test passes keep their base's mask ratio (ESM-2's token dropout)");
  command.add_option("--device", flags->device, "Device (see punt list devices)")->capture_default_str();
  AddCompute(command, flags->compute);
  AddInteger(command, "--gpu-layers", flags->gpu_layers, -1, kInt, "Layers on a GPU device, from the last (-1: all)");
  command.add_flag("--no-repack", flags->no_repack, "Use weights as they are mapped: opens at once, computes slower");
  AddInteger(command, "--threads", flags->threads, 0, 1024, "Threads (0: all cores); never changes a result")
      ->default_str("0");
  command.add_flag("--json", flags->json, "Print the result as JSON");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
