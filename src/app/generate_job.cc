#include "app/generate_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/event_list.h"
#include "app/interruptible.h"
#include "app/request.h"
#include "app/sudoku_request.h"
#include "app/terminal.h"
#include "app/tokenizer_input.h"
#include "base/check.h"
#include "generate/misfit.h"
#include "generate/sampling_language.h"
#include "model/devices.h"
#include "punt/planner.h"
#include "writer/answer_constraint.h"
#include "writer/ask_canvas.h"
#include "writer/stop_strings.h"

namespace punt {
namespace {

std::string ReadPrompt(const GenerateFlags& flags) {
  if (flags.prompt != "-" || flags.prompt_is_text) return flags.prompt;
  std::string text = ReadStandardInput();
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Which part of the canvas is shown as text.
void FindText(GenerateJob& job) {
  const Token mask = job.model.denoiser->info().mask_token;
  const std::size_t size = job.canvas.size();
  job.report.text_begin = job.model.tokenizer->Prefix().size();
  job.report.text_end = size - (job.flags.chat ? 0 : job.model.tokenizer->Suffix().size());
  std::size_t tail = job.report.text_end;
  while (tail > 0 && job.canvas[tail - 1] == mask) --tail;
  job.report.tail_begin = tail;
  if (job.flags.chat) {
    job.report.text_begin = tail;
    job.report.thinking = ThinkingBehind(std::span(job.canvas).first(tail), *job.model.tokenizer);
    job.report.shows_thinking = job.flags.show_thinking;
  }
  job.report.stops = job.flags.sampling.stop;
  const TextPlace place{.begin = tail, .end = job.report.text_end, .goes_on = !job.flags.chat && tail > 0};
  EndAtStops(job.recipe, job.model, place, job.report.stops);
}

void ReadLengths(CanvasRequest& request, GenerateJob& job) {
  const std::string& file = job.flags.protein.lengths;
  if (file.empty()) return;
  const Tokenizer& tokenizer = *job.model.tokenizer;
  const auto around = static_cast<int>(tokenizer.Prefix().size() + tokenizer.Suffix().size());
  job.lengths.emplace(file, job.model.denoiser->info().max_length - around);
  if (job.lengths->left_out() > 0) {
    fmt::print(stderr, "punt: note: {} lengths in '{}' are more than {} takes and are not drawn\n",
               job.lengths->left_out(), file, job.model.name);
  }
  request.length = job.lengths->longest();
}

Model OpenFor(const GenerateFlags& flags) {
  Model model = OpenAndWarn(flags.model);
  if (flags.sampling.freeze_mask_ratio && model.architecture != "esm2") {
    const std::string warning = fmt::format("--freeze-mask-ratio is ignored: {} has no token dropout",
                                            model.architecture.empty() ? "a toy model" : model.architecture);
    PrintWarnings({&warning, 1});
  }
  return model;
}

/// A prompt is a puzzle and becomes a board with holes, and no prompt at all an empty board. With --length it is a
/// text.
void MakeBoard(GenerateJob& job) {
  GenerateFlags& flags = job.flags;
  if (!IsSudokuModel(job.model) || flags.length > 0 || flags.chat) return;
  if (!flags.infill) {
    flags.infill = flags.prompt.empty() ? EmptyBoard(job.model) : BoardInfill(flags.prompt);
    flags.prompt.clear();
  }
  job.is_board = flags.infill && flags.infill->starts_with('\n');
}

void MakeJobCanvas(GenerateJob& job) {
  GenerateFlags& flags = job.flags;
  flags.prompt = ReadPrompt(flags);
  flags.prompt_is_text = true;
  MakeBoard(job);
  CanvasRequest request{.prompt = flags.prompt, .chat = flags.chat, .thinking = flags.thinking, .infill = flags.infill};
  if (flags.length > 0) request.length = flags.length;
  ReadLengths(request, job);
  const AskCanvas canvas = BuildCanvas(AskOf(request), job.model);
  job.canvas = canvas.tokens;
  job.answer = canvas.place;
  PrintWarnings(PromptWarnings(request, job.model));
  const auto masks = std::count(job.canvas.begin(), job.canvas.end(), job.model.denoiser->info().mask_token);
  if (!flags.infill) flags.length = masks;
  job.report.prompt_tokens = static_cast<int>(job.canvas.size()) - static_cast<int>(masks);
  FindText(job);
}

void MakeJobRecipe(GenerateJob& job) {
  Sampling& sampling = job.flags.sampling;
  const DenoiserInfo& info = job.model.denoiser->info();
  job.recipe = MakeRecipe(sampling, info);
  job.recipe.sample = job.flags.first_sample;
  if (job.flags.logprobs >= 0) job.recipe.logprobs = static_cast<int>(job.flags.logprobs);
  job.company = CompanyFor(sampling, job.model.name, info);
  job.company.cancel = &InstallInterruptHandlers();
  sampling.planner = ShortPlannerSpec(sampling.planner);
  sampling.score = job.company.score_spec;
  sampling.cache = Name(job.recipe.cache);
}

void MakeJobSession(GenerateJob& job) {
  const GenerateFlags& flags = job.flags;
  const DenoiserInfo& info = job.model.denoiser->info();
  job.session = SessionFor(flags.sampling, info);
  job.session.threads = flags.model.ThreadsFor(job.model);
  if (flags.protein.wants_residues() || LanguageOf(flags.sampling).is_of_proteins()) {
    const std::vector<Token> banned = AllButResidues(job.model, job.canvas);
    job.session.banned_tokens.insert(job.session.banned_tokens.end(), banned.begin(), banned.end());
  }
  job.session.prompt = GivenPositions(job.canvas, info.mask_token);
  if (flags.infill && !job.is_board) LetGrow(flags.sampling, info, job.recipe, job.session);
  ConstrainAnswer(job.recipe, flags.sampling, job.model, {job.canvas, job.answer}, job.session.banned_tokens);
}

}  // namespace

GenerateJob PrepareJob(const GenerateFlags& flags) {
  RequireConsistent(flags);
  GenerateJob job{.flags = flags, .model = OpenFor(flags)};
  job.flags.model.name = job.model.name;
  MakeJobRecipe(job);
  MakeJobCanvas(job);
  MakeJobSession(job);
  PrintWarnings(FindOddities(job.recipe, job.canvas, job.model.denoiser->info()));
  return job;
}

Canvas CanvasOf(const GenerateJob& job, std::uint64_t sample) {
  const DenoiserInfo& info = job.model.denoiser->info();
  std::vector<Token> tokens = job.canvas;
  if (job.lengths) {
    const auto tail = tokens.begin() + static_cast<std::ptrdiff_t>(job.report.tail_begin);
    tokens.erase(tail, tail + (job.lengths->longest() - job.lengths->Of(job.recipe.seed, sample)));
  }
  return Canvas(tokens, info.mask_token, info.vocab_size);
}

std::int64_t BatchSize(const GenerateJob& job) {
  constexpr std::int64_t kRows = 2048;
  constexpr std::int64_t kMost = 16;
  const std::int64_t paying = std::clamp<std::int64_t>(kRows / std::ssize(job.canvas), 1, kMost);
  const std::int64_t wanted = job.flags.batch > 0 ? job.flags.batch : job.model.is_toy ? 1 : paying;
  return std::min(wanted, job.flags.samples);
}

std::vector<GenerateResult> GenerateTogether(const GenerateJob& job, std::size_t count) {
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

}  // namespace punt
