#include "model/influence_head.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"
#include "weights/weight_source.h"

namespace punt {
namespace {

constexpr const char* kSuffix = ".influence.gguf";
constexpr double kLeastProb = 1e-6;                    // smaller probabilities count as this, which limits the surprise
constexpr float kLeastLog = -20.0f, kMostLog = 10.0f;  // of a prediction
constexpr std::int64_t kMostOf = 4096;                 // heads, their size, units; a reach

std::int64_t Size(const Metadata& metadata, const char* key) {
  const std::int64_t size = metadata.Integer(key);
  if (size < 1 || size > kMostOf) BadInput("{}: {} is {}, must be 1..{}", metadata.origin(), key, size, kMostOf);
  return size;
}

/// The numbers of a tensor; `inner` of them are contiguous, `outer` times.
std::vector<float> ReadTensor(const WeightSource& source, const char* name, std::size_t inner, std::size_t outer) {
  const std::string& origin = source.metadata().origin();
  const std::ptrdiff_t index = source.Find(name);
  if (index < 0) BadInput("{}: tensor {} is missing", origin, name);
  const TensorInfo& info = source.tensors()[static_cast<std::size_t>(index)];
  if (info.shape != std::array{static_cast<std::int64_t>(inner), static_cast<std::int64_t>(outer), std::int64_t{1},
                               std::int64_t{1}}) {
    BadInput("{}: tensor {} is {} x {}, must be {} x {}", origin, name, info.shape[0], info.shape[1], inner, outer);
  }
  if (info.type != GGML_TYPE_F32 && info.type != GGML_TYPE_F16) BadInput("{}: {} is neither f32 nor f16", origin, name);
  std::vector<std::byte> bytes(info.bytes());
  source.Read(static_cast<std::size_t>(index), bytes);
  std::vector<float> values(inner * outer);
  if (info.type == GGML_TYPE_F16) {
    ggml_fp16_to_fp32_row(reinterpret_cast<const ggml_fp16_t*>(bytes.data()), values.data(), info.elements());
  } else {
    std::copy_n(reinterpret_cast<const float*>(bytes.data()), values.size(), values.begin());
  }
  const bool is_finite = std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
  if (!is_finite) BadInput("{}: tensor {} has numbers that are not finite", origin, name);
  return values;
}

/// [columns x rows] of [rows x columns].
std::vector<float> Transposed(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  std::vector<float> turned(values.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) turned[c * rows + r] = values[r * columns + c];
  }
  return turned;
}

void RequireOwner(const Metadata& metadata, const HeadOwner& owner) {
  const std::string name = metadata.StringOr("influence.model.name", "");
  const std::string architecture = metadata.String("influence.model.architecture");
  const std::int64_t width = metadata.Integer("influence.model.embedding_length");
  const std::int64_t layers = metadata.Integer("influence.model.block_count");
  const std::int64_t vocab_size = metadata.Integer("influence.model.vocab_size");
  const bool has_other_name = !name.empty() && !owner.name.empty() && name != owner.name;
  if (!has_other_name && architecture == owner.architecture && width == owner.width && layers == owner.layers &&
      vocab_size == owner.vocab_size) {
    return;
  }
  BadInput(
      "{}: made for another model: '{}' ({}, {} layers of {}, {} tokens), not '{}' ({}, {} layers of {}, {} tokens)",
      metadata.origin(), name, architecture, layers, width, vocab_size, owner.name, owner.architecture, owner.layers,
      owner.width, owner.vocab_size);
}

}  // namespace

InfluenceHead::InfluenceHead(const std::filesystem::path& file, const HeadOwner& owner) {
  if (!std::filesystem::is_regular_file(file)) BadInput("{}: no such file", file.string());
  const std::unique_ptr<WeightSource> source = OpenGguf(file);
  const Metadata& metadata = source->metadata();
  const std::string architecture = metadata.StringOr("general.architecture", "");
  if (architecture != "influence") {
    BadInput("{}: no influence head but a file of architecture '{}'", file.string(), architecture);
  }
  RequireOwner(metadata, owner);
  width_ = static_cast<std::size_t>(owner.width);
  heads_ = static_cast<std::size_t>(Size(metadata, "influence.heads"));
  head_size_ = static_cast<std::size_t>(Size(metadata, "influence.head_size"));
  units_ = static_cast<std::size_t>(Size(metadata, "influence.units"));
  reach_ = Size(metadata, "influence.reach");
  const std::size_t projected = 2 * (heads_ * head_size_ + units_);
  project_ = Transposed(ReadTensor(*source, "project.weight", width_, projected), projected, width_);
  bias_ = ReadTensor(*source, "project.bias", projected, 1);
  surprise_ = ReadTensor(*source, "surprise.weight", units_, 1);
  entropy_ = ReadTensor(*source, "entropy.weight", units_, 1);
  offset_ = ReadTensor(*source, "offset.weight", heads_, static_cast<std::size_t>(2 * reach_ + 1));
  mix_ = Transposed(ReadTensor(*source, "mix.weight", heads_, units_), units_, heads_);
  score_ = ReadTensor(*source, "score.weight", units_, 1);
  score_bias_ = ReadTensor(*source, "score.bias", 1, 1).front();
}

