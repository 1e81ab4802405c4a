// Graphs in steps, against ggml computing them whole on one thread: graphs of all operations that architectures use,
// on memory that nodes take over from each other.
#include "model/graph_computer.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>

#include "model/node_parts.h"
#include "model/tensor_table.h"
#include "punt/random.h"

namespace punt {
namespace {

struct AllocatorDelete {
  void operator()(ggml_gallocr* allocator) const { ggml_gallocr_free(allocator); }
};

/// A layer of many operations, once more and again, over the same inputs.
class Scene {
 public:
  Scene(std::int64_t dim, std::int64_t columns, bool has_products)
      : dim_(dim), columns_(columns), has_products_(has_products) {
    context_.reset(ggml_init({.mem_size = 1 << 22, .mem_buffer = nullptr, .no_alloc = true}));
    graph_ = ggml_new_graph_custom(context(), 1024, false);
    tokens_ = Input(ggml_new_tensor_1d(context(), GGML_TYPE_I32, columns));
    table_ = Input(ggml_new_tensor_2d(context(), GGML_TYPE_F32, dim, 32));
    gain_ = Input(ggml_new_tensor_1d(context(), GGML_TYPE_F32, dim));
    matrix_ = Input(ggml_new_tensor_2d(context(), GGML_TYPE_F32, dim, dim));
    experts_ = Input(ggml_new_tensor_3d(context(), GGML_TYPE_F32, dim, 4 * dim, 4));
    chosen_ = Input(ggml_new_tensor_2d(context(), GGML_TYPE_I32, 2, columns));
    ggml_tensor* x = ggml_get_rows(context(), table_, tokens_);
    for (int layer = 0; layer < 3; ++layer) x = Layer(x);
    ggml_set_output(x);
    ggml_build_forward_expand(graph_, x);
    output_ = x;
    allocator_.reset(ggml_gallocr_new(ggml_backend_cpu_buffer_type()));
    ggml_gallocr_alloc_graph(allocator_.get(), graph_);
    Fill();
  }

  ggml_cgraph* graph() { return graph_; }

  std::vector<float> Whole() {
    Clear();
    ggml_cplan plan = ggml_graph_plan(graph_, 1, nullptr);
    std::vector<std::uint8_t> work(plan.work_size);
    plan.work_data = work.data();
    EXPECT_EQ(ggml_graph_compute(graph_, &plan), GGML_STATUS_SUCCESS);
    return Output();
  }

  std::vector<float> InSteps(ThreadPool& team) {
    Clear();
    GraphComputer(team).Compute(StepsOf(graph_, team.size()));
    return Output();
  }

 private:
  ggml_context* context() { return context_.get(); }

  ggml_tensor* Input(ggml_tensor* tensor) {
    ggml_set_input(tensor);
    ggml_set_output(tensor);  // nobody takes its memory over
    inputs_.push_back(tensor);
    return tensor;
  }

  ggml_tensor* Layer(ggml_tensor* x) {
    ggml_context* c = context();
    ggml_tensor* normed = ggml_mul(c, ggml_rms_norm(c, x, 1e-5f), gain_);
    ggml_tensor* y = has_products_ ? ggml_mul_mat(c, matrix_, normed) : ggml_gelu_erf(c, normed);
    ggml_tensor* heads = ggml_reshape_3d(c, y, dim_ / 4, 4, columns_);
    heads = ggml_rope_ext(c, heads, tokens_, nullptr, static_cast<int>(dim_ / 4), GGML_ROPE_TYPE_NEOX, 0, 1e4f, 1, 0, 1,
                          0, 0);
    if (has_products_) {
      ggml_tensor* q = ggml_permute(c, heads, 0, 2, 1, 3);
      ggml_tensor* attended = ggml_flash_attn_ext(c, q, q, q, nullptr, 0.3f, 0, 0);
      heads = ggml_reshape_3d(c, attended, dim_ / 4, 4, columns_);
    }
    // A part of every column, and the columns turned round by an index.
    ggml_tensor* half = ggml_view_2d(c, ggml_reshape_2d(c, heads, dim_, columns_), dim_ / 2, columns_,
                                     static_cast<std::size_t>(dim_) * sizeof(float), 0);
    ggml_tensor* other = ggml_view_2d(c, ggml_reshape_2d(c, heads, dim_, columns_), dim_ / 2, columns_,
                                      static_cast<std::size_t>(dim_) * sizeof(float),
                                      static_cast<std::size_t>(dim_ / 2) * sizeof(float));
    ggml_tensor* gated = ggml_swiglu_split(c, ggml_cont(c, half), ggml_cont(c, other));
    ggml_tensor* wide = ggml_concat(c, gated, gated, 0);
    x = ggml_add(c, ggml_get_rows(c, wide, tokens_), x);
    if (has_products_) {
      ggml_tensor* in = ggml_reshape_3d(c, x, dim_, 1, columns_);
      ggml_tensor* out = ggml_mul_mat_id(c, experts_, in, chosen_);
      x = ggml_add(c, x, ggml_view_2d(c, out, dim_, columns_, out->nb[2], out->nb[1]));
    }
    return ggml_add(c, ggml_norm(c, x, 1e-5f), gain_);
  }

