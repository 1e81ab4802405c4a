#include "model/linear.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/suggest.h"

namespace punt {
namespace {

constexpr std::pair<std::string_view, Compute> kComputes[] = {{"auto", Compute::kAuto},
                                                              {"exact", Compute::kExact},
                                                              {"float", Compute::kFloat},
                                                              {"int8", Compute::kInt8},
                                                              {"ggml", Compute::kGgml}};

// Work that is not worth sharing: a few microseconds of one thread.
constexpr std::int64_t kFewNumbers = 16384;  // to lay out
constexpr std::int64_t kFewProducts = 500'000;
// What a thread should take at once: some 100 microseconds, which others may have to wait at the end.
constexpr std::int64_t kManyProducts = 5'000'000;
constexpr std::int64_t kMostPortionsPerThread = 8;
// Rows are shared out only if every thread gets at least this many, because each widens the weights for its own.
constexpr std::int64_t kRowsPerThread = 24;

bool IsFloat(ggml_type type) { return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16; }

/// Part `ith` of `nth` of `count` things.
struct Part {
  std::int64_t first;
  std::int64_t last;
};
Part PartOf(std::int64_t count, std::int64_t ith, std::int64_t nth) {
  return {count * ith / nth, count * (ith + 1) / nth};
}

template <RowsForm form>
void RunLayOut(ggml_tensor* node, int ith, int nth, void* userdata) {
  const ggml_tensor* x = node->src[0];
  const RowsShape shape{.depth = x->ne[0], .rows = x->ne[1]};
  const auto lay_out = [&](std::int64_t first, std::int64_t last) {
    const RowsShare share{.x = static_cast<const float*>(x->data),
                          .stride = static_cast<std::int64_t>(x->nb[1] / sizeof(float)),
                          .first = first,
                          .last = last};
    LayOutRows(form, shape, share, static_cast<std::byte*>(node->data));
  };
  if (nth > 1 || shape.depth * shape.rows < kFewNumbers) {
    const Part part = PartOf(shape.rows, ith, nth);
    return lay_out(part.first, part.last);
  }
  ThreadPool& team = *static_cast<ThreadPool*>(userdata);
  const std::int64_t parts = std::min<std::int64_t>(shape.rows, team.size());
  team.For(static_cast<std::size_t>(parts), [&](std::size_t begin, std::size_t end, int) {
    lay_out(shape.rows * static_cast<std::int64_t>(begin) / parts, shape.rows * static_cast<std::int64_t>(end) / parts);
  });
}

ggml_custom_op_t LayOutOf(RowsForm form) {
  switch (form) {
    case RowsForm::kFloat:
      return RunLayOut<RowsForm::kFloat>;
    case RowsForm::kInt16:
      return RunLayOut<RowsForm::kInt16>;
    case RowsForm::kInt12:
      return RunLayOut<RowsForm::kInt12>;
    default:
      return RunLayOut<RowsForm::kInt8>;
  }
}

/// How a product is shared out: first by rows, since the thread that laid rows out, or computes with the result, takes
/// the same rows and has them in its cache; then by channels.
struct Portions {
  Portions(std::int64_t rows, std::int64_t groups, std::int64_t depth, int threads) {
    const std::int64_t products = rows * groups * kGroup * kPanel * depth;
    const std::int64_t all =
        std::clamp<std::int64_t>(products / kManyProducts, threads, threads * kMostPortionsPerThread);
    of_rows = std::clamp<std::int64_t>(rows / kRowsPerThread, 1, threads);
    of_groups = std::min(groups, (all + of_rows - 1) / of_rows);
  }

