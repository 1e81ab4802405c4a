// From patterns to minimal deterministic automata, in three steps, each with a bound on what it may take.
//
// 1. A nondeterministic automaton by Thompson's construction (CACM 11, 1968): a fixed number of states for each part of
//    the pattern, so its size is linear in the pattern with its repetitions written out. Characters become the byte
//    sequences of UTF-8. The optional copies of x{m,n} are nested, each with its own way out, so that what a state
//    reaches without reading stays small.
// 2. Subsets (Rabin and Scott 1959). The number of subsets may be exponential in the pattern, as for (a|b)*a(a|b){30}:
//    construction stops at a bound on states and on steps, and says which.
// 3. Minimisation: states that do not lead to an accepting one are removed, and Hopcroft's partition refinement (1971)
//    merges the rest, in O(kinds states log states).
//
// Bytes that occur together in every set of the pattern are one kind, so tables have a column for each kind.
//
// Tested by byte_automaton_test.cc: against a matcher that tries everything, on all texts up to a length, for random
// patterns; bounds on patterns that blow up.
#include "constrain/byte_automaton.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "constrain/byte_parts.h"

namespace punt {
namespace {

using State = ByteAutomaton::State;

/// Kinds of bytes that no range of the parts tells apart.
struct Kinds {
  std::array<std::uint8_t, 256> of = {};
  std::size_t count = 1;
};

Kinds KindsOf(const std::vector<BytePart>& parts) {
  std::array<bool, 257> begins = {};
  for (const BytePart& part : parts) {
    if (!part.reads()) continue;
    begins[part.first] = true;
    begins[part.last + 1u] = true;
  }
  Kinds kinds;
  std::uint8_t kind = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (byte > 0 && begins[byte]) ++kind;
    kinds.of[byte] = kind;
  }
  kinds.count = kind + 1u;
  return kinds;
}

struct HashOfList {
  std::size_t operator()(const std::vector<int>& list) const {
    std::size_t hash = list.size();
    for (int entry : list) hash = (hash ^ static_cast<std::size_t>(entry)) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
  }
};

/// The subset construction.
class Subsets {
 public:
  Subsets(const std::vector<BytePart>& parts, int accepting, Budget& budget)
      : parts_(parts), accepting_(accepting), budget_(budget), kinds_(KindsOf(parts)), seen_(parts.size(), 0) {}

  ByteAutomaton Run(int start) {
    StateOf({start});
    std::vector<std::vector<int>> reached(kinds_.count);
    for (std::size_t q = 0; q < order_.size(); ++q) {
      for (auto& list : reached) list.clear();
      const std::vector<int>& subset = *order_[q];
      budget_.Work(kinds_.count + subset.size());
      for (int id : subset) {
        const BytePart& part = parts_[static_cast<std::size_t>(id)];
        if (!part.reads()) continue;
        const std::size_t first = kinds_.of[part.first], last = kinds_.of[part.last];
        budget_.Work(last - first + 1);
        for (std::size_t kind = first; kind <= last; ++kind) reached[kind].push_back(part.next);
      }
      next_.resize((q + 1) * kinds_.count, ByteAutomaton::kDead);
      for (std::size_t kind = 0; kind < kinds_.count; ++kind) {
        if (!reached[kind].empty()) next_[q * kinds_.count + kind] = StateOf(reached[kind]);
      }
    }
    return ByteAutomaton::Minimal(kinds_.of, kinds_.count, std::move(next_), std::move(accepts_));
  }