  void Fill() {
    RandomStream stream(7);
    for (ggml_tensor* each : {table_, gain_, matrix_, experts_}) {
      if (each->buffer == nullptr) continue;  // not used
      std::vector<float> values(static_cast<std::size_t>(ggml_nelements(each)));
      for (float& value : values) value = static_cast<float>(stream.Uniform() - 0.5);
      ggml_backend_tensor_set(each, values.data(), 0, ggml_nbytes(each));
    }
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(columns_));
    for (auto& token : tokens) {
      token = static_cast<std::int32_t>(stream.Uniform() * static_cast<double>(std::min<std::int64_t>(32, columns_)));
    }
    ggml_backend_tensor_set(tokens_, tokens.data(), 0, ggml_nbytes(tokens_));
    std::vector<std::int32_t> chosen(static_cast<std::size_t>(2 * columns_));
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = static_cast<std::int32_t>(i * i % 2 + i % 2 * 2);
    if (chosen_->buffer != nullptr) ggml_backend_tensor_set(chosen_, chosen.data(), 0, ggml_nbytes(chosen_));
  }

  /// So that nothing is left of the run before.
  void Clear() {
    for (int i = 0; i < ggml_graph_n_nodes(graph_); ++i) {
      ggml_tensor* node = ggml_graph_node(graph_, i);
      if (node->view_src == nullptr) std::memset(node->data, 0x7f, ggml_nbytes(node));
    }
  }

  std::vector<float> Output() const {
    std::vector<float> values(static_cast<std::size_t>(ggml_nelements(output_)));
    ggml_backend_tensor_get(output_, values.data(), 0, ggml_nbytes(output_));
    return values;
  }

  const std::int64_t dim_;
  const std::int64_t columns_;
  const bool has_products_;
  GgmlContextPtr context_;
  std::unique_ptr<ggml_gallocr, AllocatorDelete> allocator_;
  ggml_cgraph* graph_ = nullptr;
  std::vector<ggml_tensor*> inputs_;
  ggml_tensor *tokens_, *table_, *gain_, *matrix_, *experts_, *chosen_, *output_;
};

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(GraphComputer, ColumnsAreThoseOfTheWholeGraph) {
  for (std::int64_t columns : {1, 2, 31, 64, 200}) {
    Scene scene(160, columns, false);
    const std::vector<float> expected = scene.Whole();
    for (int threads : {1, 2, 3, 5, 16}) {
      ThreadPool team(threads);
      for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(SameBits(scene.InSteps(team), expected)) << columns << " columns, " << threads << " threads";
      }
    }
  }
}

TEST(GraphComputer, ProductsDoNotDependOnThreads) {
  for (std::int64_t columns : {1, 2, 17, 33, 64, 200}) {
    Scene scene(160, columns, true);
    const std::vector<float> whole = scene.Whole();
    ThreadPool one(1);
    const std::vector<float> expected = scene.InSteps(one);
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(expected[i], whole[i], 1e-4) << columns << " columns";
    for (int threads : {2, 3, 5, 16}) {
      ThreadPool team(threads);
      for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(SameBits(scene.InSteps(team), expected)) << columns << " columns, " << threads << " threads";
      }
    }
  }
}

TEST(GraphSteps, HoldEveryNodeOnceInOrder) {
  for (int threads : {1, 2, 8}) {
    Scene scene(160, 64, true);
    std::set<ggml_tensor*> nodes;
    std::size_t chained = 0;
    for (const GraphStep& step : StepsOf(scene.graph(), threads)) {
      ASSERT_FALSE(step.nodes.empty());
      for (ggml_tensor* node : step.nodes) {
        EXPECT_TRUE(nodes.insert(node).second);
        for (ggml_tensor* source : node->src) {
          for (ggml_tensor* s = source; s != nullptr; s = s->view_src) {
            EXPECT_TRUE(s->op == GGML_OP_NONE || s->view_src != nullptr || nodes.contains(s)) << s->name;
          }
        }
      }
      if (step.kind == GraphStep::Kind::kColumns) chained += step.nodes.size() - 1;
      EXPECT_TRUE(step.kind != GraphStep::Kind::kParts || step.nodes.size() == 1);
      EXPECT_TRUE(threads > 1 || step.kind != GraphStep::Kind::kColumns);
    }
    EXPECT_EQ(chained > 0, threads > 1);
  }
}

