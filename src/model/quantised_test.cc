// Converted files against the golden logits. f32 has the bound of the folder it was made from; the other types lose
// what their rounding loses, which the tiny networks with their large logits amplify (network_bounds_testing.h).
//
// In mixtures of experts a rounding that makes a router choose another expert changes a row altogether. So rows are
// told apart by what the routers chose, compared with the f32 network:
//   - the same experts for every token before the last layer, and for the row in it: within the bound, every row;
//   - the same for the row itself, but another for a token that it sees by attention: within kBeside times the bound;
//   - others for the row itself: few, and how far they move is only reported (up to 3.3 in llada_moe with q8_0, 5.7 in
//     llada2_moe).
//
// Activations meet f32 and bf16 weights in f32: llada_bf16, whose weights are bf16 numbers, loses nothing in bf16, and
// in f16 what the 16-bit kernel rounds: half of what storing other weights in f16 does. They meet q8_0 weights in 16
// bits. Rows that a block of 32 does not divide (llada2_moe's
// experts, 24 wide) stay f16 in a q8_0 file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/network_bounds_testing.h"
#include "punt/weights.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::TempFolder;

// A token that another expert was chosen for moves like any other token, but those who see it by attention among many.
constexpr double kBeside = 4;           // times the bound
constexpr double kMostRerouted = 0.15;  // of the rows
constexpr double kLeastSame = 1.0 / 3;

/// Rows of a kind.
struct Kind {
  int count = 0;
  double worst = 0;

  void Add(const GoldenRow& row) {
    ++count;
    worst = std::max(worst, row.error);
  }
};

struct Kinds {
  Kind same;
  Kind beside;
  Kind rerouted;

  Kinds(const std::vector<GoldenRow>& rows, const std::vector<GoldenRow>& exact) {
    EXPECT_EQ(rows.size(), exact.size());
    for (std::size_t i = 0; i < std::min(rows.size(), exact.size()); ++i) {
      const bool is_same = rows[i].before_experts == exact[i].before_experts;
      Kind& kind = rows[i].experts != exact[i].experts ? rerouted : is_same ? same : beside;
      kind.Add(rows[i]);
    }
  }
};

class Quantised : public ::testing::TestWithParam<GoldenFixture> {
 protected:
  /// The rows of the folder's network after conversion to `type`.
  std::vector<GoldenRow> Rows(const char* type, Compute compute = Compute::kAuto) {
    const TempFolder temp;
    fallbacks_ = ConvertModel(GoldenFolder(GetParam().folder), temp / "m.gguf", {.type = type}).fallbacks;
    const Network network(OpenModelFiles(temp / "m.gguf"), {.device = "cpu", .compute = compute});
    return GoldenRows(network, GetParam());
  }

  std::int64_t fallbacks_ = 0;
};

TEST_P(Quantised, F32IsTheFolder) {
  EXPECT_LE(WorstError(Rows("f32")), kLogitBound);
  EXPECT_EQ(fallbacks_, 0);
}

TEST_P(Quantised, OtherTypesStayWithinTheirRounding) {
  const std::vector<GoldenRow> exact = Rows("f32");
  const NetworkBounds bounds = LogitBounds(GetParam());
  for (const char* type : {"f16", "bf16", "q8_0"}) {
    const bool is_lossless = std::string(GetParam().folder) == "llada_bf16" && std::string(type) == "bf16";
    const double bound = is_lossless ? kLogitBound : bounds.Format(type);
    const Kinds kinds(Rows(type), exact);
    const auto all = static_cast<double>(exact.size());
    const std::string report =
        fmt::format("same {}: {:.4g}, beside {}: {:.4g}, rerouted {}: {:.4g}", kinds.same.count, kinds.same.worst,
                    kinds.beside.count, kinds.beside.worst, kinds.rerouted.count, kinds.rerouted.worst);
    RecordProperty(type, fmt::format("{}, bound {:.4g}", report, bound));
    EXPECT_LE(kinds.same.worst, bound) << type << ", " << report;
    EXPECT_LE(kinds.beside.worst, kBeside * bound) << type << ", " << report;
    EXPECT_LE(kinds.rerouted.count, kMostRerouted * all) << type << ", " << report;
    EXPECT_GE(kinds.same.count, kLeastSame * all) << type << ", " << report;
    EXPECT_TRUE(is_lossless || kinds.same.worst > bound / kLoosest) << type << ": the bound says nothing";
    const bool falls_back = std::string(type) == "q8_0" && std::string(GetParam().folder) == "llada2_moe";
    EXPECT_EQ(fallbacks_ > 0, falls_back) << type;
  }
}

TEST_P(Quantised, EveryLayerWithARouterTellsItsExperts) {
  const auto network = OpenGolden(GetParam().folder);
  const Hyperparameters& hyper = network->hyper();
  std::size_t layers = 0;
  for (std::int64_t i = 0; i < hyper.layers; ++i) layers += network->table().Find("ffn_gate_inp.weight", i) != nullptr;
  for (const GoldenRow& row : GoldenRows(*network, GetParam())) {
    ASSERT_EQ(row.experts.size(), layers * static_cast<std::size_t>(hyper.experts_used));
    for (std::size_t i = 0; i < row.experts.size(); ++i) {
      EXPECT_TRUE(row.experts[i] >= 0 && row.experts[i] < hyper.experts);
      const bool begins = i % static_cast<std::size_t>(hyper.experts_used) == 0;
      EXPECT_TRUE(begins || row.experts[i] > row.experts[i - 1]) << "an expert was chosen twice";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Quantised, ::testing::ValuesIn(kGoldenFixtures),
                         [](const auto& fixture) { return std::string(fixture.param.folder); });

// The weights of llada_bf16 are f16 numbers as they are, so all error is the way to compute.
class QuantisedF16 : public Quantised {};
TEST_P(QuantisedF16, RoundsLessThanGgmlDoes) {
  EXPECT_LE(WorstError(Rows("f16", Compute::kFloat)), kLogitBound);
  const double worst = WorstError(Rows("f16", Compute::kExact));
  EXPECT_GT(worst, kLogitBound);
  EXPECT_LE(worst, WorstError(Rows("f16", Compute::kGgml)));
}

std::vector<GoldenFixture> FixturesOfHalves() {
  std::vector<GoldenFixture> found;
  for (const GoldenFixture& each : kGoldenFixtures) {
    if (std::string(each.folder) == "llada_bf16") found.push_back(each);
  }
  return found;
}
INSTANTIATE_TEST_SUITE_P(Golden, QuantisedF16, ::testing::ValuesIn(FixturesOfHalves()),
                         [](const auto& fixture) { return std::string(fixture.param.folder); });

}  // namespace
}  // namespace punt
