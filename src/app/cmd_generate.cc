// punt generate: options, a job, then one run per sample.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "app/canvas_view.h"
#include "app/command.h"
#include "app/generate_flags.h"
#include "app/generate_job.h"
#include "app/generate_settings.h"
#include "app/help.h"
#include "app/interruptible.h"
#include "app/sample_printer.h"
#include "app/terminal.h"
#include "app/trace_file.h"
#include "base/check.h"
#include "generate/trace_pieces.h"

namespace punt {
namespace {

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

/// The observers and the printer, for all runs of the command.
struct Outputs {
  std::optional<TraceFile> trace;
  std::optional<CanvasView> view;
  Broadcast observers;
  std::optional<SamplePrinter> printer;
};

void OpenOutputs(const GenerateFlags& flags, std::int64_t total, Outputs& outputs) {
  // Standard output is for the result; with JSON, a view goes where messages go.
  const bool for_machines = flags.is_for_machines();
  ViewOptions options = flags.view.Options(for_machines ? stderr : stdout, ViewKind::kNone);
  options.ends_with_canvas = for_machines;  // else the text itself comes next
  const bool view_wanted = options.kind != ViewKind::kNone && !(for_machines && flags.view.view == "auto");
  if (flags.trace) outputs.observers.Add(outputs.trace.emplace(*flags.trace));
  if (view_wanted) outputs.observers.Add(outputs.view.emplace(options));
  outputs.printer.emplace(total, view_wanted && !for_machines && options.kind == ViewKind::kPlain);
}

void RunJob(GenerateJob job, Outputs& outputs) {
  PieceAnnotator annotator(*job.model.tokenizer, outputs.observers);
  if (!outputs.observers.empty()) job.company.observer = &annotator;
  SamplePrinter& printer = *outputs.printer;
  const std::int64_t samples = job.flags.samples;
  const std::int64_t batch = outputs.view ? 1 : BatchSize(job);
  const std::unique_ptr<DenoiserSession> session =
      batch == 1 ? job.model.denoiser->NewSession(job.session) : nullptr;  // batches have their own
  for (std::int64_t i = 0; i < samples && !WasInterrupted(); i += batch) {
    const std::uint64_t first = job.flags.first_sample + static_cast<std::uint64_t>(i);
    job.recipe.sample = first;
    if (batch == 1) {
      printer.Print(job, Generate(*session, CanvasOf(job, first), job.recipe, job.company), first);
      continue;
    }
    const auto count = static_cast<std::size_t>(std::min(batch, samples - i));
    const std::vector<GenerateResult> results = GenerateTogether(job, count);
    for (std::size_t k = 0; k < count; ++k) printer.Print(job, results[k], first + k);
  }
}

int RunOne(const GenerateFlags& flags) {
  GenerateJob job = PrepareJob(flags);
  Outputs outputs;
  OpenOutputs(flags, flags.samples, outputs);
  RunJob(std::move(job), outputs);
  if (outputs.trace) outputs.trace->Finish();
  return outputs.printer->Finish();
}

/// `flags` is where the command's options store their values.
int Repeat(CLI::App& command, GenerateFlags& flags) {
  const GenerateFlags given = flags;
  if (given.from.empty()) BadInput("--from needs the name of a file");
  if (given.from == "-" && given.prompt == "-") BadInput("--from - and the prompt - both read the standard input");
  RequireConsistent(given);  // errors in what was given here are not the file's
  const std::vector<RecordedRun> runs = ReadRecordedRuns(given.from);
  std::int64_t total = 0;
  for (const RecordedRun& run : runs) total += run.samples;
  for (const char* option : {"--samples", "--first-sample"}) {
    if (total == 1 || command.get_option(option)->count() == 0) continue;
    BadInput("{} repeats the run of one line: {} has {}", option, given.from, total);
  }
  if (command.get_option("--samples")->count() > 0) total = given.samples;
  const auto apply = [&](const RecordedRun& run) {
    flags = given;
    ApplyRecorded(run, command, flags);
    WithPlace(run.where, [&] { RequireConsistent(flags); });
  };
  for (const RecordedRun& run : runs) apply(run);  // a bad line is reported before the first one runs
  Outputs outputs;
  for (const RecordedRun& run : runs) {
    if (WasInterrupted()) break;
    apply(run);
    if (run.version != PUNT_VERSION) {
      fmt::print(stderr, "punt: note: {} is of punt {}; this one may give another text\n", run.where, run.version);
    }
    GenerateJob job = WithPlace(run.where, [&] { return PrepareJob(flags); });
    if (!outputs.printer) OpenOutputs(given, total, outputs);
    WithPlace(run.where, [&] { RunJob(std::move(job), outputs); });
  }
  if (!outputs.printer) throw Interrupted{"before the first run"};
  if (outputs.trace) outputs.trace->Finish();
  return outputs.printer->Finish();
}

/// A trace replaces the file of its name.
void RequireTraceIsNoInput(const CLI::App& command, const GenerateFlags& flags) {
  for (const char* option : {"--from", "--sampling", "--lengths", "--model"}) {
    for (const std::string& input : command.get_option(option)->results()) {
      std::error_code ignored;  // what is not there is not replaced
      if (!flags.trace || !std::filesystem::equivalent(input, *flags.trace, ignored)) continue;
      BadInput("--trace {}: the output is the input of {}", *flags.trace, option);
    }
  }
}

constexpr const char* kExamples = R"(Examples:
  punt generate                                   a story of the bundled model, live on a terminal
  punt generate "Lily had a red ball." --temperature 0.7 --top-p 0.9
  punt generate -m llada-8b.gguf --chat "Why is the sky blue?" --window 32
  punt generate --infill "Tom saw a [MASK:3]. He was sad."        fill a hole
  punt generate --model sudoku                    a board; with a prompt of 81 digits (0: blank), solves that puzzle
)";

constexpr const char* kMoreExamples = R"(More examples:
  punt generate --model membrane --infill "MKV[MASK:40]GG"
  punt generate --model membrane --length 120 --format fasta --samples 10 > designs.fasta
  punt generate --model membrane --lengths known.fasta --format fasta --samples 10
  punt generate abcab --model toy:markov,length=64 -n 20          a prompt, and 20 positions after it
  echo "One day" | punt generate - --json > run.json              prompt from the standard input
  punt generate --from run.json                   the same text again
  punt generate --from run.json --planner top-k   the same with another planner
  sed -n 3p runs.json | punt generate --from -    the run of the third line
  punt generate --planner top-k:k=4 --samples 5 --trace runs.jsonl
  punt generate --cache settled --compute int8    faster, approximately: see punt list caches, docs/performance.md

The default temperature of 1 samples from the model's own law. Sample i of a run is sample i of any run with the same
seed: see --first-sample.

Each of several texts follows a line "--- seed 7, sample 1 (2 of 3) ---". --json prints one object per line. A canvas
that --max-steps, --max-nfe or Ctrl-C left unfinished is not printed as a text but shown on the standard error ("_" for
what is open); in JSON, "stop" and "masked" say so. Of several samples, Ctrl-C keeps the finished ones.

Live view: green accepted in this step, red rejected, plain committed earlier, dots still masked.)";

}  // namespace

Runner AddGenerate(CLI::App& command) {
  const auto flags = std::make_shared<GenerateFlags>();
  command.footer(std::string(kExamples) + kRestOfFooter + kMoreExamples);
  flags->AddTo(command);
  return [flags, &command] {
    RequireTraceIsNoInput(command, *flags);
    return command.get_option("--from")->count() == 0 ? RunOne(*flags) : Repeat(command, *flags);
  };
}

}  // namespace punt
