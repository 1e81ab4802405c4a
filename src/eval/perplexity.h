// How surprising generated texts are to a judge: what the task `stories` and the benchmarks have in common.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analyze/confidence.h"
#include "eval/text_judge.h"

namespace punt {

/// Of a text that was generated behind `opening`. Without an opening a space at the beginning is not judged: a first
/// token may carry that of a word's beginning, which is no fault of the text's.
Likelihood JudgeGenerated(TextJudge& judge, std::string_view text, std::string_view opening = {});

/// All nats over all tokens: long texts weigh more, and no single short one can dominate. Its ExpOf is the perplexity.
/// Texts without a judged token do not count; none where no text has one.
std::optional<Estimate> NatsPerToken(std::span<const Likelihood> texts);

}  // namespace punt
