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
  // The part of the canvas that is text: without what the tokenizer puts around it, and in a chat the answer alone.
  std::size_t text_begin = 0;
  std::size_t text_end = 0;
  std::size_t tail_begin = 0;  // where generation runs to the end; an end of sequence there ends the text
};

/// One JSON object on one line:
/// {"text","tokens","prompt_tokens","steps","nfe":{"base","test","total"},"row_passes","tokens_per_forward",
///  "seconds","planner","seed","stop","peak_memory_bytes"}. Tokens are those of the whole canvas, text is what
///  ResultText gives.
std::string ResultJson(const GenerateResult& result, const ReportContext& context);

/// The text, given parts included, up to the end of sequence. Positions that are still masked (after a limit or a
/// cancellation) show as "_".
std::string ResultText(const GenerateResult& result, const ReportContext& context);

/// Empty for a canvas that was filled; else a sentence on why it was not, and how many masks remain.
std::string IncompleteNote(const GenerateResult& result, const Model& model);

}  // namespace punt
