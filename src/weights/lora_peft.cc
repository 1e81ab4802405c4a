// Adapters as PEFT saves them: adapter_config.json beside adapter_model.safetensors (or .bin). Tensors are called
// base_model.model.MODULE.lora_A.weight [rank, in] and .lora_B.weight [out, rank], where MODULE is a linear layer of
// the original model, or MODULE.lora_embedding_A [rank, vocabulary] and _B [dim, rank]. The scale is lora_alpha / r,
// with use_rslora lora_alpha / sqrt(r); rank_pattern and alpha_pattern replace r and lora_alpha for modules whose names
// end like their keys.
//
// Which tensor of ours a module is, and how its rows are put in order, says the description of the base model's folder
// (hf_model.h). An adapter that was trained on a model without its head calls modules without their first word.
//
// Refused by name: what is not low-rank pairs added to frozen weights (DoRA, biases, whole modules, other initial
// values of the base), and fan_in_fan_out, whose matrices are transposed; no model here has such layers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/parse_json.h"
#include "weights/hf_folder.h"
#include "weights/hf_model.h"
#include "weights/hf_shards.h"
#include "weights/lora.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kConfig = "adapter_config.json";
constexpr const char* kFiles[] = {"adapter_model.safetensors", "adapter_model.bin"};
constexpr std::int64_t kMostRank = 1 << 20;

/// A module of the original model.
struct Module {
  std::string tensor;
  std::int64_t expert = 0;
  int permuted_heads = 0;
};

class Modules {
 public:
  explicit Modules(const HfConfig& config) {
    for (const HfTensor& tensor : DescribeHfModel(config).tensors) {
      for (const std::string& pattern : tensor.sources) {
        for (std::int64_t i = 0; i < std::max<std::int64_t>(tensor.stacked, 1); ++i) Add(tensor, pattern, i);
      }
    }
  }

  const Module* Find(const std::string& name) const {
    if (const auto it = modules_.find(name); it != modules_.end()) return &it->second;
    for (const std::string& word : first_words_) {
      if (const auto it = modules_.find(word + "." + name); it != modules_.end()) return &it->second;
    }
    return nullptr;
  }

 private:
  void Add(const HfTensor& tensor, std::string name, std::int64_t expert) {
    if (!name.ends_with(".weight")) return;
    name.erase(name.size() - 7);
    if (const auto hole = name.find("{}"); hole != name.npos) name.replace(hole, 2, std::to_string(expert));
    first_words_.insert(name.substr(0, name.find('.')));
    modules_[name] = {.tensor = tensor.name, .expert = expert, .permuted_heads = tensor.permuted_heads};
  }

  std::map<std::string, Module> modules_;
  std::set<std::string> first_words_;
};

/// The numbers of a pattern such as {"q_proj": 4}: of the key that is the module's name or its end.
std::optional<double> FromPattern(const Json& config, const char* field, const std::string& module,
                                  const std::string& origin) {
  const auto found = config.find(field);
  if (found == config.end() || found->is_null()) return std::nullopt;
  if (!found->is_object()) BadInput("{}: {} must be an object", origin, field);
  for (const auto& [key, value] : found->items()) {
    if (key.find_first_of("\\^$*+?()[]{}|") != key.npos) {
      BadInput("{}: {}: '{}' is a regular expression, only names are supported", origin, field, key);
    }
    if (!value.is_number()) BadInput("{}: {}: '{}' must be a number", origin, field, key);
    if (module == key || module.ends_with("." + key)) return value.get<double>();
  }
  return std::nullopt;
}

class Config {
 public:
  Config(std::string_view text, std::string origin) : json_(Parse(text, origin)), config_(text, std::move(origin)) {
    Refuse();
    rank_ = config_.Size("r", kMostRank);
    alpha_ = config_.Real("lora_alpha");
    is_rank_stabilised_ = config_.BooleanOr("use_rslora", false);
  }

  std::int64_t Rank(const std::string& module) const {
    const std::optional<double> own = FromPattern(json_, "rank_pattern", module, config_.origin());
    if (!own) return rank_;
    if (!(*own >= 1 && *own <= kMostRank) || *own != std::floor(*own)) {
      BadInput("{}: rank_pattern gives {} for '{}'", config_.origin(), *own, module);
    }
    return static_cast<std::int64_t>(*own);
  }

