// Computes graphs on the CPU, with a team of threads that never wait for one that is not running.
//
// ggml has its own threads, which compute every node together and meet after each, at barriers where they spin
// until the last has arrived, however long that takes. Its settings affect only the time between graphs. With more
// threads than processors, or beside another program, the last one is often not running, the others keep it from
// running, and a pass that should take milliseconds takes seconds. (With OpenMP its barriers sleep, if the environment
// says so before the program starts; a library cannot ask for it.) So ggml computes with one thread here, and the work
// is shared out above it, over a ThreadPool, whose caller does what helpers do not get to.
//
// A graph is walked in steps:
//
//   alone     our own operations, which share out their work themselves (linear.h, attention_kernels.h), and what
//             cannot be cut or is too small: ggml computes them, on the calling thread, one after another.
//   columns   neighbouring nodes that act on columns: each thread takes some columns through all of them. Threads meet
//             once, not after every node, and the columns stay in a core's cache.
//   parts     one of ggml's own products, cut as node_parts.h says, for any number of threads, even one.
//
// No result depends on which thread computed what. If one thread computes a graph without such parts, ggml gets it
// whole, as it is.
//
// Tested by graph_computer_test.cc.
#pragma once

#include <ggml-cpu.h>

#include <memory>
#include <vector>

#include "base/thread_pool.h"

namespace punt {

/// What to do with the nodes of a graph, in this order.
struct GraphStep {
  enum class Kind { kAlone, kColumns, kParts };
  Kind kind = Kind::kAlone;
  std::vector<ggml_tensor*> nodes;  // kParts: one
};

/// For a graph whose tensors have their memory, and only for that placement, which decides which nodes overwrite what
/// others read.
std::vector<GraphStep> StepsOf(ggml_cgraph* graph, int threads);

/// Used by one caller at a time.
class GraphComputer {
 public:
  /// `team` must outlive it.
  explicit GraphComputer(ThreadPool& team);
  ~GraphComputer();

  /// Throws Error when ggml cannot.
  void Compute(const std::vector<GraphStep>& steps);

 private:
  class Bench;

  Bench& BenchOf(int worker);
  void ComputeColumns(const GraphStep& step);
  void ComputeParts(const GraphStep& step);

  ThreadPool& team_;
  std::vector<std::unique_ptr<Bench>> benches_;  // one per worker, made when it is first needed
};

}  // namespace punt
