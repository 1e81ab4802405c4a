// punt demo: a story told live with PUNT, then what that cost and how good it was beside other planners.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/bench_table.h"
#include "app/canvas_view.h"
#include "app/command.h"
#include "app/eval_setup.h"
#include "app/glyphs.h"
#include "app/options.h"
#include "app/terminal.h"
#include "generate/trace_pieces.h"
#include "punt/generator.h"
#include "punt/planner.h"

namespace punt {
namespace {

constexpr const char* kLivePlanner = "punt:epsilon=0.04";
constexpr const char* kOneByOne = "top-k:k=1";

struct DemoFlags {
  EvalFlags eval;
  ViewFlags view;
};

std::vector<GridEntry> DemoGrid() {
  const std::vector<std::string> planners = {
      kOneByOne,           kLivePlanner,          "punt:epsilon=0.16", "top-k:k=4", "entropy-bound:gamma=1",
      "threshold:tau=0.9", "dilated:log_window=5"};
  return GridOf(planners);
}

/// The story, as it appears; where it cannot be drawn, its text.
void Tell(const DemoFlags& flags, const EvalSetup& setup) {
  const Model& model = *setup.model;
  const DenoiserInfo& info = model.denoiser->info();
  ViewOptions view_options = flags.view.Options(stdout, ViewKind::kNone);
  view_options.show_title = false;
  const bool is_drawn = view_options.kind != ViewKind::kNone;
  fmt::print("A story by {} with {}{}\n", model.name, kLivePlanner,
             is_drawn ? " (green accepted, red rejected):" : ":");
  std::fflush(stdout);
  CanvasView view(view_options);
  PieceAnnotator annotator(*model.tokenizer, view);
  const Company company{.observer = is_drawn ? &annotator : nullptr,
                        .cancel = &InstallInterruptHandlers(),
                        .model_name = model.name,
                        .planner_spec = CanonicalPlannerSpec(kLivePlanner)};
  const EvalItem item = setup.task->Item(0);
  const std::unique_ptr<DenoiserSession> session = model.denoiser->NewSession(setup.session);
  const GenerateResult result = Generate(*session, Canvas(item.canvas, info.mask_token, info.vocab_size),
                                         MakeEvalRecipe(flags.eval, model, kLivePlanner, ""), company);
  if (is_drawn || result.stop == StopReason::kCancelled) return;  // half a story is masks for the most part
  fmt::print("{}\n", SafeText(setup.task->ResponseText(item, result.tokens)));
}

/// The finding in words, from the figures of this run: the claim cannot outlive the facts.
std::string Verdict(const TaskRow& task, const BenchRow& reference, const BenchRow& punt) {
  const double fewer = reference.summary.nfe.value / punt.summary.nfe.value;
  const double faster = reference.summary.seconds / punt.summary.seconds;
  std::string text = fmt::format("{}: {:.1f} times fewer passes than one by one, {:.1f} times faster",
                                 punt.entry.planner, fewer, faster);
  const std::optional<Figure> quality = QualityOf(task, punt.summary);
  const std::optional<Figure> before = QualityOf(task, reference.summary);
  if (!quality || !before) return text + ".";
  return text + fmt::format(";\nits text has a perplexity of {:.2f}, that of one by one {:.2f}.", quality->value,
                            before->value);
}

int Run(const DemoFlags& flags) {
  const TaskRow& task = FindTask(flags.eval.task);
  EvalSetup setup = OpenEval(flags.eval);
  Tell(flags, setup);
  if (WasInterrupted()) return SayInterrupted("in the first story");
  const std::vector<GridEntry> grid = DemoGrid();
  const BenchColumns columns = BenchColumnsOf(grid, false);
  fmt::print("\nThe same for {} {} and other planners. NFE counts all forward passes, tests too.\n{}\n", setup.count,
             setup.count == 1 ? "story" : "stories", BenchHeader(task, columns));
  BenchRow reference, punt;
  for (const GridEntry& entry : grid) {
    std::fflush(stdout);
    const auto show = [&](std::size_t done) {
      ShowCount(done, setup.count, fmt::format("stories, {}", entry.planner));
    };
    EvalJob job = MakeEvalJob(flags.eval, setup, entry.planner, entry.score);
    job.on_progress = show;
    const std::optional<BenchRow> row = MeasurePlanner(entry, job);
    show(setup.count);
    if (!row) return SayInterrupted(fmt::format("at {}", entry.planner));
    fmt::print("{}\n", BenchLine(task, *row, columns));
    if (entry.planner == kOneByOne) reference = *row;
    if (entry.planner == kLivePlanner) punt = *row;
  }
  fmt::print("{}\n", Verdict(task, reference, punt));
  return 0;
}

}  // namespace

Runner AddDemo(CLI::App& command) {
  const auto flags = std::make_shared<DemoFlags>();
  EvalFlags& eval = flags->eval;
  eval.task = "stories";
  eval.model = "stories";
  eval.limit = 1;
  eval.proposal.temperature = 0.7;
  eval.proposal.top_p = 0.9;
  command.add_option("-m,--model", eval.model, "Bundled model, GGUF file or Hugging Face folder")
      ->capture_default_str();
  command.add_option("--judge", eval.judge, "Autoregressive GGUF model that judges texts; default: the bundled one");
  AddInteger(command, "--samples", eval.limit, 1, 10000, "Stories per planner in the table")->default_str("1");
  AddSeed(command, "--seed", eval.seed, "Seed of all random numbers");
  AddInteger(command, "--threads", eval.threads, 0, 1024, "Threads (0: all cores); never changes a result")
      ->default_str("0");
  flags->view.AddTo(command);
  command.footer(
      "Sampled with temperature 0.7 and nucleus 0.9. The judge is an autoregressive model of the same kind of text: "
      "the\nperplexity it gives to what was written.\n\n"
      "Examples:\n  punt demo\n  punt demo --delay 150 --seed 3\n  punt demo --samples 10 --view none");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
