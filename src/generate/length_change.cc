#include "generate/length_change.h"

#include <algorithm>

namespace punt {
namespace {

constexpr std::int64_t kExpansionsPerPosition = 2;  // of grow_to; the authors' budget

}  // namespace

bool Grows(const Recipe& recipe, const DenoiserInfo& info) {
  return recipe.grow_to > 0 && info.length_tokens.is_known();
}

LengthRule::LengthRule(const Recipe& recipe, const DenoiserInfo& info, const Canvas& canvas, std::int64_t expansions)
    : grows_(Grows(recipe, info)), tokens_(info.length_tokens) {
  if (!grows_) return;
  const auto to_fill = static_cast<std::int64_t>(canvas.generated().size());
  room_ = std::min({recipe.grow_to - to_fill, std::int64_t{info.max_length} - canvas.length(),
                    kExpansionsPerPosition * recipe.grow_to - expansions});
  room_ = std::max<std::int64_t>(room_, 0);
}

std::vector<Token> LengthRule::Banned() const {
  if (!grows_ || room_ > 0) return {};
  return {tokens_.expand};
}

std::vector<Proposal> LengthRule::WithoutChanges(const std::vector<Proposal>& proposals) const {
  std::vector<Proposal> written;
  for (const Proposal& proposal : proposals) {
    if (!IsChange(proposal.token)) written.push_back(proposal);
  }
  return written;
}

LengthChange LengthRule::TakeFrom(std::vector<Proposal>& committed) const {
  LengthChange change;
  std::vector<Proposal> written;
  for (const Proposal& proposal : committed) {
    if (!IsChange(proposal.token)) {
      written.push_back(proposal);
    } else if (proposal.token == tokens_.remove) {
      change.removed.push_back(proposal.position);
    } else if (std::ssize(change.inserted) < room_) {
      change.inserted.push_back(proposal.position);
    }
  }
  committed = std::move(written);
  std::sort(change.inserted.begin(), change.inserted.end());
  std::sort(change.removed.begin(), change.removed.end());
  return change;
}

}  // namespace punt
