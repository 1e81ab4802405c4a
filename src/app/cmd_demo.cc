// punt demo: what the method does and what it is worth, on one screen of 80 x 24.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "app/canvas_view.h"
#include "app/command.h"
#include "app/comparison.h"
#include "app/options.h"
#include "app/terminal.h"
#include "generate/trace_pieces.h"
#include "punt/generator.h"

namespace punt {
namespace {

constexpr const char* kLivePlanner = "punt:epsilon=0.01";

struct DemoFlags {
  ViewFlags view;
  std::int64_t samples = 8;
  std::uint64_t seed = 0;
};

/// The findings in words, from the figures of this run: the claim cannot outlive the facts.
std::string Verdict(const ComparisonRow& reference, const ComparisonRow& punt, const ComparisonRow& rival) {
  return fmt::format("{}: {:.1f}x fewer passes than {}, {:.2f} nats off.\n{}, nearest in passes: {:.2f} nats off.",
                     punt.planner, reference.nfe / punt.nfe, reference.planner, punt.error_nats, rival.planner,
                     rival.error_nats);
}

constexpr const char* kTitle = R"(256 tokens of a Markov chain whose links are scattered over the text: nobody
told the planners its order. NFE counts all forward passes, PUNT's tests too.)";
constexpr const char* kErrorNote = "error: nats per sequence lost by drawing tokens in parallel; exact.";
constexpr const char* kLiveNote = "live: punt, green accepted, red rejected by a test, plain earlier, dots masked";

int Run(const DemoFlags& flags) {
  const Model model = OpenModel(kComparisonModel);
  const std::atomic<bool>& cancel = InstallInterruptHandlers();
  const ComparisonOptions options{.samples = flags.samples, .seed = flags.seed};
  const std::vector<std::string> planners = DefaultPlanners();
  const int width = PlannerWidth(planners);
  fmt::print("{}\n{}\n", kTitle, TableHeader(width));
  ComparisonRow reference, punt, rival;
  for (const std::string& planner : planners) {
    std::fflush(stdout);
    const ComparisonRow row = Compare(model, planner, options, &cancel);
    if (WasInterrupted()) return kInterruptedExit;
    fmt::print("{}\n", TableRow(row, width));
    if (reference.planner.empty()) reference = row;  // left-to-right comes first
    if (planner == kLivePlanner) punt = row;
    // The rival: of the other parallel planners, the one whose number of passes is nearest.
    const bool is_rival = planner.rfind("punt", 0) != 0 && planner != reference.planner;
    if (is_rival && (rival.planner.empty() || std::abs(row.nfe - punt.nfe) < std::abs(rival.nfe - punt.nfe))) {
      rival = row;
    }
  }
  fmt::print("{}\n{}\n", kErrorNote, Verdict(reference, punt, rival));
  std::fflush(stdout);

  ViewOptions view_options = flags.view.Options(stdout, ViewKind::kNone);
  if (view_options.kind == ViewKind::kNone) return 0;
  fmt::print("{}\n", kLiveNote);
  std::fflush(stdout);
  // The table should stay in sight; a screen too low for it shows a part of the canvas.
  view_options.keep_lines = static_cast<int>(planners.size()) + 7;
  view_options.show_title = false;
  CanvasView view(view_options);
  PieceAnnotator annotator(*model.tokenizer, view);
  const DenoiserInfo& info = model.denoiser->info();
  Recipe recipe = MakeRecipe(kLivePlanner, "", {}, info);
  recipe.seed = flags.seed;
  const std::unique_ptr<DenoiserSession> session = model.denoiser->NewSession({});
  const std::vector<Token> masks(static_cast<std::size_t>(info.max_length), info.mask_token);
  const Company company{
      .observer = &annotator, .cancel = &cancel, .model_name = model.name, .planner_spec = kLivePlanner};
  Generate(*session, Canvas(masks, info.mask_token, info.vocab_size), recipe, company);
  return WasInterrupted() ? kInterruptedExit : 0;
}

}  // namespace

Runner AddDemo(CLI::App& command) {
  const auto flags = std::make_shared<DemoFlags>();
  AddInteger(command, "--samples", flags->samples, 1, 10000, "Sequences per planner in the table")->default_str("8");
  AddSeed(command, "--seed", flags->seed, "Seed of all random numbers");
  flags->view.AddTo(command);
  command.footer("Examples:\n  punt demo\n  punt demo --delay 150\n  punt demo --view none");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
