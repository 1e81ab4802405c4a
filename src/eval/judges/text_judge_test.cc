#include "eval/judges/text_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "eval/tiny_llama_testing.h"
#include "punt/error.h"
#include "punt/random.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::TinyLlama;

constexpr double kPerToken = 5e-6;  // of float32 against float64; measured below 1e-6

class TextJudgeTest : public ::testing::Test {
 protected:
  TextJudgeTest() { tiny_.Write(temp_ / "judge.gguf"); }
  std::string path() const { return (temp_ / "judge.gguf").string(); }

  std::vector<double> LogProbs(const std::vector<int>& tokens, std::size_t row) const {
    std::vector<double> logits = tiny_.Logits(tokens)[row];
    double sum = 0;
    for (double logit : logits) sum += std::exp(logit);
    for (double& logit : logits) logit -= std::log(sum);
    return logits;
  }

  /// Of BOS and `tokens`, those from `first` on.
  double NaiveNll(std::vector<int> tokens, std::size_t first = 0) const {
    tokens.insert(tokens.begin(), TinyLlama::kBos);
    double nll = 0;
    for (std::size_t i = first; i + 1 < tokens.size(); ++i) {
      const std::vector<int> before(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      nll -= LogProbs(before, i)[static_cast<std::size_t>(tokens[i + 1])];
    }
    return nll;
  }

  testing::TempFolder temp_;
  TinyLlama tiny_;
};

/// Byte tokens, which no word of the vocabulary covers; SentencePiece puts "\u2581" before a text.
std::vector<int> Bytes(const std::string& text) {
  std::vector<int> tokens = {259};
  for (char c : text) tokens.push_back(3 + static_cast<unsigned char>(c));
  return tokens;
}

TEST_F(TextJudgeTest, AgreesWithALlamaWrittenOutInLoops) {
  TextJudge judge(path(), 2);
  EXPECT_EQ(judge.context(), TinyLlama::kContext);
  for (const std::string text : {"X", "Hello, world", "ZZZZ\nZZ"}) {
    std::vector<int> tokens = Bytes(text);
    std::replace(tokens.begin(), tokens.end(), 3 + ' ', 259);  // a space is a piece of its own
    const auto count = static_cast<int>(tokens.size());
    const Likelihood likelihood = judge.Judge(text);
    EXPECT_EQ(likelihood.tokens, count) << text;
    EXPECT_NEAR(likelihood.nll, NaiveNll(tokens), kPerToken * count) << text;
    EXPECT_FALSE(likelihood.is_truncated);
  }
}

TEST_F(TextJudgeTest, WordsOfTheVocabularyAreOneTokenEach) {
  TextJudge judge(path(), 1);
  const Likelihood likelihood = judge.Judge("ab");  // "\u2581a" and "b" by score
  EXPECT_EQ(likelihood.tokens, 2);
  EXPECT_NEAR(likelihood.nll, NaiveNll({263, 261}), 2 * kPerToken);
}

TEST_F(TextJudgeTest, AnOpeningIsReadAndNotJudged) {
  TextJudge judge(path(), 1);
  const Likelihood likelihood = judge.Judge("WXYZ", "QRS");
  EXPECT_EQ(likelihood.tokens, 4);
  EXPECT_NEAR(likelihood.nll, NaiveNll(Bytes("QRSWXYZ"), 4), 4 * kPerToken);
  EXPECT_EQ(judge.Judge("").tokens, 0);
  EXPECT_EQ(judge.Judge("").nll, 0);
}

TEST_F(TextJudgeTest, LongTextsAreCutAtTheContextAndChunksDoNotMatter) {
  TextJudge judge(path(), 1);
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>('D' + i * 7 % 20);
  const Likelihood likelihood = judge.Judge(text);
  EXPECT_TRUE(likelihood.is_truncated);
  EXPECT_EQ(likelihood.tokens, TinyLlama::kContext - 1);
  std::vector<int> tokens = Bytes(text);
  tokens.resize(TinyLlama::kContext - 1);
  std::vector<int> with_bos = tokens;
  with_bos.insert(with_bos.begin(), TinyLlama::kBos);
  double nll = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) nll -= LogProbs(with_bos, i)[static_cast<std::size_t>(tokens[i])];
  EXPECT_NEAR(likelihood.nll, nll, kPerToken * TinyLlama::kContext);
  // What was judged before leaves no trace.
  EXPECT_EQ(judge.Judge(text).nll, likelihood.nll);
  EXPECT_TRUE(judge.Judge("x", text).tokens == 0);
}

