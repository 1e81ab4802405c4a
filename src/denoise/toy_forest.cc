// Belief propagation on a forest, exact because a forest has no cycles.
//
// Write e_i for the evidence at i: one-hot at a revealed token, all ones at a masked position. Two kinds of
// messages run along each edge i -> parent:
//   up_i(a)   = sum_b T_i[a][b] e_i(b) inside_i(b),    inside_i = product of up_c over the children c of i
//   down_i(b) = sum_a T_i[a][b] e_p(a) down_p(a) product of up_c(a) over the siblings c of i,    p = parent(i)
// with the root's own distribution as its down message. The conditional of i given every revealed token but
// its own is down_i * inside_i, normalised: e_i enters neither. One upward and one downward sweep therefore
// give the leave-one-out conditionals of all positions, in O(L V^2) together.
//
// Three details:
// - Products over siblings are built from prefixes and suffixes, never by dividing one factor out: with
//   deterministic tables (coupling = 1) factors are zero.
// - A message is only defined up to a factor. It is rescaled to a maximum of one when it gets small, so a
//   product along 4,096 positions does not underflow; a vector of zeros stays zero and means contradiction.
//   Known limit: a state that some neighbours make less likely than 1e-280 of its rivals counts as impossible, even
//   if other neighbours favour it as strongly. That takes more than a thousand siblings that agree
//   (or as many along a chain of zeros and ones); the toys avoid it, because their tables mix at every edge.
// - A subtree without evidence sends exactly ones, at no cost; a revealed end of an edge costs O(V).
//
// The revealed tokens are a product over components, so a contradiction in one makes the rows of all others
// uniform, while the rows inside it still see their own leave-one-out evidence.
//
// Tested by toy_forest_test.cc: every partial canvas of small forests against enumeration, stars (many
// siblings), contradictions inside and outside a component, chains of 4,096.
#include "denoise/toy_forest.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/check.h"
#include "denoise/toy_checks.h"

namespace punt {
namespace {

constexpr double kTableTolerance = 1e-9;
constexpr double kRescaleBelow = 1e-30;

void Rescale(double* values, std::size_t count) {
  double top = 0;
  for (std::size_t v = 0; v < count; ++v) top = std::max(top, values[v]);
  if (top >= kRescaleBelow || top == 0) return;
  for (std::size_t v = 0; v < count; ++v) values[v] /= top;
}

void MultiplyInto(double* __restrict product, const double* __restrict factor, std::size_t count) {
  for (std::size_t v = 0; v < count; ++v) product[v] *= factor[v];
  Rescale(product, count);
}

/// out[j] = sum_i in[i] matrix[i * count + j]. Row by row: the inner loop has no reduction and vectorises.
void MultiplyRows(const double* __restrict in, const double* __restrict matrix, std::size_t count,
                  double* __restrict out) {
  std::fill_n(out, count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = in[i];
    const double* row = matrix + i * count;
    for (std::size_t j = 0; j < count; ++j) out[j] += weight * row[j];
  }
}

void CheckDistribution(std::span<const double> row, Position position) {
  double sum = 0;
  for (double p : row) {
    if (!(p >= 0)) BadInput("the table of position {} holds {}, which is not a probability", position, p);
    sum += p;
  }
  if (!(std::abs(sum - 1) <= kTableTolerance)) {
    BadInput("a row of the table of position {} sums to {}, not to 1", position, sum);
  }
}

}  // namespace

ForestModel::ForestModel(int states, std::vector<Position> parents, const std::vector<std::vector<double>>& tables)
    : ExactModel(static_cast<int>(parents.size()), states), parents_(std::move(parents)) {
  if (parents_.empty() || states < 1) BadInput("a forest needs at least one position and one state");
  if (tables.size() != parents_.size()) {
    BadInput("a forest of {} positions needs as many tables, got {}", parents_.size(), tables.size());
  }
  OrderNodes();
  StoreTables(tables);
}

void ForestModel::OrderNodes() {
  const std::size_t n = parents_.size();
  std::vector<std::vector<Position>> children(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Position parent = parents_[i];
    if (parent < -1 || parent >= length()) BadInput("position {} has the impossible parent {}", i, parent);
    if (parent >= 0) children[static_cast<std::size_t>(parent)].push_back(static_cast<Position>(i));
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (parents_[i] != -1) continue;
    parent_.push_back(position_.size());
    root_.push_back(position_.size());
    position_.push_back(static_cast<Position>(i));
  }
  for (std::size_t rank = 0; rank < position_.size(); ++rank) {
    child_begin_.push_back(position_.size());
    for (Position child : children[static_cast<std::size_t>(position_[rank])]) {
      parent_.push_back(rank);
      root_.push_back(root_[rank]);
      position_.push_back(child);
    }
    child_end_.push_back(position_.size());
  }
  if (position_.size() != n) BadInput("the parents of {} positions form a cycle", n - position_.size());
}

void ForestModel::StoreTables(const std::vector<std::vector<double>>& tables) {
  const auto v = static_cast<std::size_t>(states());
  for (std::size_t rank = 0; rank < position_.size(); ++rank) {
    const Position position = position_[rank];
    const std::vector<double>& table = tables[static_cast<std::size_t>(position)];
    const bool is_root = parent_[rank] == rank;
    const std::size_t expected = is_root ? v : v * v;
    if (table.size() != expected) {
      BadInput("the table of position {} needs {} numbers, got {}", position, expected, table.size());
    }
    for (std::size_t a = 0; a < expected; a += v) CheckDistribution(std::span(table).subspan(a, v), position);
    offset_.push_back(tables_.size());
    tables_.insert(tables_.end(), table.begin(), table.end());
    if (is_root) continue;
    for (std::size_t b = 0; b < v; ++b) {
      for (std::size_t a = 0; a < v; ++a) tables_.push_back(table[a * v + b]);
    }
  }
}

/// The messages of one call.
class ForestModel::Sweep {
 public:
  Sweep(const ForestModel& model, std::span<const Token> canvas)
      : model_(model),
        canvas_(canvas),
        n_(model.position_.size()),
        v_(static_cast<std::size_t>(model.states())),
        numbers_(std::make_unique_for_overwrite<double[]>((3 * n_ + 2) * v_)),
        informed_(n_, false) {}

