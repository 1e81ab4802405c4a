#include "constrain/constrained_session.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "constrain/conditioned_pass.h"
#include "kernels/row_kernels.h"

namespace punt {
namespace {

constexpr double kLostBy = 30;  // nats: see the header

class ConstrainedSession : public DenoiserSession {
 public:
  ConstrainedSession(DenoiserSession& inner, const Constraint& constraint)
      : DenoiserSession(inner.info()), inner_(inner), constraint_(constraint) {
    Check(constraint.automaton != nullptr, "a constraint without an automaton");
    Check(constraint.automaton->vocab() == static_cast<std::size_t>(info().vocab_size),
          "a constraint of another model");
  }

 protected:
  int PassesPerQuery() const override { return inner_.passes_per_query(); }

  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::vector<std::vector<Position>> rows;
    std::vector<Query> asked(queries.begin(), queries.end());
    rows.reserve(queries.size());
    for (Query& query : asked) {
      Check(static_cast<std::size_t>(constraint_.end) <= query.canvas.size(), "a constraint beyond the canvas");
      query.rows = rows.emplace_back(RowsFor(query));
      if (query.base != nullptr) query.base = &Own(query.base).inner();
      if (query.states != nullptr) query.states = &Own(query.states).inner();
    }
    const std::vector<PassRef> inner = inner_.Forward(asked);
    std::vector<PassRef> passes;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      passes.push_back(
          std::make_shared<ConditionedPass>(inner[i], queries[i], constraint_, info().mask_token, spares_));
    }
    return passes;
  }

