// Influence as sessions give it: exactly by toys, by a head of networks.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error_testing.h"
#include "denoise/neural_pass.h"
#include "denoise/neural_testing.h"
#include "model/influence_head_testing.h"
#include "punt/model.h"

namespace punt {
namespace {

std::vector<Position> MaskedOf(const std::vector<Token>& canvas, Token mask) {
  std::vector<Position> masked;
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    if (canvas[i] == mask) masked.push_back(static_cast<Position>(i));
  }
  return masked;
}

std::vector<Proposal> ProposalsOf(DenoiserSession& session, const PassRef& pass, const std::vector<Position>& rows) {
  std::vector<Proposal> proposals(rows.size());
  const ProposalOptions options;
  const ProposalRequest request{
      .pass = pass.get(), .rows = rows, .options = &options, .key = {.seed = 3}, .out = proposals};
  session.Propose({&request, 1});
  return proposals;
}

std::vector<float> InfluenceOf(DenoiserSession& session, const PassRef& pass, std::span<const Proposal> proposals) {
  std::vector<float> out(pass->canvas().size() * pass->canvas().size(), -1.0f);
  const InfluenceRequest request{.pass = pass.get(), .proposals = proposals, .out = out};
  session.Influence({&request, 1});
  return out;
}

TEST(Influence, OfToysIsWhatATestOfOneWouldFind) {
  const Model model = OpenModel("toy:joint,length=6,vocab=3,seed=2");
  const DenoiserInfo& info = model.denoiser->info();
  const auto session = model.denoiser->NewSession({});
  std::vector<Token> canvas(6, info.mask_token);
  canvas[1] = 2;
  const std::vector<Position> rows = MaskedOf(canvas, info.mask_token);
  const Query query{.canvas = canvas, .rows = rows};
  const PassRef base = session->Forward({&query, 1}).front();
  const std::vector<Proposal> proposals = ProposalsOf(*session, base, rows);
  const Counters before = session->counters();
  const std::vector<float> influence = InfluenceOf(*session, base, proposals);
  EXPECT_EQ(session->counters().nfe(), before.nfe());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Token> shown = canvas;
    shown[static_cast<std::size_t>(rows[i])] = proposals[i].token;
    const Query test{.canvas = shown, .rows = rows, .kind = PassKind::kTest};
    const PassRef pass = session->Forward({&test, 1}).front();
    std::vector<double> moved(rows.size());
    const DivergenceOptions kind;
    const DivergenceRequest request{
        .base = base.get(), .fresh = pass.get(), .rows = rows, .options = &kind, .out = moved};
    session->Diverge({&request, 1});
    for (std::size_t j = 0; j < rows.size(); ++j) {
      EXPECT_FLOAT_EQ(influence[static_cast<std::size_t>(rows[i] * 6 + rows[j])],
                      i == j ? 0.0f : static_cast<float>(moved[j]));
    }
  }
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(influence[6 + i] + influence[6 * i + 1], 0.0f);  // what is given
}

class NeuralInfluence : public ::testing::Test {
 protected:
  static Model Open(const std::string& head) {
    return OpenModel(GoldenFolder("llada").string(), {.influence = head, .device = "cpu"});
  }
  static HeadOwner Owner() {
    const GoldenDenoiser golden("llada");
    const Hyperparameters& hyper = golden->network().hyper();
    return {.architecture = hyper.architecture,
            .width = hyper.model_dim,
            .layers = hyper.layers,
            .vocab_size = hyper.vocab_size};
  }
};

TEST_F(NeuralInfluence, IsTheSameForAnyThreadsBatchAndOrder) {
  const HeadFile file(Owner());
  const Model model = Open(file.path);
  const DenoiserInfo& info = model.denoiser->info();
  ASSERT_TRUE(info.has_influence);
  const std::vector<Token> canvas = RandomCanvas(info, 16, 0.4), other = RandomCanvas(info, 16, 0.3, 7);
  const std::vector<Position> rows = MaskedOf(canvas, info.mask_token);
  std::vector<float> first;
  for (const int threads : {1, 2}) {
    const auto session = model.denoiser->NewSession({.threads = threads});
    const std::vector<Position> all = AllPositions(16);
    const Query queries[] = {{.canvas = other, .rows = all}, {.canvas = canvas, .rows = rows}};
    const std::vector<PassRef> together = session->Forward(queries);
    const PassRef alone = session->Forward({queries + 1, 1}).front();
    std::vector<Proposal> proposals = ProposalsOf(*session, alone, rows);
    if (first.empty()) first = InfluenceOf(*session, alone, proposals);
    EXPECT_EQ(InfluenceOf(*session, alone, proposals), first);
    std::reverse(proposals.begin(), proposals.end());
    EXPECT_EQ(InfluenceOf(*session, together[1], proposals), first);
    EXPECT_GT(*std::max_element(first.begin(), first.end()), 0.0f);
    for (Position i = 0; i < 16; ++i) {
      for (Position j = 0; j < 16; ++j) {
        const bool counts =
            i != j && std::count(rows.begin(), rows.end(), i) + std::count(rows.begin(), rows.end(), j) == 2;
        EXPECT_EQ(first[static_cast<std::size_t>(i * 16 + j)] > 0, counts);
      }
    }
  }
}

TEST_F(NeuralInfluence, IsThatOfTheHeadOnTheHiddenStates) {
  const HeadFile file(Owner());
  const Model model = Open(file.path);
  const DenoiserInfo& info = model.denoiser->info();
  const std::vector<Token> canvas = RandomCanvas(info, 12, 0.4);
  const std::vector<Position> rows = MaskedOf(canvas, info.mask_token);
  const auto session = model.denoiser->NewSession({});
  const Query query{.canvas = canvas, .rows = rows};
  const PassRef pass = session->Forward({&query, 1}).front();
  const std::vector<Proposal> proposals = ProposalsOf(*session, pass, rows);
  std::vector<double> probs, entropies;
  for (const Proposal& proposal : proposals) {
    probs.push_back(proposal.token_prob);
    entropies.push_back(proposal.entropy);
  }
  ThreadPool team(1);
  std::vector<float> expected(rows.size() * rows.size());
  InfluenceHead(file.path, Owner())
      .Predict({dynamic_cast<const NeuralPass&>(*pass).hidden, rows, probs, entropies}, team, expected);
  const std::vector<float> found = InfluenceOf(*session, pass, proposals);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      EXPECT_EQ(found[static_cast<std::size_t>(rows[i] * 12 + rows[j])], expected[i * rows.size() + j]);
    }
  }
}

TEST_F(NeuralInfluence, NeedsAHeadOfThisModel) {
  const GoldenDenoiser plain("llada");
  EXPECT_FALSE(plain->info().has_influence);
  const auto session = plain->NewSession({});
  const std::vector<Token> canvas(8, plain->info().mask_token);
  const std::vector<Position> rows = AllPositions(8);
  const Query query{.canvas = canvas, .rows = rows};
  const PassRef pass = session->Forward({&query, 1}).front();
  const std::vector<Proposal> proposals = ProposalsOf(*session, pass, rows);
  EXPECT_NE(ErrorOf([&] { InfluenceOf(*session, pass, proposals); }).find("has no influence head"), std::string::npos);
  HeadOwner other = Owner();
  other.layers += 1;
  const HeadFile file(other);
  EXPECT_NE(ErrorOf([&] { Open(file.path); }).find("made for another model"), std::string::npos);
}

}  // namespace
}  // namespace punt
