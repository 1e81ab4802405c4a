// What a planner may risk on tests so that a run never takes more passes than one token at a time would.
//
// One by one, L tokens take L passes. A search for independent tokens pays for its tests only if it finds enough of
// them; on short canvases, and where everything depends on everything, it does not. No rule knows that beforehand: a
// search whose every outcome pays for itself could never gain anything. So a search is a bet, and the debt that a lost
// one leaves is kept small and paid back:
//
//   debt       passes so far, this step's base pass included, minus one for every token committed and one for the token
//              that this step commits in any case. Negative when searches have paid.
//   bets       a search may begin if, should it find nothing, the debt stays within one pass per kPassesAtRisk masked
//              positions of the scope. If that is not enough to search the whole set, as many of the best are searched
//              as possible.
//   patience   as long as the run's searches have paid in total, the next one need not: gains may be spent, as the
//              paper does. Otherwise the next one waits for as many steps without tests as the last one had tests; when
//              several in a row did not pay, for as many as they had together.
//   paying     a step without tests commits the best token. While there is debt it also commits tokens of probability
//              kCertain and more, on which little can depend, one per pass of debt. When the masked positions of the
//              scope are no more than the debt plus one, all of them are committed at once: only this keeps the
//              promise, and it concerns at most one token in kPassesAtRisk.
//
// So the debt is never positive when a scope is full, and passes <= tokens.
//
// Planners that wrap such a planner keep the promise with it: `spacing` filters nothing out of the last payment, and
// `hybrid` makes the second planner pay what the first one owes. A planner that promises nothing (fallback=false, one
// that takes tokens back, a schedule with empty steps) is not made to keep it by a wrapper.
//
// Tested by pass_debt_test.cc on erratic influences, and by tests/pass_bound_test.cc on models.
#pragma once

#include <cstddef>
#include <functional>

#include "punt/planner.h"

namespace punt {

int PassDebt(const StepView& view);

/// The passes by which a search among the best `candidates` may fall behind one by one, at worst.
using WorstLoss = std::function<int(std::size_t candidates)>;

/// How many of the best proposals to search; 0: no search now. Needs past_steps.
std::size_t AffordableCandidates(const StepView& view, const WorstLoss& loss);

/// Whether this step must commit all that is masked in the scope: another pass would be one too many.
bool IsLastPass(const StepView& view);

/// The step without tests.
Plan CommitWithoutTests(const StepView& view);

}  // namespace punt
