// Adapters as llama.cpp's convert_lora_to_gguf.py writes them: general.type "adapter", adapter.type "lora",
// adapter.lora.alpha, and for every matrix NAME.lora_a [rank, in] and NAME.lora_b [out, rank], of experts with one more
// dimension. Of the embedding lora_a is [vocabulary, rank]. The scale is alpha / rank, or 1 when alpha is 0.
#include <cstring>
#include <map>

#include "base/check.h"
#include "weights/lora.h"
#include "weights/metadata.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEmbedding = "token_embd.weight";

struct Pair {
  std::ptrdiff_t a = -1;
  std::ptrdiff_t b = -1;
};

std::map<std::string, Pair> PairsOf(const WeightSource& adapter, const std::string& origin) {
  std::map<std::string, Pair> pairs;
  for (std::size_t i = 0; i < adapter.tensors().size(); ++i) {
    const std::string& name = adapter.tensors()[i].name;
    const bool is_a = name.ends_with(".lora_a");
    if (!is_a && !name.ends_with(".lora_b")) {
      BadInput("{}: tensor '{}' is neither a lora_a nor a lora_b: only low-rank pairs are merged", origin, name);
    }
    Pair& pair = pairs[name.substr(0, name.size() - 7)];
    (is_a ? pair.a : pair.b) = static_cast<std::ptrdiff_t>(i);
  }
  for (const auto& [name, pair] : pairs) {
    if (pair.a < 0 || pair.b < 0) BadInput("{}: '{}' has only one of lora_a and lora_b", origin, name);
  }
  return pairs;
}

std::vector<float> FloatsOf(const WeightSource& adapter, std::size_t index, const std::string& origin) {
  const TensorInfo& info = adapter.tensors()[index];
  std::vector<std::byte> bytes(info.bytes());
  adapter.Read(index, bytes);
  std::vector<float> values(static_cast<std::size_t>(info.elements()));
  if (info.type == GGML_TYPE_F32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  const auto to_float = ggml_get_type_traits(info.type)->to_float;
  if (to_float == nullptr) BadInput("{}: tensor '{}' has type {}", origin, info.name, ggml_type_name(info.type));
  to_float(bytes.data(), values.data(), info.elements());
  return values;
}

void AddTerms(const WeightSource& adapter, const std::string& name, const Pair& pair, double alpha,
              const std::string& origin, std::vector<LoraTerm>& terms) {
  const TensorInfo& a = adapter.tensors()[static_cast<std::size_t>(pair.a)];
  const TensorInfo& b = adapter.tensors()[static_cast<std::size_t>(pair.b)];
  const bool is_embedding = name == kEmbedding;
  const std::int64_t rank = b.shape[0];
  const std::int64_t experts = a.shape[2];
  if (a.shape[is_embedding ? 0 : 1] != rank || b.shape[2] != experts || a.shape[3] != 1 || b.shape[3] != 1) {
    BadInput("{}: lora_a [{}, {}, {}] and lora_b [{}, {}, {}] of '{}' do not fit each other", origin, a.shape[2],
             a.shape[1], a.shape[0], b.shape[2], b.shape[1], b.shape[0], name);
  }
  const std::vector<float> first = FloatsOf(adapter, static_cast<std::size_t>(pair.a), origin);
  const std::vector<float> second = FloatsOf(adapter, static_cast<std::size_t>(pair.b), origin);
  const auto part = [experts](const std::vector<float>& values, std::int64_t expert) {
    const auto size = static_cast<std::ptrdiff_t>(values.size()) / experts;
    return std::vector<float>(values.begin() + expert * size, values.begin() + (expert + 1) * size);
  };
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    LoraTerm term{.tensor = name, .expert = expert, .rank = rank};
    term.scale = alpha == 0 ? 1 : alpha / static_cast<double>(rank);
    if (is_embedding) {
      term.rows = a.shape[1];
      term.columns = b.shape[1];
      term.up = part(first, expert);
      term.down = Transposed(part(second, expert), term.columns, rank);
    } else {
      term.rows = b.shape[1];
      term.columns = a.shape[0];
      term.up = part(second, expert);
      term.down = part(first, expert);
    }
    terms.push_back(std::move(term));
  }
}

}  // namespace

std::vector<LoraTerm> ReadGgufLora(const fs::path& file, const WeightSource& source) {
  const std::unique_ptr<WeightSource> adapter = OpenGguf(file);
  const Metadata& metadata = adapter->metadata();
  const std::string& origin = metadata.origin();
  if (metadata.StringOr("general.type", "") != "adapter") {
    BadInput("{}: no adapter: general.type is '{}', not 'adapter'", origin, metadata.StringOr("general.type", ""));
  }
  if (const std::string type = metadata.StringOr("adapter.type", ""); type != "lora") {
    BadInput("{}: adapter.type '{}' is not supported, only 'lora' is", origin, type);
  }
  if (metadata.Has("adapter.alora.invocation_tokens")) {
    BadInput("{}: an adapter that tokens of the text switch on (aLoRA) cannot be merged", origin);
  }
  const std::string theirs = metadata.String("general.architecture");
  const std::string ours = source.metadata().String("general.architecture");
  if (theirs != ours) BadInput("{}: an adapter for '{}', {} is '{}'", origin, theirs, source.metadata().origin(), ours);
  const double alpha = metadata.Has("adapter.lora.alpha") ? metadata.Real("adapter.lora.alpha") : 0;
  std::vector<LoraTerm> terms;
  for (const auto& [name, pair] : PairsOf(*adapter, origin)) AddTerms(*adapter, name, pair, alpha, origin, terms);
  return terms;
}

}  // namespace punt
