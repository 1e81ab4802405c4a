// What every planner owes, whatever it does inside: checked for each row of the registry and for several
// parameterisations, on every kind of exact toy model, with prompts, holes and windows, through the real
// loop. A run is judged by its trace alone: Referee replays the events on a canvas of its own and
// compares. A new planner is covered as soon as it has a row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

/// Every row once, schedules cut to twelve steps, and whatever else takes a path of its own.
std::vector<std::string> Specs() {
  std::vector<std::string> specs;
  for (const PlannerRow& row : Planners()) {
    if (row.needs_network) continue;
    const bool has_steps =
        std::any_of(row.params.begin(), row.params.end(), [](const ParamRow& param) { return param.key == "steps"; });
    specs.push_back(std::string(row.name) + (has_steps ? ":steps=12" : ""));
  }
  for (const char* more : {"punt:form=recursive",
                           "punt:form=parallel",
                           "punt:epsilon=0",
                           "punt:epsilon=1000",
                           "punt:bit_order=lsb,divergence=js",
                           "punt:divergence=tv,epsilon=0.1",
                           "punt:divergence=kl-new-base,schedule=cosine,epsilon_end=0.5",
                           "punt:free_base=false",
                           "punt:fallback=false",
                           "punt:fallback=false,form=recursive",
                           "punt:fallback=false,form=parallel",
                           "punt:fallback=false,epsilon=0",
                           "distilled:epsilon=0",
                           "distilled:epsilon=1000",
                           "distilled:together=max",
                           "top-k:k=3",
                           "entropy-bound:gamma=1,unit=bits",
                           "dilated:form=global,log_window=3",
                           "dilated:log_window=2,skip_threshold=0.7",
                           "random:k=3",
                           "threshold:tau=0.4",
                           "factor:f=3",
                           "timestep:steps=5,origin=true",
                           "timestep:steps=6,alg_temp=0.3",
                           "halton:steps=5",
                           "klass:conf_threshold=0.2,kl_threshold=0.2,history=1",
                           "remdm:variant=cap,steps=9,eta=0.3",
                           "remdm:variant=rescale,steps=9,eta=0.5",
                           "remdm:variant=conf,steps=9",
                           "remdm:variant=loop,steps=12,eta=0.3",
                           "p2:steps=8,kappa=cosine,eta=2",
                           "p2:steps=8,kappa=sine,eta=0",
                           "info-gain:k=2,candidates=4,position_temperature=2",
                           "frechet:delta=0",
                           "less:conf_threshold=0.3,drift_threshold=0.3,persistence=1",
                           "joint-threshold:tau=0.3,edit=0.2,post=3",
                           "joint-threshold:post=0",
                           "spacing:gap=2,planner=(joint-threshold:tau=0.2,edit=0.3)",
                           "saber:n=1",
                           "saber:n=4,mu=1",
                           "upstream:floor=0,of=(punt:fallback=false),beta=2",
                           "upstream:of=(threshold:tau=0.4),floor=0.4,beta=1,window=2",
                           "upstream:floor=0,of=(saber)",
                           "spacing:gap=3,planner=(saber:n=4,mu=1)",
                           "freedave:draft=2,of=(top-k:k=2)",
                           "freedave:draft=9,of=(threshold:tau=0.4)",
                           "freedave:of=(entropy-bound:gamma=1)",
                           "freedave:of=(halton:steps=5)",
                           "spacing:gap=3,planner=(punt:form=parallel)",
                           "spacing:gap=2,planner=(p2:steps=6)",
                           "spacing:gap=2,planner=(info-gain:k=3)",
                           "hybrid:first=(punt),then=(top-k:k=2),at=0.4",
                           "hybrid:first=(remdm:steps=9,eta=0.3),then=(p2:steps=5),at=0.6",
                           "hybrid:first=(klass),then=(hybrid:first=(dilated),then=(info-gain)),at=0.3"}) {
    specs.emplace_back(more);
  }
  return specs;
}