  double Scale(const std::string& module) const {
    const auto rank = static_cast<double>(Rank(module));
    const double alpha = FromPattern(json_, "alpha_pattern", module, config_.origin()).value_or(alpha_);
    return alpha / (is_rank_stabilised_ ? std::sqrt(rank) : rank);
  }

 private:
  static Json Parse(std::string_view text, const std::string& origin) {
    try {
      return ParseJson<Json>(text);
    } catch (const Error& error) {
      BadInput("{}: {}", origin, error.what());
    }
  }

  void Refuse() const {
    if (const std::string type = config_.StringOr("peft_type", "LORA"); type != "LORA") {
      BadInput("{}: peft_type '{}' is not supported, only 'LORA' is", config_.origin(), type);
    }
    config_.Demand("fan_in_fan_out", false);
    config_.Demand("use_dora", false);
    config_.Demand("lora_bias", false);
    config_.Demand("bias", "none");
    for (const char* field : {"modules_to_save", "trainable_token_indices", "target_parameters", "layer_replication",
                              "megatron_config", "alora_invocation_tokens", "use_qalora"}) {
      config_.DemandAbsent(field);
    }
    const auto initial = json_.find("init_lora_weights");
    if (initial == json_.end() || !initial->is_string()) return;
    for (const char* harmless : {"gaussian", "eva", "orthogonal"}) {
      if (*initial == harmless) return;
    }
    BadInput("{}: init_lora_weights '{}' changes the weights of the base model, which is not supported",
             config_.origin(), initial->get<std::string>());
  }

  Json json_;
  HfConfig config_;
  std::int64_t rank_ = 0;
  double alpha_ = 0;
  bool is_rank_stabilised_ = false;
};

struct Part {
  std::string module;
  bool is_up = false;
  bool is_embedding = false;
};

/// What a tensor of the adapter is; nothing if it is no part of a pair.
std::optional<Part> PartOf(std::string name) {
  constexpr std::string_view kPrefix = "base_model.model.";
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  for (const char* mark : {".lora_A", ".lora_B", ".lora_embedding_A", ".lora_embedding_B"}) {
    const auto at = name.rfind(mark);
    if (at == name.npos) continue;
    const std::string_view kind(mark);
    const std::string rest = name.substr(at + kind.size());
    // A checkpoint of training has the adapter's name in between: lora_A.default.weight.
    if (!rest.empty() && rest.front() != '.') continue;
    return Part{.module = name.substr(0, at),
                .is_up = kind.ends_with('B'),
                .is_embedding = kind.find("embedding") != kind.npos};
  }
  return std::nullopt;
}

struct Pair {
  const StoredTensor* down = nullptr;
  const StoredTensor* up = nullptr;
  bool is_embedding = false;
};

std::map<std::string, Pair> PairsOf(const TensorFile& file) {
  const std::string origin = file.path().string();
  std::map<std::string, Pair> pairs;
  for (const StoredTensor& tensor : file.tensors()) {
    const std::optional<Part> part = PartOf(tensor.name);
    if (!part) BadInput("{}: tensor '{}' is no part of a low-rank pair", origin, tensor.name);
    Pair& pair = pairs[part->module];
    const StoredTensor*& place = part->is_up ? pair.up : pair.down;
    if (place != nullptr) BadInput("{}: '{}' and '{}' are the same part", origin, place->name, tensor.name);
    place = &tensor;
    pair.is_embedding = pair.is_embedding || part->is_embedding;
    if (tensor.shape.size() != 2) BadInput("{}: tensor '{}' is no matrix", origin, tensor.name);
  }
  for (const auto& [module, pair] : pairs) {
    if (pair.up == nullptr || pair.down == nullptr) {
      BadInput("{}: '{}' has only one of lora_A and lora_B", origin, module);
    }
  }
  return pairs;
}

