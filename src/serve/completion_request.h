// Requests for completions as OpenAI's API has them, with punt's settings in an object `diffusion`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/sampler.h"
#include "punt/tokenizer.h"

namespace punt {

/// What a stream shows.
///   kSettled     the text left of the first mask as it grows: what every client understands
///   kSnapshots   the whole text, masks included, each replacing the last ("diffusing": true, as Mercury does)
///   kEvents      the events of the trace
enum class StreamKind { kSettled, kSnapshots, kEvents };

struct RequestLimits {
  std::int64_t max_tokens = 4096;  // positions to generate
  std::int64_t max_choices = 16;
  std::int64_t max_nfe = 0;  // forward passes of a choice; 0: no limit
};

struct CompletionRequest {
  bool chat = false;
  std::vector<ChatMessage> messages;  // of a chat
  std::string prompt;                 // otherwise
  std::optional<std::string> suffix;  // what follows the text to generate
  std::optional<std::int64_t> max_tokens;
  ProposalOptions proposal;
  std::vector<std::string> stop;
  std::optional<std::uint64_t> seed;
  int choices = 1;
  bool stream = false;
  bool include_usage = false;
  StreamKind stream_kind = StreamKind::kSettled;

  // The object `diffusion`.
  std::string planner = "punt";
  std::string score;  // empty: the model's own
  std::string eos = "none";
  std::string cache = "none";
  int window = 0;
  std::int64_t max_nfe = 0;  // 0: no limit
};

/// Throws ApiError (400) naming the field. Fields of OpenAI's that make no difference here are ignored; those that
/// would (tools, logprobs, ...) are refused, as is anything unknown inside `diffusion`.
CompletionRequest ParseCompletion(std::string_view body, bool chat, const RequestLimits& limits,
                                  std::string_view default_planner = "punt");

}  // namespace punt
