#include "generate/batch_hub.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <thread>

#include "denoise/toy_random.h"
#include "denoise/toys.h"
#include "generate/forwarding_session_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

std::shared_ptr<const Denoiser> MakeChain() {
  const Spec spec = ParseSpec("markov:length=12,vocab=4,seed=3,permute=true");
  const ToyRow row = MarkovToy();
  return row.make(Params(spec, row.params, "markov"));
}

/// What a participant does and sees: a small generation in direct style, of `steps` passes.
struct Script {
  std::uint64_t sample = 0;
  int steps = 0;
  int length = 12;
};

struct Record {
  std::vector<double> numbers;
  Counters counters;
};

Record Play(DenoiserSession& session, const Script& script) {
  Record record;
  const DenoiserInfo& info = session.info();
  std::vector<Token> canvas(static_cast<std::size_t>(script.length), info.mask_token);
  std::vector<Position> rows(canvas.size());
  std::iota(rows.begin(), rows.end(), 0);
  PassRef last;
  for (int step = 0; step < script.steps; ++step) {
    const auto position = static_cast<std::size_t>(step) % canvas.size();
    const Query query = {.canvas = canvas, .rows = rows, .kind = step % 3 == 2 ? PassKind::kTest : PassKind::kBase};
    const PassRef pass = session.Forward({&query, 1}).front();
    const ProposalOptions proposal_options;
    std::vector<Proposal> proposals(rows.size());
    const ProposalRequest propose = {pass.get(),
                                     rows,
                                     &proposal_options,
                                     {.seed = 1, .sample = script.sample, .step = static_cast<std::uint64_t>(step)},
                                     proposals};
    session.Propose({&propose, 1});
    canvas[position] = proposals[position].token;
    for (const Proposal& p : proposals) record.numbers.insert(record.numbers.end(), {p.token_prob, p.entropy});
    // Not every participant reads everything in every step: kinds of calls meet at the barrier.
    if (last && (script.sample + static_cast<std::uint64_t>(step)) % 2 == 0) {
      const DivergenceOptions divergence_options;
      std::vector<double> divergences(rows.size());
      const DivergenceRequest diverge = {last.get(), pass.get(), rows, &divergence_options, divergences};
      session.Diverge({&diverge, 1});
      record.numbers.insert(record.numbers.end(), divergences.begin(), divergences.end());
    }
    if (script.sample % 3 == 1) {
      std::vector<double> logs(static_cast<std::size_t>(info.vocab_size));
      const LogProbRequest dense = {pass.get(), {rows.data(), 1}, logs};
      session.LogProbs({&dense, 1});
      record.numbers.insert(record.numbers.end(), logs.begin(), logs.end() - 1);
    }
    last = pass;
  }
  record.counters = session.counters();
  return record;
}

void ExpectSame(const Counters& a, const Counters& b) {
  EXPECT_EQ(a.base_passes, b.base_passes);
  EXPECT_EQ(a.test_passes, b.test_passes);
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.row_passes, b.row_passes);
  EXPECT_EQ(a.rows_read, b.rows_read);
}

/// Runs one body per participant, each on its own thread, and destroys each session at the end of its body.
void RunParticipants(BatchHub& hub, const std::vector<std::function<void(DenoiserSession&)>>& bodies) {
  std::vector<std::unique_ptr<DenoiserSession>> sessions;
  for (std::size_t i = 0; i < bodies.size(); ++i) sessions.push_back(hub.Join());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    threads.emplace_back([&bodies, i, session = std::move(sessions[i])]() mutable {
      bodies[i](*session);
      session.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class Companies : public testing::TestWithParam<std::vector<Script>> {};

TEST_P(Companies, SameResultsAsAlone) {
  const auto denoiser = MakeChain();
  std::vector<Record> alone;
  std::int64_t most_calls = 0;
  Counters sum;
  for (const Script& script : GetParam()) {
    alone.push_back(Play(*denoiser->NewSession({}), script));
    const Counters& counters = alone.back().counters;
    most_calls = std::max(most_calls, counters.calls);
    sum.row_passes += counters.row_passes;
    sum.base_passes += counters.base_passes;
    sum.test_passes += counters.test_passes;
    sum.rows_read += counters.rows_read;
  }
  for (int threads : {1, 3}) {
    const auto shared = denoiser->NewSession({.banned_tokens = {}, .threads = threads});
    BatchHub hub(*shared);
    std::vector<Record> together(alone.size());
    std::vector<std::function<void(DenoiserSession&)>> bodies;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      bodies.push_back([&, i](DenoiserSession& session) { together[i] = Play(session, GetParam()[i]); });
    }
    RunParticipants(hub, bodies);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[i].numbers, alone[i].numbers) << "participant " << i;
      ExpectSame(together[i].counters, alone[i].counters);
    }
    // All who want a pass are in the same batch, so the longest run decides.
    sum.calls = most_calls;
    ExpectSame(shared->counters(), sum);
  }
}

