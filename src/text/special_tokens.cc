#include "text/special_tokens.h"

#include <algorithm>

#include "base/check.h"

namespace punt {
namespace {

unsigned char First(std::string_view text) { return static_cast<unsigned char>(text.front()); }

}  // namespace

SpecialTokens::SpecialTokens(std::vector<Entry> entries) : entries_(std::move(entries)) {
  for (const Entry& entry : entries_) Check(!entry.text.empty(), "a special token without text");
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    if (First(a.text) != First(b.text)) return First(a.text) < First(b.text);
    return a.text.size() > b.text.size();
  });
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto& range = by_first_[First(entries_[i].text)];
    if (range.second == 0) range.first = i;
    range.second = i + 1;
  }
}

const SpecialTokens::Entry* SpecialTokens::Match(std::string_view text) const {
  const auto [begin, end] = by_first_[First(text)];
  for (std::size_t i = begin; i < end; ++i) {
    if (text.starts_with(entries_[i].text)) return &entries_[i];
  }
  return nullptr;
}

void SpecialTokens::Split(std::string_view text, const std::function<void(std::string_view)>& on_text,
                          const std::function<void(Token)>& on_token) const {
  std::size_t begin = 0;  // of the text not handed on yet
  for (std::size_t at = 0; at < text.size();) {
    const Entry* entry = Match(text.substr(at));
    if (entry == nullptr) {
      ++at;
      continue;
    }
    if (at > begin) on_text(text.substr(begin, at - begin));
    on_token(entry->token);
    at += entry->text.size();
    begin = at;
  }
  if (begin < text.size()) on_text(text.substr(begin));
}

}  // namespace punt
