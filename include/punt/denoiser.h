// The denoiser: what planners, samplers and the generation loop know of a model, and all they know.
//
//   Denoiser          immutable, shared by any number of threads
//   DenoiserSession   mutable state (caches, scratch, counters), used by one caller at a time
//   Pass              what one forward pass of one sequence left behind in its session
//
// A caller runs passes (Forward), then reads rows of them: proposals, divergences between two passes, or
// dense log-probabilities. Reading is separate from running because a row's output head is the expensive
// part of a large vocabulary: a session runs it only for rows that are read, and reduces each row where it
// lies, so that no [R x V] table crosses this interface. (With V = 126k and 1,024 rows that table weighs
// 500 MB.) LogProbs, which does return the table, is the naive twin of the other two.
//
// Row i of a pass over canvas x is log p_i(. | x): normalised, untempered, with the mask token and banned
// tokens at -infinity, and with any shift of the architecture already applied. For a position that is
// not masked the row is the model's prediction there; exact models give p_i(. | all other tokens of x).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "punt/sampler.h"
#include "punt/types.h"

namespace punt {

/// Facts about a denoiser.
struct DenoiserInfo {
  std::string name;
  int vocab_size = 0;  // V, the mask token included
  Token mask_token = 0;
  std::vector<Token> eos_tokens;  // may be empty
  int max_length = 0;             // longest canvas
  std::string default_score = "margin";
  // What the planners that look inside a model need. A planner that needs what a denoiser lacks is
  // refused by name before the first step.
  bool has_attention_maps = false;
  bool has_shadow_rows = false;
  bool has_influence = false;
};

/// What a pass is for. Only changes how it is counted: NFE is reported for both kinds apart.
enum class PassKind { kBase, kTest };

class Pass {
 public:
  virtual ~Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// The canvas that was evaluated, L tokens.
  std::span<const Token> canvas() const { return canvas_; }
  /// Positions whose shadow rows can be read, as rows L, L + 1, ...
  std::span<const Position> shadows() const { return shadows_; }
  /// Rows that can be named: L and the shadows.
  std::size_t row_count() const { return canvas_.size() + shadows_.size(); }
  /// Rows that were computed for it.
  std::int64_t row_passes() const { return row_passes_; }

 protected:
  explicit Pass(std::span<const Token> canvas, std::span<const Position> shadows = {})
      : canvas_(canvas.begin(), canvas.end()),
        shadows_(shadows.begin(), shadows.end()),
        row_passes_(static_cast<std::int64_t>(row_count())) {}

  /// Where it is not a whole pass.
  void SetRowPasses(std::int64_t rows) { row_passes_ = rows; }

 private:
  std::vector<Token> canvas_;
  std::vector<Position> shadows_;
  std::int64_t row_passes_;
};

/// Passes are handed out shared and belong to the session that made them: they must not be read through
/// another session, and must not outlive theirs.
using PassRef = std::shared_ptr<const Pass>;

/// Layers of a network, named by their share of its depth, which means the same in networks of any size: of n layers,
/// numbered from 0, those from floor(begin n) to ceil(end n) - 1, at least one. {0, 1}: all; {0.7, 1}: the last three
/// tenths; {1, 1}: the last alone.
struct LayerRange {
  double begin = 0;
  double end = 1;

  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

/// One forward pass of one sequence. The spans need to live only during the call.
struct Query {
  std::span<const Token> canvas;   // L tokens, 1 <= L <= max_length
  std::span<const Position> rows;  // the rows that must be readable afterwards
  PassKind kind = PassKind::kBase;
  const Pass* base = nullptr;  // optional: a pass over the same canvas with fewer positions revealed,
                               // from which a session may reuse whatever it can account for
  // Positions to be looked at as if their own token were hidden from the row that predicts them, and from it
  // alone: extra rows L, L + 1, ... in this order. Needs has_shadow_rows.
  std::span<const Position> shadows = {};
  // The ranges for which the pass can answer Attention; needs has_attention_maps. Only their layers cost anything.
  std::span<const LayerRange> attention = {};