  void Upward() {
    for (std::size_t rank = n_; rank-- > 0;) {
      double* inside = Inside(rank);
      std::fill_n(inside, v_, 1.0);
      bool informed = Evidence(rank) >= 0;
      for (std::size_t child = model_.child_begin_[rank]; child < model_.child_end_[rank]; ++child) {
        if (!informed_[child]) continue;
        informed = true;
        MultiplyInto(inside, Up(child), v_);
      }
      informed_[rank] = informed;
      if (model_.parent_[rank] != rank) SendUp(rank);
    }
  }

  void Downward() {
    for (std::size_t rank = 0; rank < n_; ++rank) {
      if (model_.parent_[rank] == rank) std::copy_n(model_.Prior(rank), v_, Down(rank));
      if (model_.child_begin_[rank] != model_.child_end_[rank]) SendDown(rank);
    }
  }

  /// After both sweeps.
  void Write(std::span<double> out) const {
    std::size_t contradictions = 0;
    std::vector<bool> is_contradiction(n_, false);  // only roots are looked at
    for (std::size_t rank = 0; rank < n_ && model_.parent_[rank] == rank; ++rank) {
      is_contradiction[rank] = IsContradiction(rank);
      contradictions += is_contradiction[rank] ? 1 : 0;
    }
    for (std::size_t rank = 0; rank < n_; ++rank) {
      const auto position = static_cast<std::size_t>(model_.position_[rank]);
      if (position >= canvas_.size()) continue;
      const bool elsewhere = contradictions > (is_contradiction[model_.root_[rank]] ? 1u : 0u);
      WriteRow(rank, elsewhere, &out[position * v_]);
    }
  }

 private:
  double* Inside(std::size_t rank) const { return &numbers_[rank * v_]; }
  double* Up(std::size_t rank) const { return &numbers_[(n_ + rank) * v_]; }
  double* Down(std::size_t rank) const { return &numbers_[(2 * n_ + rank) * v_]; }

