// The denoiser: all that planners, samplers and the generation loop know of a model.
//
//   Denoiser          immutable, shared by any number of threads
//   DenoiserSession   mutable state (caches, scratch, counters), used by one caller at a time
//   Pass              what one forward pass of one sequence left behind in its session
//
// A caller runs passes (Forward), then reads rows of them: proposals, divergences between two passes, or
// dense log-probabilities. Reading is separate from running because with a large vocabulary the output head is
// expensive: a session runs it only for rows that are read, and reduces each row in place, so that no [R x V]
// table crosses this interface. (With V = 126k and 1,024 rows that table takes 500 MB.) LogProbs, which does
// return the table, is the naive twin of the other two.
//
// Row i of a pass over canvas x is log p_i(. | x): normalised, untempered, with the mask token and banned
// tokens at -infinity, and with any shift of the architecture already applied. At a position that is not
// masked the row is what the model predicts there; exact models give p_i(. | all other tokens of x).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "punt/sampler.h"
#include "punt/types.h"

namespace punt {

/// Tokens by which a model changes the length of a text: proposed for a mask and committed, they are not written but
/// carried out. -1: the model has none.
struct LengthTokens {
  Token expand = -1;  // one mask becomes two
  Token remove = -1;  // the mask disappears

  bool is_known() const { return expand >= 0 && remove >= 0; }
};

/// Facts about a denoiser.
struct DenoiserInfo {
  std::string name;
  int vocab_size = 0;  // V, the mask token included
  Token mask_token = 0;
  std::vector<Token> eos_tokens;  // may be empty
  int max_length = 0;             // longest canvas
  // Of models trained in blocks, which tile the text from its first position (prompt included): positions per block. A
  // position sees its own block and those before, so nothing that comes later changes a block that is full. 0: no
  // blocks. Such a model sees whole blocks only: where a canvas ends within one, masks stand for the rest.
  int block_size = 0;
  std::string default_score = "margin";
  // For planners that look inside a model. A run whose planner needs what the denoiser lacks is refused
  // before the first step.
  bool has_attention_maps = false;
  bool has_shadow_rows = false;
  bool has_influence = false;
  LengthTokens length_tokens = {};
};

/// What a pass is for. This changes only how it is counted: NFE is reported for each kind.
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
  /// Valid row numbers lie below this: L rows and the shadows.
  std::size_t row_count() const { return canvas_.size() + shadows_.size(); }
  /// Rows that the pass computed.
  std::int64_t row_passes() const { return row_passes_; }

 protected:
  explicit Pass(std::span<const Token> canvas, std::span<const Position> shadows = {})
      : canvas_(canvas.begin(), canvas.end()),
        shadows_(shadows.begin(), shadows.end()),
        row_passes_(static_cast<std::int64_t>(row_count())) {}

  /// For a pass that computed fewer, or more, than row_count().
  void SetRowPasses(std::int64_t rows) { row_passes_ = rows; }

 private:
  std::vector<Token> canvas_;
  std::vector<Position> shadows_;
  std::int64_t row_passes_;
};

/// A pass belongs to the session that made it: it must not be read through another session, and must not
/// outlive its own.
using PassRef = std::shared_ptr<const Pass>;

/// Layers of a network, given as a share of its depth, which means the same in networks of any size: of n layers,
/// numbered from 0, those from floor(begin n) to ceil(end n) - 1, at least one. {0, 1}: all; {0.7, 1}: the last three
/// tenths; {1, 1}: the last one only. 0 <= begin <= end <= 1.
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
  // Positions to predict as if their own token were hidden from the row that predicts them, and from that row
  // only: extra rows L, L + 1, ... in this order. Needs has_shadow_rows.
  std::span<const Position> shadows = {};
  // The ranges for which Attention can be read from the pass; only their layers cost anything. Needs
  // has_attention_maps.
  std::span<const LayerRange> attention = {};

  // Caches. A pass that keeps its states can be named in `states` of later queries over canvases of the same length.
  // There the positions in `stale` are not computed again but used as they were, unaware of what was revealed since: an
  // approximation. Rows that are asked for and positions whose token has changed are computed in any case. A query with
  // both `keep_states` and `states` takes the states over, and the earlier pass no longer has any. Everything is
  // computed when the earlier pass has no states, when a query has shadows or attention, and by exact models.
  bool keep_states = false;
  const Pass* states = nullptr;
  std::span<const Position> stale = {};

  // Exact: models in blocks may leave out what comes after the last block that is asked for, and take the keys and
  // values of blocks before the first one from any earlier pass of any session over a canvas that begins with the same
  // tokens. `states` then only names a pass whose blocks the caller has been told of (for BlockCacheStats).
  bool reuses_blocks = false;
};

