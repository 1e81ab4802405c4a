#include "weights/lora.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "base/check.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

bool ParseScale(std::string_view text, double& scale) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

const TensorInfo& MatrixOf(const LoraTerm& term, const std::string& origin, const WeightSource& source) {
  const std::ptrdiff_t index = source.Find(term.tensor);
  if (index < 0) {
    BadInput("{}: the adapter changes '{}', which {} does not have: was it made for another model?", origin,
             term.tensor, source.metadata().origin());
  }
  return source.tensors()[static_cast<std::size_t>(index)];
}

void CheckFits(const LoraTerm& term, const std::string& origin, const WeightSource& source) {
  const TensorInfo& info = MatrixOf(term, origin, source);
  if (info.shape[1] == 1 || info.shape[3] != 1 ||
      (info.type != GGML_TYPE_F32 && ggml_get_type_traits(info.type)->to_float == nullptr)) {
    BadInput("{}: '{}' is no matrix of weights", origin, term.tensor);
  }
  if (info.shape[0] != term.columns || info.shape[1] != term.rows) {
    BadInput("{}: the adapter's '{}' is [{}, {}], the model's [{}, {}]: was it made for another model?", origin,
             term.tensor, term.rows, term.columns, info.shape[1], info.shape[0]);
  }
  if (term.expert >= info.shape[2]) {
    BadInput("{}: the adapter has expert {} of '{}', the model has {}", origin, term.expert, term.tensor,
             info.shape[2]);
  }
}

void CheckFinite(const LoraTerm& term, const std::string& origin) {
  for (const std::vector<float>* part : {&term.up, &term.down}) {
    for (const float value : *part) {
      if (!std::isfinite(value)) BadInput("{}: the adapter's '{}' holds {}", origin, term.tensor, value);
    }
  }
}

}  // namespace

LoraName ParseLoraName(std::string_view text) {
  std::error_code ignored;
  LoraName name{.path = std::string(text)};
  const std::size_t colon = text.rfind(':');
  double scale = 1;
  if (!fs::exists(name.path, ignored) && colon != text.npos && ParseScale(text.substr(colon + 1), scale)) {
    name = {.path = std::string(text.substr(0, colon)), .scale = scale};
  }
  if (name.path.empty()) BadInput("an adapter needs a file, got '{}'", text);
  if (!std::isfinite(name.scale)) BadInput("the scale of an adapter must be finite, got '{}'", text);
  return name;
}

std::vector<LoraTerm> ReadLora(const LoraName& adapter, const fs::path& base, const WeightSource& source) {
  std::error_code error;
  const fs::path path(adapter.path);
  if (!fs::exists(path, error)) {
    BadInput("{}: no such adapter: it is a GGUF file or a PEFT folder, with ':SCALE' behind it or not", adapter.path);
  }
  std::vector<LoraTerm> terms = path.extension() == ".gguf" ? ReadGgufLora(path, source) : ReadPeftLora(path, base);
  if (terms.empty()) BadInput("{}: the adapter is empty", adapter.path);
  for (LoraTerm& term : terms) {
    term.scale *= adapter.scale;
    if (!std::isfinite(term.scale)) BadInput("{}: the adapter's scale is {}", adapter.path, term.scale);
    CheckFits(term, adapter.path, source);
    CheckFinite(term, adapter.path);
  }
  return terms;
}

std::vector<float> Transposed(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> out(values.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      out[static_cast<std::size_t>(column * rows + row)] = values[static_cast<std::size_t>(row * columns + column)];
    }
  }
  return out;
}

}  // namespace punt
