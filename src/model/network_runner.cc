#include "model/network_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/check.h"
#include "base/even_shares.h"
#include "base/setting_error.h"
#include "model/devices.h"
#include "model/sequence_inputs.h"
#include "weights/ggml_log.h"

namespace punt {
namespace {

// Only beside other devices, where ggml's scheduler computes: how long one of ggml's threads waits for the next graph
// before it sleeps, in ggml's units. By default it spins for tens of milliseconds, on a core that the readers of the
// last graph's rows need.
constexpr std::uint32_t kPolling = 0;
constexpr double kUneven = 1.15;  // how much more than an even share of a batch a thread may get

std::unique_ptr<Built> NewGraph(const GraphShape& shape, std::size_t nodes) {
  auto built = std::make_unique<Built>();
  built->shape = shape;
  const std::size_t memory = nodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(nodes, false);
  built->context.reset(ggml_init({.mem_size = memory, .mem_buffer = nullptr, .no_alloc = true}));
  built->graph = ggml_new_graph_custom(built->context.get(), nodes, false);
  return built;
}

std::vector<AttentionProbabilities> ReadAttention(const Built& built) {
  std::vector<AttentionProbabilities> all;
  const std::size_t layers = built.shape.attention_layers.size();
  all.resize(built.shape.sequences.size() * layers);
  for (const Graph::AttentionMap& map : built.maps) {
    const auto layer = std::find(built.shape.attention_layers.begin(), built.shape.attention_layers.end(), map.layer);
    const auto slot = static_cast<std::size_t>(layer - built.shape.attention_layers.begin());
    const ggml_tensor* p = map.probabilities;  // [keys, queries, H, sequences]
    for (std::int64_t i = 0; i < p->ne[3]; ++i) {
      AttentionProbabilities& out = all[(map.first_sequence + static_cast<std::size_t>(i)) * layers + slot];
      out = {.layer = map.layer, .heads = p->ne[2], .length = p->ne[0]};
      out.values.resize(static_cast<std::size_t>(p->ne[0] * p->ne[1] * p->ne[2]));
      ggml_backend_tensor_get(p, out.values.data(), static_cast<std::size_t>(i) * p->nb[3],
                              out.values.size() * sizeof(float));
    }
  }
  return all;
}

std::vector<ChosenExperts> ReadExperts(const Built& built) {
  std::vector<ChosenExperts> all;
  for (const Graph::ExpertMap& map : built.expert_maps) {
    ChosenExperts& chosen = all.emplace_back(ChosenExperts{.layer = map.layer, .used = map.experts->ne[0]});
    chosen.values.resize(static_cast<std::size_t>(ggml_nelements(map.experts)));
    ggml_backend_tensor_get(map.experts, chosen.values.data(), 0, ggml_nbytes(map.experts));
    for (auto at = chosen.values.begin(); at != chosen.values.end(); at += chosen.used) {
      std::sort(at, at + chosen.used);
    }
  }
  return all;
}

std::vector<LayerStates> ReadStates(const Built& built) {
  const auto read = [](const ggml_tensor* tensor) {
    std::vector<float> values(static_cast<std::size_t>(ggml_nelements(tensor)));
    ggml_backend_tensor_get(tensor, values.data(), 0, ggml_nbytes(tensor));
    return values;
  };
  std::vector<LayerStates> all;
  for (const Graph::StateMap& map : built.state_maps) {
    all.push_back({map.layer, read(map.output), read(map.queries), read(map.keys), read(map.values)});
  }
  return all;
}

}  // namespace

NetworkRunner::NetworkRunner(const Network& network, const NetworkRunnerOptions& options)
    : network_(network),
      options_(options),
      own_team_(options.team == nullptr ? std::make_unique<ThreadPool>(options.threads) : nullptr),
      team_(options.team == nullptr ? *own_team_ : *options.team),
      backends_(OpenBackends()),
      computer_(backends_.size() == 1 ? std::make_unique<GraphComputer>(team_) : nullptr),
      bodies_(Raw(), computer_.get(), team_),
      heads_(Raw(), computer_.get(), team_) {}

NetworkRunner::~NetworkRunner() = default;

std::vector<float> NetworkRunner::Hidden(std::span<const Sequence> sequences, std::span<const int> attention_layers,
                                         std::vector<AttentionProbabilities>* attention) {
  GraphShape shape;
  for (const Sequence& s : sequences) shape.sequences.push_back(ShapeOf(s, network_.hyper()));
  shape.fused_attention = options_.fused_attention;
  shape.keeps_experts = options_.keeps_experts;
  shape.keeps_states = options_.keeps_states && shape.rows() > 0;
  shape.attention_layers.assign(attention_layers.begin(), attention_layers.end());
  if (shape.rows() == 0 && attention_layers.empty()) return {};
  const std::vector<std::vector<std::size_t>> shares = SharesOf(shape);
  if (!shares.empty()) return HiddenInLanes(sequences, shape, shares);
  Built& built = bodies_.Prepare(shape, [this](const GraphShape& s) { return BuildBody(s); });
  SetInputs(built.inputs, sequences, network_);
  bodies_.Compute(built);

  std::vector<float> hidden(static_cast<std::size_t>(shape.rows() * network_.hyper().model_dim));
  if (!hidden.empty()) ggml_backend_tensor_get(built.output, hidden.data(), 0, hidden.size() * sizeof(float));
  if (attention != nullptr) *attention = ReadAttention(built);
  experts_ = ReadExperts(built);
  states_ = ReadStates(built);
  return hidden;
}

bool NetworkRunner::can_reuse_blocks() const {
  return network_.hyper().attention_block > 0 && network_.weights().own_attention && options_.fused_attention;
}

std::vector<float> NetworkRunner::HiddenInBlocks(std::span<const BlockSequence> sequences) {
  Check(can_reuse_blocks(), "blocks of a network that has none");
  SequenceShape all;
  for (const BlockSequence& s : sequences) {
    all.tokens += std::ssize(s.columns);
    all.rows += std::ssize(s.rows);
  }
  all.columns = all.tokens;
  if (all.rows == 0) return {};
  GraphShape shape;
  shape.sequences = {all};
  shape.fused_attention = true;
  shape.in_blocks = true;
  Built& built = bodies_.Prepare(shape, [this](const GraphShape& s) { return BuildBody(s); });
  SetBlockInputs(built.inputs, sequences);
  built.plan->Set(sequences, network_.hyper().attention_block);
  bodies_.Compute(built);
  std::vector<float> hidden(static_cast<std::size_t>(all.rows * network_.hyper().model_dim));
  ggml_backend_tensor_get(built.output, hidden.data(), 0, hidden.size() * sizeof(float));
  return hidden;
}

void NetworkRunner::Logits(std::span<const float> hidden, std::span<float> logits) {
  const std::span<const float> all = LogitsInPlace(hidden);
  Check(all.size() == logits.size(), "logits of another size than their rows");
  if (!IsFinite(all)) ThrowNotFinite();
  std::copy(all.begin(), all.end(), logits.begin());
}

std::span<const float> NetworkRunner::LogitsInPlace(std::span<const float> hidden) {
  const auto dim = static_cast<std::size_t>(network_.hyper().model_dim);
  const std::size_t rows = hidden.size() / dim;
  Check(rows * dim == hidden.size(), "hidden rows of another size");
  if (rows == 0) return {};
  GraphShape shape;
  shape.sequences.push_back({.tokens = static_cast<std::int64_t>(rows), .rows = static_cast<std::int64_t>(rows)});
  Built& built = heads_.Prepare(shape, [this](const GraphShape& s) { return BuildHead(s); });
  ggml_backend_tensor_set(built.input, hidden.data(), 0, hidden.size_bytes());
  heads_.Compute(built);
  const std::size_t count = rows * static_cast<std::size_t>(network_.hyper().vocab_size);
  if (ggml_backend_buffer_is_host(built.output->buffer)) {
    return {static_cast<const float*>(built.output->data), count};
  }
  fetched_.resize(count);
  ggml_backend_tensor_get(built.output, fetched_.data(), 0, count * sizeof(float));
  return fetched_;
}

// One pass over the bits, which compilers vectorise: cheap compared with the head that made the numbers.
bool NetworkRunner::IsFinite(std::span<const float> logits) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t found = 0;
  for (float value : logits) {
    found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent);
  }
  return found == 0;
}

