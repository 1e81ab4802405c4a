// From a question to a text: open a model once, then ask it from any number of threads.
//
//   const punt::Writer writer = punt::Writer::Open("stories");
//   const punt::Answer answer = writer.Write({.prompt = "Once upon a time"}, {.temperature = 0.7});
//   std::cout << answer.text << " (" << answer.run.counters.nfe() << " passes)\n";
//
// An Ask says what is wanted, a Sampling (punt/sampling.h) how it is sampled, and a Watch who follows along.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "punt/error.h"
#include "punt/generator.h"
#include "punt/model.h"
#include "punt/sampling.h"
#include "punt/tokenizer.h"

namespace punt {

/// A stretch of a canvas: a given text, or positions to fill.
struct Stretch {
  std::string text;
  std::int64_t masks = 0;  // 0: it is a text

  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// "ab[MASK:12]cd" -> "ab", 12 masks, "cd"; [MASK] is one mask. Throws Error when there is no hole, or one that is
/// misspelt, not closed or has a bad count.
std::vector<Stretch> ParseHoles(std::string_view text);

/// What is asked for. A prompt, a chat and an infill exclude each other; tokens take the place of the prompt.
struct Ask {
  std::string prompt;                                       // may be empty
  std::optional<std::vector<Token>> tokens = std::nullopt;  // used as they are, with nothing put before them
  std::vector<ChatMessage> chat = {};                       // a conversation, put into the model's template
  std::vector<Stretch> infill = {};                         // the whole text with its holes; no suffix or length then
  std::optional<std::string> suffix = std::nullopt;         // text that follows what is generated
  std::optional<std::int64_t> length = std::nullopt;        // positions to generate; unset: the model's usual number
  bool cut_to_fit = false;                                  // a length that does not fit is cut instead of refused
  std::uint64_t sample = 0;                                 // another number, another text for the same question
  ChatOptions chat_options = {};                            // what the chat's template is told
  std::optional<int> logprobs = std::nullopt;               // see Answer::logprobs: how many alternatives of each token
};

/// The part of an Ask that an error is about.
enum class AskPart { kPrompt, kChat, kInfill, kSuffix };

class AskError : public Error {
 public:
  AskError(AskPart part, const std::string& message) : Error(ErrorCode::kBadInput, message), part_(part) {}
  AskPart part() const { return part_; }

 private:
  AskPart part_;
};

/// A token of a text at its place.
struct TextToken {
  std::string text;        // as it reads there; maybe a part of a character
  std::size_t offset = 0;  // characters (code points) of the text before it
  Token token = 0;
  std::optional<CommitRow> row;  // what the model said when it was committed; none if it was given
};

struct Answer {
  std::string text;            // what was generated, without the reasoning; for an infill the whole text
  std::string finish_reason;   // "stop": at an end of sequence or a stop string; "length": at the last position, or cut
                               // short by a limit or a cancellation (run.stop says which)
  int tokens = 0;              // number of tokens in the text
  GenerateResult run;          // the canvas, and what it cost
  std::string reasoning = {};  // of a chat: what the model wrote between <think> and </think> before its answer
  std::vector<TextToken> logprobs = {};  // the tokens of reasoning and text, if Ask::logprobs is set
};

/// Follows one answer. Write calls it on the caller's thread, WriteBatch on threads of its own.
struct Watch {
  std::function<void(std::string_view more)> on_text = {};  // text that can no longer change, from left to right; all
                                                            // of it at the end if the planner may take tokens back
  Observer* observer = nullptr;                             // receives every event
  std::stop_token stop = {};                                // checked before every pass
};

/// Immutable and shared: copies are cheap and refer to the same model, and calls do not affect each other.
class Writer {
 public:
  /// `threads` work on each call; 0: all processors that this process may use (one for toy models).
  explicit Writer(Model model, int threads = 0);

  /// A writer for OpenModel(model, options). Throws Error as that does.
  static Writer Open(std::string_view model, const ModelOptions& options = {}, int threads = 0);

  const Model& model() const { return *model_; }

  /// Throws AskError when the model cannot take what is asked, and Error when it cannot be sampled that way.
  Answer Write(const Ask& ask, const Sampling& sampling = {}, const Watch& watch = {}) const;

  /// Several at once, with their forward passes in batches: each answer is the one that Write alone would give.
  /// `watches` is empty or has one entry per ask; they are called from different threads. Under guidance, and where
  /// infills may grow, the asks run one after another, on the caller's thread.
  std::vector<Answer> WriteBatch(std::span<const Ask> asks, const Sampling& sampling = {},
                                 std::span<const Watch> watches = {}) const;

 private:
  std::shared_ptr<const Model> model_;
  int threads_ = 0;
};

}  // namespace punt
