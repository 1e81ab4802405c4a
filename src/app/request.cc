#include "app/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/glyphs.h"
#include "app/options.h"
#include "base/check.h"
#include "model/bundled_models.h"
#include "model/canvas_text.h"

namespace punt {
namespace {

constexpr std::string_view kHole = "[MASK";
constexpr std::int64_t kMostPositions = 1 << 24;  // far beyond any model; keeps sums in range

void RequireFit(const std::vector<Token>& tokens, std::int64_t wanted, const Model& model) {
  RequireFit(tokens.size() + model.tokenizer->Suffix().size(), wanted, model);
}

void Append(std::vector<Token>& tokens, const std::vector<Token>& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

std::vector<Token> BuildPrompt(const CanvasRequest& request, const Model& model) {
  if (request.chat) {
    const ChatMessage message{.role = "user", .content = request.prompt};
    return ChatTokens({&message, 1}, "leave --chat out", model);
  }
  std::vector<Token> tokens = model.tokenizer->Prefix();
  AppendText(request.prompt, "the prompt", model, tokens, {.before_hole = true});  // what is to be generated
  return tokens;
}

std::vector<Token> BuildInfill(const CanvasRequest& request, const Model& model) {
  if (!IsUtf8(*request.infill)) BadInput("--infill is not valid UTF-8");
  const std::vector<InfillPart> parts = ParseInfill(*request.infill);
  if (parts.empty()) BadInput("--infill is empty");
  const Token mask = model.denoiser->info().mask_token;
  std::vector<Token> tokens = model.tokenizer->Prefix();
  const std::vector<Token> suffix = model.tokenizer->Suffix();
  std::size_t given = tokens.size() + suffix.size();
  std::int64_t holes = 0;
  for (const InfillPart& part : parts) {
    holes += part.masks;
    RequireFit(given, holes, model);  // before the masks are stored: their number is anyone's choice
    const std::size_t before = tokens.size();
    const bool is_text = part.masks == 0;
    const EncodeOptions edges{.behind_hole = is_text && &part != &parts.front(),
                              .before_hole = is_text && &part != &parts.back()};
    AppendText(part.text, "--infill", model, tokens, edges);
    given += tokens.size() - before;
    tokens.insert(tokens.end(), static_cast<std::size_t>(part.masks), mask);
  }
  RequireFit(given, holes, model);
  Append(tokens, suffix);
  return tokens;
}

/// Where the next hole is, or what somebody took for one: "[mask:3]" is no text.
std::size_t FindHole(std::string_view text) {
  const auto same = [](char a, char b) { return a == b || (b >= 'A' && b <= 'Z' && a == b - 'A' + 'a'); };
  const auto at = std::search(text.begin(), text.end(), kHole.begin(), kHole.end(), same);
  return at == text.end() ? std::string_view::npos : static_cast<std::size_t>(at - text.begin());
}

/// What looks like a hole but is none: [MAKS:4].
std::string_view MisspeltHole(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
    std::size_t at = open + 1;
    while (at < text.size() && is_letter(text[at])) ++at;
    if (at == open + 1 || at >= text.size() || text[at] != ':') continue;
    const std::size_t number = ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at > number && at < text.size() && text[at] == ']') return text.substr(open, at + 1 - open);
  }
  return {};
}

}  // namespace

std::string DefaultModel() {
  constexpr const char* kBundled = "stories";
  return std::filesystem::exists(LocateModel(kBundled))
             ? kBundled
             : "toy:markov,length=64,vocab=8,seed=1,coupling=0.9,permute=true";
}

std::vector<InfillPart> ParseInfill(std::string_view text) {
  std::vector<InfillPart> parts;
  bool has_hole = false;
  while (!text.empty()) {
    const std::size_t hole = FindHole(text);
    const std::string_view misspelt = MisspeltHole(text.substr(0, hole));
    if (!misspelt.empty()) BadInput("a hole is written [MASK] or [MASK:n], got '{}'", FitToWidth(misspelt, 40));
    if (hole != 0) parts.push_back({std::string(text.substr(0, hole)), 0});
    if (hole == std::string_view::npos) break;
    text.remove_prefix(hole);
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) BadInput("a hole is not closed in --infill: '{}'", FitToWidth(text, 40));
    const std::string_view inside = text.substr(kHole.size(), close - kHole.size());
    if (!text.starts_with(kHole) || !(inside.empty() || inside.starts_with(':'))) {
      BadInput("a hole is written [MASK] or [MASK:n], got '{}'", FitToWidth(text.substr(0, close + 1), 40));
    }
    std::int64_t count = 1;
    if (!inside.empty()) count = ParseInteger(inside.substr(1), "the length of a hole in --infill", 1, kMostPositions);
    parts.push_back({"", static_cast<int>(count)});
    has_hole = true;
    text.remove_prefix(close + 1);
  }
  if (!parts.empty() && !has_hole) BadInput("--infill has no hole to fill; one of n tokens is written [MASK:n]");
  return parts;
}

std::vector<std::string> PromptWarnings(const CanvasRequest& request, const Model& model) {
  const std::string mask = model.tokenizer->Piece(model.denoiser->info().mask_token);
  for (const std::string& mark : {std::string(kHole), mask}) {
    if (mark.empty() || request.prompt.find(mark) == std::string::npos) continue;
    return {fmt::format("'{}' in the prompt is text; holes are written [MASK:n] in --infill", mark)};
  }
  return {};
}

void RequireConsistent(const CanvasRequest& request) {
  if (!request.infill) return;
  if (!request.prompt.empty()) BadInput("a prompt and --infill exclude each other");
  if (request.length) BadInput("--length and --infill exclude each other: the holes say how much to generate");
  if (request.chat) BadInput("--chat and --infill exclude each other");
}

std::vector<Token> BuildCanvas(const CanvasRequest& request, const Model& model) {
  RequireConsistent(request);
  if (request.infill) return BuildInfill(request, model);
  std::vector<Token> tokens = BuildPrompt(request, model);
  const std::vector<Token> suffix = request.chat ? std::vector<Token>{} : model.tokenizer->Suffix();
  RequireFit(tokens, 0, model);
  const std::int64_t wanted = request.length.value_or(DefaultLength(model, tokens.size() + suffix.size()));
  RequireFit(tokens, wanted, model);
  tokens.insert(tokens.end(), static_cast<std::size_t>(wanted), model.denoiser->info().mask_token);
  Append(tokens, suffix);
  return tokens;
}

}  // namespace punt