TEST_F(TextJudgeTest, BrokenUtf8IsJudgedAsReplacementCharacters) {
  TextJudge judge(path(), 1);
  EXPECT_EQ(judge.Judge("X\xffY").nll, judge.Judge("X\xef\xbf\xbdY").nll);
}

TEST_F(TextJudgeTest, SamplesFollowTheRowsOfTheModel) {
  TextJudge judge(path(), 1);
  // Greedy: every token is the naive argmax given those before it.
  const JudgeSample greedy = judge.Sample({.max_tokens = 12, .proposal = {.temperature = 0}});
  std::vector<int> tokens = {TinyLlama::kBos};
  for (int token : greedy.tokens) {
    const std::vector<double> row = LogProbs(tokens, tokens.size() - 1);
    EXPECT_EQ(token, std::max_element(row.begin(), row.end()) - row.begin());
    tokens.push_back(token);
  }
  EXPECT_TRUE(greedy.ended || greedy.tokens.size() == 12u);
  // At temperature 1 with keyed draws: the first token's law.
  const std::vector<double> law = LogProbs({TinyLlama::kBos}, 0);
  std::map<int, int> counts;
  constexpr int kSamples = 4000;
  int ended = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const JudgeSample sample = judge.Sample({.max_tokens = 1, .key = {.seed = 1, .sample = i}});
    ended += sample.ended ? 1 : 0;
    if (!sample.ended) ++counts[sample.tokens.at(0)];
  }
  double squares = 0;  // chi-square over tokens that are expected often enough
  int cells = 0;
  for (std::size_t token = 0; token < law.size(); ++token) {
    const double expected = std::exp(law[token]) * kSamples;
    if (expected < 8 || token == TinyLlama::kBos || token == TinyLlama::kEos) continue;
    squares += std::pow(counts[static_cast<int>(token)] - expected, 2) / expected;
    ++cells;
  }
  ASSERT_GT(cells, 20);
  EXPECT_LT(squares, cells + 5 * std::sqrt(2.0 * cells));
  EXPECT_NEAR(ended, (std::exp(law[TinyLlama::kBos]) + std::exp(law[TinyLlama::kEos])) * kSamples, 60);
}

TEST_F(TextJudgeTest, TheSameKeyGivesTheSameSample) {
  TextJudge judge(path(), 1);
  std::set<std::string> texts;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto sample = [&] { return judge.Sample({.max_tokens = 20, .key = {.seed = 2, .sample = i}}).text; };
    const std::string text = sample();
    EXPECT_EQ(text, sample());
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 3u);
  EXPECT_LE(judge.Sample({.max_tokens = 100000, .proposal = {.temperature = 2}}).tokens.size(),
            static_cast<std::size_t>(TinyLlama::kContext - 1));
}

TEST_F(TextJudgeTest, RefusesWhatIsNoJudge) {
  EXPECT_THROW(TextJudge((temp_ / "nothing.gguf").string(), 1), Error);
  testing::WriteAll(temp_ / "bad.gguf", "GGUF nonsense");
  EXPECT_THROW(TextJudge((temp_ / "bad.gguf").string(), 1), Error);
  EXPECT_THROW(TextJudge(temp_.path().string(), 1), Error);
}

}  // namespace
}  // namespace punt