INSTANTIATE_TEST_SUITE_P(Hub, Companies,
                         testing::Values(std::vector<Script>{{.sample = 0, .steps = 5}},
                                         std::vector<Script>{{.sample = 0, .steps = 8}, {.sample = 1, .steps = 8}},
                                         std::vector<Script>{{.sample = 0, .steps = 0},
                                                             {.sample = 1, .steps = 9},
                                                             {.sample = 2, .steps = 1}},
                                         std::vector<Script>{{.sample = 0, .steps = 7, .length = 3},
                                                             {.sample = 1, .steps = 12, .length = 12},
                                                             {.sample = 2, .steps = 3, .length = 1},
                                                             {.sample = 3, .steps = 20, .length = 5},
                                                             {.sample = 4, .steps = 2, .length = 7}}));

// Many rounds, many threads: the barrier itself.
TEST(BatchHubTest, ManyParticipants) {
  constexpr std::size_t kParticipants = 16;
  const auto denoiser = MakeChain();
  const auto shared = denoiser->NewSession({});
  BatchHub hub(*shared);
  std::vector<Record> records(kParticipants);
  std::vector<std::function<void(DenoiserSession&)>> bodies;
  for (std::size_t i = 0; i < kParticipants; ++i) {
    bodies.push_back([&records, i](DenoiserSession& session) {
      records[i] = Play(session, {.sample = i, .steps = 10 + static_cast<int>(i)});
    });
  }
  RunParticipants(hub, bodies);
  EXPECT_EQ(shared->counters().calls, 10 + static_cast<std::int64_t>(kParticipants) - 1);
  for (std::size_t i = 0; i < kParticipants; ++i) {
    EXPECT_EQ(records[i].numbers,
              Play(*denoiser->NewSession({}), {.sample = i, .steps = 10 + static_cast<int>(i)}).numbers);
  }
}

// A hub can be used again after everyone has left.
TEST(BatchHubTest, PeopleComeAndGo) {
  const auto denoiser = MakeChain();
  const auto shared = denoiser->NewSession({});
  BatchHub hub(*shared);
  for (int round = 0; round < 3; ++round) {
    Record record;
    RunParticipants(hub, {[&](DenoiserSession& session) { record = Play(session, {.sample = 1, .steps = 4}); },
                          [](DenoiserSession& session) { Play(session, {.sample = 2, .steps = 2}); }});
    EXPECT_EQ(record.numbers, Play(*denoiser->NewSession({}), {.sample = 1, .steps = 4}).numbers);
  }
}

/// Fails on canvases of the one token `poison` (after the base class's checks).
class TroubledSession : public ForwardingSession {
 public:
  TroubledSession(std::unique_ptr<DenoiserSession> inner, Token poison)
      : ForwardingSession(std::move(inner)), poison_(poison) {}

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    for (const Query& query : queries) {
      if (query.canvas.size() == 1 && query.canvas[0] == poison_) throw Error(ErrorCode::kFailed, "poison");
    }
    return ForwardingSession::DoForward(queries);
  }

 private:
  Token poison_;
};

