// punt demo: records written side by side; a story written live with PUNT; what tests find where the truth is known;
// planners on stories.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/bench_table.h"
#include "app/canvas_view.h"
#include "app/command.h"
#include "app/comparison.h"
#include "app/demo_records.h"
#include "app/demo_verdict.h"
#include "app/eval_setup.h"
#include "app/glyphs.h"
#include "app/help.h"
#include "app/options.h"
#include "app/sampling_flags.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "generate/trace_pieces.h"
#include "punt/generator.h"
#include "punt/planner.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

constexpr const char* kLivePlanner = "scout";
constexpr const char* kTested = "punt:epsilon=0.04";
constexpr const char* kOneByOne = "top-k:k=1";
constexpr const char* kLeftToRight = "left-to-right";
constexpr const char* kUntested = "top-k:k=4";
constexpr const char* kConfident = "threshold:tau=0.9";
constexpr std::int64_t kChainSamples = 8;

struct DemoFlags {
  EvalFlags eval;
  ViewFlags view;
};

/// All ranked alike: by the probability of what was drawn, as its authors rank threshold, stories end at the first
/// chance.
std::vector<GridEntry> DemoGrid() {
  const std::vector<std::string> planners = {kOneByOne, kConfident, kLivePlanner, kUntested};
  std::vector<GridEntry> grid = GridOf(planners);
  for (GridEntry& entry : grid) entry.score = "";
  return grid;
}

/// A document whose entries are independent of each other and consistent in themselves, by four planners. False after
/// an interruption.
bool WriteRecords(const DemoFlags& flags) {
  fmt::print(
      "1. Sixteen bills by tasks, a model of test data: the entries are random, a + b is\nthe total. Tokens drawn "
      "together without a test need not agree (x); one by one\ntakes a pass for each token. scout tests first.\n");
  FlushOutput();
  return ShowRecords(flags.eval.sampling.seed, flags.eval.model.threads,
                     flags.view.Options(stdout, ViewKind::kNone).colour);
}

/// The story, as it appears; if it cannot be drawn, its text.
void Tell(const DemoFlags& flags, const EvalSetup& setup) {
  const Model& model = *setup.model;
  const DenoiserInfo& info = model.denoiser->info();
  ViewOptions view_options = flags.view.Options(stdout, ViewKind::kNone);
  view_options.show_title = false;
  const bool is_drawn = view_options.kind != ViewKind::kNone;
  fmt::print(
      "\n2. A story by {}, filled in by {}. Every step proposes tokens\nanywhere in the text and keeps those that are "
      "sure or, by a test, do not influence\neach other{}\n",
      model.name, kLivePlanner, is_drawn ? " (green kept, red put back)." : ".");
  FlushOutput();
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
  if (result.stop == StopReason::kCancelled) return;  // half a story is mostly masks
  if (IsUnfinished(Name(result.stop))) {
    fmt::print("The story is unfinished: a limit on passes or steps ended it.\n");
    return;
  }
  if (is_drawn) return;
  fmt::print("{}\n", SafeText(setup.task->ResponseText(item, result.tokens)));
}

/// Planners on a chain whose positions are shuffled: what each took, and what it got wrong, exactly. False after an
/// interruption.
bool ShowChain(const DemoFlags& flags) {
  const std::vector<std::string> planners = {kLeftToRight, kTested, kUntested, kConfident, "dilated:log_window=4"};
  const Model chain = OpenModel(kComparisonModel);
  const ComparisonOptions options{.sampling = {.seed = flags.eval.sampling.seed}, .samples = kChainSamples};
  const TextTable table = ComparisonTable(planners, OutputColumns());
  fmt::print(
      "\n3. Where the truth is known: {} tokens that depend on each other in places that\nno planner was told (a "
      "chain, "
      "its positions shuffled). The error is what drawing\ntokens together got wrong, in nats per sequence; 0 is "
      "perfect.\n{}\n",
      chain.denoiser->info().max_length, table.Head());
  std::vector<ComparisonRow> rows;
  for (const std::string& planner : planners) {
    rows.push_back(Compare(chain, planner, options, &InstallInterruptHandlers()));
    if (WasInterrupted()) return false;
    fmt::print("{}\n", ComparisonLine(table, rows.back()));
    FlushOutput();
  }
  fmt::print("{}\n", ChainVerdict(rows));
  return true;
}

/// A table of planners on stories. False after an interruption.
bool ShowStories(const DemoFlags& flags, const EvalSetup& setup) {
  const TaskRow& task = FindTask(flags.eval.task);
  const std::vector<GridEntry> grid = DemoGrid();
  const BenchTable table(task, grid, false, OutputColumns());
  fmt::print(
      "\n4. On {} per planner. NFE counts all forward passes, tests too. The judge\nperplexity is how much the text "
      "surprises another model: less is better.\n{}\n",
      setup.count == 1 ? "one story" : fmt::format("{} stories", setup.count), table.Head());
  SweepProgress progress(grid.size() * setup.count, "stories");
  std::vector<BenchRow> rows;
  for (const GridEntry& entry : grid) {
    FlushOutput();
    EvalJob job = MakeEvalJob(flags.eval, setup, entry.planner, entry.score);
    job.cancel = &InstallInterruptHandlers();
    job.on_progress = [&](std::size_t done) { progress.Show(rows.size() * setup.count + done); };
    const std::optional<BenchRow> row = MeasurePlanner(entry, job);
    progress.Clear();
    if (!row) return false;
    fmt::print("{}\n", table.Line(*row));
    rows.push_back(*row);
  }
  fmt::print("{}\n", StoriesVerdict(task, rows));
  return true;
}

int Run(const DemoFlags& flags) {
  EvalSetup setup = OpenEval(flags.eval);
  if (HasRecordsModel() && !WriteRecords(flags)) return SayInterrupted("in the records");
  Tell(flags, setup);
  if (WasInterrupted()) return SayInterrupted("in the first story");
  if (!ShowChain(flags)) return SayInterrupted("on the chain");
  if (!ShowStories(flags, setup)) return SayInterrupted("in the table of planners");
  fmt::print(
      "\nNext: punt generate \"Lily had a red ball.\", punt serve, punt list planners.\ndocs/results.md says where "
      "tests pay."
      "\n");
  return 0;
}

}  // namespace

Runner AddDemo(CLI::App& command) {
  const auto flags = std::make_shared<DemoFlags>();
  EvalFlags& eval = flags->eval;
  eval.task = "stories";
  eval.model.name = "stories";
  eval.limit = 1;
  eval.sampling.temperature = 0.7;
  eval.sampling.top_p = 0.9;
  eval.sampling.score_on = "tempered";
  eval.sampling.seed =
      2;  // of seeds 0 to 7 scout errs in one document at 0, one by one at 1 and 7: 2 shows what is usual
  AddInteger(command, "--samples", eval.limit, 1, 10000, "Stories per planner in the table")->default_str("1");
  command.add_option("--judge", eval.judge, "Autoregressive GGUF model that judges texts; default: the bundled one");
  SetGroup(command, "Text", {"--samples", "--judge"});
  AddModel(command, eval.model);
  AddSampling(command, eval.sampling, kWithoutPlanner);  // which planners is what it shows
  flags->view.AddTo(command);
  command.footer(
      "Sampled with temperature 0.7, from the most likely tokens that make up 90 % (--top-p 0.9). The judge is an "
      "autoregressive model of the same kind of text: "
      "the\nperplexity it gives to what was written. From three stories on there are intervals of 95 %.\n\n"
      "Examples:\n  punt demo\n  punt demo --delay 150 --seed 3\n  punt demo --samples 10 --view none");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
