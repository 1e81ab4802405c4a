#include "constrain/constrained_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error_testing.h"
#include "constrain/constrain_testing.h"
#include "punt/model.h"

namespace punt {
namespace {

using Law = std::map<std::vector<Token>, double>;

struct Question {
  Model model;
  std::unique_ptr<DenoiserSession> inner;
  std::shared_ptr<const TokenAutomaton> automaton;
  std::unique_ptr<DenoiserSession> session;
  std::vector<Token> canvas;

  Token mask() const { return model.denoiser->info().mask_token; }
  std::size_t vocab() const { return static_cast<std::size_t>(model.denoiser->info().vocab_size); }
};

/// On all of the canvas, which is given as letters with "_" for masks.
Question Make(const std::string& toy, std::string_view regex, std::string_view canvas) {
  Question setup{.model = OpenModel(toy)};
  setup.inner = setup.model.denoiser->NewSession({});
  setup.automaton = AutomatonOf(regex, LetterTexts(setup.model.denoiser->info().vocab_size - 1));
  for (char letter : canvas) setup.canvas.push_back(letter == '_' ? setup.mask() : letter - 'a');
  setup.session = NewConstrainedSession(
      *setup.inner, {.automaton = setup.automaton, .begin = 0, .end = static_cast<Position>(setup.canvas.size())});
  return setup;
}

PassRef Forward(DenoiserSession& session, const std::vector<Token>& canvas) {
  std::vector<Position> rows(canvas.size());
  std::iota(rows.begin(), rows.end(), 0);
  const Query query{.canvas = canvas, .rows = rows};
  return session.Forward({&query, 1}).front();
}

std::vector<double> Rows(DenoiserSession& session, const Pass& pass) {
  std::vector<Position> rows(pass.canvas().size());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<double> logs(rows.size() * static_cast<std::size_t>(session.info().vocab_size));
  const LogProbRequest request{.pass = &pass, .rows = rows, .out = logs};
  session.LogProbs({&request, 1});
  return logs;
}

/// The product of the inner rows to the power 1/T, on the strings of the language; `free_at`: a position that counts as
/// masked.
Law ConditionedProduct(Question& setup, double temperature = 1, Position free_at = -1) {
  const PassRef pass = Forward(*setup.inner, setup.canvas);
  const std::vector<double> rows = Rows(*setup.inner, *pass);
  Law law;
  double total = 0;
  std::vector<Token> string;
  const std::function<void(std::size_t, double)> go = [&](std::size_t state, double weight) {
    const std::size_t i = string.size();
    if (i == setup.canvas.size()) {
      if (!setup.automaton->accepts(state)) return;
      law[string] += weight;
      total += weight;
      return;
    }
    for (Token token = 0; token < setup.mask(); ++token) {
      const bool is_free = setup.canvas[i] == setup.mask() || static_cast<Position>(i) == free_at;
      if (!is_free && token != setup.canvas[i]) continue;
      const std::int32_t to = setup.automaton->Next(state, token);
      if (to < 0) continue;
      const double log_prob = rows[i * setup.vocab() + static_cast<std::size_t>(token)];
      string.push_back(token);
      go(static_cast<std::size_t>(to), is_free ? weight * std::exp(log_prob / temperature) : weight);
      string.pop_back();
    }
  };
  go(0, 1);
  for (auto& [tokens, probability] : law) probability /= total;
  return law;
}

constexpr const char* kToys[] = {"toy:joint,length=5,vocab=3,seed=2", "toy:markov,length=5,vocab=3,seed=4",
                                 "toy:product,length=5,vocab=3,seed=1"};
constexpr const char* kRegexes[] = {"(?:ab|c)*[abc]?", "a*b*c*", "[abc]{4}a|b{5}", "(?:a[bc]*a|b.*c)[abc]"};

TEST(ConstrainedSession, RowsAreTheConditionedMarginals) {
  for (const char* toy : kToys) {
    for (const char* regex : kRegexes) {
      for (const char* canvas : {"_____", "_b___", "__c_a"}) {
        Question setup = Make(toy, regex, canvas);
        if (!HasCompletion({setup.automaton, 0, 5}, setup.canvas, setup.mask())) continue;
        const PassRef pass = Forward(*setup.session, setup.canvas);
        const std::vector<double> rows = Rows(*setup.session, *pass);
        for (Position i = 0; i < 5; ++i) {
          std::vector<double> expected(setup.vocab(), 0.0);
          for (const auto& [tokens, probability] : ConditionedProduct(setup, 1, i)) {
            expected[static_cast<std::size_t>(tokens[static_cast<std::size_t>(i)])] += probability;
          }
          for (std::size_t v = 0; v < setup.vocab(); ++v) {
            EXPECT_NEAR(std::exp(rows[static_cast<std::size_t>(i) * setup.vocab() + v]), expected[v], 1e-12)
                << toy << " " << regex << " " << canvas << " position " << i;
          }
        }
      }
    }
  }
}

std::vector<Token> Draw(Question& setup, const Pass& pass, const ProposalOptions& options, std::uint64_t seed) {
  std::vector<Position> rows(setup.canvas.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<Proposal> proposals(rows.size());
  const ProposalRequest request{
      .pass = &pass, .rows = rows, .options = &options, .key = {.seed = seed}, .out = proposals};
  setup.session->Propose({&request, 1});
  std::vector<Token> tokens = setup.canvas;
  for (const Proposal& proposal : proposals) {
    if (tokens[static_cast<std::size_t>(proposal.position)] != setup.mask()) continue;
    tokens[static_cast<std::size_t>(proposal.position)] = proposal.token;
    EXPECT_LE(proposal.token_prob, proposal.top_prob);
  }
  return tokens;
}

double Distance(const Law& a, const Law& b) {
  double sum = 0;
  for (const auto& [tokens, probability] : a) sum += std::abs(probability - (b.contains(tokens) ? b.at(tokens) : 0));
  for (const auto& [tokens, probability] : b) sum += a.contains(tokens) ? 0 : probability;
  return sum / 2;
}

TEST(ConstrainedSession, ProposalsAreOneDrawFromTheConditionedProduct) {
  constexpr int kDraws = 20'000;
  for (const auto& [temperature, convention] :
       {std::pair(1.0, Convention::kLlada), std::pair(0.5, Convention::kLlada), std::pair(1.0, Convention::kDream),
        std::pair(2.0, Convention::kDream)}) {
    Question setup = Make(kToys[0], "(?:ab|c)*[abc]?", "_____");
    const PassRef pass = Forward(*setup.session, setup.canvas);
    const Law expected = ConditionedProduct(setup, temperature);
    const ProposalOptions options{.convention = convention, .temperature = temperature};
    Law drawn;
    for (int i = 0; i < kDraws; ++i) drawn[Draw(setup, *pass, options, static_cast<std::uint64_t>(i))] += 1.0 / kDraws;
    EXPECT_LT(Distance(drawn, expected), 0.02) << temperature;
    EXPECT_LE(drawn.size(), expected.size());
  }
}

// Rows of large vocabularies are kept and conditioned in single precision.
TEST(ConstrainedSession, LargeVocabulariesAgreeWithSumsOverAllStrings) {
  constexpr std::size_t kLetters = 3;
  Question setup{.model = OpenModel("toy:product,length=6,vocab=5000,concentration=0.05")};
  TokenTexts texts = LetterTexts(static_cast<int>(setup.vocab()) - 1);
  for (std::size_t v = 0; v + 1 < setup.vocab(); ++v) {
    texts.in_context[0][v] = std::string(1, static_cast<char>('a' + v % kLetters));
  }
  setup.inner = setup.model.denoiser->NewSession({});
  setup.automaton = AutomatonOf("(?:ab|c)*[abc]?", texts);
  setup.canvas.assign(6, setup.mask());
  setup.canvas[3] = 2;
  setup.session = NewConstrainedSession(*setup.inner, {.automaton = setup.automaton, .begin = 0, .end = 6});
  const PassRef inner = Forward(*setup.inner, setup.canvas);
  const std::vector<double> rows = Rows(*setup.inner, *inner);
  const auto prob = [&](std::size_t i, std::size_t v) { return std::exp(rows[i * setup.vocab() + v]); };

  // Of each letter at each position: all strings of letters with it, without its own weight there.
  std::vector<std::vector<double>> factors(6, std::vector<double>(kLetters, 0.0));
  std::vector<std::vector<double>> mass(6, std::vector<double>(kLetters, 0.0));
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t v = 0; v + 1 < setup.vocab(); ++v) mass[i][v % kLetters] += prob(i, v);
  }
  for (std::size_t code = 0; code < 729; ++code) {
    std::size_t rest = code;
    std::vector<std::size_t> letters;
    std::int32_t state = 0;
    for (std::size_t i = 0; i < 6; ++i, rest /= kLetters) {
      letters.push_back(rest % kLetters);
      if (state >= 0) state = setup.automaton->Next(static_cast<std::size_t>(state), static_cast<Token>(letters[i]));
    }
    if (state < 0 || !setup.automaton->accepts(static_cast<std::size_t>(state))) continue;
    for (std::size_t i = 0; i < 6; ++i) {
      double others = 1;
      for (std::size_t k = 0; k < 6; ++k) {
        if (k != i) others *= setup.canvas[k] == setup.mask() ? mass[k][letters[k]] : letters[k] == 2 ? 1.0 : 0.0;
      }
      factors[i][letters[i]] += others;
    }
  }

