// From a row of log-probabilities to a proposal: which token a position would take, and how sure the
// model is. Nothing here decides which positions are committed; that is the planner's business.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/types.h"

namespace punt {

/// The two ways in which published models draw tokens. They draw from the same law, but with different random
/// numbers, and their original implementations differ in the order of temperature and filters.
///   kLlada: argmax_v l_v - T ln(-ln u_v), Gumbel-max in float64, one u per vocabulary entry
///   kDream: l/T, nucleus, top-k, softmax, inversion of one u
enum class Convention { kLlada, kDream };

/// Which distribution the fields of a Proposal describe.
enum class ScoreOn { kUntempered, kTempered };

/// All fields change results.
struct ProposalOptions {
  Convention convention = Convention::kLlada;
  double temperature = 1.0;  // 0: argmax, lowest token on ties
  double top_p = 1.0;        // nucleus on softmax(l/T), with the token that crosses it; 1 switches it off
  int top_k = 0;             // keeps the k best tokens; 0 switches it off
  double min_p = 0;          // keeps tokens at least min_p times as probable as the best, in softmax(l/T); 0: off
  ScoreOn score_on = ScoreOn::kUntempered;
};

/// The nucleus keeps a token while the mass before it is at most top_p * (1 + this): round probabilities do
/// land exactly on top_p, and then the order of summation must not decide. The same goes for min_p.
inline constexpr double kNucleusSlack = 1e-12;

/// Throws Error (bad input) naming the field: temperature >= 0 and finite, 0 < top_p <= 1, top_k >= 0, 0 <= min_p <= 1.
void Validate(const ProposalOptions& options);

/// What a row says about its position. Probabilities are those of the plain softmax of the logits (without mask
/// and banned tokens), or of the tempered and filtered one when score_on says so.
struct Proposal {
  Position position = 0;
  Token token = 0;         // y: what would be committed
  Token top_token = 0;     // argmax, lowest token on ties
  double token_prob = 0;   // p(y)
  double top_prob = 0;     // p(1)
  double second_prob = 0;  // p(2); 0 if there is no second token
  double entropy = 0;      // nats
  double confidence = 0;   // phi, higher is more certain; set by a Score, not by the denoiser
};

/// Confidence of a proposal whose position must come last (EOS policy `deprioritise`).
inline constexpr double kDeprioritised = -1e30;

/// How far a row moved. "base" is p(. | x), "new" is p(. | x and the anchors' tokens).
enum class Divergence { kKlBaseNew, kKlNewBase, kJs, kTv };

/// All fields change results. The defaults compare the plain softmax of the logits, which keeps every
/// divergence finite; with a nucleus on the compared rows it may be infinite, when a token loses its support.
struct DivergenceOptions {
  Divergence kind = Divergence::kKlBaseNew;
  double temperature = 1.0;
  double top_p = 1.0;
};

/// Command-line values: "kl-base-new", "kl-new-base", "js", "tv"; "llada", "dream"; "untempered", "tempered".
std::string_view Name(Divergence divergence);
std::string_view Name(Convention convention);
std::string_view Name(ScoreOn score_on);
Convention ParseConvention(std::string_view name);
ScoreOn ParseScoreOn(std::string_view name);

// The deliberately naive twins of what sessions compute fused and vectorised: they allocate, sort and use libm.
// A row holds V normalised log-probabilities; -infinity marks impossible tokens.
Proposal ProposeFromRow(std::span<const double> log_probs, Position position, const ProposalOptions& options,
                        const StreamKey& key);
double DivergenceOfRows(std::span<const double> base, std::span<const double> fresh, const DivergenceOptions& options);

/// The distribution that proposals are drawn from: softmax(l/T) after nucleus, top-k and min-p; for T = 0 all
/// mass on the argmax. This is the law that enumeration sums over.
std::vector<double> ProposalLaw(std::span<const double> log_probs, const ProposalOptions& options);

}  // namespace punt
