// What rows say of given tokens: log-probability, entropy, and the most probable tokens.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "punt/denoiser.h"
#include "punt/trace.h"

namespace punt {

struct PlacedToken {
  Position position = 0;
  Token token = 0;
};

struct RowReport {
  int step = 0;  // what CommitRow::step says
  int top = 0;   // how many of the most probable tokens
};

/// Reads the rows of `pass` at the positions of `tokens`, which it must promise; one per token, in order.
std::vector<CommitRow> ReadRows(DenoiserSession& session, const Pass& pass, std::span<const PlacedToken> tokens,
                                const RowReport& report);

/// To where their tokens are when the length has changed: see Resized (base/resized.h).
void MoveRows(std::span<const Position> inserted, std::span<const Position> removed,
              std::map<Position, CommitRow>& rows);

}  // namespace punt