  const PassRef pass = Forward(*setup.session, setup.canvas);
  const std::vector<double> conditioned = Rows(*setup.session, *pass);
  for (std::size_t i = 0; i < 6; ++i) {
    double total = 0;
    for (std::size_t v = 0; v + 1 < setup.vocab(); ++v) total += prob(i, v) * factors[i][v % kLetters];
    for (std::size_t v = 0; v + 1 < setup.vocab(); ++v) {
      ASSERT_NEAR(std::exp(conditioned[i * setup.vocab() + v]), prob(i, v) * factors[i][v % kLetters] / total, 1e-6);
    }
  }
  for (const auto& [temperature, convention, top_k] :
       {std::tuple(1.0, Convention::kLlada, 0), std::tuple(0.3, Convention::kLlada, 0),
        std::tuple(1.0, Convention::kDream, 0), std::tuple(1.5, Convention::kLlada, 7),
        std::tuple(0.0, Convention::kLlada, 0)}) {
    const ProposalOptions options{.convention = convention, .temperature = temperature, .top_k = top_k};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<Position> masks = {0, 1, 2, 4, 5};
      std::vector<Proposal> proposals(masks.size());
      const ProposalRequest request{
          .pass = pass.get(), .rows = masks, .options = &options, .key = {.seed = seed}, .out = proposals};
      setup.session->Propose({&request, 1});
      std::vector<Token> text = setup.canvas;
      for (const Proposal& proposal : proposals) {
        const auto i = static_cast<std::size_t>(proposal.position);
        text[i] = proposal.token;
        const auto row = std::span(conditioned).subspan(i * setup.vocab(), setup.vocab());
        const Proposal naive = ProposeFromRow(row, proposal.position, {.temperature = 0}, {});
        EXPECT_NEAR(proposal.token_prob, std::exp(row[static_cast<std::size_t>(proposal.token)]), 1e-6);
        EXPECT_NEAR(proposal.top_prob, naive.top_prob, 1e-6);
        EXPECT_NEAR(proposal.second_prob, naive.second_prob, 1e-6);
        EXPECT_NEAR(proposal.entropy, naive.entropy, 1e-4);
      }
      std::int32_t state = 0;
      for (Token token : text) {
        ASSERT_GE(state, 0);
        state = setup.automaton->Next(static_cast<std::size_t>(state), token);
      }
      ASSERT_GE(state, 0);
      EXPECT_TRUE(setup.automaton->accepts(static_cast<std::size_t>(state)));
    }
  }

