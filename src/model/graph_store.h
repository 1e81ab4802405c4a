// Graphs by shape: built once, kept while they are used, computed in memory that they share.
#pragma once

#include <ggml-backend.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/graph.h"
#include "model/graph_computer.h"

namespace punt {

struct SchedulerDelete {
  void operator()(ggml_backend_sched* scheduler) const { ggml_backend_sched_free(scheduler); }
};
/// A graph with its inputs and outputs, for one shape.
struct Built {
  GraphShape shape;
  GgmlContextPtr context;
  ggml_cgraph* graph = nullptr;
  GraphInputs inputs;
  ggml_tensor* input = nullptr;  // of a head: hidden rows
  ggml_tensor* output = nullptr;
  std::vector<Graph::AttentionMap> maps;
  std::vector<Graph::ExpertMap> expert_maps;
  std::vector<Graph::StateMap> state_maps;
  std::deque<Product> products;  // which nodes point to
  std::unique_ptr<BlockPlan> plan;
  std::deque<BlockAttention> block_attentions;
  std::vector<GraphStep> steps;  // once the graph has its memory
};

/// Graphs of one kind, the latest ones kept, on memory that they share.
class GraphStore {
 public:
  /// With a computer, which `team` belongs to, graphs are computed step by step; without one ggml's scheduler does it,
  /// on all devices.
  GraphStore(std::vector<ggml_backend_t> backends, GraphComputer* computer, const ThreadPool& team)
      : backends_(std::move(backends)), computer_(computer), threads_(team.size()) {}

  /// The graph of this shape, ready for its inputs; `build` makes one that is new.
  template <typename Build>
  Built& Prepare(const GraphShape& shape, const Build& build) {
    auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& b) { return b->shape == shape; });
    if (found == kept_.end()) {
      if (kept_.size() >= kKeptGraphs) {
        if (kept_.back().get() == current_) current_ = nullptr;
        kept_.pop_back();
      }
      kept_.push_front(build(shape));
    } else {
      kept_.splice(kept_.begin(), kept_, found);
    }
    Built& built = *kept_.front();
    if (&built != current_) Allocate(built);
    return built;
  }

  void Compute(Built& built) {
    // One thread and nothing that is cut: ggml gets the graph whole, and may fuse what it can.
    const bool is_plain = built.steps.size() == 1 && built.steps.front().kind == GraphStep::Kind::kAlone;
    if (computer_ != nullptr && !is_plain) return computer_->Compute(built.steps);
    const ggml_status status = ggml_backend_sched_graph_compute(scheduler_.get(), built.graph);
    if (status != GGML_STATUS_SUCCESS) {
      throw Error(ErrorCode::kFailed, fmt::format("the forward pass failed ({})", ggml_status_to_string(status)));
    }
  }

  /// Forgets all graphs: what they refer to may go.
  void Clear() {
    kept_.clear();
    current_ = nullptr;
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (ggml_backend_t backend : backends_) {
      if (scheduler_) sum += ggml_backend_sched_get_buffer_size(scheduler_.get(), backend);
    }
    return sum;
  }

 private:
  void Allocate(Built& built) {
    current_ = nullptr;
    const auto nodes = static_cast<std::size_t>(ggml_graph_size(built.graph));
    if (!scheduler_ || nodes > scheduler_nodes_) {
      scheduler_nodes_ = std::max<std::size_t>(nodes, 2048);
      std::vector<ggml_backend_buffer_type_t> types;
      for (ggml_backend_t backend : backends_) types.push_back(ggml_backend_get_default_buffer_type(backend));
      scheduler_.reset(ggml_backend_sched_new(backends_.data(), types.data(), static_cast<int>(backends_.size()),
                                              scheduler_nodes_, false, false));
    }
    ggml_backend_sched_reset(scheduler_.get());
    // The graph may have been placed before, in memory that others have used since: it is placed anew.
    for (ggml_tensor* t = ggml_get_first_tensor(built.context.get()); t;
         t = ggml_get_next_tensor(built.context.get(), t)) {
      t->data = nullptr;
      t->buffer = nullptr;
    }
    if (!ggml_backend_sched_alloc_graph(scheduler_.get(), built.graph)) {
      throw Error(ErrorCode::kFailed,
                  fmt::format("no memory for a forward pass over {} tokens", built.shape.columns()));
    }
    if (computer_ != nullptr) built.steps = StepsOf(built.graph, threads_);
    current_ = &built;
  }

  static constexpr std::size_t kKeptGraphs = 24;  // PUNT asks for other rows in every pass: shapes come and go

  std::vector<ggml_backend_t> backends_;
  GraphComputer* computer_;
  int threads_;
  std::unique_ptr<ggml_backend_sched, SchedulerDelete> scheduler_;
  std::size_t scheduler_nodes_ = 0;
  std::list<std::unique_ptr<Built>> kept_;
  const Built* current_ = nullptr;
};

}  // namespace punt