void NetworkRunner::ThrowNotFinite() const {
  throw SettingError(ErrorCode::kFailed, "check",
                     fmt::format("{}: the forward pass gave numbers that are not finite; weights may be damaged",
                                 network_.metadata().origin()));
}

std::shared_ptr<const KeyValues> NetworkRunner::NewKeyValues(std::int64_t tokens) {
  const auto is_free = [](const auto& each) { return each.use_count() == 1; };
  for (const auto& each : key_values_) {
    if (is_free(each) && each->tokens() == tokens) return each;
  }
  if (std::erase_if(key_values_, is_free) > 0) {
    bodies_.Clear();
    for (const auto& lane : lanes_) lane->bodies_.Clear();
  }
  key_values_.push_back(std::make_shared<KeyValues>(network_.hyper(), tokens,
                                                    ggml_backend_get_default_buffer_type(backends_.front().get())));
  return key_values_.back();
}

NetworkRunner& NetworkRunner::Lane(std::size_t lane) {
  NetworkRunnerOptions options = options_;
  options.threads = 1;
  options.team = nullptr;
  while (lanes_.size() <= lane) lanes_.push_back(std::make_unique<NetworkRunner>(network_, options));
  return *lanes_[lane];
}

std::size_t NetworkRunner::compute_bytes() const {
  std::size_t sum = bodies_.bytes() + heads_.bytes();
  for (const auto& lane : lanes_) sum += lane->compute_bytes();
  for (const auto& each : key_values_) sum += each->bytes();
  return sum;
}

// Threads that compute one graph meet a dozen times in every layer. Where a batch can be split evenly, each thread
// computes a graph of its own instead, and they meet once.

