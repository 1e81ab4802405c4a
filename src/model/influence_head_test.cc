// The head against a plain reading of its definition, and files that must not be taken.
#include "model/influence_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error_testing.h"
#include "model/influence_head_testing.h"

namespace punt {
namespace {

constexpr std::int64_t kWidth = 6;
constexpr std::int64_t kHeads = HeadFile::kHeads, kSize = HeadFile::kSize, kUnits = HeadFile::kUnits;
constexpr std::int64_t kReach = HeadFile::kReach;

const HeadOwner kOwner{.name = "small", .architecture = "llada", .width = kWidth, .layers = 2, .vocab_size = 10};

/// ln of the influence of i on j, by the formula in the header.
double Plain(const HeadFile& file, const InfluenceHead::Rows& rows, std::size_t i, std::size_t j) {
  const auto weight = [&](const char* name, std::int64_t at) {
    return file.values.at(name)[static_cast<std::size_t>(at)];
  };
  const auto projected = [&](std::size_t row, std::int64_t p) {
    double squares = 0, sum = weight("project.bias", p);
    for (std::int64_t d = 0; d < kWidth; ++d) {
      const double x = static_cast<double>(rows.states[row * kWidth + static_cast<std::size_t>(d)]);
      squares += x * x;
    }
    for (std::int64_t d = 0; d < kWidth; ++d) {
      const double x = static_cast<double>(rows.states[row * kWidth + static_cast<std::size_t>(d)]);
      sum += x / std::sqrt(squares / kWidth) * weight("project.weight", p * kWidth + d);
    }
    return sum;
  };
  const std::int64_t offset = std::clamp<std::int64_t>(rows.positions[j] - rows.positions[i], -kReach, kReach) + kReach;
  double score = weight("score.bias", 0);
  for (std::int64_t u = 0; u < kUnits; ++u) {
    double unit = projected(i, 2 * kHeads * kSize + u) + projected(j, 2 * kHeads * kSize + kUnits + u) -
                  std::log(rows.token_probs[i]) * weight("surprise.weight", u) +
                  rows.entropies[j] * weight("entropy.weight", u);
    for (std::int64_t h = 0; h < kHeads; ++h) {
      double z = 0;
      for (std::int64_t d = 0; d < kSize; ++d) {
        z += projected(j, h * kSize + d) * projected(i, (kHeads + h) * kSize + d) / std::sqrt(double{kSize});
      }
      unit += weight("mix.weight", u * kHeads + h) * (z + weight("offset.weight", offset * kHeads + h));
    }
    score += weight("score.weight", u) * std::max(unit, 0.0);
  }
  return score;
}

TEST(InfluenceHead, IsWhatItsDefinitionSaysForAnyNumberOfThreads) {
  const HeadFile file(kOwner);
  const InfluenceHead head(file.path, kOwner);
  const std::vector<Position> positions = {4, 0, 9, 5, 1};
  const std::vector<double> probs = {0.9, 0.1, 0.5, 0.02, 1}, entropies = {0.1, 2, 1, 0.5, 0};
  std::vector<float> states;
  for (std::uint64_t i = 0; i < positions.size() * kWidth; ++i)
    states.push_back(static_cast<float>(HeadFile::Number(99, i)));
  const InfluenceHead::Rows rows{states, positions, probs, entropies};
  std::vector<float> out(positions.size() * positions.size());
  ThreadPool one(1);
  head.Predict(rows, one, out);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (std::size_t j = 0; j < positions.size(); ++j) {
      const double found = static_cast<double>(out[i * positions.size() + j]);
      const double expected = i == j ? 0 : std::exp(Plain(file, rows, i, j));
      EXPECT_NEAR(found, expected, 1e-4 * (1 + expected)) << i << " on " << j;
    }
  }
  for (const int threads : {2, 3}) {
    ThreadPool team(threads);
    std::vector<float> again(out.size());
    head.Predict(rows, team, again);
    EXPECT_EQ(again, out);
  }
}

TEST(InfluenceHead, OfAnotherModelIsRefused) {
  const HeadFile file(kOwner);
  const auto why = [&](const HeadOwner& owner) { return ErrorOf([&] { InfluenceHead(file.path, owner); }); };
  HeadOwner nameless = kOwner;
  nameless.name = "";
  EXPECT_EQ(why(nameless), why(kOwner));  // both are taken
  for (const auto& change : std::vector<std::function<void(HeadOwner&)>>{
           [](HeadOwner& owner) { owner.name = "other"; }, [](HeadOwner& owner) { owner.architecture = "dream"; },
           [](HeadOwner& owner) { owner.width = 7; }, [](HeadOwner& owner) { owner.layers = 3; },
           [](HeadOwner& owner) { owner.vocab_size = 11; }}) {
    HeadOwner owner = kOwner;
    change(owner);
    EXPECT_NE(why(owner).find(".influence.gguf: made for another model: 'small' (llada, 2 layers of 6, 10 tokens)"),
              std::string::npos)
        << why(owner);
  }
}

TEST(InfluenceHead, DamagedFilesAreRefused) {
  const auto why = [](const HeadFile& file) { return ErrorOf([&] { InfluenceHead(file.path, kOwner); }); };
  EXPECT_NE(ErrorOf([] { InfluenceHead("nowhere.gguf", kOwner); }).find("no such file"), std::string::npos);
  EXPECT_NE(why(HeadFile(kOwner, nullptr, "mix.weight")).find("tensor mix.weight is missing"), std::string::npos);
  const auto with = [&](const char* key, std::uint32_t value) {
    return why(HeadFile(kOwner, [&](gguf_context* file) { gguf_set_val_u32(file, key, value); }));
  };
  EXPECT_NE(with("influence.heads", 0).find("influence.heads is 0, must be 1..4096"), std::string::npos);
  EXPECT_NE(with("influence.units", 5).find("tensor project.weight is 6 x 20, must be 6 x 22"), std::string::npos);
  EXPECT_NE(with("influence.reach", 3).find("tensor offset.weight is 2 x 5, must be 2 x 7"), std::string::npos);
  const HeadFile model(kOwner, [](gguf_context* file) { gguf_set_val_str(file, "general.architecture", "llada"); });
  EXPECT_NE(why(model).find("no influence head but a file of architecture 'llada'"), std::string::npos);
}

TEST(InfluenceHead, LiesBesideItsModel) {
  EXPECT_EQ(InfluenceFileOf("a/stories.gguf"), "a/stories.influence.gguf");
  EXPECT_EQ(InfluenceFileOf("a/LLaDA-8B.Q4.gguf"), "a/LLaDA-8B.Q4.influence.gguf");
  EXPECT_EQ(InfluenceFileOf("a/folder/"), "a/folder.influence.gguf");
}

}  // namespace
}  // namespace punt
