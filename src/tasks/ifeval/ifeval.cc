#include "tasks/ifeval/ifeval.h"

#include <algorithm>

#include "report/data_file.h"
#include "tasks/ifeval/unicode_text.h"
#include "text/utf8.h"

namespace punt {
namespace {

/// The response itself comes first.
std::vector<std::u32string> LooseVariants(std::u32string_view response) {
  const std::size_t first = response.find('\n');
  const std::size_t last = response.rfind('\n');
  const bool one_line = first == response.npos;
  const std::u32string_view no_first = one_line ? U"" : response.substr(first + 1);
  const std::u32string_view no_last = one_line ? U"" : response.substr(0, last);
  const std::u32string_view neither = one_line || first == last ? U"" : response.substr(first + 1, last - first - 1);
  std::vector<std::u32string> variants;
  for (std::u32string_view variant : {response, Strip(no_first), Strip(no_last), Strip(neither)}) {
    variants.emplace_back(variant);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    std::u32string plain = variants[i];
    std::erase(plain, U'*');
    variants.push_back(std::move(plain));
  }
  return variants;
}

void AddCounts(const std::vector<bool>& followed, IfevalTotals::Counts& counts) {
  const auto number = static_cast<std::size_t>(std::count(followed.begin(), followed.end(), true));
  counts.instructions += number;
  counts.prompts += number == followed.size() ? 1 : 0;
}

double Share(std::size_t part, std::size_t all) {
  return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

void IfevalTotals::Add(const IfevalVerdict& verdict) {
  all.prompts += 1;
  all.instructions += verdict.strict.size();
  AddCounts(verdict.strict, strict);
  AddCounts(verdict.loose, loose);
}

double IfevalTotals::PromptShare(const Counts& followed) const { return Share(followed.prompts, all.prompts); }
double IfevalTotals::InstructionShare(const Counts& followed) const {
  return Share(followed.instructions, all.instructions);
}

IfevalData::IfevalData(const IfevalPaths& paths)
    : prompts_(ParseIfevalPrompts(ReadDataFile(paths.prompts), paths.prompts)),
      punkt_(PunktParameters::Open(paths.punkt)),
      languages_(LanguageDetector::Open(paths.profiles)) {}

const IfevalPrompt* IfevalData::Find(std::int64_t key) const {
  const auto found =
      std::find_if(prompts_.begin(), prompts_.end(), [key](const IfevalPrompt& prompt) { return prompt.key == key; });
  return found == prompts_.end() ? nullptr : &*found;
}

IfevalVerdict IfevalData::Judge(const IfevalPrompt& prompt, std::string_view response) const {
  RequireUtf8(response);
  const std::vector<std::u32string> variants = LooseVariants(CodePoints(response));
  const IfevalTools tools = {punkt_, languages_};
  IfevalVerdict verdict;
  for (const IfevalInstruction& instruction : prompt.instructions) {
    const auto follows = [&](const std::u32string& text) {
      return !IsBlank(text) && instruction.check->follows(instruction, text, tools);
    };
    verdict.strict.push_back(follows(variants[0]));
    verdict.loose.push_back(verdict.strict.back() || std::any_of(variants.begin() + 1, variants.end(), follows));
  }
  return verdict;
}

}  // namespace punt