/// The planners that a spec is made of, combinators left out.
std::vector<const PlannerRow*> LeavesOf(const std::string& canonical) {
  const Spec spec = ParseSpec(canonical);
  const std::span<const PlannerRow> rows = Planners();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const PlannerRow& r) { return r.name == spec.name; });
  std::vector<const PlannerRow*> leaves;
  for (const ParamRow& param : row->params) {
    if (param.kind != ParamKind::kSpec) continue;
    for (const auto& [key, value] : spec.values) {
      if (key != param.key) continue;
      for (const PlannerRow* leaf : LeavesOf(value)) leaves.push_back(leaf);
    }
  }
  if (leaves.empty()) leaves.push_back(&*row);
  return leaves;
}

/// What may be expected of a spec.
struct Promise {
  explicit Promise(std::string_view spec) {
    const std::string canonical = CanonicalPlannerSpec(spec);
    revisits = MakePlanner(spec)->needs().revisits;
    for (const PlannerRow* leaf : LeavesOf(canonical)) {
      is_scheduled = is_scheduled || leaf->is_scheduled;
      remasks = remasks || leaf->remasks;
    }
    for (const char* name : {"info-gain", "freedave"}) {
      tests_are_rounds = tests_are_rounds && canonical.find(name) == std::string::npos;
    }
    for (std::size_t at = canonical.find("steps="); at != std::string::npos; at = canonical.find("steps=", at + 1)) {
      scheduled_steps += std::stoi(canonical.substr(at + 6));
    }
  }

  bool is_scheduled = false;
  bool remasks = false;
  bool tests_are_rounds = true;  // every test pass shows up as a round
  int scheduled_steps = 0;
  int revisits = 0;  // of a full window
};

struct Layout {
  std::string name;
  std::vector<Token> tokens;
  int window = 0;
};

std::vector<Layout> LayoutsFor(const DenoiserInfo& info) {
  const auto length = static_cast<std::size_t>(info.max_length);
  const std::vector<Token> masks(length, info.mask_token);
  std::vector<Token> prompt = masks;
  std::fill_n(prompt.begin(), length / 3, 0);
  std::vector<Token> holes = masks;
  for (std::size_t i = 0; i < length; ++i) {
    if (i % 5 == 1 || i % 5 == 4) holes[i] = static_cast<Token>(i % 2);
  }
  const int third = std::max(1, info.max_length / 3);  // does not divide most lengths
  return {{"empty canvas", masks, 0}, {"prompt", prompt, 0},          {"holes", holes, 0},
          {"windows", masks, third},  {"holes in windows", holes, 2}, {"windows of one", prompt, 1}};
}

const std::vector<std::string>& ModelNames() {
  static const std::vector<std::string> names = {
      "toy:product,length=11,vocab=4,seed=1", "toy:markov,length=16,vocab=4,seed=2,permute=true",
      "toy:tree,length=13,vocab=3,seed=3",    "toy:joint,length=6,vocab=3,seed=4",
      "toy:mixture,length=10,vocab=4,seed=5",
  };
  return names;
}

/// Replays a run from its events and objects to everything that is against the rules.
class Referee : public Observer {
 public:
  Referee(const Layout& layout, const DenoiserInfo& info, const Promise& promise)
      : layout_(layout), info_(info), promise_(promise) {}

  void On(const TraceEvent& event) override {
    if (const auto* run = std::get_if<RunEvent>(&event)) Begin(*run);
    if (const auto* step = std::get_if<StepEvent>(&event)) BeginStep(*step);
    if (const auto* round = std::get_if<RoundEvent>(&event)) Test(*round);
    if (const auto* commit = std::get_if<CommitEvent>(&event)) EndStep(*commit);
    if (const auto* end = std::get_if<EndEvent>(&event)) Finish(*end);
  }

  void CheckResult(const GenerateResult& result, const Counters& session) const {
    EXPECT_TRUE(has_ended_);
    EXPECT_EQ(result.tokens, tokens_);
    EXPECT_EQ(result.stop, StopReason::kFull);
    EXPECT_EQ(result.steps, steps_);
    EXPECT_EQ(result.committed, static_cast<int>(generated_.size()));
    EXPECT_EQ(result.counters.base_passes, base_passes_);
    EXPECT_EQ(result.counters.nfe(), session.nfe());
  }

 private:
  bool IsMasked(Position position) const { return tokens_[static_cast<std::size_t>(position)] == info_.mask_token; }

