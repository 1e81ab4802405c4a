// The likelihood of a prompt, for requests with echo and logprobs.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "punt/model.h"
#include "punt/writer.h"
#include "serve/completion_request.h"
#include "serve/prompt_canvas.h"

namespace punt {

/// A prompt as it is repeated.
struct EchoedPrompt {
  std::string text;
  std::vector<TextToken> tokens;  // empty unless log-probabilities are asked for
  std::int64_t passes = 0;        // that they cost
};

/// Throws ApiError (400) when scoring its prompts would take more passes than the server allows for a choice.
void RequireScorable(const CompletionRequest& request, const std::vector<PromptCanvas>& canvases, const Model& model,
                     std::int64_t max_nfe);

/// The prompt of a canvas, token by token from left to right, each given those before it while all others are masked.
/// The canvas is the prompt alone; what a prompt begins with (BOS) is given, and listed only if the request listed it.
/// See LeftToRight for the passes. Nothing when it was cancelled.
std::optional<EchoedPrompt> ScorePrompt(DenoiserSession& session, const Model& model, const CompletionRequest& request,
                                        const Prompt& prompt, const PromptCanvas& canvas,
                                        const std::atomic<bool>& cancel);

}  // namespace punt
