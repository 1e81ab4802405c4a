#include "tasks/questions/question.h"

#include <algorithm>

namespace punt {
namespace {

constexpr std::string_view kRandom = "random";
constexpr std::string_view kFixed = "fixed";
constexpr std::string_view kAll = "all";

}  // namespace

std::vector<QuestionKind> ChosenKinds(std::span<const QuestionKind> kinds, std::string_view choice) {
  std::vector<QuestionKind> chosen;
  for (const QuestionKind& kind : kinds) {
    const bool is_chosen = choice == kAll || choice == kind.name || choice == (kind.is_random ? kRandom : kFixed);
    if (is_chosen) chosen.push_back(kind);
  }
  return chosen;
}

std::vector<std::string_view> KindChoices(std::span<const QuestionKind> kinds) {
  std::vector<std::string_view> choices = {kRandom, kFixed, kAll};
  for (const QuestionKind& kind : kinds) choices.push_back(kind.name);
  return choices;
}

double TemperatureFor(std::span<const QuestionKind> kinds, std::string_view choice) {
  const std::vector<QuestionKind> chosen = ChosenKinds(kinds, choice);
  return std::any_of(chosen.begin(), chosen.end(), [](const QuestionKind& kind) { return kind.is_random; }) ? 1 : 0;
}

std::vector<std::string> SplitAt(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  for (std::size_t at = text.find(between); at != std::string_view::npos; at = text.find(between)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + between.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::string Joined(std::span<const std::string> parts, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text.append(i == 0 ? "" : between).append(parts[i]);
  return text;
}

}  // namespace punt
