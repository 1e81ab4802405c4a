#include "model/graph_computer.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/check.h"
#include "model/node_parts.h"
#include "model/tensor_table.h"

namespace punt {
namespace {

constexpr std::size_t kLongestChain = 16;  // nodes of a step of columns
constexpr std::int64_t kSmallStep = 8192;  // numbers: a few microseconds, too little to share out

bool IsComputed(const ggml_tensor* node) {
  const bool is_view = node->op == GGML_OP_NONE || node->op == GGML_OP_VIEW || node->op == GGML_OP_RESHAPE ||
                       node->op == GGML_OP_PERMUTE || node->op == GGML_OP_TRANSPOSE;
  return !is_view && !ggml_is_empty(node) && (node->flags & GGML_TENSOR_FLAG_COMPUTE) != 0;
}

/// Puts nodes into steps, in their order.
class StepMaker {
 public:
  explicit StepMaker(int threads) : threads_(threads) {}

  void Add(ggml_tensor* node) {
    const Cut cut = CutOf(node);
    if (cut.parts() > 1) {
      EndChain();
      steps_.push_back({GraphStep::Kind::kParts, {node}});
    } else if (threads_ > 1 && cut.is_by_columns()) {
      if (chain_.size() >= kLongestChain || !MayFollow(chain_, node)) EndChain();
      if (MayFollow(chain_, node)) {
        chain_.push_back(node);
        numbers_ += ggml_nelements(node);
      } else {
        AddAlone(node);  // it overwrites what it reads, at other columns
      }
    } else {
      EndChain();
      AddAlone(node);
    }
  }

  std::vector<GraphStep> Take() {
    EndChain();
    return std::move(steps_);
  }

 private:
  void EndChain() {
    if (numbers_ >= kSmallStep) {
      steps_.push_back({GraphStep::Kind::kColumns, chain_});
    } else {
      for (ggml_tensor* node : chain_) AddAlone(node);
    }
    chain_.clear();
    numbers_ = 0;
  }

  void AddAlone(ggml_tensor* node) {
    if (steps_.empty() || steps_.back().kind != GraphStep::Kind::kAlone) steps_.emplace_back();
    steps_.back().nodes.push_back(node);
  }

  const int threads_;
  std::vector<GraphStep> steps_;
  std::vector<ggml_tensor*> chain_;
  std::int64_t numbers_ = 0;
};

struct ThreadpoolDelete {
  void operator()(ggml_threadpool* pool) const { ggml_threadpool_free(pool); }
};

}  // namespace

std::vector<GraphStep> StepsOf(ggml_cgraph* graph, int threads) {
  StepMaker maker(threads);
  for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
    ggml_tensor* node = ggml_graph_node(graph, i);
    if (IsComputed(node)) maker.Add(node);
  }
  return maker.Take();
}

/// What a thread needs for ggml to compute some nodes: a graph to list them in, and memory.
class GraphComputer::Bench {
 public:
  Bench() {
    ggml_threadpool_params params = ggml_threadpool_params_default(1);
    pool_.reset(ggml_threadpool_new(&params));
    Check(pool_ != nullptr, "no thread pool of ggml's");
  }

  void Compute(const std::vector<ggml_tensor*>& nodes) {
    Begin(nodes.size());
    for (ggml_tensor* node : nodes) ggml_graph_add_node(graph_, node);
    Run();
  }

  void ComputePart(const std::vector<ggml_tensor*>& nodes, std::int64_t first, std::int64_t last) {
    Begin(nodes.size());
    while (parts_.size() < nodes.size()) parts_.emplace_back();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ggml_graph_add_node(graph_, parts_[i].Of(nodes[i], CutOf(nodes[i]), first, last));
    }
    Run();
  }

 private:
  void Begin(std::size_t nodes) {
    if (graph_ == nullptr || nodes > room_) {
      room_ = std::max<std::size_t>(2 * nodes, 64);
      context_.reset(ggml_init(
          {.mem_size = ggml_graph_overhead_custom(room_, false) + 1024, .mem_buffer = nullptr, .no_alloc = true}));
      Check(context_ != nullptr, "no room for a graph");
      graph_ = ggml_new_graph_custom(context_.get(), room_, false);
    } else {
      ggml_graph_clear(graph_);
    }
  }

  void Run() {
    ggml_cplan plan = ggml_graph_plan(graph_, 1, pool_.get());
    if (plan.work_size > work_.size()) work_.resize(plan.work_size);
    plan.work_data = work_.data();
    const ggml_status status = ggml_graph_compute(graph_, &plan);
    if (status != GGML_STATUS_SUCCESS) {
      throw Error(ErrorCode::kFailed, fmt::format("the forward pass failed ({})", ggml_status_to_string(status)));
    }
  }

  std::unique_ptr<ggml_threadpool, ThreadpoolDelete> pool_;
  GgmlContextPtr context_;
  ggml_cgraph* graph_ = nullptr;
  std::size_t room_ = 0;
  std::vector<std::uint8_t> work_;
  std::deque<NodePart> parts_;  // used again
};

GraphComputer::GraphComputer(ThreadPool& team) : team_(team), benches_(static_cast<std::size_t>(team.size())) {}
GraphComputer::~GraphComputer() = default;

GraphComputer::Bench& GraphComputer::BenchOf(int worker) {
  std::unique_ptr<Bench>& bench = benches_[static_cast<std::size_t>(worker)];
  if (bench == nullptr) bench = std::make_unique<Bench>();
  return *bench;
}

void GraphComputer::Compute(const std::vector<GraphStep>& steps) {
  for (const GraphStep& step : steps) {
    switch (step.kind) {
      case GraphStep::Kind::kAlone:
        BenchOf(0).Compute(step.nodes);
        break;
      case GraphStep::Kind::kColumns:
        ComputeColumns(step);
        break;
      case GraphStep::Kind::kParts:
        ComputeParts(step);
        break;
    }
  }
}

void GraphComputer::ComputeColumns(const GraphStep& step) {
  const std::int64_t columns = CutOf(step.nodes.front()).count;
  const std::int64_t portions = std::min<std::int64_t>(columns, team_.size());
  team_.For(static_cast<std::size_t>(portions), [&](std::size_t begin, std::size_t end, int worker) {
    const std::int64_t first = columns * static_cast<std::int64_t>(begin) / portions;
    const std::int64_t last = columns * static_cast<std::int64_t>(end) / portions;
    BenchOf(worker).ComputePart(step.nodes, first, last);
  });
}

void GraphComputer::ComputeParts(const GraphStep& step) {
  const Cut cut = CutOf(step.nodes.front());
  team_.For(static_cast<std::size_t>(cut.parts()), [&](std::size_t begin, std::size_t end, int worker) {
    for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
      BenchOf(worker).ComputePart(step.nodes, cut.begin(i), cut.end(i));
    }
  });
}

}  // namespace punt
