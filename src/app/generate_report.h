// What `punt generate` prints.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "punt/generator.h"
#include "punt/model.h"
#include "writer/thinking.h"

namespace punt {

struct ReportContext {
  const Model* model = nullptr;
  int prompt_tokens = 0;  // tokens of the canvas that were given
  // The part of the canvas that is text: without what the tokenizer puts around it, and in a chat only the answer.
  std::size_t text_begin = 0;
  std::size_t text_end = 0;
  std::size_t tail_begin = 0;           // where generation runs to the end; an end of sequence there ends the text
  std::vector<std::string> stops = {};  // and so do these, from there on
  Thinking thinking = Thinking::kNone;  // what a chat's answer may begin with
  bool shows_thinking = false;          // ResultText has it too
};

/// One JSON object on one line: the result
/// {"text","tokens","prompt_tokens","steps","nfe":{"base","test","total"},"row_passes","tokens_per_forward",
///  "seconds","planner","seed","stop","peak_memory_bytes","masked","version",...}
/// and then all settings; "logprobs" are the rows of committed tokens, if the run reports them, and "reasoning" is what
/// the model thought before a chat's answer, if it did. Tokens are those of the whole canvas, text is what ResultText
/// gives, masked is the number of positions left open.
std::string ResultJson(const GenerateResult& result, const ReportContext& context,
                       const nlohmann::ordered_json& settings);

/// The text, without what the model thought unless the context shows it; given parts included, up to the end of
/// sequence. Positions that are still masked (after a limit or a cancellation) show as "_".
std::string ResultText(const GenerateResult& result, const ReportContext& context);

/// Positions that a limit or a cancellation left open.
std::size_t MaskedCount(const GenerateResult& result, const Model& model);

/// Why a canvas was not filled, and how much of it is open: "stopped after 3 passes (nfe-limit) with 37 of 40 positions
/// open".
std::string IncompleteNote(const GenerateResult& result, const ReportContext& context);

}  // namespace punt
