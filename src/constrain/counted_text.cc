// A product of three: the language, one character, and how many are complete. Written out as a repetition of characters
// it would be the same automaton, but with a nondeterministic one of a hundred parts for each character on the way.
//
// Tested by counted_text_test.cc, against that.
#include "constrain/counted_text.h"

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "constrain/byte_parts.h"

namespace punt {

ByteAutomaton WithCharacters(const ByteAutomaton& language, const ByteAutomaton& character, int least,
                             std::optional<int> most, std::string_view what, const AutomatonLimits& limits) {
  using State = ByteAutomaton::State;
  Budget budget(what, limits);
  const ByteKinds kinds = KindsOfBoth(language, character);
  const std::vector<unsigned char>& example = kinds.examples;
  using Place = std::tuple<State, State, int>;
  const Place start{language.start(), character.start(), 0};
  std::map<Place, State> number = {{start, 0}};
  std::vector<Place> order = {start};
  std::vector<State> next;
  std::vector<bool> accepts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [p, c, count] = order[i];
    accepts.push_back(language.accepts(p) && c == character.start() && count >= least);
    budget.Work(8 * example.size());
    for (unsigned char byte : example) {
      const State to = language.Next(p, byte);
      State within = character.Next(c, byte);
      int reached = count;
      if (within >= 0 && character.accepts(within)) {
        within = character.start();
        if (most || count < least) ++reached;  // without a most, it does not matter by how many
      }
      if (to < 0 || within < 0 || reached > most.value_or(reached)) {
        next.push_back(ByteAutomaton::kDead);
        continue;
      }
      const Place place{to, within, reached};
      const auto [found, is_new] = number.try_emplace(place, static_cast<State>(order.size()));
      if (is_new) order.push_back(place);
      budget.States(order.size());
      next.push_back(found->second);
    }
  }
  try {
    return ByteAutomaton::Minimal(kinds.kind_of, example.size(), std::move(next), std::move(accepts));
  } catch (const NoText&) {
    throw NoText(std::string(what) + " matches no text at all");
  }
}

}  // namespace punt
