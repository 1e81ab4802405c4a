// Lifting a byte automaton to a vocabulary.
//
// A state of the token automaton is a state of the byte automaton with the context in which the next token is read.
// From each, a walk through a trie of the vocabulary follows all tokens at once and leaves a branch where the bytes
// lead nowhere, so that a state within fixed text costs a few steps, and one within free text as many as the trie has
// nodes. Only states that tokens reach are made.
//
// Classes. Two tokens are alike when they lead from every state to the same state. The first walk adds up, for each
// token, a 128-bit number for every (state, target); tokens with equal sums are a class. The second walk checks that:
// where it meets one token of a class it must meet all of them, with the same target, so that a collision would be
// noticed and never wrong.
//
// The lift of a state is as Willard and Louf describe it (2023, arXiv 2307.09702); the factoring into classes and
// shared sets is for sums over states, of which an autoregressive model needs none.
//
// Tested by token_automaton_test.cc, against the byte automaton on all short sequences of tokens.
#include "constrain/token_automaton.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr std::size_t kMostSteps = 60'000'000;
constexpr std::size_t kMostStates = 20'000;
constexpr std::size_t kMostMembers = 8'000'000;  // edges and members of sets

/// The tokens of one context, by their texts.
class Trie {
 public:
  struct Node {
    unsigned char byte = 0;
    std::int32_t child = -1;
    std::int32_t sibling = -1;
    std::int32_t tokens_begin = 0;
    std::int32_t tokens_end = 0;
  };

  explicit Trie(const std::vector<std::string>& texts) {
    std::vector<Token> order;
    for (std::size_t token = 0; token < texts.size(); ++token) {
      if (!texts[token].empty()) order.push_back(static_cast<Token>(token));
    }
    const auto text = [&](Token token) -> const std::string& { return texts[static_cast<std::size_t>(token)]; };
    std::sort(order.begin(), order.end(),
              [&](Token a, Token b) { return text(a) != text(b) ? text(a) < text(b) : a < b; });
    tokens_ = order;
    nodes_.push_back({});
    std::vector<std::int32_t> path = {0};  // nodes of the text before
    std::vector<std::int32_t> last_child = {-1};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::string& own = text(order[i]);
      std::size_t shared = 0;
      while (shared + 1 < path.size() && shared < own.size() &&
             nodes_[static_cast<std::size_t>(path[shared + 1])].byte == static_cast<unsigned char>(own[shared])) {
        ++shared;
      }
      path.resize(shared + 1);
      for (std::size_t at = shared; at < own.size(); ++at) {
        const auto made = static_cast<std::int32_t>(nodes_.size());
        const auto parent = static_cast<std::size_t>(path.back());
        nodes_.push_back({.byte = static_cast<unsigned char>(own[at])});
        if (last_child[parent] < 0) {
          nodes_[parent].child = made;
        } else {
          nodes_[static_cast<std::size_t>(last_child[parent])].sibling = made;
        }
        last_child[parent] = made;
        last_child.push_back(-1);
        path.push_back(made);
      }
      Node& end = nodes_[static_cast<std::size_t>(path.back())];
      if (end.tokens_begin == end.tokens_end) end.tokens_begin = static_cast<std::int32_t>(i);
      end.tokens_end = static_cast<std::int32_t>(i) + 1;
    }
  }

  /// visit(token, state) for every token that leads from `from` to a state. Returns the nodes that were looked at.
  template <typename Visit>
  std::size_t Walk(const ByteAutomaton& language, ByteAutomaton::State from, const Visit& visit) const {
    std::size_t steps = 0;
    std::vector<std::pair<std::int32_t, ByteAutomaton::State>> open = {{nodes_[0].child, from}};
    while (!open.empty()) {
      const auto [id, state] = open.back();
      open.pop_back();
      if (id < 0) continue;
      ++steps;
      const Node& node = nodes_[static_cast<std::size_t>(id)];
      open.emplace_back(node.sibling, state);
      const ByteAutomaton::State to = language.Next(state, node.byte);
      if (to == ByteAutomaton::kDead) continue;
      for (std::int32_t i = node.tokens_begin; i < node.tokens_end; ++i)
        visit(tokens_[static_cast<std::size_t>(i)], to);
      open.emplace_back(node.child, to);
    }
    return steps;
  }

 private:
  std::vector<Node> nodes_;
  std::vector<Token> tokens_;
};

