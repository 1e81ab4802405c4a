#include "model/sequence_inputs.h"

#include <ggml-backend.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace punt {
namespace {

constexpr double kKeptInTraining = 1 - 0.15 * 0.8;  // ESM-2: share of residues that were not zeroed

/// Inputs that the graph does not use have no memory.
template <typename T>
void SetInput(ggml_tensor* tensor, const std::vector<T>& values) {
  if (tensor == nullptr || tensor->buffer == nullptr) return;
  Check(values.size() * sizeof(T) == ggml_nbytes(tensor), "an input of another size");
  ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
}

/// Where a token stands: its index, or for a shadow the index of what it shadows.
Position PositionOf(const Sequence& sequence, std::int64_t token) {
  const std::int64_t real = std::ssize(sequence.tokens) - std::ssize(sequence.shadow_of);
  return token < real ? static_cast<Position>(token) : sequence.shadow_of[static_cast<std::size_t>(token - real)];
}

std::vector<Position> ColumnsOf(const Sequence& sequence) {
  if (!sequence.columns.empty()) return {sequence.columns.begin(), sequence.columns.end()};
  std::vector<Position> all(sequence.tokens.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The number of the column of a token in the batch, of a sequence whose columns begin at `first`.
std::int32_t ColumnNumber(std::span<const Position> columns, Position token, std::int64_t first) {
  const auto at = std::lower_bound(columns.begin(), columns.end(), token);
  Check(at != columns.end() && *at == token, "a row asked of a column that is not computed");
  return static_cast<std::int32_t>(first + (at - columns.begin()));
}

/// What restricts attention in a layer: blocks, and how far to each side is seen. 0: no restriction.
struct Sight {
  std::int64_t block = 0;
  std::int64_t window = 0;
};

bool Sees(const Sequence& sequence, const Sight& sight, std::int64_t query, std::int64_t key) {
  const std::int64_t real = std::ssize(sequence.tokens) - std::ssize(sequence.shadow_of);
  if (key >= real) return key == query;
  const Position at = PositionOf(sequence, query);
  if (sight.block > 0 && key / sight.block > at / sight.block) return false;
  if (sight.window > 0 && std::abs(at - key) > sight.window) return false;
  return query < real || key != at;
}

std::int64_t Block(const Sequence& sequence, const Hyperparameters& hyper) {
  return sequence.attention_block >= 0 ? sequence.attention_block : hyper.attention_block;
}

bool IsMasked(const Sequence& s, const Hyperparameters& hyper) {
  const std::int64_t block = Block(s, hyper);
  return !s.shadow_of.empty() || (block > 0 && std::ssize(s.tokens) > block);
}

bool IsWindowed(const Sequence& s, const Hyperparameters& hyper) {
  return hyper.attention_window > 0 && std::ssize(s.tokens) - std::ssize(s.shadow_of) > hyper.attention_window + 1;
}

std::vector<ggml_fp16_t> Mask(const Sequence& sequence, const Sight& sight, std::span<const Position> queries) {
  const ggml_fp16_t open = ggml_fp32_to_fp16(0);
  const ggml_fp16_t closed = ggml_fp32_to_fp16(-std::numeric_limits<float>::infinity());
  std::vector<ggml_fp16_t> mask;
  mask.reserve(queries.size() * sequence.tokens.size());
  for (Position query : queries) {
    for (std::int64_t key = 0; key < std::ssize(sequence.tokens); ++key) {
      mask.push_back(Sees(sequence, sight, query, key) ? open : closed);
    }
  }
  return mask;
}

/// Token dropout: zero for masks, one factor for all other tokens. Shadows do not count.
void AppendScales(const Sequence& s, std::span<const Position> columns, Token mask_token, std::vector<float>& scales) {
  const auto real = s.tokens.first(s.tokens.size() - s.shadow_of.size());
  const auto masked = static_cast<double>(std::count(real.begin(), real.end(), mask_token));
  const double ratio = s.mask_ratio >= 0 ? s.mask_ratio : masked / static_cast<double>(real.size());
  // Where everything is masked nothing is scaled.
  const double factor = ratio < 1 ? kKeptInTraining / (1 - ratio) : 0;
  for (Position column : columns) {
    const bool is_mask = s.tokens[static_cast<std::size_t>(column)] == mask_token;
    scales.push_back(is_mask ? 0.0f : static_cast<float>(factor));
  }
}

}  // namespace

SequenceShape ShapeOf(const Sequence& s, const Hyperparameters& hyper) {
  const auto tokens = std::ssize(s.tokens);
  const bool is_partial = !s.columns.empty() && std::ssize(s.columns) < tokens;
  Check(s.key_values == nullptr ? !is_partial && !s.stores : s.key_values->tokens() == tokens && s.shadow_of.empty(),
        "a sequence with keys and values of another");
  return {.tokens = tokens,
          .columns = is_partial ? std::ssize(s.columns) : tokens,
          .rows = std::ssize(s.rows),
          .is_masked = IsMasked(s, hyper),
          .is_windowed = IsWindowed(s, hyper),
          .stored = is_partial || s.stores ? s.key_values : nullptr,
          .stores = s.stores};
}

void SetInputs(const GraphInputs& inputs, std::span<const Sequence> sequences, const Network& network) {
  const Hyperparameters& hyper = network.hyper();
  std::vector<std::int32_t> tokens, positions, types, asked, asked_positions;
  std::vector<float> scales;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& s = sequences[i];
    const std::vector<Position> columns = ColumnsOf(s);
    for (Position column : columns) {
      tokens.push_back(s.tokens[static_cast<std::size_t>(column)]);
      positions.push_back(PositionOf(s, column));
      types.push_back(s.types.empty() ? 0 : s.types[static_cast<std::size_t>(column)]);
    }
    for (Position row : s.rows) {
      asked.push_back(ColumnNumber(columns, row, first));
      asked_positions.push_back(PositionOf(s, row));
    }
    if (hyper.token_dropout) AppendScales(s, columns, network.mask_token(), scales);
    first += std::ssize(columns);
    SetInput(inputs.places[i], columns);
    Sight sight{.block = Block(s, hyper)};
    if (IsMasked(s, hyper)) {
      SetInput(inputs.masks[i], Mask(s, sight, columns));
      SetInput(inputs.asked_masks[i], Mask(s, sight, s.rows));
    }
    if (!IsWindowed(s, hyper)) continue;
    sight.window = hyper.attention_window;
    SetInput(inputs.local_masks[i], Mask(s, sight, columns));
    SetInput(inputs.local_asked_masks[i], Mask(s, sight, s.rows));
  }
  SetInput(inputs.tokens, tokens);
  SetInput(inputs.positions, positions);
  SetInput(inputs.types, types);
  SetInput(inputs.scales, scales);
  SetInput(inputs.asked, asked);
  SetInput(inputs.asked_positions, asked_positions);
}

void SetBlockInputs(const GraphInputs& inputs, std::span<const BlockSequence> sequences) {
  std::vector<std::int32_t> tokens, positions, types, asked, asked_positions;
  std::int64_t first = 0;
  for (const BlockSequence& s : sequences) {
    for (Position column : s.columns) {
      tokens.push_back(s.tokens[static_cast<std::size_t>(column)]);
      positions.push_back(column);
      types.push_back(0);
    }
    for (Position row : s.rows) {
      asked.push_back(ColumnNumber(s.columns, row, first));
      asked_positions.push_back(row);
    }
    first += std::ssize(s.columns);
  }
  SetInput(inputs.tokens, tokens);
  SetInput(inputs.positions, positions);
  SetInput(inputs.types, types);
  SetInput(inputs.asked, asked);
  SetInput(inputs.asked_positions, asked_positions);
}

}  // namespace punt
