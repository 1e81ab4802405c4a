#include "model/expert_products.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace punt {
namespace {

constexpr std::int64_t kFewProducts = 500'000;  // not worth sharing
constexpr std::int64_t kPortionsPerThread = 4;  // at least, so that no thread waits long for the last one
using Count = std::int64_t;

/// Slot i * used + j is the j-th expert of row i.
class SlotsByExpert {
 public:
  SlotsByExpert(const ggml_tensor* experts, Count count) : starts_(static_cast<std::size_t>(count) + 1) {
    const Count used = experts->ne[0];
    const auto chosen = [&](Count slot) {
      const auto* bytes = static_cast<const std::byte*>(experts->data);
      bytes += static_cast<std::size_t>(slot / used) * experts->nb[1] +
               static_cast<std::size_t>(slot % used) * experts->nb[0];
      const auto expert = static_cast<Count>(*reinterpret_cast<const std::int32_t*>(bytes));
      Check(expert >= 0 && expert < count, "an expert that there is not");
      return static_cast<std::size_t>(expert);
    };
    slots_.resize(static_cast<std::size_t>(used * experts->ne[1]));
    for (Count slot = 0; slot < std::ssize(slots_); ++slot) ++starts_[chosen(slot) + 1];
    for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (Count slot = 0; slot < std::ssize(slots_); ++slot) slots_[next[chosen(slot)]++] = slot;
  }

  std::span<const Count> Of(Count expert) const {
    const auto at = static_cast<std::size_t>(expert);
    return std::span(slots_).subspan(starts_[at], starts_[at + 1] - starts_[at]);
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<Count> slots_;
};

/// What a thread takes at once: groups of panels of an expert, for all its rows.
struct Portion {
  Count expert = 0;
  Count first_panel = 0;
  Count last_panel = 0;
};

std::vector<Portion> PortionsOf(const SlotsByExpert& slots, const PackedMatrix& weights, Count wanted) {
  std::vector<Count> chosen;
  for (Count expert = 0; expert < weights.parts(); ++expert) {
    if (!slots.Of(expert).empty()) chosen.push_back(expert);
  }
  const Count groups = (weights.panels_of_part() + kGroup - 1) / kGroup;
  const Count cuts = std::clamp<Count>((wanted + std::ssize(chosen) - 1) / std::ssize(chosen), 1, groups);
  std::vector<Portion> portions;
  for (Count expert : chosen) {
    for (Count i = 0; i < cuts; ++i) {
      portions.push_back({.expert = expert,
                          .first_panel = groups * i / cuts * kGroup,
                          .last_panel = std::min(groups * (i + 1) / cuts * kGroup, weights.panels_of_part())});
    }
  }
  return portions;
}

/// What is laid out, and where the products go.
struct Task {
  const PackedMatrix& weights;
  RowsShape shape;
  const std::byte* laid_out = nullptr;
  Count used = 0;  // slots of a row; 1 where there is a row for every slot
  float* y = nullptr;
};

void Compute(const Task& task, const Portion& portion, std::span<const Count> slots) {
  std::vector<Count> rows;
  for (Count slot : slots) rows.push_back(slot / task.used);
  const RowsForm form = task.weights.rows_form();
  const RowsShape shape{.depth = task.shape.depth, .rows = std::ssize(rows)};
  std::vector<std::byte> gathered(shape.Bytes(form));
  GatherRows(form, task.shape, task.laid_out, rows, gathered.data());
  const Count channels = task.weights.channels();
  std::vector<float> products(slots.size() * static_cast<std::size_t>(channels));
  Multiply(task.weights, shape, gathered.data(),
           {.first = portion.first_panel, .last = portion.last_panel, .y = products.data(), .part = portion.expert});
  const Count first = portion.first_panel * kPanel;
  const Count count = std::min(portion.last_panel * kPanel, channels) - first;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::copy_n(products.data() + static_cast<Count>(i) * channels + first, count,
                task.y + slots[i] * channels + first);
  }
}

void RunExperts(ggml_tensor* node, int ith, int nth, void* userdata) {
  const auto& [weights, team] = *static_cast<const Product*>(userdata);
  const ggml_tensor* experts = node->src[1];
  const auto row_bytes = static_cast<Count>(RowsShape{.depth = weights.depth(), .rows = 1}.Bytes(weights.rows_form()));
  const Count rows = node->src[0]->ne[0] / row_bytes;
  const Count slots_count = experts->ne[0] * experts->ne[1];
  const Task task{.weights = weights,
                  .shape = {.depth = weights.depth(), .rows = rows},
                  .laid_out = static_cast<const std::byte*>(node->src[0]->data),
                  .used = slots_count / rows,
                  .y = static_cast<float*>(node->data)};
  const SlotsByExpert slots(experts, weights.parts());
  const bool is_small = slots_count * weights.depth() * weights.channels() < kFewProducts;
  const int threads = nth > 1 ? nth : is_small ? 1 : team.size();
  const std::vector<Portion> portions = PortionsOf(slots, weights, threads == 1 ? 1 : threads * kPortionsPerThread);
  const auto compute = [&](std::size_t i) { Compute(task, portions[i], slots.Of(portions[i].expert)); };
  if (nth > 1 || threads == 1) {
    for (auto i = static_cast<std::size_t>(ith); i < portions.size(); i += static_cast<std::size_t>(nth)) compute(i);
    return;
  }
  team.For(
      portions.size(),
      [&](std::size_t begin, std::size_t end, int) {
        for (std::size_t i = begin; i < end; ++i) compute(i);
      },
      1);
}

}  // namespace

ggml_tensor* ExpertsNode(ggml_context* context, const Product& product, const LaidOut& laid_out, ggml_tensor* experts) {
  Check(experts->ne[1] == laid_out.rows || ggml_nelements(experts) == laid_out.rows, "rows of another mixture");
  ggml_tensor* sources[] = {laid_out.node, experts};
  // ggml passes the pointer through as writable, but no one writes.
  return ggml_custom_4d(context, GGML_TYPE_F32, product.weights.channels(), experts->ne[0], experts->ne[1], 1, sources,
                        2, RunExperts, GGML_N_TASKS_MAX, const_cast<Product*>(&product));
}

}  // namespace punt