  std::int64_t of_rows = 1;
  std::int64_t of_groups = 1;
};

void RunMultiply(ggml_tensor* node, int ith, int nth, void* userdata) {
  const auto& [weights, team] = *static_cast<const Product*>(userdata);
  const RowsShape shape{.depth = weights.depth(), .rows = node->ne[1]};
  const std::int64_t groups = (weights.panels() + kGroup - 1) / kGroup;
  const auto multiply = [&](const Part& part, const Part& rows) {
    Multiply(weights, shape, static_cast<const std::byte*>(node->src[0]->data),
             {.first = part.first * kGroup,
              .last = std::min(part.last * kGroup, weights.panels()),
              .y = static_cast<float*>(node->data),
              .first_row = rows.first,
              .last_row = rows.last});
  };
  const bool is_small = shape.depth * shape.rows * weights.channels() < kFewProducts;
  if (nth > 1 || is_small || team.size() == 1) return multiply(PartOf(groups, ith, nth), {0, shape.rows});
  const Portions portions(shape.rows, groups, shape.depth, team.size());
  team.For(static_cast<std::size_t>(portions.of_rows * portions.of_groups),
           [&](std::size_t begin, std::size_t end, int) {
             for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
               multiply(PartOf(groups, i / portions.of_rows, portions.of_groups),
                        PartOf(shape.rows, i % portions.of_rows, portions.of_rows));
             }
           });
}

}  // namespace

Compute ParseCompute(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [each, compute] : kComputes) {
    if (each == name) return compute;
    names.push_back(each);
  }
  BadInput("unknown compute '{}'{}; valid: {}", name, DidYouMean(name, names), fmt::join(names, ", "));
}

LinearKernel ChooseKernel(Compute compute, ggml_type type, std::string_view name) {
  if (compute == Compute::kGgml) return LinearKernel::kGgml;
  const bool is_router = name.find("ffn_gate_inp") != std::string_view::npos;
  if (compute == Compute::kInt8 && !is_router && (IsFloat(type) || ggml_is_quantized(type))) return LinearKernel::kInt8;
  if (IsFloat(type)) {
    const bool rounds = compute != Compute::kFloat && type == GGML_TYPE_F16 && !is_router;
    return rounds ? LinearKernel::kInt16 : LinearKernel::kFloat;
  }
  const bool is_kept = PackedExactly(type) || (KeptForm(type) != PackedForm::kInt8 && !is_router);
  return is_kept ? LinearKernel::kInt8 : LinearKernel::kGgml;
}

PackedForm FormFor(LinearKernel kernel, ggml_type type) {
  Check(kernel != LinearKernel::kGgml, "ggml multiplies weights as they are");
  if (kernel == LinearKernel::kInt16) return PackedForm::kInt16;
  if (kernel == LinearKernel::kInt8) return KeptForm(type);
  return type == GGML_TYPE_F32 ? PackedForm::kF32 : type == GGML_TYPE_F16 ? PackedForm::kF16 : PackedForm::kBf16;
}

PackedMatrix& LinearWeights::Add(const ggml_tensor* weight, PackedForm form) {
  auto& matrix = by_tensor_[weight];
  matrix = std::make_unique<PackedMatrix>(form, weight->ne[0], weight->ne[1], weight->ne[2]);
  return *matrix;
}

const PackedMatrix* LinearWeights::Find(const ggml_tensor* weight) const {
  const auto found = by_tensor_.find(weight);
  return found == by_tensor_.end() ? nullptr : found->second.get();
}

std::size_t LinearWeights::bytes() const {
  std::size_t sum = 0;
  for (const auto& [weight, matrix] : by_tensor_) sum += matrix->bytes();
  return sum;
}

LaidOut LayOutNode(ggml_context* context, ggml_tensor* x, RowsForm form, ThreadPool& team) {
  Check(x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float) && ggml_is_matrix(x), "rows of another kind");
  const RowsShape shape{.depth = x->ne[0], .rows = x->ne[1]};
  ggml_tensor* node = ggml_custom_4d(context, GGML_TYPE_I8, static_cast<std::int64_t>(shape.Bytes(form)), 1, 1, 1, &x,
                                     1, LayOutOf(form), GGML_N_TASKS_MAX, &team);
  return {.node = node, .rows = shape.rows};
}

ggml_tensor* MultiplyNode(ggml_context* context, const Product& product, const LaidOut& laid_out) {
  ggml_tensor* sources[] = {laid_out.node};
  // ggml passes the pointer through as writable, but no one writes.
  return ggml_custom_4d(context, GGML_TYPE_F32, product.weights.channels(), laid_out.rows, 1, 1, sources, 1,
                        RunMultiply, GGML_N_TASKS_MAX, const_cast<Product*>(&product));
}

}  // namespace punt