/// q, k, a + s a_s, c + e c_e of a row.
void InfluenceHead::Project(std::span<const float> state, double token_prob, double entropy,
                            std::span<float> out) const {
  double squares = 0;
  for (float value : state) squares += static_cast<double>(value) * static_cast<double>(value);
  const double mean = squares / static_cast<double>(width_);
  const auto scale = static_cast<float>(1 / std::sqrt(mean + 1e-12));
  std::copy(bias_.begin(), bias_.end(), out.begin());
  for (std::size_t d = 0; d < width_; ++d) {
    const float x = state[d] * scale;
    const float* row = project_.data() + d * out.size();
    for (std::size_t p = 0; p < out.size(); ++p) out[p] += x * row[p];
  }
  const auto surprise = static_cast<float>(-std::log(std::max(token_prob, kLeastProb)));
  float* a = out.data() + 2 * heads_ * head_size_;
  for (std::size_t u = 0; u < units_; ++u) {
    a[u] += surprise * surprise_[u];
    a[units_ + u] += static_cast<float>(entropy) * entropy_[u];
  }
}

float InfluenceHead::LogInfluence(std::span<const float> revealed, std::span<const float> seen, std::int64_t offset,
                                  std::span<float> units) const {
  const std::size_t keys = heads_ * head_size_;  // where k begins, and half of where a does
  const float* a = revealed.data() + 2 * keys;
  const float* c = seen.data() + 2 * keys + units_;
  for (std::size_t u = 0; u < units_; ++u) units[u] = a[u] + c[u];
  const float* by_offset =
      offset_.data() + static_cast<std::size_t>(std::clamp(offset, -reach_, reach_) + reach_) * heads_;
  const float scale = 1 / std::sqrt(static_cast<float>(head_size_));
  for (std::size_t h = 0; h < heads_; ++h) {
    const float* q = seen.data() + h * head_size_;
    const float* k = revealed.data() + keys + h * head_size_;
    float dot = 0;
    for (std::size_t d = 0; d < head_size_; ++d) dot += q[d] * k[d];
    const float z = dot * scale + by_offset[h];
    for (std::size_t u = 0; u < units_; ++u) units[u] += z * mix_[h * units_ + u];
  }
  float score = score_bias_;
  for (std::size_t u = 0; u < units_; ++u) score += score_[u] * std::max(units[u], 0.0f);
  return std::clamp(score, kLeastLog, kMostLog);
}

void InfluenceHead::Predict(const Rows& rows, ThreadPool& team, std::span<float> out) const {
  const std::size_t count = rows.positions.size();
  Check(rows.states.size() == count * width_ && rows.token_probs.size() == count && rows.entropies.size() == count &&
            out.size() == count * count,
        "rows of an influence head that do not belong together");
  const std::size_t size = bias_.size();
  std::vector<float> projected(count * size);
  team.For(count, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      Project(rows.states.subspan(i * width_, width_), rows.token_probs[i], rows.entropies[i],
              std::span(projected).subspan(i * size, size));
    }
  });
  team.For(count, [&](std::size_t begin, std::size_t end, int) {
    std::vector<float> units(units_);
    for (std::size_t i = begin; i < end; ++i) {
      const auto revealed = std::span<const float>(projected).subspan(i * size, size);
      for (std::size_t j = 0; j < count; ++j) {
        const auto seen = std::span<const float>(projected).subspan(j * size, size);
        const std::int64_t offset = rows.positions[j] - rows.positions[i];
        out[i * count + j] = i == j ? 0.0f : std::exp(LogInfluence(revealed, seen, offset, units));
      }
    }
  });
}

std::filesystem::path InfluenceFileOf(const std::filesystem::path& model) {
  std::filesystem::path file = model.has_filename() ? model : model.parent_path();
  if (file.extension() == ".gguf") file.replace_extension();
  file += kSuffix;
  return file;
}

}  // namespace punt
