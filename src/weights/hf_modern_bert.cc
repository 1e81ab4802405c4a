// ModernBERT (arXiv:2412.13663). Every global_attn_every_n_layers-th layer sees the whole text, from the first on; the
// others a window of local_attention positions. Newer files list layer_types and rope_parameters by their type instead.
#include "base/check.h"
#include "weights/hf_post_norm.h"

namespace punt {
namespace {

constexpr double kGlobalBase = 160'000;
constexpr double kLocalBase = 10'000;

/// n, where every n-th layer is "full_attention" and the others are not.
std::int64_t GlobalEvery(const HfConfig& config, std::int64_t layers) {
  const std::int64_t every = config.SizeOr("global_attn_every_n_layers", 3, HfConfig::kMostLayers);
  if (!config.Has("layer_types")) return every;
  const std::vector<std::string> types = config.Strings("layer_types");
  std::int64_t n = 1;
  while (n < static_cast<std::int64_t>(types.size()) && types[static_cast<std::size_t>(n)] != "full_attention") ++n;
  bool fits = static_cast<std::int64_t>(types.size()) == layers;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool is_global = static_cast<std::int64_t>(i) % n == 0;
    fits = fits && types[i] == (is_global ? "full_attention" : "sliding_attention");
  }
  if (!fits) {
    BadInput("{}: layer_types must be one full_attention, then always as many sliding_attention, for {} layers",
             config.origin(), layers);
  }
  return n;
}

double BaseOf(const HfConfig& config, const char* type, const char* old_field, double fallback) {
  if (!config.Has("rope_parameters")) return config.RealOr(old_field, fallback);
  return config.Part("rope_parameters").Part(type).RopeBase(fallback);
}

}  // namespace

void DescribeModernBert(const HfConfig& config, HfModel& model) {
  config.DemandAbsent("rope_scaling");
  const PostNormSizes s = ReadPostNormSizes(config);
  SetPostNormKeys(config, s, config.RealOr("norm_eps", 1e-5), model);
  SetGelu(config, "hidden_activation", model);
  // One function for both: the head's is always the same as the layers' in released models.
  if (config.Gelu("classifier_activation") != config.Gelu("hidden_activation")) {
    BadInput("{}: classifier_activation and hidden_activation differ", config.origin());
  }
  model.SetReal("rope.freq_base", BaseOf(config, "full_attention", "global_rope_theta", kGlobalBase));
  model.SetReal("rope.freq_base_swa", BaseOf(config, "sliding_attention", "local_rope_theta", kLocalBase));
  model.SetSize("rope.dimension_count", s.dim / s.heads);
  model.SetSize("attention.sliding_window", config.SizeOr("local_attention", 128));
  model.SetSize("attention.sliding_window_pattern", GlobalEvery(config, s.layers));

  const bool norm_bias = config.BooleanOr("norm_bias", false);
  const auto norm = [&](const std::string& name, const std::string& source) {
    model.Vector(name + ".weight", source + ".weight", s.dim);
    if (norm_bias) model.Vector(name + ".bias", source + ".bias", s.dim);
  };
  const auto linear = [&](const std::string& name, const std::string& source, std::int64_t rows, std::int64_t columns,
                          const char* bias_field) {
    model.Matrix(name, source, rows, columns);
    if (config.BooleanOr(bias_field, false)) model.Vector(name + ".bias", source + ".bias", rows);
  };
  model.Matrix("token_embd", "model.embeddings.tok_embeddings", s.vocab, s.dim);
  norm("token_embd_norm", "model.embeddings.norm");
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("model.layers.{}.", layer);
    if (layer > 0) norm(to + "attn_norm", from + "attn_norm");
    linear(to + "attn_qkv", from + "attn.Wqkv", 3 * s.dim, s.dim, "attention_bias");
    linear(to + "attn_output", from + "attn.Wo", s.dim, s.dim, "attention_bias");
    norm(to + "ffn_norm", from + "mlp_norm");
    linear(to + "ffn_up", from + "mlp.Wi", 2 * s.hidden, s.dim, "mlp_bias");
    linear(to + "ffn_down", from + "mlp.Wo", s.dim, s.hidden, "mlp_bias");
  }
  norm("output_norm", "model.final_norm");
  linear("head_dense", "head.dense", s.dim, s.dim, "classifier_bias");
  norm("head_norm", "head.norm");
  if (config.BooleanOr("decoder_bias", true)) model.Vector("output.bias", "decoder.bias", s.vocab);
  model.ignored = {"*rotary_emb.inv_freq"};
  AddTiedHead(config, "decoder", s.vocab, s.dim, model);
}

}  // namespace punt