  /// The revealed token, or -1.
  Token Evidence(std::size_t rank) const {
    const auto position = static_cast<std::size_t>(model_.position_[rank]);
    if (position >= canvas_.size()) return -1;
    const Token token = canvas_[position];
    return token >= model_.states() ? -1 : token;
  }

  void SendUp(std::size_t rank) {
    double* up = Up(rank);
    if (!informed_[rank]) {
      std::fill_n(up, v_, 1.0);
      return;
    }
    const Token token = Evidence(rank);
    if (token >= 0) {
      const double weight = Inside(rank)[token];
      const double* column = model_.Transposed(rank) + static_cast<std::size_t>(token) * v_;
      for (std::size_t a = 0; a < v_; ++a) up[a] = weight * column[a];
    } else {
      MultiplyRows(Inside(rank), model_.Transposed(rank), v_, up);
    }
    Rescale(up, v_);
  }

  void SendDown(std::size_t rank) {
    const std::size_t begin = model_.child_begin_[rank];
    const std::size_t end = model_.child_end_[rank];
    // Products of the up messages of later siblings wait where the down messages will be.
    std::fill_n(Down(end - 1), v_, 1.0);
    for (std::size_t child = end - 1; child-- > begin;) {
      std::copy_n(Down(child + 1), v_, Down(child));
      if (informed_[child + 1]) MultiplyInto(Down(child), Up(child + 1), v_);
    }
    double* prefix = &numbers_[3 * n_ * v_];
    double* cavity = prefix + v_;
    std::copy_n(Down(rank), v_, prefix);
    const Token token = Evidence(rank);
    for (std::size_t child = begin; child < end; ++child) {
      double* down = Down(child);
      if (token >= 0) {
        const double weight = prefix[token] * down[token];
        const double* row = model_.Table(child) + static_cast<std::size_t>(token) * v_;
        for (std::size_t b = 0; b < v_; ++b) down[b] = weight * row[b];
      } else {
        for (std::size_t a = 0; a < v_; ++a) cavity[a] = prefix[a] * down[a];
        MultiplyRows(cavity, model_.Table(child), v_, down);
      }
      Rescale(down, v_);
      if (informed_[child]) MultiplyInto(prefix, Up(child), v_);
    }
  }

  /// Whether the evidence of a root's component has probability zero.
  bool IsContradiction(std::size_t root) const {
    const Token token = Evidence(root);
    for (std::size_t v = 0; v < v_; ++v) {
      if (token >= 0 && static_cast<std::size_t>(token) != v) continue;
      if (Down(root)[v] * Inside(root)[v] > 0) return false;
    }
    return true;
  }

  void WriteRow(std::size_t rank, bool contradiction_elsewhere, double* row) const {
    double sum = 0;
    for (std::size_t v = 0; v < v_; ++v) sum += row[v] = Down(rank)[v] * Inside(rank)[v];
    const bool uniform = contradiction_elsewhere || !(sum > 0);
    for (std::size_t v = 0; v < v_; ++v) row[v] = uniform ? 1.0 / static_cast<double>(v_) : row[v] / sum;
  }

  const ForestModel& model_;
  const std::span<const Token> canvas_;
  const std::size_t n_;
  const std::size_t v_;
  const std::unique_ptr<double[]> numbers_;  // inside, up, down: [n x V] each; two vectors of scratch
  std::vector<char> informed_;               // the subtree holds evidence
};

void ForestModel::Conditionals(std::span<const Token> canvas, std::span<double> out) const {
  CheckConditionals(*this, canvas, out);
  Sweep sweep(*this, canvas);
  sweep.Upward();
  sweep.Downward();
  sweep.Write(out);
}

double ForestModel::Probability(std::span<const Token> tokens) const {
  CheckSequence(*this, tokens);
  double probability = 1;
  for (std::size_t rank = 0; rank < position_.size(); ++rank) {
    const auto token = static_cast<std::size_t>(tokens[static_cast<std::size_t>(position_[rank])]);
    const auto above = static_cast<std::size_t>(tokens[static_cast<std::size_t>(position_[parent_[rank]])]);
    const bool is_root = parent_[rank] == rank;
    probability *= is_root ? Prior(rank)[token] : Table(rank)[above * static_cast<std::size_t>(states()) + token];
  }
  return probability;
}

}  // namespace punt