  void Begin(const RunEvent& run) {
    tokens_ = run.canvas;
    EXPECT_EQ(tokens_, layout_.tokens);
    for (Position i = 0; i < static_cast<Position>(tokens_.size()); ++i) {
      if (IsMasked(i)) generated_.push_back(i);
    }
  }

  /// The first window with a mask in it.
  std::vector<Position> Window() const {
    const std::size_t size = layout_.window == 0 ? generated_.size() : static_cast<std::size_t>(layout_.window);
    for (std::size_t begin = 0; begin < generated_.size(); begin += size) {
      const std::size_t end = std::min(begin + size, generated_.size());
      const std::vector<Position> window(generated_.begin() + static_cast<std::ptrdiff_t>(begin),
                                         generated_.begin() + static_cast<std::ptrdiff_t>(end));
      if (std::any_of(window.begin(), window.end(), [this](Position p) { return IsMasked(p); })) return window;
    }
    return {};
  }

  void BeginStep(const StepEvent& step) {
    EXPECT_EQ(step.step, steps_);
    proposed_ = step;
    if (step.positions.empty()) {
      EXPECT_LE(++revisits_, promise_.revisits) << "a step without proposals";
      EXPECT_FALSE(window_.empty());
    } else {
      const std::vector<Position> window = Window();
      if (window != window_) revisits_ = 0;
      window_ = window;
    }
    std::set<Position> masked;
    for (Position position : window_) {
      if (IsMasked(position)) masked.insert(position);
    }
    EXPECT_EQ(std::set(step.positions.begin(), step.positions.end()), masked) << "proposals of the current window";
    EXPECT_EQ(step.positions.size(), masked.size());
    EXPECT_TRUE(std::is_sorted(step.confidence.rbegin(), step.confidence.rend()));
    for (Token token : step.tokens) EXPECT_NE(token, info_.mask_token);
    base_passes_ += step.base_was_free ? 0 : 1;
    rounds_ = 0;
  }

  void Test(const RoundEvent& event) {
    ++rounds_;
    EXPECT_EQ(event.step, steps_);
    EXPECT_FALSE(event.round.anchors.empty());
    EXPECT_FALSE(event.round.tests.empty());
  }

  void EndStep(const CommitEvent& commit) {
    EXPECT_EQ(commit.step, steps_);
    EXPECT_TRUE(promise_.is_scheduled || !commit.positions.empty() || proposed_.positions.empty())
        << "a step without progress";
    EXPECT_TRUE(promise_.remasks || commit.edited.empty());
    EXPECT_TRUE(commit.inserted.empty() && commit.removed.empty());
    for (std::size_t i = 0; i < commit.edited.size(); ++i) {
      const Position position = commit.edited[i];
      EXPECT_TRUE(std::binary_search(window_.begin(), window_.end(), position)) << "an edit outside the window";
      EXPECT_FALSE(IsMasked(position));
      EXPECT_NE(commit.edited_tokens[i], tokens_[static_cast<std::size_t>(position)]);
    }
    EXPECT_TRUE(promise_.remasks || commit.remasked.empty());
    for (Position position : commit.remasked) {
      EXPECT_TRUE(std::binary_search(window_.begin(), window_.end(), position)) << "remask outside the window";
      EXPECT_FALSE(IsMasked(position));
      EXPECT_EQ(std::count(commit.positions.begin(), commit.positions.end(), position), 0);
      tokens_[static_cast<std::size_t>(position)] = info_.mask_token;
    }
    auto at = proposed_.positions.begin();  // commits are a subsequence of the proposals, best first
    for (std::size_t i = 0; i < commit.positions.size(); ++i) {
      at = std::find(at, proposed_.positions.end(), commit.positions[i]);
      ASSERT_NE(at, proposed_.positions.end()) << "commit of " << commit.positions[i] << " out of order or not masked";
      EXPECT_EQ(commit.tokens[i], proposed_.tokens[static_cast<std::size_t>(at - proposed_.positions.begin())]);
      tokens_[static_cast<std::size_t>(commit.positions[i])] = commit.tokens[i];
      ++at;
    }
    for (std::size_t i = 0; i < commit.edited.size(); ++i) {
      tokens_[static_cast<std::size_t>(commit.edited[i])] = commit.edited_tokens[i];
    }
    CheckCost(commit.counters);
    ++steps_;
  }

