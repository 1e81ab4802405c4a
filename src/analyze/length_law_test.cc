// The law of texts whose length the model decides: the loop's, by enumeration, against a recursion that knows only what
// the two tokens mean.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analyze/law.h"
#include "generate/length_testing.h"

namespace punt {
namespace {

using namespace length_testing;
using Tokens = std::vector<Token>;
using Distribution = std::map<Tokens, double>;

/// One step at a time: every mask draws a token, the `count` most probable ones count.
class Recursion {
 public:
  Recursion(int grow_to, std::size_t count, int max_length)
      : grow_to_(grow_to), count_(count), max_length_(max_length) {}

  Distribution Of(const Tokens& canvas, int to_fill) {
    Visit(canvas, to_fill, 0, 1);
    return law_;
  }

 private:
  struct Drawn {
    Position position;
    Token token;
    double prob;
  };

  void Visit(const Tokens& canvas, int to_fill, int expansions, double probability) {
    std::vector<Position> masked;
    for (std::size_t i = 0; i < canvas.size(); ++i) {
      if (canvas[i] == kMask) masked.push_back(static_cast<Position>(i));
    }
    if (masked.empty()) {
      law_[canvas] += probability;
      return;
    }
    const int length = static_cast<int>(canvas.size());
    const int room = std::min({grow_to_ - to_fill, max_length_ - length, 2 * grow_to_ - expansions});
    std::vector<std::vector<double>> rows;
    for (Position position : masked) {
      std::vector<double> row = Erratic(canvas, position);
      if (room <= 0) row[kExpand] = -INFINITY;
      double sum = 0;
      for (double& value : row) sum += value = std::exp(value);
      for (double& value : row) value /= sum;
      rows.push_back(row);
    }
    Draw(canvas, masked, rows, {}, {to_fill, expansions, std::max(room, 0)}, probability);
  }

  struct Where {
    int to_fill, expansions, room;
  };

  void Draw(const Tokens& canvas, const std::vector<Position>& masked, const std::vector<std::vector<double>>& rows,
            std::vector<Drawn> drawn, const Where& where, double probability) {
    if (drawn.size() == masked.size()) return Take(canvas, std::move(drawn), where, probability);
    for (Token token = 0; token < kMask; ++token) {
      const double prob = rows[drawn.size()][static_cast<std::size_t>(token)];
      if (prob == 0) continue;
      std::vector<Drawn> more = drawn;
      more.push_back({masked[drawn.size()], token, prob});
      Draw(canvas, masked, rows, more, where, probability * prob);
    }
  }

  void Take(const Tokens& canvas, std::vector<Drawn> drawn, const Where& where, double probability) {
    std::stable_sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) { return a.prob > b.prob; });
    drawn.resize(std::min(drawn.size(), count_));
    std::map<Position, Tokens> becomes;
    int added = 0, gone = 0;
    for (const Drawn& one : drawn) {
      if (one.token == kExpand) {
        if (added == where.room) continue;
        becomes[one.position] = {kMask, kMask};
        ++added;
      } else if (one.token == kRemove) {
        becomes[one.position] = {};
        ++gone;
      } else {
        becomes[one.position] = {one.token};
      }
    }
    Tokens next;
    for (std::size_t i = 0; i < canvas.size(); ++i) {
      const auto changed = becomes.find(static_cast<Position>(i));
      const Tokens piece = changed == becomes.end() ? Tokens{canvas[i]} : changed->second;
      next.insert(next.end(), piece.begin(), piece.end());
    }
    Visit(next, where.to_fill + added - gone, where.expansions + added, probability);
  }

  int grow_to_;
  std::size_t count_;
  int max_length_;
  Distribution law_;
};

TEST(LengthLaw, IsThatOfTheTwoTokensMeanings) {
  const struct {
    Tokens canvas;
    int to_fill, grow_to, max_length;
    std::size_t count;
  } cases[] = {
      {{kA, kMask, kB}, 1, 2, 9, 1},        {{kMask, kMask}, 2, 2, 9, 1}, {{kMask, kA, kMask}, 2, 2, 9, 2},
      {{kA, kMask, kMask, kB}, 2, 3, 4, 2}, {{kMask}, 1, 1, 9, 1},
  };
  for (const auto& c : cases) {
    const std::string planner = "top-k:k=" + std::to_string(c.count);
    SCOPED_TRACE(planner + " to " + std::to_string(c.grow_to));
    const testing::RowDenoiser denoiser(InfoOf(c.max_length), Erratic);
    Recipe recipe = MakeRecipe(planner, "token-prob", {}, denoiser.info());
    recipe.grow_to = c.grow_to;
    const Law law = EnumerateLaw(denoiser, Canvas(c.canvas, kMask, kVocab), recipe, {.measure_error = false});
    const Distribution expected = Recursion(c.grow_to, c.count, c.max_length).Of(c.canvas, c.to_fill);
    EXPECT_NEAR(TotalProbability(law), 1, 1e-9);
    ASSERT_EQ(law.probabilities.size(), expected.size());
    std::size_t lengths = 0;
    for (const auto& [tokens, probability] : expected) {
      const auto found = law.probabilities.find(tokens);
      ASSERT_NE(found, law.probabilities.end());
      EXPECT_NEAR(found->second, probability, 1e-12);
      lengths = std::max(lengths, tokens.size());
    }
    EXPECT_EQ(lengths, std::min(c.canvas.size() + static_cast<std::size_t>(c.grow_to - c.to_fill),
                                static_cast<std::size_t>(c.max_length)));
  }
}

TEST(LengthLaw, EditsEndInALaw) {
  const Model model = OpenModel("toy:joint,length=3,vocab=2,seed=4");
  const Recipe recipe = MakeRecipe("joint-threshold:post=2", "token-prob", {}, model.denoiser->info());
  const Token mask = model.denoiser->info().mask_token;
  const Law law = EnumerateLaw(*model.denoiser, Canvas(Tokens(3, mask), mask, mask + 1), recipe, {});
  EXPECT_NEAR(TotalProbability(law), 1, 1e-9);
  EXPECT_GT(law.mean_steps, 2);
}

}  // namespace
}  // namespace punt
