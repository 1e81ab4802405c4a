// Linear layers: which kernel multiplies a weight matrix, and the nodes of a graph that run it.
//
// The kernels of linear_kernels.h are brought into ggml's graphs as custom operations. A product is two nodes: one lays
// the activations out (once for all matrices that read them), one multiplies. Weights are copied into panels when a
// network is opened.
//
// ggml computes with one thread (graph_computer.h), and these share their work out over the runner's team: rows to lay
// out, panels to multiply, which free threads take a few at a time. A panel does not depend on the thread that computes
// it. (Beside a GPU ggml has its own threads; then each computes its share.)
//
// The rule depends only on the type of the weights. It must not depend on the number of rows, nor on a timing: a row
// would get other bits in another batch or another run.
//
//   compute   f32, bf16   f16     q8_0, q5_0,   q4_0, q4_1,   q2_K, q3_K, q5_K,   other types
//                                 iq4_nl        q4_K          q6_K, iq4_xs
//   exact     float       int16   int8          int4          scaled              ggml
//   float     float       float   int8          int4          scaled              ggml
//   int8      int8        int8    int8          int4          scaled              int8
//   ggml      ggml        ggml    ggml          ggml          ggml                ggml
//   auto      as exact
//
// `exact` rounds no more coarsely than ggml does for that type: not at all for f32 and bf16; activations to 16 bits and
// weights to about 13 for f16, where ggml rounds activations to f16; activations to 16 bits for q8_0, q5_0 and iq4_nl,
// to 8 for the 4-bit types, and to 12 for K-quants and iq4_xs, where ggml rounds to 8. Experts of mixtures follow the
// rule as well (expert_products.h).
//
// `float` rounds nothing in a file of floats. `int8` rounds all weights to blocks of 8 bits, as in q8_0. Routers of
// experts are never rounded: a row changes completely when another expert is chosen. docs/performance.md has the speeds
// and errors.
#pragma once

#include <ggml.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/thread_pool.h"
#include "kernels/linear_kernels.h"

namespace punt {

enum class Compute { kAuto, kExact, kFloat, kInt8, kGgml };

/// "auto", "exact", "float", "int8" or "ggml". Throws Error listing them.
Compute ParseCompute(std::string_view name);

/// kInt8 stands for all kernels of whole numbers, int8, int4 and scaled: the type says which.
enum class LinearKernel { kGgml, kFloat, kInt16, kInt8 };

/// The rule above. `name` is the tensor's.
LinearKernel ChooseKernel(Compute compute, ggml_type type, std::string_view name);

/// The form in which a kernel needs weights of this type; not for kGgml.
PackedForm FormFor(LinearKernel kernel, ggml_type type);

/// The packed matrices of a network, by the tensors they stand for. Immutable once the network is open; matrices do not
/// move, since graphs point to them.
class LinearWeights {
 public:
  PackedMatrix& Add(const ggml_tensor* weight, PackedForm form);
  /// Null: ggml multiplies this one.
  const PackedMatrix* Find(const ggml_tensor* weight) const;
  std::size_t bytes() const;

 private:
  std::map<const ggml_tensor*, std::unique_ptr<PackedMatrix>> by_tensor_;
};

/// Rows of a graph as products read them.
struct LaidOut {
  ggml_tensor* node = nullptr;
  std::int64_t rows = 0;
};

/// A node with the rows of x, f32 [depth, rows], as MultiplyNode needs them for weights with this form of rows. `team`
/// must outlive the graph.
LaidOut LayOutNode(ggml_context* context, ggml_tensor* x, RowsForm form, ThreadPool& team);

/// What the node of a product must know. It must outlive the graph, and so must what it refers to.
struct Product {
  const PackedMatrix& weights;
  ThreadPool& team;
};
/// A node with the product, f32 [channels, rows].
ggml_tensor* MultiplyNode(ggml_context* context, const Product& product, const LaidOut& laid_out);

}  // namespace punt
