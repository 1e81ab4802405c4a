#include "model/block_attention.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "kernels/attention_kernels.h"

namespace punt {
namespace {

constexpr std::int64_t kGroupQueries = 192;  // that the kernel lays keys out for

std::int64_t ColumnOf(const BlockSequence& sequence, std::int64_t position) {
  const auto at = std::lower_bound(sequence.columns.begin(), sequence.columns.end(), position);
  Check(at != sequence.columns.end() && *at == position, "a token that is neither computed nor in a page");
  return at - sequence.columns.begin();
}

/// Keys and values of one head, brought together for the sequence whose turn it is.
class HeadRoom {
 public:
  void Begin() { sources_.clear(); }

  void Bring(const BlockPlan& plan, const BlockPlan::Group& group, std::int64_t layer, std::int64_t head,
             const ggml_tensor* k, const ggml_tensor* v) {
    const std::int64_t dim = k->ne[0];
    const auto size = static_cast<std::size_t>(group.keys * dim);
    if (keys_.size() < size) {
      keys_.resize(size);
      values_.resize(size);
    }
    const std::vector<BlockPlan::Source>& sources = plan.sources[group.sequence];
    const auto blocks = static_cast<std::size_t>((group.keys + plan.block - 1) / plan.block);
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::int64_t first = static_cast<std::int64_t>(i) * plan.block;
      const std::int64_t tokens = std::min(plan.block, group.keys - first);
      if (i < sources_.size() && sources_[i] == sources[i]) continue;
      sources_.resize(std::max(sources_.size(), i + 1));
      sources_[i] = sources[i];
      const BlockPlan::Source& from = sources[i];
      if (from.page != nullptr) {
        const std::int64_t stride = dim * k->ne[1];
        Copy(from.page->keys(layer) + head * dim, stride, tokens, dim, keys_.data() + first * dim);
        Copy(from.page->values(layer) + head * dim, stride, tokens, dim, values_.data() + first * dim);
      } else {
        Copy(At(k, head, from.column), Stride(k), tokens, dim, keys_.data() + first * dim);
        Copy(At(v, head, from.column), Stride(v), tokens, dim, values_.data() + first * dim);
      }
    }
  }

  static const float* At(const ggml_tensor* x, std::int64_t head, std::int64_t column) {
    return reinterpret_cast<const float*>(static_cast<const std::byte*>(x->data) +
                                          static_cast<std::size_t>(head) * x->nb[1] +
                                          static_cast<std::size_t>(column) * x->nb[2]);
  }
  static std::int64_t Stride(const ggml_tensor* x) { return static_cast<std::int64_t>(x->nb[2] / sizeof(float)); }
  static void Copy(const float* from, std::int64_t stride, std::int64_t tokens, std::int64_t dim, float* to) {
    for (std::int64_t i = 0; i < tokens; ++i) std::copy_n(from + i * stride, dim, to + i * dim);
  }

  const float* keys() const { return keys_.data(); }
  const float* values() const { return values_.data(); }
  float* out(std::size_t size) {
    if (out_.size() < size) out_.resize(size);
    return out_.data();
  }

 private:
  std::vector<float> keys_, values_, out_;
  std::vector<BlockPlan::Source> sources_;  // of what is there
};

class Attender {
 public:
  Attender(const BlockAttention& attention, const ggml_tensor* node)
      : attention_(attention),
        plan_(attention.plan),
        groups_(attention.of_asked ? plan_.asked_groups : plan_.groups),
        q_(node->src[0]),
        k_(node->src[1]),
        v_(node->src[2]),
        out_(static_cast<float*>(node->data)),
        heads_(q_->ne[1] / k_->ne[1]) {}

  /// Units of work: some groups, for one head of keys and values.
  std::int64_t units() const { return k_->ne[1] * shares(); }

  void Compute(std::int64_t unit) const {
    thread_local HeadRoom room;
    const std::int64_t head = unit % k_->ne[1];
    const std::int64_t share = unit / k_->ne[1];
    if (share == 0) Store(head);
    room.Begin();
    const std::int64_t count = std::ssize(groups_);
    for (std::int64_t i = count * share / shares(); i < count * (share + 1) / shares(); ++i) {
      Attend(groups_[static_cast<std::size_t>(i)], head, room);
    }
  }

 private:
  /// More than one where heads are fewer than threads.
  std::int64_t shares() const {
    const std::int64_t wanted = (attention_.team.size() + k_->ne[1] - 1) / k_->ne[1];
    return std::max<std::int64_t>(1, std::min(wanted, std::ssize(groups_)));
  }

  void Store(std::int64_t head) const {
    const std::int64_t dim = k_->ne[0];
    const std::int64_t stride = dim * k_->ne[1];
    for (const BlockPlan::Store& store : plan_.stores) {
      for (std::int64_t i = 0; i < store.tokens; ++i) {
        std::copy_n(HeadRoom::At(k_, head, store.column + i), dim,
                    store.page->keys(attention_.layer) + i * stride + head * dim);
        std::copy_n(HeadRoom::At(v_, head, store.column + i), dim,
                    store.page->values(attention_.layer) + i * stride + head * dim);
      }
    }
  }

