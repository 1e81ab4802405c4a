#include "generate/commit_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace punt {
namespace {

constexpr std::size_t kPortion = 8;  // dense rows at a time: 8 MB with a large vocabulary

std::vector<RankedToken> Best(std::span<const double> row, int count) {
  std::vector<Token> tokens;
  for (std::size_t v = 0; count > 0 && v < row.size(); ++v) {
    if (row[v] > -std::numeric_limits<double>::infinity()) tokens.push_back(static_cast<Token>(v));
  }
  const auto log_prob = [&](Token token) { return row[static_cast<std::size_t>(token)]; };
  const auto end = tokens.begin() + std::min<std::ptrdiff_t>(std::ssize(tokens), count);
  std::partial_sort(tokens.begin(), end, tokens.end(),
                    [&](Token a, Token b) { return log_prob(a) != log_prob(b) ? log_prob(a) > log_prob(b) : a < b; });
  std::vector<RankedToken> best;
  for (auto it = tokens.begin(); it != end; ++it) best.push_back({*it, log_prob(*it)});
  return best;
}

double Entropy(std::span<const double> row) {
  double entropy = 0;
  for (double log_prob : row) {
    const double prob = std::exp(log_prob);
    if (prob > 0) entropy -= prob * log_prob;
  }
  return std::max(entropy, 0.0);
}

}  // namespace

std::vector<CommitRow> ReadRows(DenoiserSession& session, const Pass& pass, std::span<const PlacedToken> tokens,
                                const RowReport& report) {
  const auto vocab = static_cast<std::size_t>(session.info().vocab_size);
  std::vector<CommitRow> rows;
  std::vector<double> dense;
  for (std::size_t begin = 0; begin < tokens.size(); begin += kPortion) {
    const auto portion = tokens.subspan(begin, std::min(kPortion, tokens.size() - begin));
    std::vector<Position> positions;
    for (const PlacedToken& placed : portion) positions.push_back(placed.position);
    dense.resize(positions.size() * vocab);
    const LogProbRequest request{.pass = &pass, .rows = positions, .out = dense};
    session.LogProbs({&request, 1});
    for (std::size_t i = 0; i < portion.size(); ++i) {
      const auto row = std::span<const double>(dense).subspan(i * vocab, vocab);
      rows.push_back({.position = portion[i].position,
                      .step = report.step,
                      .token = portion[i].token,
                      .log_prob = row[static_cast<std::size_t>(portion[i].token)],
                      .entropy = Entropy(row),
                      .top = Best(row, report.top)});
    }
  }
  return rows;
}

void MoveRows(std::span<const Position> inserted, std::span<const Position> removed,
              std::map<Position, CommitRow>& rows) {
  std::map<Position, CommitRow> moved;
  for (auto& [position, row] : rows) {
    if (std::binary_search(removed.begin(), removed.end(), position)) continue;
    const auto before = std::upper_bound(inserted.begin(), inserted.end(), position) - inserted.begin();
    const auto gone = std::lower_bound(removed.begin(), removed.end(), position) - removed.begin();
    row.position = static_cast<Position>(position + before - gone);
    moved[row.position] = std::move(row);
  }
  rows = std::move(moved);
}

}  // namespace punt
