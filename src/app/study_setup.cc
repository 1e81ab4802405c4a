#include "app/study_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "app/comparison.h"
#include "app/eval_setup.h"
#include "app/event_list.h"
#include "app/help.h"
#include "app/request.h"
#include "app/sampling_flags.h"
#include "app/sudoku_request.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/check.h"
#include "eval/stream.h"
#include "generate/misfit_list.h"
#include "punt/planner.h"
#include "report/data_file.h"
#include "writer/ask_canvas.h"
#include "writer/stop_strings.h"

namespace punt {
namespace {

constexpr std::size_t kUsualSamples = 8;
constexpr std::int64_t kMostSamples = 1'000'000;
constexpr std::size_t kQuickSamples = 2;
constexpr std::int64_t kQuickLength = 24;

/// The first and the last setting of every family.
std::vector<GridEntry> EndsOf(const std::vector<GridEntry>& grid) {
  std::vector<GridEntry> ends;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const bool is_first = i == 0 || grid[i - 1].family != grid[i].family;
    const bool is_last = i + 1 == grid.size() || grid[i + 1].family != grid[i].family;
    if (is_first || is_last) ends.push_back(grid[i]);
  }
  return ends;
}

Sampling SamplingOf(const StudyFlags& flags, const GridEntry& entry) {
  Sampling sampling = flags.sampling;
  sampling.planner = entry.planner;
  sampling.score = entry.score;
  return sampling;
}

std::vector<GridEntry> OpenGrid(const StudyFlags& flags, const DenoiserInfo& info) {
  const bool is_named = flags.grid.planners_option->count() > 0 || flags.grid.preset_option->count() > 0;
  std::vector<GridEntry> grid = is_named || flags.usual_planners.empty()
                                    ? flags.grid.Chosen(!flags.sampling.score.empty())
                                    : GridOf(ParsePlannerList(flags.usual_planners));
  if (flags.quick) grid = EndsOf(grid);
  std::set<std::string> names;
  for (GridEntry& entry : grid) {
    if (!flags.sampling.score.empty()) entry.score = flags.sampling.score;
    if (entry.score.empty()) entry.score = info.default_score;
    if (!names.insert(CanonicalPlannerSpec(entry.planner)).second) BadInput("'{}' is given twice", entry.planner);
    MakeRecipe(SamplingOf(flags, entry), info);  // errors come before the first of them runs
  }
  return grid;
}

std::vector<KindedPrompt> ReadPrompts(const StudyFlags& flags) {
  if (flags.prompts.empty()) return {{"prompt", flags.prompt}};
  if (flags.prompt_option->count() > 0) BadInput("--prompt and --prompts exclude each other");
  const std::string text = ReadDataFile(flags.prompts);
  try {
    return ParsePrompts(text);
  } catch (const Error& error) {
    BadInput("{}: {}", flags.prompts, error.what());
  }
}

Canvas OpenCanvas(const StudyFlags& flags, const std::string& prompt, const Model& model) {
  const DenoiserInfo& info = model.denoiser->info();
  CanvasRequest request{.prompt = prompt, .chat = flags.chat};
  const auto make = [&] { return Canvas(BuildCanvas(AskOf(request), model).tokens, info.mask_token, info.vocab_size); };
  const bool has_length = flags.length_option->count() > 0;
  if (has_length) request.length = flags.length;
  if (IsSudokuModel(model) && !has_length && !flags.chat) {  // as punt generate does
    request = {.prompt = {}, .infill = prompt.empty() ? EmptyBoard(model) : BoardInfill(prompt), .length = {}};
    return make();
  }
  Canvas canvas = make();
  if (canvas.masked_count() == 0) BadInput("the prompt leaves nothing to generate");
  if (has_length || !flags.quick || canvas.masked_count() <= kQuickLength) return canvas;
  request.length = kQuickLength;
  return make();
}

std::vector<StudyPrompt> OpenPrompts(const StudyFlags& flags, const Model& model) {
  std::vector<StudyPrompt> prompts;
  for (const KindedPrompt& given : ReadPrompts(flags)) {
    try {
      prompts.push_back({given.kind, OpenCanvas(flags, given.prompt, model)});
    } catch (const Error& error) {
      if (flags.prompts.empty()) throw;
      BadInput("{}: prompt {}: {}", flags.prompts, prompts.size() + 1, error.what());
    }
  }
  return prompts;
}

/// Throws Error naming the planners that the model cannot run on a prompt.
void RequireFit(const StudyFlags& flags, const StudySetup& setup) {
  MisfitList misfits;
  for (const GridEntry& entry : setup.grid) {
    const Recipe recipe = MakeRecipe(SamplingOf(flags, entry), setup.model.denoiser->info());
    for (const StudyPrompt& prompt : setup.prompts) misfits.Look(entry.planner, recipe, prompt.canvas, setup.model);
  }
  misfits.RequireNone();
}

Configuration ConfigurationOf(const StudyFlags& flags, const StudySetup& setup, std::string_view analysis) {
  std::string canvases;
  for (const StudyPrompt& prompt : setup.prompts) {
    canvases += prompt.kind + ":";
    for (Token token : prompt.canvas.tokens()) canvases += fmt::format(" {}", token);
    canvases += "\n";
  }
  constexpr std::string_view kAlwaysSaid[] = {"seed",       "temperature", "top_p", "top_k",
                                              "convention", "score_on",    "eos",   "window"};
  Sampling sampling = flags.sampling;
  sampling.score = {};  // every run has its own
  Configuration configuration = {{"analysis", std::string(analysis)},
                                 {"model", FileIdentity(setup.model.name, true)},
                                 {"prompts", fmt::format("{} ({:016x})", setup.prompts.size(), HashText(canvases))},
                                 {"compute", flags.model.compute},
                                 {"influence", FileIdentity(flags.model.influence, false)}};
  if (flags.model.no_repack) configuration.emplace_back("repack", "false");  // ggml rounds otherwise
  if (!flags.model.lora.empty()) configuration.emplace_back("lora", AdapterIdentity(flags.model.lora));
  const Configuration how = SamplingConfiguration(sampling, kAlwaysSaid);
  configuration.insert(configuration.end(), how.begin(), how.end());
  return configuration;
}

}  // namespace

