// Nodes of a graph in parts that threads can compute at once.
//
// A part is a node like the original, with fewer columns (or channels): ggml computes it on one thread,
// independently of the others. What may be cut, and along which dimension:
//
//   column by column   norms, sums, products of elements, activations, RoPE, copies, rows picked from a table. Any
//                      number of columns, and several such nodes in a row can be computed for some columns, then for
//                      the next: see MayFollow.
//   in fixed parts     ggml's own products of matrices and attention: its instructions for a column depend on how many
//                      columns there are, so the parts are fixed by the shapes alone. Products are cut by columns;
//                      those with experts by channels, since an expert has few columns to begin with; attention by
//                      sequences, or by queries.
//
// Everything else is computed whole.
#pragma once

#include <ggml.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace punt {

struct Cut {
  static constexpr int kWhole = -1;
  int node = kWhole;  // the dimension that is cut, of the node and of each source
  std::array<int, GGML_MAX_SRC> sources = {};
  std::int64_t count = 1;  // number of columns, channels or whatever is cut
  std::int64_t part = 0;   // how many make a part; 0: any number

  bool is_by_columns() const { return node != kWhole && part == 0; }
  /// In fixed parts; the last takes what is left over. 1: the node is computed whole.
  std::int64_t parts() const { return part == 0 ? 1 : count < 2 * part ? 1 : count / part; }
  std::int64_t begin(std::int64_t index) const { return index * part; }
  std::int64_t end(std::int64_t index) const { return index + 1 == parts() ? count : begin(index + 1); }
};

/// How a node can be cut, by its operation and the shapes alone.
Cut CutOf(const ggml_tensor* node);

/// A node with its sources, cut.
class NodePart {
 public:
  NodePart() = default;
  NodePart(const NodePart&) = delete;
  NodePart& operator=(const NodePart&) = delete;

  /// Items `first` to `last` of the `count`. Valid until the next call.
  ggml_tensor* Of(const ggml_tensor* node, const Cut& cut, std::int64_t first, std::int64_t last);

 private:
  ggml_tensor node_;
  std::array<ggml_tensor, GGML_MAX_SRC> sources_;
};

/// Whether a node can be computed for some columns before the nodes before it have finished the others: if it touches
/// memory that they write, or writes what they touch, then only in the same columns. All are cut into equally many
/// columns and have their memory.
bool MayFollow(std::span<ggml_tensor* const> before, const ggml_tensor* node);

}  // namespace punt
