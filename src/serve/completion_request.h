// Requests for completions as OpenAI's API has them, with punt's settings in an object `diffusion`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "punt/sampling.h"
#include "punt/tokenizer.h"
#include "punt/types.h"
#include "punt/writer.h"
#include "serve/chat_form.h"
#include "serve/logprob_fields.h"
#include "serve/tool_request.h"

namespace punt {

/// What a stream shows.
///   kSettled     the text left of the first mask as it grows: what every client understands
///   kSnapshots   the whole text, masks included, each replacing the last ("diffusing": true, as Mercury does)
///   kEvents      the events of the trace
enum class StreamKind { kSettled, kSnapshots, kEvents };

struct RequestLimits {
  std::int64_t max_tokens = 4096;  // positions to generate; larger requests are reduced to this
  std::int64_t max_choices = 16;   // of a prompt
  std::int64_t max_prompts = 64;
  std::int64_t max_sequences = 256;  // prompts times choices
  std::int64_t max_nfe = 0;          // forward passes of a choice; 0: no limit
  std::int64_t score_alone = 64;     // see LogprobFields
};

/// What a completion continues.
struct Prompt {
  std::string text;
  std::optional<std::vector<Token>> tokens = std::nullopt;  // if there, instead of the text, with nothing put before it

  friend bool operator==(const Prompt&, const Prompt&) = default;
};

/// A seed has 64 bits; negative numbers stand for their two's complement, and are reported as they were given.
struct RequestSeed {
  std::uint64_t bits = 0;
  bool is_negative = false;
};

struct CompletionRequest {
  bool chat = false;
  std::vector<ChatMessage> messages = {};    // of a chat
  ChatForm chat_form = ChatForm::kModel;     // the server's, not read from the request
  std::optional<bool> thinking = {};         // of a chat, see ChatOptions
  ToolRequest tools = {};                    // of a chat
  std::vector<Prompt> prompts = {Prompt{}};  // otherwise; at least one
  std::optional<std::string> suffix;         // what follows the text to generate

  std::optional<std::int64_t> max_tokens;  // positions to generate, if they fit; unset: the model's usual number
  std::int64_t token_limit = INT64_MAX;    // and never more than this
  Sampling sampling;                       // except its seed, which is the next member
  std::string constraint_field;            // which asked for the language of the answer; empty: the server, or none
  std::optional<RequestSeed> seed;
  int choices = 1;           // of each prompt
  LogprobFields likelihood;  // what is asked about probabilities
  bool stream = false;
  bool include_usage = false;
  StreamKind stream_kind = StreamKind::kSettled;

  // The object `diffusion`.
  std::vector<Stretch> infill;  // not empty: the whole canvas, instead of prompts, suffix and max_tokens

  std::vector<std::string> ignored;  // unknown settings

  std::string responses_echo = {};  // of /v1/responses: what its answer repeats, a JSON object; empty: another path
};

/// Throws ApiError (400) naming the field. request_settings.h says what becomes of each setting. Anything unknown
/// inside `diffusion` is refused. Sampling options that a request leaves out are as in `usual`.
CompletionRequest ParseCompletion(std::string_view body, bool chat, const RequestLimits& limits,
                                  const Sampling& usual = {});

}  // namespace punt
