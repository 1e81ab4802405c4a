// From a request's prompts to the canvases that are filled for it.
#pragma once

#include <cstdint>
#include <vector>

#include "punt/model.h"
#include "serve/completion_request.h"
#include "writer/ask_canvas.h"

namespace punt {

struct PromptCanvas : AskCanvas {
  std::uint64_t first_sample = 0;  // of its choices; the others follow
};

/// A canvas for each prompt, or for the chat. Its length is the one asked for, or what fits if that is
/// less. The choices of a prompt are the samples 0, 1, ... of the seed, whatever else is in the list, except that a
/// repeated prompt continues the count: copies of a prompt should give different texts. Throws
/// ApiError (400) naming the field when the model cannot read it or it leaves no room to generate.
std::vector<PromptCanvas> BuildCanvases(const CompletionRequest& request, const Model& model);

}  // namespace punt
