// From the options of `punt generate` to what is run: a model, a canvas, a recipe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/generate_flags.h"
#include "app/generate_report.h"
#include "app/protein_request.h"
#include "punt/canvas.h"
#include "punt/generator.h"
#include "punt/model.h"
#include "writer/growing_text.h"

namespace punt {

/// Everything that is fixed before the first sample.
struct GenerateJob {
  GenerateFlags flags;  // as given, with defaults filled in: see SettingsJson
  Model model;
  Recipe recipe;                         // of the first sample
  std::vector<Token> canvas;             // of every sample, or of the longest
  TextPlace answer;                      // where the answer is on it
  std::optional<SampleLengths> lengths;  // if samples differ in length
  Company company;                       // observer not set
  bool is_board = false;                 // of sudoku; its text begins with a line feed
  ReportContext report;                  // model not set: a job may be moved
  SessionOptions session;
};

/// Opens what the flags name; warnings and notes go to the standard error. Throws Error.
GenerateJob PrepareJob(const GenerateFlags& flags);

/// The canvas of one sample: the same for all, or shortened to its length.
Canvas CanvasOf(const GenerateJob& job, std::uint64_t sample);

/// How many sequences run together. Forward passes with many rows gain nothing from more, and each sequence
/// holds its own logits.
std::int64_t BatchSize(const GenerateJob& job);

/// Samples recipe.sample, recipe.sample + 1, ... in one batch. Observers get the events in order, run by run, when the
/// batch is done.
std::vector<GenerateResult> GenerateTogether(const GenerateJob& job, std::size_t count);

}  // namespace punt
