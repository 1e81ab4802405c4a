#include "model/linear.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <new>
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

// How finely products are shared out.
constexpr std::int64_t kPortionsPerThread = 8;

bool IsFloat(ggml_type type) { return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16; }

/// The part of `count` things that thread `ith` of `nth` does.
struct Part {
  std::int64_t first;
  std::int64_t last;
};
Part PartOf(std::int64_t count, int ith, int nth) { return {count * ith / nth, count * (ith + 1) / nth}; }

/// From which the threads that compute a node take their next panels; as large as a cache line.
struct PanelCounter {
  std::atomic<std::int64_t> next;
  std::byte padding[64 - sizeof(std::atomic<std::int64_t>)];
};
constexpr std::size_t kCounterBytes = kMostReaders * sizeof(PanelCounter);

PanelCounter* CountersOf(const ggml_tensor* laid_out) {
  return reinterpret_cast<PanelCounter*>(static_cast<std::byte*>(laid_out->data) + ggml_nbytes(laid_out) -
                                         kCounterBytes);
}

template <RowsForm form>
void RunLayOut(ggml_tensor* node, int ith, int nth, void*) {
  if (ith == 0) {
    for (int i = 0; i < kMostReaders; ++i) new (CountersOf(node) + i) PanelCounter{};
  }
  const ggml_tensor* x = node->src[0];
  const RowsShape shape{.depth = x->ne[0], .rows = x->ne[1]};
  const Part part = PartOf(shape.rows, ith, nth);
  const RowsShare share{.x = static_cast<const float*>(x->data),
                        .stride = static_cast<std::int64_t>(x->nb[1] / sizeof(float)),
                        .first = part.first,
                        .last = part.last};
  LayOutRows(form, shape, share, static_cast<std::byte*>(node->data));
}

ggml_custom_op_t LayOutOf(RowsForm form) {
  switch (form) {
    case RowsForm::kFloat:
      return RunLayOut<RowsForm::kFloat>;
    case RowsForm::kInt16:
      return RunLayOut<RowsForm::kInt16>;
    default:
      return RunLayOut<RowsForm::kInt8>;
  }
}

void RunMultiply(ggml_tensor* node, int, int nth, void* userdata) {
  const auto& weights = *static_cast<const PackedMatrix*>(userdata);
  const RowsShape shape{.depth = weights.depth(), .rows = node->ne[1]};
  const auto multiply = [&](std::int64_t first, std::int64_t last) {
    Multiply(weights, shape, static_cast<const std::byte*>(node->src[0]->data),
             {.first = first, .last = last, .y = static_cast<float*>(node->data)});
  };
  if (nth == 1) return multiply(0, weights.panels());
  auto& next = static_cast<PanelCounter*>(node->src[1]->data)->next;
  // Whole groups of panels, at least one.
  const std::int64_t groups = weights.panels() / kGroup / (nth * kPortionsPerThread);
  const std::int64_t portion = std::max<std::int64_t>(groups, 1) * kGroup;
  for (;;) {
    const std::int64_t first = next.fetch_add(portion, std::memory_order_relaxed);
    if (first >= weights.panels()) return;
    multiply(first, std::min(first + portion, weights.panels()));
  }
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
  const bool is_kept = PackedExactly(type) || (PackedInNibbles(type) && !is_router);
  return is_kept ? LinearKernel::kInt8 : LinearKernel::kGgml;
}

PackedForm FormFor(LinearKernel kernel, ggml_type type) {
  Check(kernel != LinearKernel::kGgml, "ggml multiplies weights as they are");
  if (kernel == LinearKernel::kInt16) return PackedForm::kInt16;
  if (kernel == LinearKernel::kInt8 && type == GGML_TYPE_Q4_0) return PackedForm::kInt4;
  if (kernel == LinearKernel::kInt8 && type == GGML_TYPE_Q4_K) return PackedForm::kInt4Min;
  if (kernel == LinearKernel::kInt8) return PackedForm::kInt8;
  return type == GGML_TYPE_F32 ? PackedForm::kF32 : type == GGML_TYPE_F16 ? PackedForm::kF16 : PackedForm::kBf16;
}

PackedMatrix& LinearWeights::Add(const ggml_tensor* weight, PackedForm form) {
  auto& matrix = by_tensor_[weight];
  matrix = std::make_unique<PackedMatrix>(form, weight->ne[0], weight->ne[1]);
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

LaidOut LayOutNode(ggml_context* context, ggml_tensor* x, RowsForm form) {
  Check(x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float) && ggml_is_matrix(x), "rows of another kind");
  const RowsShape shape{.depth = x->ne[0], .rows = x->ne[1]};
  const std::size_t bytes = shape.Bytes(form);
  const std::size_t aligned = (bytes + sizeof(PanelCounter) - 1) / sizeof(PanelCounter) * sizeof(PanelCounter);
  ggml_tensor* node = ggml_custom_4d(context, GGML_TYPE_I8, static_cast<std::int64_t>(aligned + kCounterBytes), 1, 1, 1,
                                     &x, 1, LayOutOf(form), GGML_N_TASKS_MAX, nullptr);
  return {.node = node, .rows = shape.rows};
}

ggml_tensor* MultiplyNode(ggml_context* context, const PackedMatrix& weights, LaidOut& laid_out) {
  Check(laid_out.readers < kMostReaders, "too many products of the same rows");
  const std::size_t counter =
      ggml_nbytes(laid_out.node) - kCounterBytes + static_cast<std::size_t>(laid_out.readers++) * sizeof(PanelCounter);
  ggml_tensor* sources[] = {laid_out.node, ggml_view_1d(context, laid_out.node, sizeof(PanelCounter), counter)};
  // ggml passes the pointer through as writable; nobody writes.
  return ggml_custom_4d(context, GGML_TYPE_F32, weights.channels(), laid_out.rows, 1, 1, sources, 2, RunMultiply,
                        GGML_N_TASKS_MAX, const_cast<PackedMatrix*>(&weights));
}

}  // namespace punt
