// What `punt generate` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "punt/generator.h"
#include "punt/model.h"

namespace punt {

struct ReportContext {
  const Model* model = nullptr;
  std::string planner;  // canonical spec
  std::uint64_t seed = 0;
  int prompt_tokens = 0;  // tokens of the canvas that were given
};

/// One JSON object on one line:
/// {"text","tokens","prompt_tokens","steps","nfe":{"base","test","total"},"row_passes","tokens_per_forward",
///  "seconds","planner","seed","stop"}. Text and tokens are those of the whole canvas, given ones included.
std::string ResultJson(const GenerateResult& result, const ReportContext& context);

/// The text of the whole canvas. Positions that are still masked (after a limit or a cancellation) show as "_".
std::string ResultText(const GenerateResult& result, const Model& model);

/// Empty for a canvas that was filled; else a sentence on why it was not, and how many masks remain.
std::string IncompleteNote(const GenerateResult& result, const Model& model);

}  // namespace punt
