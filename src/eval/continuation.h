// A prompt followed by masks, and what a model wrote there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/types.h"

namespace punt {

struct ContinuationRequest {
  std::string_view id;  // of the item, for errors
  std::string_view prompt;
  bool chat = false;                           // the prompt is a user's message in the model's template
  std::span<const ChatMessage> messages = {};  // instead of a prompt: a conversation, in the template
  std::optional<int> length = {};              // masks; unset: as many as make the canvas `usual_canvas` long
  int usual_canvas = 256;
};

/// Throws Error naming the item when prompt and masks do not fit the model, and when the prompt holds a mask.
std::vector<Token> ContinuationCanvas(const Model& model, const ContinuationRequest& request);

/// How many positions of a canvas are masks.
std::size_t CountMasks(const Model& model, std::span<const Token> canvas);

/// What `filled` has in place of the masks of `canvas`, up to the first end of sequence.
std::span<const Token> Continuation(const Model& model, std::span<const Token> canvas, std::span<const Token> filled);

}  // namespace punt
