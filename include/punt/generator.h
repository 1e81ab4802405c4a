// The generation loop: predict, propose, score, plan, apply, observe; until the canvas is full.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/cache.h"
#include "punt/canvas.h"
#include "punt/constraint.h"
#include "punt/denoiser.h"
#include "punt/planner.h"
#include "punt/sampler.h"
#include "punt/score.h"
#include "punt/trace.h"

namespace punt {

/// What to do with proposals of an end-of-sequence token.
///   kNone          nothing
///   kDeprioritise  their positions come last
///   kForbid        they cannot be proposed (needs a session that bans these tokens: see BannedTokens)
///   kAnneal        they count as improbable at first, then less and less so (src/generate/eos_anneal.cc)
enum class EosPolicy { kNone, kDeprioritise, kForbid, kAnneal };

std::string_view Name(EosPolicy policy);
EosPolicy ParseEosPolicy(std::string_view name);

/// The tokens that a session for this policy must ban, and the one that would make a text longer.
std::vector<Token> BannedTokens(EosPolicy policy, const DenoiserInfo& info);

/// Where proposals come from. The default draws them from the model; tests and analyses force them.
class Proposer {
 public:
  virtual ~Proposer() = default;
  /// One proposal per row; confidence is not set.
  virtual std::vector<Proposal> Propose(DenoiserSession& session, const PassRef& pass, std::span<const Position> rows,
                                        const StreamKey& key) const = 0;
};

/// Draws from the model. Throws Error on options out of range.
std::shared_ptr<const Proposer> MakeProposer(const ProposalOptions& options);

/// Everything that decides the result. planner, score and proposer must be set (MakeRecipe does).
struct Recipe {
  std::shared_ptr<const Planner> planner;
  std::shared_ptr<const Score> score;
  std::shared_ptr<const Proposer> proposer;
  EosPolicy eos = EosPolicy::kNone;
  // The most positions that a text may have to be filled, where the model has tokens to change its length; these must
  // then not be banned. 0: the length is as given. See src/generate/length_change.h.
  std::int64_t grow_to = 0;
  // Generated positions that are filled before the next ones, left to right; 0: all at once. Of a model in blocks
  // (DenoiserInfo::block_size): positions of the canvas in stretches of so many, counted from its first, so that the
  // first and the last of them may have fewer to fill; 0: a block.
  int window = 0;
  CachePolicy cache;              // what forward passes reuse from earlier ones
  Constraint constraint;          // the language that a stretch of the canvas stays in, if there is one
  bool needs_constraint = false;  // one was asked for, and must have been set before the run
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;
  std::int64_t max_steps = 0;  // 0: no limit
  std::int64_t max_nfe = 0;    // 0: no limit; never exceeded, not even within a step
  // Reports the row of every commit, with that many of its most probable tokens (0: only the committed one): in events
  // and in the result. Rows are then read a second time, dense. Unset: none are, at no cost. Changes no text.
  std::optional<int> logprobs = std::nullopt;
  // Called with the canvas before every step and at the end; true ends the run (StopReason::kStopString). May be empty.
  std::function<bool(std::span<const Token> canvas)> has_ended = {};
};

/// A recipe from specs. An empty score means the denoiser's own default.
Recipe MakeRecipe(std::string_view planner, std::string_view score, const ProposalOptions& proposal,
                  const DenoiserInfo& info);

struct GenerateResult {
  std::vector<Token>
      tokens;  // the whole canvas, of another length if the model changed it. After an early stop on EOS, masks after
               // it are replaced by EOS; after a stop string, a limit or a cancellation masks remain
  StopReason stop = StopReason::kFull;
  int steps = 0;
  int committed = 0;                     // generated positions that hold a token the planner committed
  std::vector<Position> generated = {};  // the positions of `tokens` that were to be filled
  Counters counters;                     // what this run cost
  double seconds = 0;
  std::map<Position, CommitRow> rows = {};  // of committed positions that are not masked, if the recipe asks for them

  /// Tokens committed per forward pass.
  double tokens_per_forward() const {
    return counters.nfe() == 0 ? 0.0 : static_cast<double>(committed) / static_cast<double>(counters.nfe());
  }
};

/// What may accompany a run: who watches it, what cancels it, and names for its trace.
struct Company {
  Observer* observer = nullptr;
  const std::atomic<bool>* cancel = nullptr;  // checked before every forward pass
  std::string model_name = {};                // only for the trace header, as are all that follow
  std::string planner_spec = {};
  std::string score_spec = {};
  ProposalOptions proposal = {};
};

/// Generates one sequence. Throws Error when the recipe does not fit: a window that is negative, larger than
/// the number of positions to generate or at odds with the model's blocks, a canvas that in whole blocks is longer than
/// the model takes, a cache of blocks for a model without any, a planner whose needs the
/// denoiser cannot meet, a canvas that cannot be filled within the constraint's language. A canvas without masks is
/// returned as it is, at no cost.
///
/// Under a constraint every canvas of the run has a completion in the language, so that a run that ends by itself ends
/// in it (constrain/constrained_session.h). One that is stopped leaves masks.
GenerateResult Generate(DenoiserSession& session, Canvas canvas, const Recipe& recipe, const Company& company = {});

/// Generates several sequences whose forward passes run together in batches: sequence i has sample number
/// recipe.sample + i, and its result is the one that Generate alone would give. `companies` is empty or has one
/// entry per sequence; observers are called from different threads.
std::vector<GenerateResult> GenerateBatch(const Denoiser& denoiser, const SessionOptions& session_options,
                                          std::span<const Canvas> canvases, const Recipe& recipe,
                                          std::span<const Company> companies = {});

}  // namespace punt
