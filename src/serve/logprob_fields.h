// The fields of a request that ask how sure the model was, and for the likelihood of the prompt.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace punt {

/// The most alternatives of a token that may be asked for.
inline constexpr int kMostLogprobs = 20;

struct LogprobFields {
  std::optional<int> logprobs;  // of every token, with that many of the most probable ones; unset: none
  bool echo = false;  // of /v1/completions: the answer begins with the prompt, whose tokens are scored as well
  std::int64_t score_alone = 0;  // how many of its last tokens get a pass of their own; 0: all
};

/// Reads logprobs, top_logprobs and echo, and score_alone of `diffusion`; `usual` is what the server was started with.
/// Throws ApiError (400) naming the field that is wrong, or that echo cannot go together with.
LogprobFields ReadLogprobs(const nlohmann::json& body, bool chat, std::int64_t usual_alone);

}  // namespace punt