 private:
  /// Of what `entries` reach without reading.
  State StateOf(const std::vector<int>& entries) {
    ++stamp_;
    std::vector<int> subset;
    std::vector<int> open;
    bool accepts = false;
    const auto visit = [&](int id) {
      if (id < 0 || seen_[static_cast<std::size_t>(id)] == stamp_) return;
      seen_[static_cast<std::size_t>(id)] = stamp_;
      open.push_back(id);
    };
    for (int id : entries) visit(id);
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      budget_.Work(1);
      const BytePart& part = parts_[static_cast<std::size_t>(id)];
      if (id == accepting_) accepts = true;
      if (part.reads()) {
        subset.push_back(id);
      } else {
        visit(part.next);
        visit(part.other);
      }
    }
    std::sort(subset.begin(), subset.end());
    if (accepts) subset.push_back(accepting_);
    budget_.Work(4 * subset.size());
    const auto [found, is_new] = states_.try_emplace(std::move(subset), static_cast<State>(order_.size()));
    if (is_new) {
      order_.push_back(&found->first);
      accepts_.push_back(accepts);
      budget_.States(order_.size());
    }
    return found->second;
  }

  const std::vector<BytePart>& parts_;
  const int accepting_;
  Budget& budget_;
  const Kinds kinds_;
  std::vector<unsigned> seen_;
  unsigned stamp_ = 0;
  std::unordered_map<std::vector<int>, State, HashOfList> states_;
  std::vector<const std::vector<int>*> order_;
  std::vector<State> next_;
  std::vector<bool> accepts_;
};

/// `new_of` gives each state its number, or -1 to leave it out.
std::vector<State> Renumbered(const std::vector<State>& next, std::size_t kinds, const std::vector<State>& new_of,
                              std::size_t count) {
  std::vector<State> renumbered(count * kinds, ByteAutomaton::kDead);
  for (std::size_t q = 0; q < new_of.size(); ++q) {
    if (new_of[q] < 0) continue;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      const State to = next[q * kinds + kind];
      if (to >= 0)
        renumbered[static_cast<std::size_t>(new_of[q]) * kinds + kind] = new_of[static_cast<std::size_t>(to)];
    }
  }
  return renumbered;
}

/// Where each state is reached from, by kind.
struct Inverse {
  std::vector<std::size_t> begin;  // [kinds x states + 1]
  std::vector<State> from;

  Inverse(const std::vector<State>& next, std::size_t kinds, std::size_t states) : begin(kinds * states + 1, 0) {
    const auto place = [&](std::size_t q, std::size_t kind) { return kind * states + q; };
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next[i] >= 0) ++begin[place(static_cast<std::size_t>(next[i]), i % kinds) + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    from.resize(begin.back());
    std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next[i] >= 0) from[at[place(static_cast<std::size_t>(next[i]), i % kinds)]++] = static_cast<State>(i / kinds);
    }
  }
};

/// States that are reached and lead on, in the order in which a walk from the start meets them. Empty: no text.
std::vector<State> UsefulStates(const std::vector<State>& next, std::size_t kinds, const std::vector<bool>& accepts) {
  const std::size_t states = accepts.size();
  const Inverse inverse(next, kinds, states);
  std::vector<bool> leads_on = accepts;
  std::vector<State> open;
  for (std::size_t q = 0; q < states; ++q) {
    if (accepts[q]) open.push_back(static_cast<State>(q));
  }
  while (!open.empty()) {
    const auto q = static_cast<std::size_t>(open.back());
    open.pop_back();
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      for (std::size_t i = inverse.begin[kind * states + q]; i < inverse.begin[kind * states + q + 1]; ++i) {
        const auto from = static_cast<std::size_t>(inverse.from[i]);
        if (!leads_on[from]) open.push_back(inverse.from[i]);
        leads_on[from] = true;
      }
    }
  }
  if (!leads_on[0]) return {};
  std::vector<bool> is_reached(states, false);
  std::vector<State> order = {0};
  is_reached[0] = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      const State to = next[static_cast<std::size_t>(order[i]) * kinds + kind];
      if (to < 0 || is_reached[static_cast<std::size_t>(to)] || !leads_on[static_cast<std::size_t>(to)]) continue;
      is_reached[static_cast<std::size_t>(to)] = true;
      order.push_back(to);
    }
  }
  return order;
}