TEST(BatchHubTest, OnlyTheOffenderSeesItsError) {
  const auto denoiser = MakeChain();
  TroubledSession shared(denoiser->NewSession({}), 2);
  BatchHub hub(shared);
  std::vector<Record> records(2);
  std::vector<std::string> errors(3);
  RunParticipants(hub, {[&](DenoiserSession& session) { records[0] = Play(session, {.sample = 0, .steps = 6}); },
                        [&](DenoiserSession& session) {
                          for (std::string& error : errors) {
                            const std::vector<Token> canvas = {2};
                            const Query query = {.canvas = canvas};
                            try {
                              session.Forward({&query, 1});
                            } catch (const Error& caught) {
                              error = caught.what();
                            }
                          }
                          EXPECT_EQ(session.counters().nfe(), 0);
                          EXPECT_EQ(session.counters().row_passes, 0);
                        },
                        [&](DenoiserSession& session) { records[1] = Play(session, {.sample = 1, .steps = 6}); }});
  EXPECT_EQ(errors, std::vector<std::string>(3, "poison"));
  EXPECT_EQ(records[0].counters.nfe(), 6);
  EXPECT_EQ(records[1].counters.nfe(), 6);
}

// Reads: a pass of an unrelated session is a bug of the participant that brings it.
TEST(BatchHubTest, OnlyTheOffenderSeesABadRead) {
  const auto denoiser = MakeChain();
  const auto shared = denoiser->NewSession({});
  const auto unrelated = denoiser->NewSession({});
  const std::vector<Token> canvas = {4, 4};
  const Query query = {.canvas = canvas};
  const PassRef foreign = unrelated->Forward({&query, 1}).front();
  BatchHub hub(*shared);
  std::optional<Record> record;
  bool refused = false;
  RunParticipants(hub, {[&](DenoiserSession& session) { record = Play(session, {.sample = 3, .steps = 4}); },
                        [&](DenoiserSession& session) {
                          session.Forward({&query, 1});
                          const std::vector<Position> rows = {0};
                          const ProposalOptions options;
                          Proposal out;
                          const ProposalRequest request = {foreign.get(), rows, &options, {}, {&out, 1}};
                          try {
                            session.Propose({&request, 1});
                          } catch (const std::logic_error&) {
                            refused = true;
                          }
                        }});
  EXPECT_TRUE(refused);
  EXPECT_EQ(record->numbers, Play(*denoiser->NewSession({}), {.sample = 3, .steps = 4}).numbers);
}

// A participant whose body throws leaves like any other.
TEST(BatchHubTest, ThrowingParticipantsDoNotHoldUpTheRest) {
  const auto denoiser = MakeChain();
  TroubledSession shared(denoiser->NewSession({}), 2);
  BatchHub hub(shared);
  std::unique_ptr<DenoiserSession> lasting = hub.Join();
  std::unique_ptr<DenoiserSession> failing = hub.Join();
  Record record;
  std::thread first([&] {
    record = Play(*lasting, {.sample = 0, .steps = 5});
    lasting.reset();
  });
  std::thread second([session = std::move(failing)]() mutable {
    const std::unique_ptr<DenoiserSession> own = std::move(session);
    try {
      const Query query = {.canvas = std::span<const Token>()};
      own->Forward({&query, 1});
    } catch (const Error&) {
    }
  });
  first.join();
  second.join();
  EXPECT_EQ(record.counters.nfe(), 5);
}

TEST(BatchHubTest, RowPassesAddUp) {
  const auto denoiser = MakeChain();
  TroubledSession shared(denoiser->NewSession({}), -1);
  BatchHub hub(shared);
  std::atomic<std::int64_t> rows = 0;
  std::vector<std::function<void(DenoiserSession&)>> bodies;
  for (int i = 0; i < 5; ++i) {
    bodies.push_back([&rows, i](DenoiserSession& session) {
      rows += Play(session, {.sample = static_cast<std::uint64_t>(i), .steps = 4 + i, .length = 1 + 2 * i})
                  .counters.row_passes;
    });
  }
  RunParticipants(hub, bodies);
  EXPECT_EQ(rows, shared.counters().row_passes);
  EXPECT_GT(rows, 0);
}

TEST(BatchHubTest, EmptyCallsDoNotWait) {
  const auto denoiser = MakeChain();
  const auto shared = denoiser->NewSession({});
  BatchHub hub(*shared);
  const auto session = hub.Join();
  const auto idle = hub.Join();
  EXPECT_TRUE(session->Forward({}).empty());
  session->Propose({});
  session->Diverge({});
  session->LogProbs({});
  EXPECT_EQ(shared->counters().calls, 0);
}

}  // namespace
}  // namespace punt
