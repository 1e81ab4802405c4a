#include "app/sample_printer.h"

#include <fmt/format.h>

#include <cstdio>

#include "app/generate_settings.h"
#include "app/glyphs.h"
#include "app/terminal.h"

namespace punt {
namespace {

/// Of this sample: where the text ends follows from its canvas.
ReportContext ContextOf(const GenerateJob& job, const GenerateResult& result) {
  ReportContext context = job.report;
  context.model = &job.model;
  context.text_end = job.report.text_end + result.tokens.size() - job.canvas.size();
  if (job.recipe.grow_to > 0) {  // holes may have grown or shrunk: the last one is what was to be filled at the end
    context.tail_begin = context.text_end;
    for (auto it = result.generated.rbegin(); it != result.generated.rend(); ++it) {
      if (static_cast<std::size_t>(*it) + 1 != context.tail_begin) break;
      --context.tail_begin;
    }
  }
  return context;
}

std::string Json(const GenerateJob& job, const GenerateResult& result, const ReportContext& context,
                 std::uint64_t sample) {
  GenerateFlags flags = job.flags;
  if (job.lengths) flags.length = static_cast<std::int64_t>(result.tokens.size()) - context.prompt_tokens;
  return ResultJson(result, context, SettingsJson(flags, sample));
}

std::string Fasta(const GenerateJob& job, const GenerateResult& result, const ReportContext& context,
                  std::uint64_t sample) {
  const GenerateFlags& flags = job.flags;
  const std::string sequence = ResultText(result, context);
  return FastaText(fmt::format("seed{}_sample{}", flags.sampling.seed, sample),
                   {{"model", job.model.name},
                    {"planner", flags.sampling.planner},
                    {"temperature", fmt::format("{}", flags.sampling.temperature)},
                    {"seed", fmt::format("{}", flags.sampling.seed)},
                    {"sample", fmt::format("{}", sample)},
                    {"nfe", fmt::format("{}", result.counters.nfe())},
                    {"length", fmt::format("{}", sequence.size())}},
                   sequence);
}

/// A terminal obeys what it is sent, and a model may write anything.
std::string FitFor(std::FILE* out, const std::string& text) { return IsTerminal(out) ? SafeText(text) : text; }

}  // namespace

void SamplePrinter::Print(const GenerateJob& job, const GenerateResult& result, std::uint64_t sample) {
  ++seen_;
  const bool is_cut = result.stop == StopReason::kCancelled;
  if (is_cut && total_ > 1) return;
  finished_ += !is_cut;
  const ReportContext context = ContextOf(job, result);
  const bool is_filled = result.stop == StopReason::kStopString || MaskedCount(result, job.model) == 0;
  if (job.flags.json) {
    fmt::print("{}\n", Json(job, result, context, sample));
  } else if (job.flags.protein.is_fasta()) {
    // Half a protein is not a protein; a limit that was asked for is different.
    if (!is_cut) fmt::print("{}", Fasta(job, result, context, sample));
  } else if (is_filled && !text_was_shown_) {
    PrintText(job, ResultText(result, context), sample);
  }
  FlushOutput();
  if (!is_filled) PrintUnfinished(job, result, context, sample);
}

void SamplePrinter::PrintText(const GenerateJob& job, const std::string& text, std::uint64_t sample) {
  const GenerateFlags& flags = job.flags;
  if (flags.separator) {
    if (printed_ > 0) fmt::print("{}\n", *flags.separator);
  } else if (total_ > 1) {
    fmt::print("--- seed {}, sample {} ({} of {}) ---\n", flags.sampling.seed, sample, seen_, total_);
  }
  fmt::print("{}\n", FitFor(stdout, job.is_board ? text.substr(1) : text));
  ++printed_;
}

void SamplePrinter::PrintUnfinished(const GenerateJob& job, const GenerateResult& result, const ReportContext& context,
                                    std::uint64_t sample) {
  // JSON and FASTA have the text, a view has shown it, and masks alone are not text.
  const bool has_text = result.committed > 0 && !job.flags.is_for_machines() && !text_was_shown_;
  const std::string which = total_ > 1 ? fmt::format("sample {}: ", sample) : "";
  fmt::print(stderr, "punt: {}{}{}\n", which, IncompleteNote(result, context), has_text ? ":" : "");
  if (has_text) fmt::print(stderr, "{}\n", FitFor(stderr, ResultText(result, context)));
}

int SamplePrinter::Finish() const {
  if (!WasInterrupted() || finished_ == total_) return 0;
  const bool was_said = total_ == 1 && seen_ == 1;
  if (!was_said) fmt::print(stderr, "punt: interrupted: {} of {} samples finished\n", finished_, total_);
  return kInterruptedExit;
}

}  // namespace punt