std::vector<std::vector<std::size_t>> NetworkRunner::SharesOf(const GraphShape& shape) const {
  const bool is_plain = shape.attention_layers.empty() && !options_.keeps_experts && !options_.keeps_states;
  if (team_.size() < 2 || !is_plain || !network_.is_batch_invariant()) return {};
  std::vector<std::int64_t> columns;
  for (const SequenceShape& each : shape.sequences) columns.push_back(each.columns);
  return EvenShares(columns, static_cast<std::size_t>(team_.size()), kUneven);
}

std::vector<float> NetworkRunner::HiddenInLanes(std::span<const Sequence> sequences, const GraphShape& shape,
                                                const std::vector<std::vector<std::size_t>>& shares) {
  for (std::size_t lane = 0; lane < shares.size(); ++lane) Lane(lane);
  const std::int64_t dim = network_.hyper().model_dim;
  std::vector<std::int64_t> begins;  // of the sequences' rows
  std::int64_t rows = 0;
  for (const SequenceShape& each : shape.sequences) {
    begins.push_back(rows);
    rows += each.rows;
  }
  std::vector<float> hidden(static_cast<std::size_t>(rows * dim));
  team_.For(shares.size(), [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t lane = begin; lane < end; ++lane) {
      std::vector<Sequence> own;
      for (std::size_t i : shares[lane]) own.push_back(sequences[i]);
      const std::vector<float> states = lanes_[lane]->Hidden(own);
      auto from = states.begin();
      for (std::size_t i : shares[lane]) {
        const auto count = static_cast<std::ptrdiff_t>(shape.sequences[i].rows * dim);
        std::copy_n(from, count, hidden.begin() + begins[i] * dim);
        from += count;
      }
    }
  });
  return hidden;
}

std::vector<NetworkRunner::BackendPtr> NetworkRunner::OpenBackends() {
  const GgmlLogCapture silence;
  std::vector<BackendPtr> backends;
  for (ggml_backend_dev_t device : network_.devices()) {
    ggml_backend_t backend = ggml_backend_dev_init(device, nullptr);
    if (backend == nullptr) {
      throw Error(ErrorCode::kFailed, fmt::format("device {} cannot be used", ggml_backend_dev_name(device)));
    }
    backends.emplace_back(backend);
    ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(device);
    const auto set_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(
        ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_n_threads"));
    if (set_threads != nullptr) set_threads(backend, network_.devices().size() > 1 ? team_.size() : 1);
  }
  if (backends.size() > 1 && team_.size() > 1) {
    ggml_threadpool_params params = ggml_threadpool_params_default(team_.size());
    params.poll = kPolling;
    pool_.reset(ggml_threadpool_new(&params));
    ggml_backend_cpu_set_threadpool(backends.back().get(), pool_.get());
  }
  return backends;
}

std::vector<ggml_backend_t> NetworkRunner::Raw() const {
  std::vector<ggml_backend_t> raw;
  for (const auto& backend : backends_) raw.push_back(backend.get());
  return raw;
}

std::unique_ptr<Built> NetworkRunner::BuildBody(const GraphShape& shape) const {
  const Hyperparameters& hyper = network_.hyper();
  auto built = NewGraph(shape, GraphNodes(hyper, shape));
  if (shape.in_blocks) built->plan = std::make_unique<BlockPlan>();
  Graph graph(built->context.get(), hyper, network_.weights(), built->shape, team_, built->plan.get());
  ggml_tensor* x = network_.architecture().embed(graph);
  for (std::int64_t layer = 0; layer < hyper.layers; ++layer) {
    graph.EnterLayer(layer);
    x = network_.architecture().layer(graph, x);
    graph.LeaveLayer(x);
  }
  // A last layer whose attention is kept ran for all rows.
  if (graph.EndsWithAllRows()) x = ggml_get_rows(built->context.get(), x, graph.inputs().asked);
  ggml_set_output(x);
  for (ggml_tensor* stored : graph.side_effects()) ggml_build_forward_expand(built->graph, stored);
  ggml_build_forward_expand(built->graph, x);
  built->output = x;
  built->inputs = graph.inputs();
  built->maps = graph.attention_maps();
  built->expert_maps = graph.expert_maps();
  built->state_maps = graph.state_maps();
  built->products = graph.TakeProducts();
  built->block_attentions = graph.TakeBlockAttentions();
  return built;
}

std::unique_ptr<Built> NetworkRunner::BuildHead(const GraphShape& shape) const {
  auto built = NewGraph(shape, 64);
  ggml_context* context = built->context.get();
  built->input = ggml_new_tensor_2d(context, GGML_TYPE_F32, network_.hyper().model_dim, shape.rows());
  ggml_set_input(built->input);
  Graph graph(context, network_.hyper(), network_.weights(), built->shape, team_);
  built->output = network_.architecture().head(graph, built->input);
  ggml_set_output(built->output);
  ggml_build_forward_expand(built->graph, built->output);
  built->products = graph.TakeProducts();
  return built;
}

}  // namespace punt