std::vector<float> FloatsOf(const StoredTensor& tensor, const std::string& origin) {
  const std::optional<ggml_type> type = GgmlType(tensor.dtype);
  if (!type) BadInput("{}: tensor '{}': dtype {} is not supported", origin, tensor.name, tensor.dtype);
  const auto count = static_cast<std::size_t>(tensor.shape[0] * tensor.shape[1]);
  std::vector<std::byte> bytes(count * DtypeBytes(tensor.dtype));
  CopyInOrder(tensor, bytes);
  std::vector<float> values(count);
  if (*type == GGML_TYPE_F64) {
    for (std::size_t i = 0; i < count; ++i) {
      double wide = 0;
      std::memcpy(&wide, bytes.data() + i * sizeof(wide), sizeof(wide));
      values[i] = static_cast<float>(wide);
    }
  } else if (*type == GGML_TYPE_F32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    ggml_get_type_traits(*type)->to_float(bytes.data(), values.data(), static_cast<std::int64_t>(count));
  }
  return values;
}

/// Within each head, row part * half + j becomes row 2 j + part, as the rows of the matrix itself do.
std::vector<float> Permuted(const std::vector<float>& values, std::int64_t rows, std::int64_t columns, int heads) {
  const std::int64_t head_rows = rows / heads;
  const std::int64_t half = head_rows / 2;
  std::vector<float> out(values.size());
  for (std::int64_t from = 0; from < rows; ++from) {
    const std::int64_t row = from % head_rows;
    const std::int64_t to = from - row + 2 * (row % half) + row / half;
    std::copy_n(values.begin() + from * columns, columns, out.begin() + to * columns);
  }
  return out;
}

LoraTerm TermOf(const std::string& name, const Pair& pair, const Module& module, const Config& config,
                const std::string& origin) {
  LoraTerm term{.tensor = module.tensor, .expert = module.expert, .rank = config.Rank(name)};
  term.scale = config.Scale(name);
  if (pair.down->shape[0] != term.rank || pair.up->shape[1] != term.rank) {
    BadInput("{}: the pair of '{}' is [{}, {}] and [{}, {}], the configuration says rank {}", origin, name,
             pair.down->shape[0], pair.down->shape[1], pair.up->shape[0], pair.up->shape[1], term.rank);
  }
  term.rows = pair.up->shape[0];
  term.columns = pair.down->shape[1];
  term.up = FloatsOf(*pair.up, origin);
  term.down = FloatsOf(*pair.down, origin);
  if (pair.is_embedding) {
    const std::vector<float> up = Transposed(term.down, term.rank, term.columns);
    term.down = Transposed(term.up, term.rows, term.rank);
    term.up = up;
    std::swap(term.rows, term.columns);
  }
  if (module.permuted_heads > 0) {
    if (term.rows % (2 * module.permuted_heads) != 0) {
      BadInput("{}: '{}' has {} rows, {} heads do not divide them", origin, name, term.rows, module.permuted_heads);
    }
    term.up = Permuted(term.up, term.rows, term.rank, module.permuted_heads);
  }
  return term;
}

fs::path WeightsOf(const fs::path& path) {
  if (!fs::is_directory(path)) return path;
  for (const char* name : kFiles) {
    if (fs::exists(path / name)) return path / name;
  }
  BadInput("{}: no adapter: neither {} nor {} is there", path.string(), kFiles[0], kFiles[1]);
}

}  // namespace

std::vector<LoraTerm> ReadPeftLora(const fs::path& path, const fs::path& base) {
  const fs::path config_file = (fs::is_directory(path) ? path : path.parent_path()) / kConfig;
  if (!fs::exists(config_file)) {
    BadInput("{}: no adapter: there is no {} that gives its rank and scale", path.string(), config_file.string());
  }
  const Config config(ReadText(config_file), config_file.string());
  const TensorFile file(WeightsOf(path));
  const std::string origin = file.path().string();
  if (!fs::is_directory(base)) {
    BadInput(
        "{}: an adapter of PEFT calls modules by their names in the original folder, and {} is a file: give the folder "
        "as the model, or the adapter as GGUF",
        path.string(), base.string());
  }
  const Modules modules(ReadHfConfig(base));
  std::vector<LoraTerm> terms;
  for (const auto& [name, pair] : PairsOf(file)) {
    const Module* module = modules.Find(name);
    if (module == nullptr) {
      BadInput("{}: the adapter changes '{}', which {} does not have: was it made for another model?", origin, name,
               base.string());
    }
    terms.push_back(TermOf(name, pair, *module, config, origin));
  }
  return terms;
}

}  // namespace punt
