// A session whose rows are conditioned on a language: what a model predicts, given that the text is in the language.
#pragma once

#include <memory>
#include <span>

#include "punt/constraint.h"
#include "punt/denoiser.h"

namespace punt {

/// Passes go to `inner`, and count as its passes do. Rows of positions in the constraint's stretch are those of the
/// product of the inner rows conditioned on the language:
///
///   p'_i(v) = P(x_i = v | x in the language),   x_j ~ p_j independently at masks, x_j as it is elsewhere
///
/// The proposals of one request are one draw from the conditioned product: whatever part of them is committed, the
/// canvas has a completion in the language. With a temperature T the product of the rows' T-th roots is conditioned;
/// filters keep tokens of each position given the ones drawn before it; temperature 0 proposes the most probable text.
///
/// Probabilities, entropies and divergences are of conditioned rows; in a divergence a token that only the language
/// excludes from one row counts as e^-30 times as probable there as in the other, so that it stays finite. Attention
/// and influence are the model's own. Rows outside the stretch are the inner ones.
///
/// A pass keeps 4 bytes (8 for small vocabularies) for each mask in the stretch and token. Both referents must outlive
/// the session.
std::unique_ptr<DenoiserSession> NewConstrainedSession(DenoiserSession& inner, const Constraint& constraint);

/// Whether a canvas has a completion in the language.
bool HasCompletion(const Constraint& constraint, std::span<const Token> canvas, Token mask);

}  // namespace punt
