#include "eval/law_reference.h"

#include <filesystem>
#include <utility>

#include "base/check.h"
#include "eval/data_file.h"
#include "eval/eval_log.h"

namespace punt {

std::vector<PromptedText> ReadLawReference(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "items.jsonl").string();
  const std::string text = ReadDataFile(path);
  std::vector<PromptedText> texts;
  try {
    for (std::string_view line : SplitLines(text)) {
      EvalRecord record = ParseRecord(line);
      texts.push_back({std::move(record.prompt), std::move(record.response)});
    }
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
  if (texts.size() < 2) BadInput("{}: {} texts are too few for a reference", path, texts.size());
  return texts;
}

void AddVariety(std::span<const PromptedText> texts, std::span<const PromptedText> reference,
                std::vector<Figure>& figures) {
  std::vector<std::string> alone;
  for (const PromptedText& text : texts) alone.push_back(text.text);
  if (const std::optional<Estimate> overlap = SelfOverlap(alone)) figures.push_back(FigureOf("self_overlap", *overlap));
  const std::optional<LawDistance> distance = DistanceOfLaws(texts, reference);
  if (!distance) return;
  figures.push_back({.name = "law_distance", .value = distance->squared});
  figures.push_back({.name = "law_p", .value = distance->p});
}

}  // namespace punt
