#include "model/graph.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/attention_kernels.h"
#include "model/expert_products.h"

namespace punt {

std::int64_t GraphShape::columns() const {
  std::int64_t sum = 0;
  for (const SequenceShape& sequence : sequences) sum += sequence.columns;
  return sum;
}

std::int64_t GraphShape::rows() const {
  std::int64_t sum = 0;
  for (const SequenceShape& sequence : sequences) sum += sequence.rows;
  return sum;
}

std::size_t GraphNodes(const Hyperparameters& hyper, const GraphShape& shape) {
  const auto layers = static_cast<std::size_t>(hyper.layers);
  return 256 + layers * (96 + 4 * static_cast<std::size_t>(hyper.experts_used) + 40 * shape.sequences.size());
}

/// Neighbouring sequences with the same number of queries and keys: one batched product for all of them. Those with a
/// mask or stored keys run alone.
struct Graph::Run {
  std::size_t first = 0;
  std::int64_t sequences = 0;
  std::int64_t queries = 0;  // of each
  std::int64_t keys = 0;
  std::int64_t columns = 0;  // with new keys
  std::int64_t first_query = 0;
  std::int64_t first_column = 0;
  ggml_tensor* mask = nullptr;
  bool is_alone = false;
};

Graph::Graph(ggml_context* context, const Hyperparameters& hyper, const Weights& weights, const GraphShape& shape,
             ThreadPool& team, const BlockPlan* plan)
    : context_(context),
      hyper_(hyper),
      table_(weights.table),
      linear_(weights.linear),
      own_attention_(weights.own_attention),
      shape_(shape),
      team_(team),
      plan_(plan) {
  inputs_.tokens = Input(GGML_TYPE_I32, shape.columns(), 1, "tokens");
  inputs_.asked = Input(GGML_TYPE_I32, shape.rows(), 1, "asked");
  if (hyper.rope != RopeStyle::kNone || table_.Find("position_embd.weight") != nullptr) {
    inputs_.positions = Input(GGML_TYPE_I32, shape.columns(), 1, "positions");
    inputs_.asked_positions = Input(GGML_TYPE_I32, shape.rows(), 1, "asked_positions");
  }
  if (hyper.token_types > 0) inputs_.types = Input(GGML_TYPE_I32, shape.columns(), 1, "types");
  if (hyper.token_dropout) inputs_.scales = Input(GGML_TYPE_F32, 1, shape.columns(), "scales");
  for (const SequenceShape& sequence : shape.sequences) {
    const bool masked = sequence.is_masked;
    inputs_.places.push_back(sequence.is_partial() ? Input(GGML_TYPE_I32, sequence.columns, 1, "places") : nullptr);
    inputs_.masks.push_back(masked ? Input(GGML_TYPE_F16, sequence.tokens, sequence.columns, "mask") : nullptr);
    inputs_.asked_masks.push_back(masked ? Input(GGML_TYPE_F16, sequence.tokens, sequence.rows, "asked_mask")
                                         : nullptr);
    const bool windowed = sequence.is_windowed;
    inputs_.local_masks.push_back(windowed ? Input(GGML_TYPE_F16, sequence.tokens, sequence.columns, "local_mask")
                                           : nullptr);
    inputs_.local_asked_masks.push_back(
        windowed ? Input(GGML_TYPE_F16, sequence.tokens, sequence.rows, "local_asked_mask") : nullptr);
  }
}

ggml_tensor* Graph::Input(ggml_type type, std::int64_t ne0, std::int64_t ne1, const char* name) {
  ggml_tensor* input = ggml_new_tensor_2d(context_, type, ne0, ne1);
  ggml_set_name(input, name);
  ggml_set_input(input);
  return input;
}

ggml_tensor* Graph::Rows(std::string_view table, ggml_tensor* indices) {
  return ggml_get_rows(context_, table_.Get(table), indices);
}

ggml_tensor* Graph::Embedding() { return Rows("token_embd.weight", inputs_.tokens); }

ggml_tensor* Graph::RmsNorm(ggml_tensor* x, std::string_view name) {
  ggml_tensor* normed = ggml_rms_norm(context_, x, static_cast<float>(hyper_.norm_epsilon));
  return ggml_mul(context_, normed, Tensor(std::string(name) + ".weight"));
}

ggml_tensor* Graph::LayerNorm(ggml_tensor* x, std::string_view name) {
  ggml_tensor* normed = ggml_norm(context_, x, static_cast<float>(hyper_.norm_epsilon));
  normed = ggml_mul(context_, normed, Tensor(std::string(name) + ".weight"));
  ggml_tensor* bias = Find(std::string(name) + ".bias");
  return bias == nullptr ? normed : ggml_add(context_, normed, bias);
}

ggml_tensor* Graph::AddScaled(ggml_tensor* a, ggml_tensor* b) {
  if (hyper_.residual_scale != 1) b = ggml_scale(context_, b, static_cast<float>(hyper_.residual_scale));
  return ggml_add(context_, a, b);
}

/// ggml's own GELU by tanh looks values up in a table of 16-bit floats.
ggml_tensor* Graph::Gelu(ggml_tensor* x) {
  if (!hyper_.gelu_by_tanh) return ggml_gelu_erf(context_, x);
  constexpr float kSlope = 0.7978845608028654f;  // sqrt(2 / pi)
  ggml_tensor* cube = ggml_mul(context_, ggml_mul(context_, x, x), x);
  ggml_tensor* inner = ggml_add(context_, x, ggml_scale(context_, cube, 0.044715f));
  ggml_tensor* share = ggml_tanh(context_, ggml_scale(context_, inner, kSlope));
  ggml_tensor* half = ggml_scale(context_, x, 0.5f);
  return ggml_add(context_, half, ggml_mul(context_, half, share));
}

ggml_tensor* Graph::Factor(std::string_view name) {
  ggml_tensor* weight = Tensor(std::string(name) + ".weight");
  return weight->type == GGML_TYPE_BF16 ? ggml_cast(context_, weight, GGML_TYPE_F32) : weight;
}

const LaidOut& Graph::LayOut(ggml_tensor* x, RowsForm form) {
  LaidOut& laid_out = laid_out_[{x, form}];
  if (laid_out.node == nullptr) laid_out = LayOutNode(context_, x, form, team_);
  return laid_out;
}

ggml_tensor* Graph::Multiply(ggml_tensor* x, std::string_view name) {
  const PackedMatrix* packed = linear_.Find(Tensor(std::string(name) + ".weight"));
  if (packed == nullptr) return ggml_mul_mat(context_, Factor(name), x);
  return MultiplyNode(context_, products_.emplace_back(Product{*packed, team_}), LayOut(x, packed->rows_form()));
}

ggml_tensor* Graph::MultiplyExperts(ggml_tensor* x, std::string_view name, ggml_tensor* experts) {
  const PackedMatrix* packed = linear_.Find(Tensor(std::string(name) + ".weight"));
  if (packed == nullptr) {
    ggml_tensor* rows = ggml_reshape_3d(context_, x, x->ne[0], x->ne[1] / experts->ne[1], experts->ne[1]);
    return ggml_mul_mat_id(context_, Factor(name), rows, experts);
  }
  return ExpertsNode(context_, products_.emplace_back(Product{*packed, team_}), LayOut(x, packed->rows_form()),
                     experts);
}

ggml_tensor* Graph::Linear(ggml_tensor* x, std::string_view name) {
  ggml_tensor* y = Multiply(x, name);
  ggml_tensor* bias = Find(std::string(name) + ".bias");
  return bias == nullptr ? y : ggml_add(context_, y, bias);
}

ggml_tensor* Graph::Part(ggml_tensor* x, std::int64_t first, std::int64_t count) {
  ggml_tensor* view = ggml_view_2d(context_, x, count, x->ne[1], x->nb[1], static_cast<std::size_t>(first) * x->nb[0]);
  return ggml_cont(context_, view);
}

ggml_tensor* Graph::SwiGlu(ggml_tensor* x) { return SwiGlu(x, "ffn_gate", "ffn_up", "ffn_down"); }

ggml_tensor* Graph::SwiGlu(ggml_tensor* x, std::string_view gate, std::string_view up, std::string_view down) {
  ggml_tensor* g = Linear(x, gate);
  return Linear(ggml_swiglu_split(context_, g, Linear(x, up)), down);
}

bool Graph::SelectsRows() const { return layer_ == hyper_.layers - 1 && !KeepsAttention(); }

bool Graph::KeepsAttention() const {
  return std::find(shape_.attention_layers.begin(), shape_.attention_layers.end(), layer_) !=
         shape_.attention_layers.end();
}

bool Graph::EndsWithAllRows() const {
  return !shape_.attention_layers.empty() && shape_.attention_layers.back() == hyper_.layers - 1 && shape_.rows() > 0;
}

/// A copy of the rows asked for, to be read after the run. With `is_asked`, `x` holds only these already.
ggml_tensor* Graph::KeepRows(ggml_tensor* x, std::int64_t columns, bool is_asked) {
  ggml_tensor* rows = ggml_cont_2d(context_, x, ggml_nelements(x) / columns, columns);
  if (!is_asked) rows = ggml_get_rows(context_, rows, inputs_.asked);
  ggml_set_output(rows);
  side_effects_.push_back(rows);
  return rows;
}

void Graph::LeaveLayer(ggml_tensor* output) {
  if (shape_.keeps_states) state_maps_.back().output = KeepRows(output, output->ne[1], SelectsRows());
}

ggml_tensor* Graph::Asked(ggml_tensor* x) { return SelectsRows() ? ggml_get_rows(context_, x, inputs_.asked) : x; }

ggml_tensor* Graph::Heads(ggml_tensor* x, std::int64_t heads) {
  return ggml_reshape_3d(context_, x, hyper_.head_dim, heads, x->ne[1]);
}

ggml_tensor* Graph::Rope(ggml_tensor* heads, bool of_queries) {
  ggml_tensor* positions = of_queries && SelectsRows() ? inputs_.asked_positions : inputs_.positions;
  const double base = hyper_.IsLocal(layer_) ? hyper_.local_rope_base : hyper_.rope_base;
  const int mode = hyper_.rope == RopeStyle::kHalves ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL;
  return ggml_rope_ext(context_, heads, positions, nullptr, static_cast<int>(hyper_.rope_dims), mode, 0,
                       static_cast<float>(base), 1.0f, 0.0f, 1.0f, 0.0f, 0.0f);
}

/// In this layer, for all queries or those asked; null: every key is seen.
ggml_tensor* Graph::MaskOf(std::size_t sequence, bool of_asked) const {
  const bool is_local = hyper_.IsLocal(layer_) && shape_.sequences[sequence].is_windowed;
  if (is_local) return of_asked ? inputs_.local_asked_masks[sequence] : inputs_.local_masks[sequence];
  return of_asked ? inputs_.asked_masks[sequence] : inputs_.masks[sequence];
}

ggml_tensor* Graph::Attend(ggml_tensor* q, ggml_tensor* k, ggml_tensor* v) {
  if (shape_.keeps_states) {
    StateMap& states = state_maps_.emplace_back(StateMap{.layer = static_cast<int>(layer_)});
    states.queries = KeepRows(q, q->ne[2], SelectsRows());
    states.keys = KeepRows(k, k->ne[2], false);
    states.values = KeepRows(v, v->ne[2], false);
  }
  const bool selects = SelectsRows();
  if (shape_.in_blocks) {
    BlockAttention& attention = block_attentions_.emplace_back(BlockAttention{*plan_, team_, layer_, selects});
    return BlockAttentionNode(context_, attention, q, k, v);
  }
  ggml_tensor* all = nullptr;
  Run run;
  const auto finish = [&] {
    if (run.sequences == 0) return;
    ggml_tensor* attended = AttendRun(run, q, k, v);
    if (attended != nullptr) all = all == nullptr ? attended : ggml_concat(context_, all, attended, 1);
    run.first_query += run.sequences * run.queries;
    run.first_column += run.sequences * run.columns;
    run.sequences = 0;
  };
  for (std::size_t i = 0; i < shape_.sequences.size(); ++i) {
    const SequenceShape& sequence = shape_.sequences[i];
    const std::int64_t queries = selects ? sequence.rows : sequence.columns;
    ggml_tensor* mask = MaskOf(i, selects);
    const bool is_alone = mask != nullptr || sequence.stored != nullptr;
    const bool joins =
        run.sequences > 0 && run.queries == queries && run.keys == sequence.tokens && !run.is_alone && !is_alone;
    if (!joins) {
      finish();
      run.first = i;
      run.queries = queries;
      run.keys = sequence.tokens;
      run.columns = sequence.columns;
      run.mask = mask;
      run.is_alone = is_alone;
    }
    run.sequences += 1;
  }
  finish();
  Check(all != nullptr, "attention without queries");
  return all;
}

/// The keys or values of all tokens of a sequence that runs alone, [head_dim, kv_heads, tokens].
ggml_tensor* Graph::JoinStored(const Run& run, ggml_tensor* fresh, ggml_tensor* stored) {
  const SequenceShape& sequence = shape_.sequences[run.first];
  ggml_tensor* columns = ggml_view_2d(context_, fresh, fresh->ne[0] * fresh->ne[1], run.columns, fresh->nb[2],
                                      fresh->nb[2] * static_cast<std::size_t>(run.first_column));
  ggml_tensor* all = nullptr;
  if (!sequence.is_partial()) {
    all = ggml_cpy(context_, columns, stored);
  } else {
    ggml_tensor* before = sequence.stores ? stored : ggml_dup(context_, stored);
    all = ggml_set_rows(context_, before, columns, inputs_.places[run.first]);
  }
  if (sequence.stores) side_effects_.push_back(all);
  return ggml_reshape_3d(context_, all, fresh->ne[0], fresh->ne[1], run.keys);
}

/// [head_dim * H, queries of the run]; null if nothing is asked of it.
ggml_tensor* Graph::AttendRun(const Run& run, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v) {
  // [head_dim, heads, N] -> this run's [head_dim, heads, tokens, sequences] -> [head_dim, tokens, heads, sequences]
  const auto part = [&](ggml_tensor* x, std::int64_t first, std::int64_t count) {
    ggml_tensor* view =
        ggml_view_4d(context_, x, x->ne[0], x->ne[1], count, run.sequences, x->nb[1], x->nb[2],
                     x->nb[2] * static_cast<std::size_t>(count), x->nb[2] * static_cast<std::size_t>(first));
    return ggml_permute(context_, view, 0, 2, 1, 3);
  };
  std::int64_t first_key = run.first_column;
  if (const KeyValues* stored = shape_.sequences[run.first].stored) {
    k = JoinStored(run, k, stored->keys(layer_));
    v = JoinStored(run, v, stored->values(layer_));
    first_key = 0;
  }
  if (run.queries == 0) return nullptr;
  ggml_tensor* queries = part(q, run.first_query, run.queries);
  ggml_tensor* keys = part(k, first_key, run.keys);
  ggml_tensor* values = part(v, first_key, run.keys);
  const float scale = 1.0f / std::sqrt(static_cast<float>(hyper_.head_dim));

  if (shape_.fused_attention && !KeepsAttention()) {
    ggml_tensor* fused = nullptr;
    if (own_attention_) {
      fused = AttentionNode(context_, queries, keys, values, run.mask, team_);
    } else {
      fused = ggml_flash_attn_ext(context_, queries, keys, values, run.mask, scale, 0.0f, 0.0f);
      ggml_prec_set_acc(fused, GGML_PREC_F32);
    }
    return ggml_reshape_2d(context_, fused, hyper_.query_dim(), run.queries * run.sequences);
  }
  ggml_tensor* weights = ggml_mul_mat(context_, keys, queries);  // [keys, queries, H, sequences]
  weights = ggml_soft_max_ext(context_, weights, run.mask, scale, 0.0f);
  if (KeepsAttention()) {
    ggml_set_output(weights);
    attention_maps_.push_back(
        {.layer = static_cast<int>(layer_), .first_sequence = run.first, .probabilities = weights});
  }
  ggml_tensor* transposed = ggml_cont(context_, ggml_transpose(context_, values));  // [keys, head_dim, kv_heads, ...]
  ggml_tensor* mixed = ggml_mul_mat(context_, transposed, weights);                 // [head_dim, queries, H, ...]
  mixed = ggml_cont(context_, ggml_permute(context_, mixed, 0, 2, 1, 3));
  return ggml_reshape_2d(context_, mixed, hyper_.query_dim(), run.queries * run.sequences);
}

ggml_tensor* Graph::Experts(ggml_tensor* x, Choice choice) {
  if (shape_.keeps_experts) {
    choice.experts = ggml_cont(context_, choice.experts);  // it was a view
    ggml_set_output(choice.experts);
    expert_maps_.push_back({.layer = static_cast<int>(layer_), .experts = choice.experts});
  }
  const std::int64_t dim = x->ne[0];
  const std::int64_t tokens = x->ne[1];
  ggml_tensor* up = MultiplyExperts(x, "ffn_up_exps", choice.experts);
  ggml_tensor* gate = MultiplyExperts(x, "ffn_gate_exps", choice.experts);
  ggml_tensor* hidden = ggml_swiglu_split(context_, gate, up);
  hidden = ggml_reshape_2d(context_, hidden, hidden->ne[0], hidden->ne[1] * hidden->ne[2]);
  ggml_tensor* out = MultiplyExperts(hidden, "ffn_down_exps", choice.experts);
  out = ggml_mul(context_, out, choice.weights);  // [D, experts_used, N]
  ggml_tensor* sum = nullptr;
  for (std::int64_t i = 0; i < hyper_.experts_used; ++i) {
    ggml_tensor* one = ggml_view_2d(context_, out, dim, tokens, out->nb[2], static_cast<std::size_t>(i) * out->nb[1]);
    sum = sum == nullptr ? one : ggml_add(context_, sum, one);
  }
  return hyper_.experts_used == 1 ? ggml_cont(context_, sum) : sum;
}

}  // namespace punt