  void Attend(const BlockPlan::Group& group, std::int64_t head, HeadRoom& room) const {
    room.Bring(plan_, group, attention_.layer, head, k_, v_);
    const std::int64_t dim = k_->ne[0];
    const std::int64_t wide = heads_ * dim;
    AttentionProblem problem{.head_dim = dim,
                             .heads = heads_,
                             .kv_heads = 1,
                             .queries = group.count,
                             .keys = group.keys,
                             .q = {.data = HeadRoom::At(q_, head * heads_, group.first),
                                   .token_stride = HeadRoom::Stride(q_),
                                   .head_stride = static_cast<std::int64_t>(q_->nb[1] / sizeof(float))},
                             .k = {.data = room.keys(), .token_stride = dim},
                             .v = {.data = room.values(), .token_stride = dim},
                             .mask = group.mask.empty() ? nullptr : group.mask.data(),
                             .mask_stride = group.keys,
                             .out = room.out(static_cast<std::size_t>(group.count * wide))};
    for (std::int64_t unit = 0; unit < AttentionUnits(problem); ++unit) ComputeAttention(problem, unit);
    for (std::int64_t i = 0; i < group.count; ++i) {
      std::copy_n(problem.out + i * wide, wide, out_ + ((group.first + i) * q_->ne[1] + head * heads_) * dim);
    }
  }

  const BlockAttention& attention_;
  const BlockPlan& plan_;
  const std::vector<BlockPlan::Group>& groups_;
  const ggml_tensor* q_;
  const ggml_tensor* k_;
  const ggml_tensor* v_;
  float* out_;
  const std::int64_t heads_;  // of queries, for one of keys and values
};

void Run(ggml_tensor* node, int ith, int nth, void* userdata) {
  const auto& attention = *static_cast<const BlockAttention*>(userdata);
  const Attender attender(attention, node);
  const auto units = static_cast<std::size_t>(attender.units());
  const auto compute = [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) attender.Compute(static_cast<std::int64_t>(i));
  };
  if (nth > 1) {
    const auto share = static_cast<std::size_t>(ith);
    const auto shares = static_cast<std::size_t>(nth);
    return compute(units * share / shares, units * (share + 1) / shares, ith);
  }
  attention.team.For(units, compute);
}

}  // namespace

void BlockPlan::Set(std::span<const BlockSequence> sequences, std::int64_t block_size) {
  block = block_size;
  sources.clear();
  groups.clear();
  asked_groups.clear();
  stores.clear();
  std::vector<std::int64_t> begins;  // of the sequences' columns
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const BlockSequence& s = sequences[i];
    const std::int64_t tokens = std::ssize(s.tokens);
    begins.push_back(columns);
    std::vector<Source>& from = sources.emplace_back();
    for (std::int64_t b = 0; b * block < tokens; ++b) {
      const auto at = static_cast<std::size_t>(b);
      if (at < s.pages.size()) {
        from.push_back({.page = s.pages[at].get()});
      } else if (b < s.shared_blocks) {
        from.push_back(sources[s.shared_with][at]);
      } else {
        from.push_back({.column = begins[i] + ColumnOf(s, b * block)});
      }
    }
    for (std::size_t j = 0; j < s.stores.size(); ++j) {
      const std::size_t at = std::max(s.pages.size(), static_cast<std::size_t>(s.shared_blocks)) + j;
      stores.push_back({.column = from[at].column, .tokens = block, .page = s.stores[j].get()});
    }
    for (Group& group : GroupsOf(i, s.columns, tokens, columns)) groups.push_back(std::move(group));
    for (Group& group : GroupsOf(i, s.rows, tokens, rows)) asked_groups.push_back(std::move(group));
    columns += std::ssize(s.columns);
    rows += std::ssize(s.rows);
  }
}

std::vector<BlockPlan::Group> BlockPlan::GroupsOf(std::size_t sequence, std::span<const Position> queries,
                                                  std::int64_t tokens, std::int64_t first) const {
  const ggml_fp16_t open = ggml_fp32_to_fp16(0);
  const ggml_fp16_t closed = ggml_fp32_to_fp16(-std::numeric_limits<float>::infinity());
  const auto seen_by = [&](Position query) { return std::min((query / block + 1) * block, tokens); };
  std::vector<Group> all;
  for (std::int64_t begin = 0; begin < std::ssize(queries); begin += kGroupQueries) {
    const std::int64_t count = std::min(kGroupQueries, std::ssize(queries) - begin);
    const auto own = queries.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    Group& group = all.emplace_back(Group{.sequence = sequence, .first = first + begin, .count = count});
    std::int64_t fewest = tokens;
    for (Position query : own) {
      group.keys = std::max(group.keys, seen_by(query));
      fewest = std::min(fewest, seen_by(query));
    }
    if (fewest == group.keys) continue;
    group.mask.assign(static_cast<std::size_t>(count * group.keys), closed);
    for (std::int64_t i = 0; i < count; ++i) {
      std::fill_n(group.mask.begin() + i * group.keys, seen_by(own[static_cast<std::size_t>(i)]), open);
    }
  }
  return all;
}

ggml_tensor* BlockAttentionNode(ggml_context* context, BlockAttention& attention, ggml_tensor* q, ggml_tensor* k,
                                ggml_tensor* v) {
  for (const ggml_tensor* x : {q, k, v}) {
    Check(x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float), "attention over other numbers than f32");
  }
  ggml_tensor* sources[] = {q, k, v};
  return ggml_custom_4d(context, GGML_TYPE_F32, q->ne[0] * q->ne[1], q->ne[2], 1, 1, sources, 3, Run, GGML_N_TASKS_MAX,
                        &attention);
}

}  // namespace punt
