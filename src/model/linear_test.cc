// Which kernel multiplies which weights, and what that does to whole networks: to the golden logits, and to the promise
// that results depend on the sequence alone.
#include "model/linear.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "model/network_bounds_testing.h"
#include "punt/error.h"
#include "punt/weights.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using ::punt::testing::TempFolder;

TEST(LinearRule, IsTheTableOfTheHeader) {
  using enum LinearKernel;
  struct Row {
    Compute compute;
    LinearKernel floats, halves, blocks, others;
  };
  constexpr ggml_type kBlocks[] = {GGML_TYPE_Q8_0, GGML_TYPE_Q5_0, GGML_TYPE_IQ4_NL, GGML_TYPE_Q4_0,
                                   GGML_TYPE_Q4_1, GGML_TYPE_Q2_K, GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,
                                   GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_XS};
  for (const Row& row :
       {Row{Compute::kExact, kFloat, kInt16, kInt8, kGgml}, Row{Compute::kFloat, kFloat, kFloat, kInt8, kGgml},
        Row{Compute::kInt8, kInt8, kInt8, kInt8, kInt8}, Row{Compute::kAuto, kFloat, kInt16, kInt8, kGgml},
        Row{Compute::kGgml, kGgml, kGgml, kGgml, kGgml}}) {
    for (ggml_type type : {GGML_TYPE_F32, GGML_TYPE_BF16}) {
      EXPECT_EQ(ChooseKernel(row.compute, type, "blk.0.attn_q.weight"), row.floats) << ggml_type_name(type);
    }
    EXPECT_EQ(ChooseKernel(row.compute, GGML_TYPE_F16, "blk.0.attn_q.weight"), row.halves);
    for (ggml_type type : kBlocks) {
      EXPECT_EQ(ChooseKernel(row.compute, type, "blk.0.attn_q.weight"), row.blocks) << ggml_type_name(type);
      EXPECT_EQ(ChooseKernel(row.compute, type, "blk.0.ffn_up_exps.weight"), row.blocks) << ggml_type_name(type);
    }
    for (ggml_type type : {GGML_TYPE_Q5_1, GGML_TYPE_IQ3_S, GGML_TYPE_IQ2_XXS, GGML_TYPE_MXFP4}) {
      EXPECT_EQ(ChooseKernel(row.compute, type, "blk.0.attn_q.weight"), row.others) << ggml_type_name(type);
    }
  }
}

TEST(LinearRule, RoutersAreNotRounded) {
  for (Compute compute : {Compute::kAuto, Compute::kExact, Compute::kFloat, Compute::kInt8}) {
    for (ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16}) {
      EXPECT_EQ(ChooseKernel(compute, type, "blk.3.ffn_gate_inp.weight"), LinearKernel::kFloat);
    }
    for (ggml_type type : {GGML_TYPE_Q4_K, GGML_TYPE_Q4_1, GGML_TYPE_Q6_K}) {
      EXPECT_EQ(ChooseKernel(compute, type, "blk.3.ffn_gate_inp.weight"), LinearKernel::kGgml);
    }
  }
}

TEST(LinearRule, FormsKeepTheirTypes) {
  const std::pair<ggml_type, PackedForm> rows[] = {
      {GGML_TYPE_Q8_0, PackedForm::kInt8},        {GGML_TYPE_Q5_0, PackedForm::kInt8},
      {GGML_TYPE_IQ4_NL, PackedForm::kInt8},      {GGML_TYPE_Q4_0, PackedForm::kInt4},
      {GGML_TYPE_Q4_1, PackedForm::kInt4Min},     {GGML_TYPE_Q4_K, PackedForm::kInt4Min},
      {GGML_TYPE_Q2_K, PackedForm::kScaled4Min},  {GGML_TYPE_Q3_K, PackedForm::kScaled4},
      {GGML_TYPE_Q5_K, PackedForm::kScaled8Min},  {GGML_TYPE_Q6_K, PackedForm::kScaled8},
      {GGML_TYPE_IQ4_XS, PackedForm::kScaledIq4}, {GGML_TYPE_Q5_1, PackedForm::kInt8},
      {GGML_TYPE_F32, PackedForm::kInt8}};
  for (const auto& [type, form] : rows) EXPECT_EQ(FormFor(LinearKernel::kInt8, type), form) << ggml_type_name(type);
}

TEST(LinearRule, NamesAreParsed) {
  EXPECT_EQ(ParseCompute("auto"), Compute::kAuto);
  EXPECT_EQ(ParseCompute("exact"), Compute::kExact);
  EXPECT_EQ(ParseCompute("float"), Compute::kFloat);
  EXPECT_EQ(ParseCompute("int8"), Compute::kInt8);
  EXPECT_EQ(ParseCompute("ggml"), Compute::kGgml);
  for (const char* bad : {"", "Exact", "int4", "auto "}) EXPECT_THROW(ParseCompute(bad), Error) << bad;
}

/// A golden network whose weights were converted to a type, for one way to compute.
class ComputeCase : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  ComputeCase() {
    const auto& [type, compute] = GetParam();
    ConvertModel(GoldenFolder("llada"), temp_ / "m.gguf", {.type = type});
    network_ = std::make_unique<Network>(OpenModelFiles(temp_ / "m.gguf"),
                                         NetworkOptions{.device = "cpu", .compute = ParseCompute(compute)});
  }

  const TempFolder temp_;
  std::unique_ptr<Network> network_;
};