  // Caches. A pass that keeps its states can be named in `states` of later ones over canvases of that length. There the
  // positions of `stale` are not computed again but seen as they were, ignorant of what was revealed since: an
  // approximation. Rows that are asked and positions with another token are computed in any case. A query with both
  // takes the states over, and the earlier pass has none any more. A pass without states, a query with shadows or
  // attention, and exact models compute everything.
  bool keep_states = false;
  const Pass* states = nullptr;
  std::span<const Position> stale = {};
};

/// Reads the proposals at `rows`; out has one entry per row. Confidence is left at 0.
struct ProposalRequest {
  const Pass* pass = nullptr;
  std::span<const Position> rows;
  const ProposalOptions* options = nullptr;
  StreamKey key;
  std::span<Proposal> out;
};

/// Reads D(base row, fresh row) at `rows`, a number per row, never NaN, never negative.
struct DivergenceRequest {
  const Pass* base = nullptr;
  const Pass* fresh = nullptr;
  std::span<const Position> rows;
  const DivergenceOptions* options = nullptr;
  std::span<double> out;
};

/// Reads dense rows, out is [R x V] row-major.
struct LogProbRequest {
  const Pass* pass = nullptr;
  std::span<const Position> rows;
  std::span<double> out;
};

/// Reads p(tokens[i]) at rows[i].
struct TokenProbRequest {
  const Pass* pass = nullptr;
  std::span<const Position> rows;
  std::span<const Token> tokens;
  std::span<double> out;
};

/// Reads attention, out is [L x L]: the weight of each key (column) for each query (row), averaged over heads and
/// over the layers of a range that the query named. Rows sum to 1 (less where shadows took part).
struct AttentionRequest {
  const Pass* pass = nullptr;
  LayerRange layers = {};
  std::span<float> out;
};

/// Reads how far the rows of masked positions would move if one more of them were known. out is [L x L]: for the
/// positions i and j of two of the proposals, KL(row j || row j with the token of i revealed, and nothing else) in
/// nats, at row i and column j. All other entries are 0. Exact models compute it; networks predict it from the pass
/// alone, by a head trained for them (model/influence_head.h), so no pass is run for it and none is counted.
struct InfluenceRequest {
  const Pass* pass = nullptr;
  std::span<const Proposal> proposals;  // what was read from the pass, at masked positions, no repeats
  std::span<float> out;
};

/// Honest cost. NFE = base_passes + test_passes: every forward pass of every sequence.
struct Counters {
  std::int64_t base_passes = 0;
  std::int64_t test_passes = 0;
  std::int64_t calls = 0;       // dependent calls: batches of passes that had to wait for one another
  std::int64_t row_passes = 0;  // canvas rows that were computed; L per pass unless a cache saves some
  std::int64_t rows_read = 0;   // rows that went through the output head

  std::int64_t nfe() const { return base_passes + test_passes; }
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// Not thread-safe: one caller at a time. Sizes and tokens are checked; violations throw Error.
class DenoiserSession {
 public:
  virtual ~DenoiserSession() = default;
  DenoiserSession(const DenoiserSession&) = delete;
  DenoiserSession& operator=(const DenoiserSession&) = delete;

  /// Runs one pass per query, as one batch. A query's result does not depend on its neighbours.
  std::vector<PassRef> Forward(std::span<const Query> queries);

  void Propose(std::span<const ProposalRequest> requests);
  void Diverge(std::span<const DivergenceRequest> requests);
  void LogProbs(std::span<const LogProbRequest> requests);
  void TokenProbs(std::span<const TokenProbRequest> requests);
  void Attention(std::span<const AttentionRequest> requests);
  void Influence(std::span<const InfluenceRequest> requests);

  const DenoiserInfo& info() const { return info_; }
  const Counters& counters() const { return counters_; }
  /// Forward passes that one query takes: 1, or 2 under guidance.
  int passes_per_query() const { return PassesPerQuery(); }

 protected:
  explicit DenoiserSession(const DenoiserInfo& info) : info_(info) {}

  /// As above, after checks. Everything is counted by the public functions.
  virtual std::vector<PassRef> DoForward(std::span<const Query> queries) = 0;
  virtual void DoPropose(std::span<const ProposalRequest> requests) = 0;
  virtual void DoDiverge(std::span<const DivergenceRequest> requests) = 0;
  virtual void DoLogProbs(std::span<const LogProbRequest> requests) = 0;
  virtual void DoTokenProbs(std::span<const TokenProbRequest> requests) = 0;
  virtual void DoAttention(std::span<const AttentionRequest> requests);  // these two throw Error unless overridden
  virtual void DoInfluence(std::span<const InfluenceRequest> requests);
  virtual int PassesPerQuery() const { return 1; }

 private:
  const DenoiserInfo info_;
  Counters counters_;
};

struct SessionOptions {
  // Changes results.
  std::vector<Token> banned_tokens;  // logits -infinity, besides the mask token's (EOS policy `forbid`)
  // Classifier-free guidance as LLaDA defines it: logits u + (guidance + 1) (c - u), where u is what the model says
  // with the prompt masked. Every query then takes two passes, and counts as two. Neural models only.
  double guidance = 0;
  std::vector<Position> prompt;    // the positions to mask for u
  bool freeze_mask_ratio = false;  // test passes keep the mask ratio of their base (models with token dropout)
  // Changes only speed and memory.
  int threads = 1;                                       // of which no more are used than the process has processors
  std::size_t logit_cache_bytes = std::size_t{1} << 30;  // logits of base rows that are kept for later divergences
};

class Denoiser {
 public:
  virtual ~Denoiser() = default;
  Denoiser() = default;
  Denoiser(const Denoiser&) = delete;
  Denoiser& operator=(const Denoiser&) = delete;

  virtual const DenoiserInfo& info() const = 0;

  /// Throws Error when every token is banned. The session keeps no reference to `options`; the denoiser
  /// must outlive its sessions.
  virtual std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options) const = 0;
};

}  // namespace punt