struct Sum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void Add(std::uint64_t what) {
    low += Mix64(what + 0x9e3779b97f4a7c15u);
    high += Mix64(what ^ 0xd1b54a32d192ed03u);
  }
  friend auto operator<=>(const Sum&, const Sum&) = default;
};

}  // namespace

/// The work of the constructor.
class TokenAutomaton::Lifting {
 public:
  Lifting(const ByteAutomaton& language, const TokenTexts& texts, std::string_view what)
      : language_(language), texts_(texts), what_(what), sums_(texts.vocab()) {
    for (const auto& context : texts.in_context) tries_.emplace_back(context);
    std::vector<std::string> first = texts.in_context[static_cast<std::size_t>(texts.first_context)];
    if (texts.drops_first_space) {
      for (std::string& text : first) {
        if (text.starts_with(' ')) text.erase(0, 1);
      }
    }
    tries_.emplace_back(first);
    Discover();
  }

  void Fill(TokenAutomaton& made) {
    FindClasses(made);
    FindEdges(made);
  }

 private:
  struct Origin {
    ByteAutomaton::State state = 0;
    int context = 0;  // one more than the last: the first token
  };

  std::int32_t StateOf(const Origin& origin) {
    const auto key = static_cast<std::int64_t>(origin.state) * std::ssize(tries_) + origin.context;
    const auto [found, is_new] = number_.try_emplace(key, static_cast<std::int32_t>(origins_.size()));
    if (is_new) origins_.push_back(origin);
    if (origins_.size() > kMostStates) {
      BadInput("{} is too large: it needs an automaton of more than {} states over tokens", what_, kMostStates);
    }
    return found->second;
  }

  template <typename Visit>
  void Walk(std::size_t state, const Visit& visit) {
    const Origin origin = origins_[state];
    steps_ += tries_[static_cast<std::size_t>(origin.context)].Walk(language_, origin.state, visit);
    if (steps_ > kMostSteps) {
      BadInput("{} is too large: it takes more than {} steps to find what it allows of {} tokens", what_, kMostSteps,
               texts_.vocab());
    }
  }

  std::int32_t Target(Token token, ByteAutomaton::State state) {
    return StateOf({state, texts_.context_after[static_cast<std::size_t>(token)]});
  }

  void Discover() {
    StateOf({language_.start(), static_cast<int>(tries_.size()) - 1});
    for (std::size_t q = 0; q < origins_.size(); ++q) {
      Walk(q, [&](Token token, ByteAutomaton::State state) {
        const auto to = static_cast<std::uint64_t>(Target(token, state));
        sums_[static_cast<std::size_t>(token)].Add((static_cast<std::uint64_t>(q) << 32) | to);
      });
    }
  }

  void FindClasses(TokenAutomaton& made) const {
    made.class_of_.assign(texts_.vocab(), -1);
    std::map<Sum, std::int32_t> class_of_sum;
    std::vector<std::vector<Token>> members;
    for (std::size_t token = 0; token < texts_.vocab(); ++token) {
      if (sums_[token] == Sum{}) continue;
      Check(!texts_.is_end[token], "a token that ends texts and is text");
      const auto [found, is_new] = class_of_sum.try_emplace(sums_[token], static_cast<std::int32_t>(members.size()));
      if (is_new) members.emplace_back();
      members[static_cast<std::size_t>(found->second)].push_back(static_cast<Token>(token));
    }
    std::vector<Token> ends;
    for (std::size_t token = 0; token < texts_.vocab(); ++token) {
      if (texts_.is_end[token]) ends.push_back(static_cast<Token>(token));
    }
    made.has_ends_ = !ends.empty();
    if (made.has_ends_) members.push_back(std::move(ends));
    made.token_begin_ = {0};
    for (std::size_t c = 0; c < members.size(); ++c) {
      for (Token token : members[c]) made.class_of_[static_cast<std::size_t>(token)] = static_cast<std::int32_t>(c);
      made.tokens_.insert(made.tokens_.end(), members[c].begin(), members[c].end());
      made.token_begin_.push_back(made.tokens_.size());
    }
  }

