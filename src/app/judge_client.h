// Asks a language model behind an HTTP interface like OpenAI's.
#pragma once

#include <string>

namespace punt {

struct JudgeEndpoint {
  std::string url;       // ".../v1": "/chat/completions" is appended
  std::string key;       // sent as a bearer token; empty: none. Appears in no message
  int attempts = 5;      // with pauses that double, from half a second on
  double seconds = 300;  // per attempt
};

/// The text of the first choice. Tries again when the connection fails and on status 408, 429 and 500 or more. Throws
/// Error (failed) naming the status and the beginning of the answer.
std::string AskJudge(const JudgeEndpoint& endpoint, const std::string& body);

}  // namespace punt