/// Parts are disjoint, cover everything, and are fixed.
TEST(Cuts, CoverTheNode) {
  Scene scene(160, 200, true);
  std::set<ggml_op> cut_ops;
  for (int i = 0; i < ggml_graph_n_nodes(scene.graph()); ++i) {
    const Cut cut = CutOf(ggml_graph_node(scene.graph(), i));
    if (cut.parts() == 1) continue;
    cut_ops.insert(ggml_graph_node(scene.graph(), i)->op);
    EXPECT_EQ(cut.begin(0), 0);
    EXPECT_EQ(cut.end(cut.parts() - 1), cut.count);
    for (std::int64_t part = 0; part < cut.parts(); ++part) {
      EXPECT_GE(cut.end(part) - cut.begin(part), cut.part);
      EXPECT_LT(cut.end(part) - cut.begin(part), 2 * cut.part);
      EXPECT_EQ(cut.begin(part), part == 0 ? 0 : cut.end(part - 1));
    }
  }
  EXPECT_EQ(cut_ops, (std::set<ggml_op>{GGML_OP_MUL_MAT, GGML_OP_MUL_MAT_ID, GGML_OP_FLASH_ATTN_EXT}));
}

/// Sums over made-up memory: who may be computed column by column after whom.
class Following : public ::testing::Test {
 protected:
  static constexpr std::int64_t kDim = 8;
  static constexpr std::int64_t kColumns = 4;

  Following() : memory_(4096) {
    context_.reset(ggml_init({.mem_size = 1 << 18, .mem_buffer = nullptr, .no_alloc = true}));
  }

  /// [8, 4] at so many floats.
  ggml_tensor* At(std::size_t offset) {
    ggml_tensor* tensor = ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, kDim, kColumns);
    tensor->data = memory_.data() + offset;
    return tensor;
  }
  ggml_tensor* Sum(ggml_tensor* a, ggml_tensor* b, std::size_t offset) {
    ggml_tensor* sum = ggml_add(context_.get(), a, b);
    sum->data = memory_.data() + offset;
    return sum;
  }
  static bool Follows(ggml_tensor* before, ggml_tensor* node) {
    ggml_tensor* const all[] = {before};
    return MayFollow(all, node);
  }

  std::vector<float> memory_;
  GgmlContextPtr context_;
};

TEST_F(Following, MemoryMustMeetAtTheSameColumns) {
  ggml_tensor* first = Sum(At(0), At(100), 200);
  EXPECT_TRUE(Follows(first, Sum(At(300), At(400), 500))) << "nothing in common";
  EXPECT_TRUE(Follows(first, Sum(At(200), At(400), 500))) << "reads the result, column by column";
  EXPECT_TRUE(Follows(first, Sum(At(200), At(400), 200))) << "in its place";
  EXPECT_TRUE(Follows(first, Sum(At(200), At(400), 0))) << "takes over what was read, column by column";
  EXPECT_FALSE(Follows(first, Sum(At(200), At(400), 8))) << "overwrites what others still read, a column further";
  EXPECT_FALSE(Follows(first, Sum(At(300), At(400), 96))) << "overlaps at its end";
  EXPECT_FALSE(Follows(first, Sum(At(208), At(400), 500))) << "reads the neighbour's column";
  EXPECT_FALSE(Follows(first, Sum(At(204), At(400), 500))) << "reads two columns";
  EXPECT_FALSE(Follows(first, Sum(At(300), At(400), 224))) << "writes a result's last column";
}

TEST_F(Following, ATableIsReadWhole) {
  ggml_tensor* table = Sum(At(0), At(100), 200);
  ggml_tensor* index = ggml_new_tensor_1d(context_.get(), GGML_TYPE_I32, kColumns);
  index->data = memory_.data() + 600;
  ggml_tensor* rows = ggml_get_rows(context_.get(), table, index);
  rows->data = memory_.data() + 700;
  EXPECT_FALSE(Follows(table, rows));
  EXPECT_TRUE(MayFollow({}, rows));
  rows->data = table->data;
  EXPECT_FALSE(MayFollow({}, rows)) << "overwrites its own table";
}

}  // namespace
}  // namespace punt
