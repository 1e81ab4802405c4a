#include "app/generate_report.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "base/json_text.h"
#include "generate/step.h"

namespace punt {

namespace {

/// The largest resident size of this process so far, mapped weights included.
std::int64_t PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::span<const Token> TextTokens(const GenerateResult& result, const ReportContext& context) {
  const DenoiserInfo& info = context.model->denoiser->info();
  std::size_t end = context.tail_begin;
  while (end < context.text_end && !IsEos(info, result.tokens[end])) ++end;
  return std::span(result.tokens).subspan(context.text_begin, end - context.text_begin);
}

std::string Shown(std::span<const Token> tokens, const Model& model) {
  const Token mask = model.denoiser->info().mask_token;
  std::string text;
  // Runs of tokens between masks are decoded together: pieces may depend on their neighbours.
  for (std::size_t begin = 0; begin < tokens.size();) {
    if (tokens[begin] == mask) {
      text += '_';
      ++begin;
      continue;
    }
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = std::find(first, tokens.end(), mask);
    text += model.tokenizer->DecodeText(std::span(first, last));
    begin = static_cast<std::size_t>(last - tokens.begin());
  }
  return text;
}

/// With what the model thought.
std::string WholeText(const GenerateResult& result, const ReportContext& context) {
  const std::span<const Token> tokens = TextTokens(result, context);
  std::string text = Shown(tokens, *context.model);
  if (context.stops.empty()) return text;
  // What was given may hold them.
  const std::size_t given = Shown(tokens.first(context.tail_begin - context.text_begin), *context.model).size();
  std::size_t end = text.size();
  for (const std::string& stop : context.stops) end = std::min(end, text.find(stop, std::min(given, text.size())));
  return text.substr(0, end);
}

/// What the model said of the tokens that were committed, by position.
nlohmann::ordered_json RowsJson(const GenerateResult& result, const Tokenizer& tokenizer) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double log_prob) { return std::isfinite(log_prob) ? Json(log_prob) : Json(nullptr); };
  Json list = Json::array();
  for (const auto& [position, row] : result.rows) {
    Json top = Json::array();
    for (const RankedToken& ranked : row.top) {
      top.push_back(
          {{"token", ranked.token}, {"text", tokenizer.Piece(ranked.token)}, {"logprob", number(ranked.log_prob)}});
    }
    list.push_back({{"position", position},
                    {"token", row.token},
                    {"text", tokenizer.Piece(row.token)},
                    {"logprob", number(row.log_prob)},
                    {"entropy", row.entropy},
                    {"step", row.step},
                    {"top", std::move(top)}});
  }
  return list;
}

}  // namespace

std::string ResultText(const GenerateResult& result, const ReportContext& context) {
  std::string text = WholeText(result, context);
  return context.shows_thinking ? text : ThinkingSplit(context.thinking).Add(text, true).content;
}

std::string ResultJson(const GenerateResult& result, const ReportContext& context,
                       const nlohmann::ordered_json& settings) {
  using Json = nlohmann::ordered_json;
  const Counters& counters = result.counters;
  const SplitText parts = ThinkingSplit(context.thinking).Add(WholeText(result, context), true);
  Json object = {{"text", parts.content},
                 {"tokens", result.tokens},
                 {"prompt_tokens", context.prompt_tokens},
                 {"steps", result.steps},
                 {"nfe", {{"base", counters.base_passes}, {"test", counters.test_passes}, {"total", counters.nfe()}}},
                 {"row_passes", counters.row_passes},
                 {"tokens_per_forward", result.tokens_per_forward()},
                 {"seconds", result.seconds},
                 {"planner", settings.at("planner")},
                 {"seed", settings.at("seed")},
                 {"stop", Name(result.stop)},
                 {"peak_memory_bytes", PeakMemory()},
                 {"masked", MaskedCount(result, *context.model)},
                 {"version", PUNT_VERSION}};
  if (!parts.reasoning.empty()) object["reasoning"] = parts.reasoning;
  if (!result.rows.empty()) object["logprobs"] = RowsJson(result, *context.model->tokenizer);
  object.update(settings);
  return Dump(object);
}

std::size_t MaskedCount(const GenerateResult& result, const Model& model) {
  const Token mask = model.denoiser->info().mask_token;
  return static_cast<std::size_t>(std::count(result.tokens.begin(), result.tokens.end(), mask));
}

std::string IncompleteNote(const GenerateResult& result, const ReportContext& context) {
  const std::int64_t passes = result.counters.nfe();
  const bool is_cut = result.stop == StopReason::kCancelled;
  return fmt::format("{} after {} {}{} with {} of {} positions open", is_cut ? "interrupted" : "stopped", passes,
                     passes == 1 ? "pass" : "passes", is_cut ? "" : fmt::format(" ({})", Name(result.stop)),
                     MaskedCount(result, *context.model),
                     result.tokens.size() - static_cast<std::size_t>(context.prompt_tokens));
}

}  // namespace punt