void StudyFlags::AddTo(CLI::App& command) {
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  grid.AddTo(command);
  prompt_option = command.add_option("-p,--prompt", prompt, "Text to continue; default: none");
  command.add_option("--prompts", prompts, "File of prompts: a line each, or JSON lines with kind and prompt");
  command.add_flag("--chat", chat, "Prompts are messages: put them into the model's template");
  length_option = AddInteger(command, "-n,--length", length, 1, kInt,
                             "Positions to generate; default: 128, or all that a small model takes");
  AddInteger(command, "--samples", samples, 1, kMostSamples,
             fmt::format("Sequences per planner, over the prompts in turn; default: one per prompt, at least {}",
                         kUsualSamples));
  command.add_flag("--quick", quick,
                   fmt::format("{} sequences of {} positions, two settings per planner, unless told otherwise",
                               kQuickSamples, kQuickLength));
  SetGroup(command, "Text", {"--prompt", "--prompts", "--chat", "--length", "--samples", "--quick"});
  AddModel(command, model)->default_str("stories");
  AddSampling(command, sampling, kWithoutPlanner);
  command.add_option("--out", out, "Folder of records, tables and pictures")->required();
  command.add_flag("--json", json, "Print the summary as JSON");
  SetGroup(command, "Output", {"--out", "--json"});
}

StudySetup OpenStudy(const StudyFlags& flags, std::string_view analysis) {
  StudySetup setup;
  setup.model = OpenAndWarn(flags.model);
  const DenoiserInfo& info = setup.model.denoiser->info();
  setup.grid = OpenGrid(flags, info);
  setup.prompts = OpenPrompts(flags, setup.model);
  RequireFit(flags, setup);
  setup.samples = flags.samples > 0 ? static_cast<std::size_t>(flags.samples)
                  : flags.quick     ? kQuickSamples
                                    : std::max(kUsualSamples, setup.prompts.size());
  setup.session = SessionFor(flags.sampling, info);
  setup.session.threads = flags.model.ThreadsFor(setup.model);
  setup.configuration = ConfigurationOf(flags, setup, analysis);
  setup.how = fmt::format("temperature {}, top-p {}, seed {}, {} positions", flags.sampling.temperature,
                          flags.sampling.top_p, flags.sampling.seed, setup.prompts.front().canvas.masked_count());
  return setup;
}