TEST_P(ComputeCase, PacksWhatTheRuleSays) {
  const std::string compute = std::get<1>(GetParam());
  int packed = 0;
  for (const TensorTable::Entry& entry : network_->table().entries()) {
    if (ggml_n_dims(entry.tensor) != 2) continue;
    const std::string name = entry.tensor->name;
    const bool multiplies = name != "token_embd.weight" &&
                            ChooseKernel(ParseCompute(compute), entry.tensor->type, name) != LinearKernel::kGgml;
    EXPECT_EQ(network_->weights().linear.Find(entry.tensor) != nullptr, multiplies) << name;
    packed += multiplies;
  }
  // The rows here are too short for q4_k: such files fall back to q5_0 and others.
  EXPECT_EQ(packed > 0, compute != "ggml");
}

/// Bits, not numbers: -0 is not 0 here.
bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_P(ComputeCase, ThreadsDoNotMatter) {
  for (const GoldenCase& c : GoldenCases("llada")) {
    NetworkRunner one(*network_, {.threads = 1});
    const std::vector<float> expected = LogitsOf(one, *network_, c);
    for (int threads : {2, 3, 5, 16}) {  // more than there are processors on many machines
      NetworkRunner many(*network_, {.threads = threads});
      for (int round = 0; round < 3; ++round) {  // who computes what differs
        EXPECT_TRUE(SameBits(LogitsOf(many, *network_, c), expected)) << threads << " threads";
      }
    }
  }
}

/// More tokens than the golden cases have: products are shared out, ggml's too.
TEST_P(ComputeCase, ThreadsDoNotMatterToLongSequences) {
  std::vector<Token> tokens(static_cast<std::size_t>(std::min<std::int64_t>(network_->hyper().context_length, 150)));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<Token>(i * 7 % static_cast<std::size_t>(network_->hyper().vocab_size));
  }
  std::vector<Position> rows(tokens.size());
  std::iota(rows.begin(), rows.end(), 0);
  const Sequence sequence{.tokens = tokens, .rows = rows, .shadow_of = {}};
  NetworkRunner one(*network_, {.threads = 1});
  const std::vector<float> expected = one.Hidden({&sequence, 1});
  for (int threads : {2, 3, 5, 16}) {
    NetworkRunner many(*network_, {.threads = threads});
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(SameBits(many.Hidden({&sequence, 1}), expected)) << threads;
  }
}

TEST_P(ComputeCase, TheBatchDoesNotMatter) {
  if (std::string(std::get<1>(GetParam())) == "ggml") GTEST_SKIP() << "ggml's kernels promise nothing of the kind";
  NetworkRunner runner(*network_, {});
  const std::vector<GoldenCase> cases = GoldenCases("llada");
  std::vector<std::vector<Position>> rows;
  std::vector<Sequence> batch;
  for (const GoldenCase& c : cases) rows.push_back(AllRows(c));
  for (std::size_t i = 0; i < cases.size(); ++i) batch.push_back(SequenceOf(cases[i], rows[i]));
  const std::vector<float> together = runner.Hidden(batch);
  EXPECT_TRUE(network_->is_batch_invariant() || std::string(std::get<0>(GetParam())) == "q4_k_m");
  // Twice the same splits evenly: each of two threads computes a half alone.
  std::vector<Sequence> doubled = batch;
  doubled.insert(doubled.end(), batch.begin(), batch.end());
  NetworkRunner two(*network_, {.threads = 2});
  const std::vector<float> halves = two.Hidden(doubled);
  EXPECT_TRUE(SameBits({halves.begin(), halves.begin() + std::ssize(together)}, together));
  EXPECT_TRUE(SameBits({halves.begin() + std::ssize(together), halves.end()}, together));
  std::vector<float> apart;
  for (const Sequence& sequence : batch) {
    const std::vector<float> hidden = runner.Hidden({&sequence, 1});
    apart.insert(apart.end(), hidden.begin(), hidden.end());
  }
  EXPECT_TRUE(SameBits(together, apart)) << LargestDifference(together, apart);

  const auto dim = static_cast<std::size_t>(network_->hyper().model_dim);
  const auto vocab = static_cast<std::size_t>(network_->hyper().vocab_size);
  std::vector<float> all(apart.size() / dim * vocab);
  runner.Logits(apart, all);
  for (std::size_t i = 0; i < apart.size() / dim; i += 7) {
    std::vector<float> alone(vocab);
    runner.Logits(std::span(apart).subspan(i * dim, dim), alone);
    EXPECT_EQ(std::memcmp(alone.data(), all.data() + i * vocab, vocab * sizeof(float)), 0) << "row " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ComputeCase,
                         ::testing::Combine(::testing::Values("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0",
                                                              "iq4_nl", "q4_k_m"),
                                            ::testing::Values("auto", "exact", "float", "int8", "ggml")),
                         [](const auto& c) { return std::string(std::get<0>(c.param)) + "_" + std::get<1>(c.param); });

// Whole networks with weights rounded to 8 bits, as in q8_0 files (quantised_test.cc).
TEST(LinearInt8, NetworksStayWithinTheRoundingOfTheirWeights) {
  for (const char* folder : {"llada", "dream", "esm2", "bert", "distilbert"}) {
    const double bound = LogitBounds(std::string(folder)).Format("q8_0");
    const auto fixture = std::find_if(std::begin(kGoldenFixtures), std::end(kGoldenFixtures),
                                      [&](const GoldenFixture& f) { return std::string(f.folder) == folder; });
    const Network network(OpenModelFiles(GoldenFolder(folder)), {.device = "cpu", .compute = Compute::kInt8});
    const double worst = WorstError(GoldenRows(network, *fixture));
    EXPECT_LE(worst, bound) << folder;
    EXPECT_GT(worst, bound / kLoosest) << folder << ": the bound says nothing";
  }
}

}  // namespace
}  // namespace punt