/// Hopcroft's algorithm: the block of each state. A missing transition is one of its own: all blocks refine by it too,
/// because states that have one and states that have none differ in what leads to some block.
std::vector<State> Blocks(const std::vector<State>& next, std::size_t kinds, const std::vector<bool>& accepts) {
  const std::size_t states = accepts.size();
  const Inverse inverse(next, kinds, states);
  std::vector<State> block_of(states);
  std::vector<std::vector<State>> blocks(2);
  for (std::size_t q = 0; q < states; ++q) {
    block_of[q] = accepts[q] ? 1 : 0;
    blocks[accepts[q] ? 1 : 0].push_back(static_cast<State>(q));
  }
  std::vector<std::pair<std::size_t, std::size_t>> open;  // blocks and kinds to split by
  std::vector<bool> is_open((states + 2) * kinds, false);
  const auto add = [&](std::size_t block, std::size_t kind) {
    open.emplace_back(block, kind);
    is_open[block * kinds + kind] = true;
  };
  for (std::size_t block = 0; block < 2; ++block) {
    for (std::size_t kind = 0; kind < kinds; ++kind) add(block, kind);
  }
  std::vector<bool> is_hit(states, false);
  std::vector<std::size_t> hits(2, 0);
  while (!open.empty()) {
    const auto [splitter, kind] = open.back();
    open.pop_back();
    is_open[splitter * kinds + kind] = false;
    std::vector<State> hit;
    for (State q : blocks[splitter]) {
      const std::size_t place = kind * states + static_cast<std::size_t>(q);
      hit.insert(hit.end(), inverse.from.begin() + static_cast<std::ptrdiff_t>(inverse.begin[place]),
                 inverse.from.begin() + static_cast<std::ptrdiff_t>(inverse.begin[place + 1]));
    }
    std::vector<std::size_t> touched;
    for (State q : hit) {
      is_hit[static_cast<std::size_t>(q)] = true;
      const auto block = static_cast<std::size_t>(block_of[static_cast<std::size_t>(q)]);
      if (hits[block]++ == 0) touched.push_back(block);
    }
    for (std::size_t block : touched) {
      const bool splits = hits[block] < blocks[block].size();
      hits[block] = 0;
      if (!splits) continue;
      std::vector<State> kept, moved;
      for (State q : blocks[block]) (is_hit[static_cast<std::size_t>(q)] ? moved : kept).push_back(q);
      const std::size_t fresh = blocks.size();
      for (State q : moved) block_of[static_cast<std::size_t>(q)] = static_cast<State>(fresh);
      blocks[block] = std::move(kept);
      blocks.push_back(std::move(moved));
      hits.push_back(0);
      // What is still to be done for the old block must be done for both halves; otherwise the smaller one is enough.
      const bool fresh_is_smaller = blocks[fresh].size() <= blocks[block].size();
      for (std::size_t other = 0; other < kinds; ++other) {
        add(is_open[block * kinds + other] || fresh_is_smaller ? fresh : block, other);
      }
    }
    for (State q : hit) is_hit[static_cast<std::size_t>(q)] = false;
  }
  return block_of;
}

}  // namespace

bool ByteAutomaton::Matches(std::string_view text) const {
  State state = start();
  for (char byte : text) {
    state = Next(state, static_cast<unsigned char>(byte));
    if (state == kDead) return false;
  }
  return accepts(state);
}

ByteAutomaton ByteAutomaton::Minimal(const std::array<std::uint8_t, 256>& kind_of, std::size_t kinds,
                                     std::vector<State> next, std::vector<bool> accepts) {
  const std::vector<State> useful = UsefulStates(next, kinds, accepts);
  if (useful.empty()) throw NoText("it matches no text");
  std::vector<State> new_of(accepts.size(), -1);
  std::vector<bool> useful_accepts;
  for (std::size_t i = 0; i < useful.size(); ++i) {
    new_of[static_cast<std::size_t>(useful[i])] = static_cast<State>(i);
    useful_accepts.push_back(accepts[static_cast<std::size_t>(useful[i])]);
  }
  next = Renumbered(next, kinds, new_of, useful.size());

  const std::vector<State> block_of = Blocks(next, kinds, useful_accepts);
  std::vector<State> number(useful.size() + 2, -1);  // of blocks, in the order in which a walk meets them
  std::vector<State> merged_of(useful.size());
  ByteAutomaton automaton;
  automaton.kind_of_ = kind_of;
  automaton.kinds_ = kinds;
  for (std::size_t q = 0; q < useful.size(); ++q) {
    State& own = number[static_cast<std::size_t>(block_of[q])];
    if (own < 0) {
      own = static_cast<State>(automaton.accepts_.size());
      automaton.accepts_.push_back(useful_accepts[q]);
    }
    merged_of[q] = own;
  }
  automaton.next_ = Renumbered(next, kinds, merged_of, automaton.accepts_.size());
  return automaton;
}

