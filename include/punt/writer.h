// From a question to a text: open a model once, ask it from as many threads as you like.
//
//   const punt::Writer writer = punt::Writer::Open("stories");
//   const punt::Answer answer = writer.Write({.prompt = "Once upon a time"}, {.temperature = 0.7});
//   std::cout << answer.text << " (" << answer.run.counters.nfe() << " passes)\n";
//
// What is asked for is an Ask, how it is sampled a Sampling (punt/sampling.h), who watches a Watch.
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

/// "ab[MASK:12]cd" -> "ab", 12 masks, "cd"; [MASK] is one mask. Throws Error when there is no hole, and on one that is
/// misspelt, without end or with a bad count.
std::vector<Stretch> ParseHoles(std::string_view text);

/// What is asked for. Prompt, tokens, chat and infill exclude each other.
struct Ask {
  std::string prompt;                                       // may be empty: the model begins by itself
  std::optional<std::vector<Token>> tokens = std::nullopt;  // as they are, with nothing put before them
  std::vector<ChatMessage> chat = {};                       // a conversation, in the model's template
  std::vector<Stretch> infill = {};                         // the whole canvas; the holes have their lengths
  std::optional<std::string> suffix = std::nullopt;         // what stands behind the text
  std::optional<std::int64_t> length = std::nullopt;        // positions to generate; none: as many as is usual
  bool cut_to_fit = false;                                  // a length that does not fit is cut instead of refused
  std::uint64_t sample = 0;                                 // another text for the same question
};

/// Which part of an Ask an error is about.
enum class AskPart { kPrompt, kChat, kInfill, kSuffix };

class AskError : public Error {
 public:
  AskError(AskPart part, const std::string& message) : Error(ErrorCode::kBadInput, message), part_(part) {}
  AskPart part() const { return part_; }

 private:
  AskPart part_;
};

struct Answer {
  std::string text;           // without what was asked; of an infill the whole text
  std::string finish_reason;  // "stop": at an end of sequence or a stop string; "length": at the last position, or cut
                              // short by a limit or a cancellation (run.stop says which)
  int tokens = 0;             // of the text
  GenerateResult run;         // the canvas, and what it cost
};

/// Company of one answer. Everything is called on the thread that asks.
struct Watch {
  std::function<void(std::string_view more)> on_text = {};  // text that can no longer change, from left to right
  Observer* observer = nullptr;                             // every event
  std::stop_token stop = {};                                // looked at before every pass
};

/// Immutable and shared: copies are cheap and refer to the same model, and calls do not disturb each other.
class Writer {
 public:
  /// `threads` per answer; 0: all processors that can be used. Throws Error.
  explicit Writer(Model model, int threads = 0);

  /// OpenModel, and a writer of it.
  static Writer Open(std::string_view model, const ModelOptions& options = {}, int threads = 0);

  const Model& model() const { return *model_; }

  /// Throws AskError on what the model cannot take, Error on a sampling that it cannot follow.
  Answer Write(const Ask& ask, const Sampling& sampling = {}, const Watch& watch = {}) const;

  /// Several at once, their forward passes in batches: each answer is the one that Write alone would give. Watches:
  /// none, or one for each; they are called from different threads. Guidance runs them one after another.
  std::vector<Answer> WriteBatch(std::span<const Ask> asks, const Sampling& sampling = {},
                                 std::span<const Watch> watches = {}) const;

 private:
  std::shared_ptr<const Model> model_;
  int threads_ = 0;
};

}  // namespace punt