  using Arrows = std::vector<std::pair<std::int32_t, std::int32_t>>;  // target, class

  /// What leads on from a state, sorted.
  Arrows ArrowsOf(std::size_t q, const TokenAutomaton& made) {
    std::vector<std::size_t> met(made.classes(), 0);
    Arrows arrows;
    Walk(q, [&](Token token, ByteAutomaton::State state) {
      const auto own = made.ClassOf(token);
      if (met[static_cast<std::size_t>(own)]++ == 0) arrows.emplace_back(Target(token, state), own);
    });
    for (const auto& [to, own] : arrows) {
      const auto c = static_cast<std::size_t>(own);
      Check(met[c] == made.TokensOf(c).size(), "tokens of a class that are not alike");
    }
    if (made.has_ends_ && language_.accepts(origins_[q].state)) {
      arrows.emplace_back(static_cast<std::int32_t>(origins_.size()), static_cast<std::int32_t>(made.classes()) - 1);
    }
    std::sort(arrows.begin(), arrows.end());
    return arrows;
  }

  /// Those of which an accepting state can be reached. The last state is `last`.
  std::vector<bool> LeadingOn(const std::vector<Arrows>& arrows, std::size_t last) const {
    std::vector<std::vector<std::int32_t>> from(last + 1);
    std::vector<bool> leads(last + 1, false);
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < last; ++q) {
      std::int32_t before = -1;
      for (const auto& [to, own] : arrows[q]) {
        if (to != before) from[static_cast<std::size_t>(to)].push_back(static_cast<std::int32_t>(q));
        before = to;
      }
      if (language_.accepts(origins_[q].state)) open.push_back(q);
    }
    for (std::size_t q : open) leads[q] = true;
    leads[last] = true;
    while (!open.empty()) {
      const std::size_t q = open.back();
      open.pop_back();
      for (std::int32_t before : from[q]) {
        if (!leads[static_cast<std::size_t>(before)]) open.push_back(static_cast<std::size_t>(before));
        leads[static_cast<std::size_t>(before)] = true;
      }
    }
    return leads;
  }

  using EdgeLists = std::vector<std::vector<Edge>>;  // by state, sorted by set

  /// The states that lead on, in the order of their new numbers: what counts (characters, items) one after the other,
  /// so that states which differ in nothing but the count have neighbouring numbers, and so do those to which the same
  /// set leads from them. It is found from pairs: when q and its neighbour q' have edges of the same set, the states
  /// these lead to are neighbours as well. The first pairs are states of the same sets, one byte apart, those of most
  /// edges first. That is only for speed (edge_runs.h); any order is right that begins with the start.
  std::vector<std::size_t> OrderOfStates(const EdgeLists& edges, const std::vector<bool>& leads) const {
    constexpr std::size_t kNone = SIZE_MAX;
    std::vector<std::size_t> follower(edges.size(), kNone);
    std::vector<std::size_t> followed(edges.size(), kNone);
    std::vector<std::size_t> open;
    const auto pair = [&](std::size_t first, std::size_t second) {
      if (first == second || second == 0 || follower[first] != kNone || followed[second] != kNone) return;
      follower[first] = second;
      followed[second] = first;
      open.push_back(first);
    };
    const auto pair_what_follows = [&] {
      while (!open.empty()) {
        const std::size_t q = open.back();
        open.pop_back();
        const std::vector<Edge>& own = edges[q];
        const std::vector<Edge>& other = edges[follower[q]];
        for (std::size_t i = 0, k = 0; i < own.size() && k < other.size();) {
          if (own[i].set == other[k].set) {
            pair(static_cast<std::size_t>(own[i++].to), static_cast<std::size_t>(other[k++].to));
          } else {
            own[i].set < other[k].set ? ++i : ++k;
          }
        }
      }
    };
    std::vector<std::size_t> states;
    for (std::size_t q = 0; q < edges.size(); ++q) {
      if (leads[q]) states.push_back(q);
    }
    std::vector<std::size_t> seeds = states;
    std::stable_sort(seeds.begin(), seeds.end(),
                     [&](std::size_t a, std::size_t b) { return edges[a].size() > edges[b].size(); });
    const std::vector<std::int32_t> depths = Depths();
    const auto depth_of = [&](std::size_t q) {
      return q < origins_.size() ? depths[static_cast<std::size_t>(origins_[q].state)] : -1;
    };
    const auto has_same_sets = [&](std::size_t a, std::size_t b) {
      return std::equal(edges[a].begin(), edges[a].end(), edges[b].begin(), edges[b].end(),
                        [](const Edge& x, const Edge& y) { return x.set == y.set; });
    };
    for (std::size_t q : seeds) {
      for (const Edge& edge : edges[q]) {
        const auto to = static_cast<std::size_t>(edge.to);
        if (depth_of(to) == depth_of(q) + 1 && has_same_sets(q, to)) pair(q, to);
      }
      pair_what_follows();
    }

    std::vector<std::size_t> order;
    std::vector<bool> is_numbered(edges.size(), false);
    const auto number_from = [&](std::size_t q) {
      for (; q != kNone && !is_numbered[q]; q = follower[q]) {
        is_numbered[q] = true;
        order.push_back(q);
      }
    };
    for (std::size_t q : states) {
      if (followed[q] == kNone) number_from(q);
    }
    for (std::size_t q : states) number_from(q);  // what follows itself
    return order;
  }

  /// Of the byte automaton's states, how many bytes lead there at least.
  std::vector<std::int32_t> Depths() const {
    std::vector<std::int32_t> depths(static_cast<std::size_t>(language_.size()), -1);
    std::vector<int> examples(language_.kinds(), 0);  // a byte of each kind
    for (int byte = 0; byte < 256; ++byte) examples[language_.KindOf(static_cast<unsigned char>(byte))] = byte;
    std::vector<ByteAutomaton::State> open = {language_.start()};
    depths[static_cast<std::size_t>(language_.start())] = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (int byte : examples) {
        const ByteAutomaton::State to = language_.Next(open[i], static_cast<unsigned char>(byte));
        if (to == ByteAutomaton::kDead || depths[static_cast<std::size_t>(to)] >= 0) continue;
        depths[static_cast<std::size_t>(to)] = depths[static_cast<std::size_t>(open[i])] + 1;
        open.push_back(to);
      }
    }
    return depths;
  }

  void FindEdges(TokenAutomaton& made) {
    const std::size_t last = origins_.size();
    std::vector<Arrows> arrows;
    std::size_t members = 0;
    for (std::size_t q = 0; q < last; ++q) {
      arrows.push_back(ArrowsOf(q, made));
      members += arrows.back().size();
      if (members > kMostMembers) {
        BadInput("{} is too large: its automaton over tokens has more than {} transitions", what_, kMostMembers);
      }
    }
    if (made.has_ends_)
      arrows.push_back({{static_cast<std::int32_t>(last), static_cast<std::int32_t>(made.classes()) - 1}});
    const std::vector<bool> leads = LeadingOn(arrows, last);
    if (!leads[0]) BadInput("no sequence of this model's tokens spells a text that {} matches", what_);

    std::map<std::vector<std::int32_t>, std::int32_t> set_of;
    made.set_begin_ = {0};
    EdgeLists edges(arrows.size());
    for (std::size_t q = 0; q < arrows.size(); ++q) {
      if (!leads[q]) continue;
      for (std::size_t i = 0; i < arrows[q].size();) {
        const std::int32_t to = arrows[q][i].first;
        std::vector<std::int32_t> set;
        for (; i < arrows[q].size() && arrows[q][i].first == to; ++i) set.push_back(arrows[q][i].second);
        if (!leads[static_cast<std::size_t>(to)]) continue;
        const auto [found, is_new] = set_of.try_emplace(set, static_cast<std::int32_t>(made.set_begin_.size()) - 1);
        if (is_new) {
          made.set_classes_.insert(made.set_classes_.end(), set.begin(), set.end());
          made.set_begin_.push_back(made.set_classes_.size());
        }
        edges[q].push_back({.to = to, .set = found->second});
      }
      std::sort(edges[q].begin(), edges[q].end(), [](const Edge& a, const Edge& b) { return a.set < b.set; });
    }

    const std::vector<std::size_t> order = OrderOfStates(edges, leads);
    std::vector<std::int32_t> new_of(last + 1, -1);
    for (std::size_t q : order) {
      new_of[q] = static_cast<std::int32_t>(made.accepts_.size());
      made.accepts_.push_back(q == last || language_.accepts(origins_[q].state));
    }
    made.edge_begin_ = {0};
    for (std::size_t q : order) {
      for (const Edge& edge : edges[q]) made.edges_.push_back({new_of[static_cast<std::size_t>(edge.to)], edge.set});
      made.edge_begin_.push_back(made.edges_.size());
    }
  }

  const ByteAutomaton& language_;
  const TokenTexts& texts_;
  const std::string what_;
  std::vector<Trie> tries_;  // of each context, and of the first token
  std::vector<Sum> sums_;
  std::unordered_map<std::int64_t, std::int32_t> number_;
  std::vector<Origin> origins_;
  std::size_t steps_ = 0;
};

