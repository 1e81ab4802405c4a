#include "app/request.h"

#include <algorithm>
#include <filesystem>

#include "app/glyphs.h"
#include "app/options.h"
#include "base/check.h"
#include "model/bundled_models.h"

namespace punt {
namespace {

constexpr std::string_view kHole = "[MASK";
constexpr std::int64_t kMostPositions = 1 << 24;  // far beyond any model; keeps sums in range

/// Text never opens holes of its own: a tokenizer that knows the mask's piece would let it.
void AppendText(std::string_view text, const char* what, const Model& model, std::vector<Token>& tokens) {
  if (!IsUtf8(text)) BadInput("{} is not valid UTF-8", what);
  const Token mask = model.denoiser->info().mask_token;
  for (Token token : model.tokenizer->Encode(text)) {
    if (token == mask) BadInput("{} holds a mask; holes are written [MASK:n] in --infill", what);
    tokens.push_back(token);
  }
}

void RequireFit(std::size_t given, std::int64_t wanted, const Model& model) {
  const int most = model.denoiser->info().max_length;
  if (static_cast<std::int64_t>(given) > most) {
    BadInput("the prompt has {} tokens, {} takes {}", given, model.name, most);
  }
  if (static_cast<std::int64_t>(given) + wanted > most) {
    BadInput("{} given tokens and {} positions to generate exceed the {} that {} takes", given, wanted, most,
             model.name);
  }
}

void RequireFit(const std::vector<Token>& tokens, std::int64_t wanted, const Model& model) {
  RequireFit(tokens.size() + model.tokenizer->Suffix().size(), wanted, model);
}

void Append(std::vector<Token>& tokens, const std::vector<Token>& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

std::vector<Token> BuildPrompt(const CanvasRequest& request, const Model& model) {
  if (request.chat) {
    if (!IsUtf8(request.prompt)) BadInput("the prompt is not valid UTF-8");
    const ChatMessage message{.role = "user", .content = request.prompt};
    return model.tokenizer->EncodeChat({&message, 1});
  }
  std::vector<Token> tokens = model.tokenizer->Prefix();
  AppendText(request.prompt, "the prompt", model, tokens);
  return tokens;
}

std::vector<Token> BuildInfill(const CanvasRequest& request, const Model& model) {
  if (!request.prompt.empty()) BadInput("a prompt and --infill exclude each other");
  if (request.length) BadInput("--length and --infill exclude each other: the holes say how much to generate");
  if (!IsUtf8(*request.infill)) BadInput("--infill is not valid UTF-8");
  const std::vector<InfillPart> parts = ParseInfill(*request.infill);
  if (parts.empty()) BadInput("--infill is empty");
  const Token mask = model.denoiser->info().mask_token;
  if (request.chat) BadInput("--chat and --infill exclude each other");
  std::vector<Token> tokens = model.tokenizer->Prefix();
  const std::vector<Token> suffix = model.tokenizer->Suffix();
  std::size_t given = tokens.size() + suffix.size();
  std::int64_t holes = 0;
  for (const InfillPart& part : parts) {
    holes += part.masks;
    RequireFit(given, holes, model);  // before the masks are stored: their number is anyone's choice
    const std::size_t before = tokens.size();
    AppendText(part.text, "--infill", model, tokens);
    given += tokens.size() - before;
    tokens.insert(tokens.end(), static_cast<std::size_t>(part.masks), mask);
  }
  RequireFit(given, holes, model);
  Append(tokens, suffix);
  return tokens;
}

/// Toys and small networks have a length; a large network only a limit, far beyond what one wants to wait for.
constexpr std::int64_t kUsualLength = 128;
constexpr std::int64_t kSmallCanvas = 256;

std::int64_t DefaultLength(const Model& model, std::size_t given) {
  const std::int64_t most = model.denoiser->info().max_length;
  const std::int64_t rest = most - static_cast<std::int64_t>(given);
  return model.is_toy || most <= kSmallCanvas ? rest : std::min(rest, kUsualLength);
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
  while (!text.empty()) {
    const std::size_t hole = text.find(kHole);
    if (hole != 0) parts.push_back({std::string(text.substr(0, hole)), 0});
    if (hole == std::string_view::npos) break;
    text.remove_prefix(hole);
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) BadInput("a hole is not closed in --infill: '{}'", text);
    const std::string_view inside = text.substr(kHole.size(), close - kHole.size());
    std::int64_t count = 1;
    if (!inside.empty()) {
      if (inside.front() != ':') BadInput("a hole is written [MASK] or [MASK:n], got '{}'", text.substr(0, close + 1));
      count = ParseInteger(inside.substr(1), "the length of a hole in --infill", 1, kMostPositions);
    }
    parts.push_back({"", static_cast<int>(count)});
    text.remove_prefix(close + 1);
  }
  return parts;
}

std::vector<Token> BuildCanvas(const CanvasRequest& request, const Model& model) {
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