  void CheckCost(const Counters& now) {
    EXPECT_EQ(now.base_passes, base_passes_) << "base passes are the steps whose base was not free";
    const std::int64_t tests = now.test_passes - counters_.test_passes;
    if (promise_.tests_are_rounds) {
      EXPECT_EQ(tests, rounds_) << "test passes are the rounds";
    } else {
      EXPECT_GE(tests, rounds_);
    }
    EXPECT_LE(now.calls - counters_.calls, now.nfe() - counters_.nfe());
    counters_ = now;
  }

  void Finish(const EndEvent& end) {
    has_ended_ = true;
    EXPECT_EQ(end.tokens, tokens_);
    EXPECT_EQ(end.steps, steps_);
    EXPECT_EQ(end.counters.nfe(), counters_.nfe());
    EXPECT_EQ(std::count(tokens_.begin(), tokens_.end(), info_.mask_token), 0);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      EXPECT_TRUE(layout_.tokens[i] == info_.mask_token || tokens_[i] == layout_.tokens[i]) << "prompt at " << i;
    }
    const int size = static_cast<int>(generated_.size());
    const int windows = layout_.window == 0 ? 1 : (size + layout_.window - 1) / layout_.window;
    const int looks = windows * promise_.revisits;
    EXPECT_LE(steps_, looks + (promise_.is_scheduled ? windows * promise_.scheduled_steps + size : size));
  }

  const Layout& layout_;
  const DenoiserInfo& info_;
  const Promise& promise_;
  std::vector<Token> tokens_;
  std::vector<Position> generated_;
  std::vector<Position> window_;
  StepEvent proposed_;
  Counters counters_;
  std::int64_t base_passes_ = 0;
  std::int64_t rounds_ = 0;
  int steps_ = 0;
  int revisits_ = 0;  // of the window
  bool has_ended_ = false;
};

struct Case {
  const Model& model;
  const Layout& layout;
  std::string planner;
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;

  Recipe MakeOwnRecipe() const {
    Recipe recipe = MakeRecipe(planner, "", {}, model.denoiser->info());
    recipe.window = layout.window;
    recipe.seed = seed;
    recipe.sample = sample;
    return recipe;
  }

  Canvas NewCanvas() const {
    const DenoiserInfo& info = model.denoiser->info();
    return Canvas(layout.tokens, info.mask_token, info.vocab_size);
  }

  GenerateResult Go(int threads = 1) const {
    const std::unique_ptr<DenoiserSession> session =
        model.denoiser->NewSession({.banned_tokens = {}, .threads = threads});
    return Generate(*session, NewCanvas(), MakeOwnRecipe());
  }

  void GoWithReferee() const {
    const DenoiserInfo& info = model.denoiser->info();
    const Promise promise(planner);
    Referee referee(layout, info, promise);
    const std::unique_ptr<DenoiserSession> session = model.denoiser->NewSession({});
    const GenerateResult result = Generate(*session, NewCanvas(), MakeOwnRecipe(), {.observer = &referee});
    referee.CheckResult(result, session->counters());
  }
};

void ExpectSame(const GenerateResult& a, const GenerateResult& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.stop, b.stop);
  EXPECT_EQ(a.counters.base_passes, b.counters.base_passes);
  EXPECT_EQ(a.counters.test_passes, b.counters.test_passes);
}

class Conformance : public ::testing::TestWithParam<std::string> {};

TEST_P(Conformance, EveryRunIsByTheRules) {
  for (const std::string& name : ModelNames()) {
    const Model model = OpenModel(name);
    for (const Layout& layout : LayoutsFor(model.denoiser->info())) {
      SCOPED_TRACE(GetParam() + " on " + name + ", " + layout.name);
      for (std::uint64_t seed = 0; seed < 3; ++seed) Case{model, layout, GetParam(), seed}.GoWithReferee();
    }
  }
}