TokenAutomaton::TokenAutomaton(const ByteAutomaton& language, const TokenTexts& texts, std::string_view what) {
  Lifting(language, texts, what).Fill(*this);

  std::vector<std::vector<std::int32_t>> sets_with(classes());
  for (std::size_t set = 0; set < sets(); ++set) {
    for (std::int32_t own : ClassesOf(set))
      sets_with[static_cast<std::size_t>(own)].push_back(static_cast<std::int32_t>(set));
  }
  class_begin_ = {0};
  for (const auto& list : sets_with) {
    class_sets_.insert(class_sets_.end(), list.begin(), list.end());
    class_begin_.push_back(class_sets_.size());
  }
  // No state has a use for a class whose transitions all led to dead states.
  for (std::size_t token = 0; token < class_of_.size(); ++token) {
    if (class_of_[token] >= 0 && sets_with[static_cast<std::size_t>(class_of_[token])].empty()) class_of_[token] = -1;
    class_numbers_.push_back(class_of_[token] >= 0 ? class_of_[token] : static_cast<std::int32_t>(classes()));
  }

  std::vector<EdgeRuns::Edge> all;
  for (std::size_t q = 0; q < states(); ++q) {
    for (const Edge& edge : EdgesOf(q)) all.push_back({static_cast<std::int32_t>(q), edge.to, edge.set});
  }
  runs_ = EdgeRuns(std::move(all), sets());

  std::vector<std::size_t> distance(states(), SIZE_MAX);
  std::vector<std::size_t> order = {0};
  distance[0] = 0;
  shortest_ = SIZE_MAX;
  for (std::size_t i = 0; i < order.size() && shortest_ == SIZE_MAX; ++i) {
    const std::size_t q = order[i];
    if (accepts(q)) shortest_ = distance[q];
    for (const Edge& edge : EdgesOf(q)) {
      const auto to = static_cast<std::size_t>(edge.to);
      if (distance[to] != SIZE_MAX) continue;
      distance[to] = distance[q] + 1;
      order.push_back(to);
    }
  }
}

std::int32_t TokenAutomaton::Next(std::size_t state, Token token) const {
  const std::int32_t own = ClassOf(token);
  if (own < 0) return -1;
  for (const Edge& edge : EdgesOf(state)) {
    const auto members = ClassesOf(static_cast<std::size_t>(edge.set));
    if (std::binary_search(members.begin(), members.end(), own)) return edge.to;
  }
  return -1;
}

}  // namespace punt