  // How often each letter is drawn where the others bear on it.
  constexpr int kDraws = 3000;
  std::vector<double> share(kLetters, 0.0);
  const ProposalOptions options;
  const std::vector<Position> masks = {0, 1, 2};
  std::vector<Proposal> proposals(masks.size());
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const ProposalRequest request{
        .pass = pass.get(), .rows = masks, .options = &options, .key = {.seed = seed}, .out = proposals};
    setup.session->Propose({&request, 1});
    share[static_cast<std::size_t>(proposals[1].token) % kLetters] += 1.0 / kDraws;
  }
  double total = 0;
  for (std::size_t letter = 0; letter < kLetters; ++letter) total += mass[1][letter] * factors[1][letter];
  for (std::size_t letter = 0; letter < kLetters; ++letter) {
    EXPECT_NEAR(share[letter], mass[1][letter] * factors[1][letter] / total, 0.04);
  }
}

TEST(ConstrainedSession, TemperatureZeroProposesTheMostProbableText) {
  for (const char* toy : kToys) {
    for (const char* regex : kRegexes) {
      Question setup = Make(toy, regex, "_____");
      const PassRef pass = Forward(*setup.session, setup.canvas);
      const Law law = ConditionedProduct(setup);
      const auto best =
          std::max_element(law.begin(), law.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      EXPECT_EQ(Draw(setup, *pass, {.temperature = 0}, 1), best->first) << toy << " " << regex;
    }
  }
}

TEST(ConstrainedSession, ALanguageThatExcludesNothingChangesNothing) {
  Question setup = Make("toy:joint,length=6,vocab=3,seed=5", "[abc]*", "_a____");
  const PassRef own = Forward(*setup.session, setup.canvas);
  const PassRef plain = Forward(*setup.inner, setup.canvas);
  const std::vector<Position> rows = {0, 2, 3, 4, 5};
  for (const ProposalOptions& options : {ProposalOptions{},
                                         {.convention = Convention::kDream, .temperature = 0.7, .top_p = 0.8},
                                         {.temperature = 0},
                                         {.temperature = 1.5, .top_k = 2, .score_on = ScoreOn::kTempered},
                                         {.min_p = 0.3}}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      std::vector<Proposal> a(rows.size()), b(rows.size());
      const ProposalRequest own_request{
          .pass = own.get(), .rows = rows, .options = &options, .key = {.seed = seed}, .out = a};
      const ProposalRequest plain_request{
          .pass = plain.get(), .rows = rows, .options = &options, .key = {.seed = seed}, .out = b};
      setup.session->Propose({&own_request, 1});
      setup.inner->Propose({&plain_request, 1});
      for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(a[i].token, b[i].token);
        EXPECT_NEAR(a[i].token_prob, b[i].token_prob, 1e-9);
        EXPECT_NEAR(a[i].entropy, b[i].entropy, 1e-9);
        EXPECT_NEAR(a[i].second_prob, b[i].second_prob, 1e-9);
      }
    }
  }
}