  void DoPropose(std::span<const ProposalRequest> requests) override {
    for (const ProposalRequest& request : requests) ProposeOne(request);
  }

  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    for (const DivergenceRequest& request : requests) {
      const ConditionedPass& base = Own(request.base);
      const ConditionedPass& fresh = Own(request.fresh);
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        const Position row = request.rows[i];
        if (base.IsConditioned(row)) {
          request.out[i] = DivergeOne(base, fresh, row, *request.options);
          continue;
        }
        const DivergenceRequest own{.base = &base.inner(),
                                    .fresh = &fresh.inner(),
                                    .rows = request.rows.subspan(i, 1),
                                    .options = request.options,
                                    .out = request.out.subspan(i, 1)};
        inner_.Diverge({&own, 1});
      }
    }
  }

  void DoLogProbs(std::span<const LogProbRequest> requests) override {
    const auto vocab = static_cast<std::size_t>(info().vocab_size);
    for (const LogProbRequest& request : requests) {
      const ConditionedPass& pass = Own(request.pass);
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        const auto out = request.out.subspan(i * vocab, vocab);
        if (pass.IsConditioned(request.rows[i])) {
          Read(pass, request.rows[i], first_);
          std::copy(first_.begin(), first_.end(), out.begin());
          continue;
        }
        const LogProbRequest own{.pass = &pass.inner(), .rows = request.rows.subspan(i, 1), .out = out};
        inner_.LogProbs({&own, 1});
      }
    }
  }

  void DoTokenProbs(std::span<const TokenProbRequest> requests) override {
    for (const TokenProbRequest& request : requests) {
      const ConditionedPass& pass = Own(request.pass);
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        if (pass.IsConditioned(request.rows[i])) {
          Read(pass, request.rows[i], first_);
          request.out[i] = std::exp(first_[static_cast<std::size_t>(request.tokens[i])]);
          continue;
        }
        const TokenProbRequest own{.pass = &pass.inner(),
                                   .rows = request.rows.subspan(i, 1),
                                   .tokens = request.tokens.subspan(i, 1),
                                   .out = request.out.subspan(i, 1)};
        inner_.TokenProbs({&own, 1});
      }
    }
  }

  void DoAttention(std::span<const AttentionRequest> requests) override {
    std::vector<AttentionRequest> own(requests.begin(), requests.end());
    for (AttentionRequest& request : own) request.pass = &Own(request.pass).inner();
    inner_.Attention(own);
  }

  void DoInfluence(std::span<const InfluenceRequest> requests) override {
    std::vector<InfluenceRequest> own(requests.begin(), requests.end());
    for (InfluenceRequest& request : own) request.pass = &Own(request.pass).inner();
    inner_.Influence(own);
  }

 private:
  /// A row, normalised.
  void Read(const ConditionedPass& pass, Position row, std::vector<double>& out) {
    pass.ReadRow(inner_, row, out);
    const double log_sum = SummariseRow<double>(out).log_sum_exp;
    for (double& log_prob : out) log_prob -= log_sum;
  }

  const ConditionedPass& Own(const Pass* pass) const {
    const auto* own = dynamic_cast<const ConditionedPass*>(pass);
    Check(own != nullptr, "a pass of another session");
    return *own;
  }

  /// Those that are asked for, and all masks of the stretch: any of them bears on the others.
  std::vector<Position> RowsFor(const Query& query) const {
    std::vector<Position> rows(query.rows.begin(), query.rows.end());
    if (rows.empty()) return rows;  // nothing will be read
    for (Position position = constraint_.begin; position < constraint_.end; ++position) {
      if (query.canvas[static_cast<std::size_t>(position)] == info().mask_token) rows.push_back(position);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  void ProposeOne(const ProposalRequest& request) {
    const auto vocab = static_cast<std::size_t>(info().vocab_size);
    return KeptRows::AreDoubles(vocab) ? ProposeOneOf(request, first_) : ProposeOneOf(request, single_);
  }

  /// `room` for a row.
  template <typename T>
  void ProposeOneOf(const ProposalRequest& request, std::vector<T>& room) {
    const ConditionedPass& pass = Own(request.pass);
    const std::span<const Token> canvas = pass.canvas();
    const auto is_drawn = [&](Position row) {
      return static_cast<std::size_t>(row) < canvas.size() && pass.IsConditioned(row) &&
             canvas[static_cast<std::size_t>(row)] == info().mask_token;
    };
    Position last = -1;
    for (Position row : request.rows) last = is_drawn(row) ? std::max(last, row) : last;
    std::vector<Token> drawn;
    if (last >= 0) drawn = pass.Draw(inner_, *request.options, request.key, last);
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      const Position row = request.rows[i];
      if (!pass.IsConditioned(row)) {
        const ProposalRequest own{.pass = &pass.inner(),
                                  .rows = request.rows.subspan(i, 1),
                                  .options = request.options,
                                  .key = request.key,
                                  .out = request.out.subspan(i, 1)};
        inner_.Propose({&own, 1});
        continue;
      }
      pass.ReadRow(inner_, row, room);
      if (!is_drawn(row)) {  // what could stand there instead of what does
        request.out[i] = ProposeRow<T>(room, row, *request.options, request.key, scratch_);
        continue;
      }
      request.out[i] = Describe(room, row, drawn[static_cast<std::size_t>(row - constraint_.begin)], *request.options);
    }
  }

  template <typename T>
  static Proposal Describe(std::vector<T>& values, Position row, Token token, const ProposalOptions& options) {
    if (options.score_on == ScoreOn::kTempered) {
      ProposalOptions described = options;
      if (options.temperature == 0) described.temperature = 1;
      const std::vector<double> law = ProposalLaw(std::vector<double>(values.begin(), values.end()), described);
      for (std::size_t v = 0; v < law.size(); ++v) values[v] = static_cast<T>(std::log(law[v]));
    }
    const RowStats stats = SummariseRow<T>(values);
    return {.position = row,
            .token = token,
            .top_token = stats.top_token,
            .token_prob = std::exp(static_cast<double>(values[static_cast<std::size_t>(token)]) - stats.log_sum_exp),
            .top_prob = std::exp(stats.top - stats.log_sum_exp),
            .second_prob = std::exp(stats.second - stats.log_sum_exp),
            .entropy = stats.entropy};
  }

  double DivergeOne(const ConditionedPass& base, const ConditionedPass& fresh, Position row,
                    const DivergenceOptions& options) {
    Read(base, row, first_);
    Read(fresh, row, second_);
    const auto keep_finite = [](const std::vector<double>& from, std::vector<double>& in) {
      for (std::size_t v = 0; v < in.size(); ++v) in[v] = std::max(in[v], from[v] - kLostBy);
    };
    if (options.kind == Divergence::kKlBaseNew) keep_finite(first_, second_);
    if (options.kind == Divergence::kKlNewBase) keep_finite(second_, first_);
    return DivergeRows<double>(first_, second_, options, scratch_);
  }

  DenoiserSession& inner_;
  const Constraint constraint_;
  RowScratch scratch_;
  std::vector<double> first_;  // rows at work
  std::vector<double> second_;
  std::vector<float> single_;
  const std::shared_ptr<SpareRows> spares_ = std::make_shared<SpareRows>();
};

}  // namespace

std::unique_ptr<DenoiserSession> NewConstrainedSession(DenoiserSession& inner, const Constraint& constraint) {
  return std::make_unique<ConstrainedSession>(inner, constraint);
}

bool HasCompletion(const Constraint& constraint, std::span<const Token> canvas, Token mask) {
  std::vector<std::int32_t> fixed;
  for (Position position = constraint.begin; position < constraint.end; ++position) {
    const Token token = canvas[static_cast<std::size_t>(position)];
    fixed.push_back(token == mask ? LanguageWays::kFree : constraint.automaton->ClassOf(token));
  }
  return LanguageWays(*constraint.automaton, fixed).is_possible();
}

}  // namespace punt