/// Reads the proposals at `rows`; out has one entry per row. Confidence is left at 0.
struct ProposalRequest {
  const Pass* pass = nullptr;
  std::span<const Position> rows;
  const ProposalOptions* options = nullptr;
  StreamKey key;
  std::span<Proposal> out;
};

/// Reads D(base row, fresh row) at `rows`: one number per row, never NaN, never negative.
struct DivergenceRequest {
  const Pass* base = nullptr;
  const Pass* fresh = nullptr;
  std::span<const Position> rows;
  const DivergenceOptions* options = nullptr;
  std::span<double> out;
};

/// Reads dense rows; out is [R x V], row-major.
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

/// Reads attention; out is [L x L]: the weight of each key (column) for each query (row), averaged over heads and
/// over the layers of a range that the query named. Rows sum to 1 (less with shadows, and where masks fill a block).
struct AttentionRequest {
  const Pass* pass = nullptr;
  LayerRange layers = {};
  std::span<float> out;
};

/// Reads how far the rows of masked positions would move if one more of them were known. out is [L x L]: for the
/// positions i and j of two of the proposals, KL(row j || row j with the token of i revealed, and nothing else) in
/// nats, at row i and column j. All other entries are 0. Exact models compute it; for networks, a head trained for them
/// (model/influence_head.h) predicts it from this pass. No further pass is run or counted.
struct InfluenceRequest {
  const Pass* pass = nullptr;
  std::span<const Proposal> proposals;  // read from this pass, at masked positions, no repeats
  std::span<float> out;
};

/// The full cost. NFE = base_passes + test_passes: every forward pass of every sequence.
struct Counters {
  std::int64_t base_passes = 0;
  std::int64_t test_passes = 0;
  std::int64_t calls = 0;       // dependent calls: batches of passes, each of which had to wait for the one before
  std::int64_t row_passes = 0;  // canvas rows that were computed: row_count() per pass unless a cache saves some
  std::int64_t rows_read = 0;   // rows that went through the output head

  std::int64_t nfe() const { return base_passes + test_passes; }
  friend bool operator==(const Counters&, const Counters&) = default;
  /// What was spent between two looks at a session's counters.
  friend Counters operator-(const Counters& later, const Counters& earlier) {
    return {.base_passes = later.base_passes - earlier.base_passes,
            .test_passes = later.test_passes - earlier.test_passes,
            .calls = later.calls - earlier.calls,
            .row_passes = later.row_passes - earlier.row_passes,
            .rows_read = later.rows_read - earlier.rows_read};
  }
};

/// Not thread-safe: one caller at a time. Tokens, rows and lengths outside their ranges throw Error, as does a request
/// for what info() says the model lacks; null pointers and outputs of the wrong size throw std::logic_error.
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
  /// Forward passes per query: 1, or 2 under guidance.
  int passes_per_query() const { return PassesPerQuery(); }

 protected:
  explicit DenoiserSession(const DenoiserInfo& info) : info_(info) {}

  /// As above, after the checks. The public functions do all the counting.
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
  int threads = 1;                                       // at most one per processor of the process is used
  std::size_t logit_cache_bytes = std::size_t{1} << 30;  // for logits of base rows, kept for later divergences
};

class Denoiser {
 public:
  virtual ~Denoiser() = default;
  Denoiser() = default;
  Denoiser(const Denoiser&) = delete;
  Denoiser& operator=(const Denoiser&) = delete;

  virtual const DenoiserInfo& info() const = 0;

  /// May be called by any thread. Zeros for a denoiser that keeps nothing.
  virtual BlockCacheStats block_cache() const { return {}; }

  /// Throws Error when every token is banned. The session keeps no reference to `options`; the denoiser
  /// must outlive its sessions.
  virtual std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options) const = 0;
};

}  // namespace punt
