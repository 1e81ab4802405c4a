// Naive Bayes over character n-grams, as in Shuyo's language-detection and its port langdetect, whose profiles it
// reads: a language has probability proportional to the product over n-grams of its relative frequency plus a floor of
// 0.5 / 10000.
//
// Those programs multiply n-grams drawn at random, with a floor that varies a little, until one language has nearly
// all probability, and take the mean of seven such runs; their answer on a short or mixed text depends on the seed.
// Here all n-grams of the text count once, with the fixed floor: what the draws tend to, the same every time and on
// every machine. Sums are of logarithms, and ties go to the first name.
#include "tasks/ifeval/language_detector.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "report/data_file.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr double kFloor = 0.5 / 10000;

std::uint64_t Pack(std::u32string_view gram) {
  std::uint64_t packed = 0;
  for (char32_t code : gram) packed = packed << 21 | code;
  return packed;
}

/// Calls add(n-gram, share among the n-grams of its length).
template <typename AddGram>
std::string ParseProfile(const std::string& content, AddGram add) {
  const nlohmann::json profile = nlohmann::json::parse(content);
  const std::vector<double> sums = profile.at("n_words").get<std::vector<double>>();
  if (sums.size() != 3) BadInput("n_words has {} numbers, not 3", sums.size());
  for (const auto& [gram, count] : profile.at("freq").items()) {
    const std::u32string codes = CodePoints(gram);
    if (codes.empty() || codes.size() > 3) continue;
    const double share = static_cast<double>(count) / sums[codes.size() - 1];
    if (!(share >= 0 && share <= 1)) BadInput("the count of '{}' is not within n_words", gram);
    add(codes, share);
  }
  return profile.at("name").get<std::string>();
}

}  // namespace

void LanguageDetector::Add(const std::string& path) {
  const auto language = static_cast<std::uint32_t>(languages_.size());
  const std::string content = ReadDataFile(path);
  try {
    languages_.push_back(ParseProfile(content, [&](std::u32string_view gram, double share) {
      gains_[Pack(gram)].push_back({language, std::log(kFloor + share) - std::log(kFloor)});
    }));
  } catch (const std::exception& error) {
    BadInput("'{}' is not a language profile: {}", path, error.what());
  }
}

LanguageDetector LanguageDetector::Open(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const bool has_dot = entry.path().filename().string().find('.') != std::string::npos;
    if (entry.is_regular_file() && !has_dot) paths.push_back(entry.path().string());
  }
  if (error) BadInput("cannot read the folder '{}'", folder);
  if (paths.empty()) BadInput("no language profiles in '{}'", folder);
  std::sort(paths.begin(), paths.end());
  LanguageDetector detector;
  for (const std::string& path : paths) detector.Add(path);
  return detector;
}

std::optional<std::string> LanguageDetector::Detect(std::u32string_view text) const {
  std::vector<double> nats(languages_.size(), 0.0);
  bool any = false;
  for (std::uint64_t gram : LanguageGrams(text)) {
    const auto found = gains_.find(gram);
    if (found == gains_.end()) continue;
    any = true;
    for (const Gain& gain : found->second) nats[gain.language] += gain.nats;
  }
  if (!any) return std::nullopt;
  return languages_[static_cast<std::size_t>(std::max_element(nats.begin(), nats.end()) - nats.begin())];
}

}  // namespace punt
