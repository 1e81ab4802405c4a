#include "denoise/toy_coupled.h"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "denoise/toy_random.h"

namespace punt {
namespace {

constexpr double kMaxTableNumbers = 0x1p25;

std::vector<double> CoupledTable(const CoupledForest& options, Position node, const std::vector<double>& row) {
  RandomStream stream = ToyStream(options.seed, ToyPart::kPermutation, node);
  const std::vector<Position> target = DrawPermutation(options.states, stream);
  std::vector<double> table;
  table.reserve(row.size() * row.size());
  for (Position next : target) {
    for (std::size_t b = 0; b < row.size(); ++b) {
      const double jump = static_cast<std::size_t>(next) == b ? options.coupling : 0.0;
      table.push_back((1 - options.coupling) * row[b] + jump);
    }
  }
  return table;
}

/// The position of each node.
std::vector<Position> Places(const CoupledForest& options, int nodes) {
  if (options.permute) {
    RandomStream stream = ToyStream(options.seed, ToyPart::kOrder, 0);
    return DrawPermutation(nodes, stream);
  }
  std::vector<Position> places(static_cast<std::size_t>(nodes));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

}  // namespace

std::unique_ptr<const ForestModel> MakeCoupledForest(const CoupledForest& options,
                                                     std::span<const Position> node_parents) {
  const auto nodes = static_cast<int>(node_parents.size());
  double numbers = 0;
  for (Position parent : node_parents) numbers += std::pow(options.states, parent < 0 ? 1 : 2);
  if (numbers > kMaxTableNumbers) {
    BadInput("length {} with vocab {} needs tables of {} numbers, more than {}", nodes, options.states, numbers,
             kMaxTableNumbers);
  }
  const std::vector<Position> places = Places(options, nodes);
  std::vector<Position> parents(node_parents.size(), -1);
  std::vector<std::vector<double>> tables(node_parents.size());
  for (std::size_t node = 0; node < node_parents.size(); ++node) {
    const auto name = static_cast<Position>(node);
    const Position parent = node_parents[node];
    Check(parent >= -1 && parent < name, "a node before its parent");
    RandomStream stream = ToyStream(options.seed, ToyPart::kTable, name);
    std::vector<double> row = DrawDirichlet(options.states, options.concentration, stream);
    const auto place = static_cast<std::size_t>(places[node]);
    parents[place] = parent < 0 ? -1 : places[static_cast<std::size_t>(parent)];
    tables[place] = parent < 0 ? std::move(row) : CoupledTable(options, name, row);
  }
  return std::make_unique<ForestModel>(options.states, std::move(parents), tables);
}

}  // namespace punt
