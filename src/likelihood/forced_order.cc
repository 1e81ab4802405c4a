#include "likelihood/forced_order.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "generate/commit_rows.h"
#include "punt/generator.h"

namespace punt {
namespace {

/// Proposes the tokens of a text, with what the rows say of them.
class TextProposer : public Proposer {
 public:
  explicit TextProposer(std::span<const Token> text) : text_(text), model_(MakeProposer({.temperature = 0})) {}

  std::vector<Proposal> Propose(DenoiserSession& session, const PassRef& pass, std::span<const Position> rows,
                                const StreamKey& key) const override {
    std::vector<Proposal> proposals = model_->Propose(session, pass, rows, key);
    std::vector<Token> tokens;
    for (Position row : rows) tokens.push_back(text_[static_cast<std::size_t>(row)]);
    std::vector<double> probs(rows.size());
    const TokenProbRequest request{.pass = pass.get(), .rows = rows, .tokens = tokens, .out = probs};
    session.TokenProbs({&request, 1});
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      proposals[i].token = tokens[i];
      proposals[i].token_prob = probs[i];
    }
    return proposals;
  }

 private:
  std::span<const Token> text_;
  std::shared_ptr<const Proposer> model_;
};

std::vector<Token> Masked(const LikelihoodText& text, Token mask) {
  std::vector<Token> canvas = text.canvas;
  for (Position position : text.positions) canvas[static_cast<std::size_t>(position)] = mask;
  return canvas;
}

/// Where the stretches of `count` positions begin, ascending.
std::vector<std::size_t> StretchBegins(std::size_t count, int alone) {
  std::vector<std::size_t> begins;
  const std::size_t single = alone < 0 ? count : std::min(count, static_cast<std::size_t>(alone));
  std::size_t begin = count;
  for (std::size_t i = 0; i < single; ++i) begins.push_back(--begin);
  for (std::size_t size = 2; begin > 0; size *= 2) begins.push_back(begin -= std::min(begin, size));
  std::reverse(begins.begin(), begins.end());
  return begins;
}

}  // namespace

std::optional<std::vector<double>> LogProbsAlongPlanner(DenoiserSession& session, const LikelihoodText& text,
                                                        const PlannedOrder& order) {
  const std::string name = ParseSpec(CanonicalPlannerSpec(order.planner)).name;
  for (const PlannerRow& row : Planners()) {
    if (row.name == name && row.remasks) BadInput("planner {} takes tokens back, so its commits are no order", name);
  }
  const DenoiserInfo& info = session.info();
  Recipe recipe = MakeRecipe(order.planner, order.score, {}, info);
  recipe.proposer = std::make_shared<TextProposer>(text.canvas);
  recipe.seed = order.seed;
  recipe.sample = order.sample;
  recipe.logprobs = 0;
  // An end of sequence in the text must not end the run before all is revealed: the loop knows it by what has settled,
  // so the run goes on from there.
  std::vector<double> log_probs(text.positions.size(), -std::numeric_limits<double>::infinity());
  std::vector<Token> canvas = Masked(text, info.mask_token);
  for (bool is_open = true; is_open;) {
    GenerateResult run =
        Generate(session, Canvas(canvas, info.mask_token, info.vocab_size), recipe, {.cancel = order.cancel});
    if (run.stop == StopReason::kCancelled) return std::nullopt;
    for (const auto& [position, row] : run.rows) {
      const auto found = std::lower_bound(text.positions.begin(), text.positions.end(), position);
      log_probs[static_cast<std::size_t>(found - text.positions.begin())] = row.log_prob;
      canvas[static_cast<std::size_t>(position)] = row.token;
    }
    is_open = run.stop == StopReason::kEos && std::find(canvas.begin(), canvas.end(), info.mask_token) != canvas.end();
  }
  return log_probs;
}

std::int64_t LeftToRightPasses(std::size_t count, int alone) { return std::ssize(StretchBegins(count, alone)); }

std::optional<std::vector<CommitRow>> RowsLeftToRight(DenoiserSession& session, const LikelihoodText& text,
                                                      const LeftToRight& options) {
  const std::size_t count = text.positions.size();
  std::vector<std::size_t> begins = StretchBegins(count, options.alone);
  const auto passes = static_cast<int>(begins.size());
  begins.push_back(count);
  std::vector<CommitRow> rows;
  std::vector<Token> canvas = Masked(text, session.info().mask_token);
  for (int first = 0; first < passes; first += options.passes_at_once) {
    if (options.cancel != nullptr && options.cancel->load()) return std::nullopt;
    const int last = std::min(first + options.passes_at_once, passes);
    std::vector<std::vector<Token>> canvases;
    std::vector<Query> queries;
    for (int pass = first; pass < last; ++pass) {
      const auto at = static_cast<std::size_t>(pass);
      canvases.push_back(canvas);
      queries.push_back({.rows = std::span(text.positions).subspan(begins[at], begins[at + 1] - begins[at])});
      for (Position position : queries.back().rows) {
        canvas[static_cast<std::size_t>(position)] = text.canvas[static_cast<std::size_t>(position)];
      }
    }
    for (std::size_t i = 0; i < queries.size(); ++i) queries[i].canvas = canvases[i];
    const std::vector<PassRef> run = session.Forward(queries);
    for (std::size_t i = 0; i < run.size(); ++i) {
      std::vector<PlacedToken> tokens;
      for (Position row : queries[i].rows) tokens.push_back({row, text.canvas[static_cast<std::size_t>(row)]});
      const int step = first + static_cast<int>(i);
      const std::vector<CommitRow> read = ReadRows(session, *run[i], tokens, {.step = step, .top = options.top});
      rows.insert(rows.end(), read.begin(), read.end());
    }
  }
  return rows;
}

}  // namespace punt