TEST(ConstrainedSession, FiltersLeaveACompletion) {
  Question setup = Make(kToys[1], "(?:ab|c)*[abc]?", "_____");
  const PassRef pass = Forward(*setup.session, setup.canvas);
  for (const ProposalOptions& options : {ProposalOptions{.top_p = 0.01}, {.top_k = 1}, {.min_p = 1}, {.top_p = 0.5}}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      EXPECT_TRUE(HasCompletion({setup.automaton, 0, 5}, Draw(setup, *pass, options, seed), setup.mask()));
    }
  }
}

// What the anchors make impossible would make every divergence infinite.
TEST(ConstrainedSession, DivergencesAreOfConditionedRowsAndStayFinite) {
  Question setup = Make(kToys[2], "aaaaa|bb[abc]{3}", "_____");
  const PassRef base = Forward(*setup.session, setup.canvas);
  std::vector<Token> revealed = setup.canvas;
  revealed[0] = 1;
  const PassRef fresh = Forward(*setup.session, revealed);
  const std::vector<Position> rows = {1, 3};
  const auto diverge = [&](DenoiserSession& session, const PassRef& from, const PassRef& to, Divergence kind) {
    std::vector<double> out(rows.size());
    const DivergenceOptions options{.kind = kind};
    const DivergenceRequest request{
        .base = from.get(), .fresh = to.get(), .rows = rows, .options = &options, .out = out};
    session.Diverge({&request, 1});
    return out;
  };
  // The model's positions do not depend on each other; the language ties the second to the first.
  EXPECT_LT(diverge(*setup.inner, Forward(*setup.inner, setup.canvas), Forward(*setup.inner, revealed),
                    Divergence::kKlBaseNew)[0],
            1e-9);
  for (Divergence kind : {Divergence::kKlBaseNew, Divergence::kKlNewBase, Divergence::kJs, Divergence::kTv}) {
    const std::vector<double> out = diverge(*setup.session, base, fresh, kind);
    EXPECT_TRUE(std::isfinite(out[0]) && out[0] > 1e-4) << Name(kind) << " " << out[0];
    EXPECT_TRUE(std::isfinite(out[1])) << Name(kind);
  }
}

TEST(ConstrainedSession, OutsideTheStretchRowsAreTheModels) {
  Question setup = Make(kToys[0], "ab", "_____");
  const auto session = NewConstrainedSession(*setup.inner, {setup.automaton, 1, 3});
  const PassRef own = Forward(*session, setup.canvas);
  const PassRef plain = Forward(*setup.inner, setup.canvas);
  const std::vector<double> a = Rows(*session, *own), b = Rows(*setup.inner, *plain);
  for (std::size_t i : {0u, 3u, 4u}) {
    for (std::size_t v = 0; v < setup.vocab(); ++v) EXPECT_EQ(a[i * setup.vocab() + v], b[i * setup.vocab() + v]);
  }
  EXPECT_NEAR(a[1 * setup.vocab() + 0], 0, 1e-12);
  EXPECT_NEAR(a[2 * setup.vocab() + 1], 0, 1e-12);
  EXPECT_EQ(session->counters().nfe(), 1);
}

// A model that excludes what the language needs.
TEST(ConstrainedSession, TheLanguageWinsOverTheModelsZeros) {
  RandomStream random(5);
  for (int round = 0; round < 100; ++round) {
    Question setup =
        Make("toy:markov,length=4,vocab=3,coupling=1", round % 2 == 0 ? "abca|bcab" : "(?:ab|bc|ca)*", "____");
    for (int step = 0; step < 4; ++step) {
      const PassRef pass = Forward(*setup.session, setup.canvas);
      const std::vector<Token> drawn = Draw(setup, *pass, {.temperature = round % 3 == 0 ? 0.0 : 1.0}, random.Next());
      const std::size_t at = random.Below(4);
      setup.canvas[at] = drawn[at];
      ASSERT_TRUE(HasCompletion({setup.automaton, 0, 4}, setup.canvas, setup.mask()));
    }
  }
}

}  // namespace
}  // namespace punt