Recipe StudyRecipe(const StudyFlags& flags, const StudySetup& setup, const GridEntry& entry, std::uint64_t sample) {
  Recipe recipe = MakeRecipe(SamplingOf(flags, entry), setup.model.denoiser->info());
  recipe.sample = sample;
  const Canvas& canvas = setup.prompts[sample % setup.prompts.size()].canvas;
  EndAtStops(recipe, setup.model, PlaceOfMasks(canvas.tokens(), canvas.mask_token()), flags.sampling.stop);
  return recipe;
}

std::optional<StudyRecords> RunStudy(const StudyFlags& flags, const StudySetup& setup, const StudyJob& job) {
  std::map<std::string, std::string> known;
  StudyRecords records;
  records.folder = std::make_unique<RecordFolder>(
      flags.out, setup.configuration, "analysis",
      [&](std::string_view line) { known.insert_or_assign(job.id_of(line), std::string(line)); });
  const std::atomic<bool>& cancel = InstallInterruptHandlers();
  std::unique_ptr<DenoiserSession> session = setup.model.denoiser->NewSession(setup.session);
  const std::size_t count = setup.grid.size() * setup.samples;
  SweepProgress progress(count, "runs");
  for (const GridEntry& entry : setup.grid) {
    const std::string name = fmt::format("{} {}", CanonicalPlannerSpec(entry.planner), entry.score);
    for (std::size_t sample = 0; sample < setup.samples; ++sample) {
      const std::string id = fmt::format("{} {}", name, sample);
      if (const auto found = known.find(id); found != known.end()) {
        records.lines.push_back(found->second);
        continue;
      }
      progress.Show(records.lines.size());
      const StudyPrompt& prompt = setup.prompts[sample % setup.prompts.size()];
      if (setup.session.guidance != 0) {
        SessionOptions options = setup.session;
        options.prompt = GivenPositions(prompt.canvas.tokens(), prompt.canvas.mask_token());
        session = setup.model.denoiser->NewSession(options);
      }
      EventList watcher;
      const GenerateResult result = Generate(*session, prompt.canvas, StudyRecipe(flags, setup, entry, sample),
                                             {.observer = &watcher, .cancel = &cancel});
      if (!WasInterrupted()) {
        records.lines.push_back(job.measure({id, entry, sample, prompt, result, watcher.events()}));
        records.folder->Add(records.lines.back());
        continue;
      }
      progress.Clear();
      SayInterrupted(
          fmt::format("after {} of {} runs; the same command goes on from there", records.lines.size(), count));
      return std::nullopt;
    }
  }
  progress.Clear();
  return records;
}

void WriteStudyFile(const StudyFlags& flags, const RecordFolder& folder, const std::string& name,
                    std::string_view text) {
  folder.Write(name, text);
  if (!flags.json) fmt::print("{}\n", (std::filesystem::path(flags.out) / name).string());
}

std::string StudyCommand(std::string_view analysis, const StudyFlags& flags, const StudySetup& setup) {
  std::string text = fmt::format("punt analyze {} --model {}", analysis, setup.model.name);
  if (!flags.grid.planners.empty()) text += fmt::format(" --planners \"{}\"", flags.grid.planners);
  if (flags.grid.preset_option->count() > 0) text += fmt::format(" --preset {}", flags.grid.preset);
  const auto add = [&](bool is_given, const std::string& option) { text += is_given ? " " + option : ""; };
  add(flags.quick, "--quick");
  const Sampling usual;
  for (const SamplingField& field : SamplingFields()) {
    const std::string value = TextOf(flags.sampling, field);
    if (field.key != "planner" && value != TextOf(usual, field)) text += fmt::format(" {} {}", OptionOf(field), value);
  }
  add(flags.length_option->count() > 0, fmt::format("--length {}", flags.length));
  add(flags.samples > 0, fmt::format("--samples {}", flags.samples));
  add(!flags.prompt.empty(), fmt::format("--prompt \"{}\"", flags.prompt));
  add(!flags.prompts.empty(), "--prompts " + flags.prompts);
  add(flags.chat, "--chat");
  return fmt::format("{} --out {}", text, flags.out);
}

}  // namespace punt