namespace {

/// What `make` returns; its error that no text is matched says what does not match.
template <typename MakeOne>
ByteAutomaton Named(std::string_view what, const MakeOne& make) {
  try {
    return make();
  } catch (const NoText&) {
    throw NoText(fmt::format("{} matches no text at all", what));
  }
}

}  // namespace

ByteAutomaton Compile(const PatternRef& pattern, std::string_view what, const AutomatonLimits& limits) {
  Budget budget(what, limits);
  ByteParts builder(budget);
  const int accepting = builder.Add({});
  const int start = builder.Build(*pattern, accepting);
  return Named(what, [&] { return Subsets(builder.parts(), accepting, budget).Run(start); });
}

ByteKinds KindsOfBoth(const ByteAutomaton& a, const ByteAutomaton& b) {
  ByteKinds both;
  std::map<std::pair<int, int>, std::uint8_t> kinds;
  for (std::size_t i = 0; i < 256; ++i) {
    const auto byte = static_cast<unsigned char>(i);
    const auto [found, is_new] = kinds.try_emplace({a.KindOf(byte), b.KindOf(byte)}, kinds.size());
    if (is_new) both.examples.push_back(byte);
    both.kind_of[i] = found->second;
  }
  return both;
}

namespace {

/// Both are followed; texts that `b` has left go on where `is_without`, and what it accepts is left out then.
ByteAutomaton Product(const ByteAutomaton& a, const ByteAutomaton& b, bool is_without, std::string_view what,
                      const AutomatonLimits& limits) {
  constexpr State kLeft = ByteAutomaton::kDead;
  Budget budget(what, limits);
  const ByteKinds kinds = KindsOfBoth(a, b);
  const std::vector<unsigned char>& example = kinds.examples;
  std::map<std::pair<State, State>, State> number = {{{a.start(), b.start()}, 0}};
  std::vector<std::pair<State, State>> order = {{a.start(), b.start()}};
  std::vector<State> next;
  std::vector<bool> accepts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [p, q] = order[i];
    accepts.push_back(a.accepts(p) && (q != kLeft && b.accepts(q)) != is_without);
    budget.Work(8 * example.size());
    for (unsigned char byte : example) {
      const std::pair<State, State> to{a.Next(p, byte), q == kLeft ? kLeft : b.Next(q, byte)};
      if (to.first < 0 || (to.second < 0 && !is_without)) {
        next.push_back(ByteAutomaton::kDead);
        continue;
      }
      const auto [found, is_new] = number.try_emplace(to, static_cast<State>(order.size()));
      if (is_new) order.push_back(to);
      budget.States(order.size());
      next.push_back(found->second);
    }
  }
  const std::size_t columns = example.size();
  return Named(what,
               [&] { return ByteAutomaton::Minimal(kinds.kind_of, columns, std::move(next), std::move(accepts)); });
}

}  // namespace

ByteAutomaton Intersection(const ByteAutomaton& a, const ByteAutomaton& b, std::string_view what,
                           const AutomatonLimits& limits) {
  return Product(a, b, false, what, limits);
}

ByteAutomaton Difference(const ByteAutomaton& a, const ByteAutomaton& b, std::string_view what,
                         const AutomatonLimits& limits) {
  return Product(a, b, true, what, limits);
}

}  // namespace punt