// Weakly coupled, so that no sequence dominates: planners that select on p(y) propose again until a probable
// token comes up, and on a strongly coupled chain nearly always end in its most probable sequence.
TEST_P(Conformance, TheSeedDecides) {
  const Model model = OpenModel("toy:markov,length=16,vocab=4,seed=2,permute=true,coupling=0.3");
  const std::vector<Layout> layouts = LayoutsFor(model.denoiser->info());
  const GenerateResult first = Case{model, layouts.front(), GetParam(), 0}.Go();
  ExpectSame(Case{model, layouts.front(), GetParam(), 0}.Go(), first);
  bool differs_by_seed = false;
  bool differs_by_sample = false;
  for (std::uint64_t other = 1; other <= 8; ++other) {
    differs_by_seed |= Case{model, layouts.front(), GetParam(), other}.Go().tokens != first.tokens;
    differs_by_sample |= Case{model, layouts.front(), GetParam(), 0, other}.Go().tokens != first.tokens;
  }
  EXPECT_TRUE(differs_by_seed);
  EXPECT_TRUE(differs_by_sample);
}

TEST_P(Conformance, ThreadsChangeNothing) {
  const Model model = OpenModel("toy:markov,length=16,vocab=4,seed=2,permute=true");
  const Layout layout = LayoutsFor(model.denoiser->info())[3];
  const GenerateResult one = Case{model, layout, GetParam(), 5}.Go(1);
  for (int threads : {2, 7}) ExpectSame(Case{model, layout, GetParam(), 5}.Go(threads), one);
}

TEST_P(Conformance, CompanyChangesNothing) {
  const Model model = OpenModel("toy:mixture,length=10,vocab=4,seed=5");
  std::vector<Layout> layouts = LayoutsFor(model.denoiser->info());
  for (Layout& layout : layouts) layout.window = 2;  // a batch has one recipe; the canvases differ
  const std::size_t largest = 7;
  std::vector<GenerateResult> alone;
  std::vector<Canvas> canvases;
  for (std::size_t i = 0; i < largest; ++i) {
    const Case run{model, layouts[i % layouts.size()], GetParam(), 3, 10 + i};
    alone.push_back(run.Go());
    canvases.push_back(run.NewCanvas());
  }
  const Recipe recipe = Case{model, layouts.front(), GetParam(), 3, 10}.MakeOwnRecipe();
  for (std::size_t size : {std::size_t{1}, std::size_t{3}, largest}) {
    for (int threads : {1, 2}) {
      const std::vector<GenerateResult> together =
          GenerateBatch(*model.denoiser, {.banned_tokens = {}, .threads = threads}, {canvases.data(), size}, recipe);
      ASSERT_EQ(together.size(), size);
      for (std::size_t i = 0; i < size; ++i) ExpectSame(together[i], alone[i]);
    }
  }
}

// With an end-of-sequence token in play: whatever the policy, no mask is left over.
TEST_P(Conformance, EndOfSequencePoliciesLeaveNoMask) {
  const Model model = OpenModel("toy:markov,length=12,vocab=4,seed=6,eos=1");
  const DenoiserInfo& info = model.denoiser->info();
  for (EosPolicy policy : {EosPolicy::kNone, EosPolicy::kDeprioritise, EosPolicy::kForbid, EosPolicy::kAnneal}) {
    const Layout layout{"eos", std::vector<Token>(12, info.mask_token), 0};
    const Case run{model, layout, GetParam(), 1};
    Recipe recipe = run.MakeOwnRecipe();
    recipe.eos = policy;
    const auto session = model.denoiser->NewSession({.banned_tokens = BannedTokens(policy, info)});
    const GenerateResult result = Generate(*session, run.NewCanvas(), recipe);
    EXPECT_EQ(std::count(result.tokens.begin(), result.tokens.end(), info.mask_token), 0) << Name(policy);
    if (policy == EosPolicy::kForbid) {
      EXPECT_EQ(std::count(result.tokens.begin(), result.tokens.end(), 1), 0);
      EXPECT_EQ(result.stop, StopReason::kFull);
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::to_string(info.index) + "_" + info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Planners, Conformance, ::testing::ValuesIn(Specs()), TestName);

TEST(ConformanceOfDefaults, SchedulesOfFullLengthEndToo) {
  const Model model = OpenModel("toy:markov,length=16,vocab=4,seed=2,permute=true");
  for (const PlannerRow& row : Planners()) {
    if (row.needs_network) continue;
    for (const Layout& layout : LayoutsFor(model.denoiser->info())) {
      SCOPED_TRACE(std::string(row.name) + ", " + layout.name);
      Case{model, layout, std::string(row.name), 1}.GoWithReferee();
    }
  }
}

}  // namespace
}  // namespace punt
