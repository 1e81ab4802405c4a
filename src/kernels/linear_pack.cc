#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "kernels/linear_kernels.h"
#include "kernels/scaled_blocks.h"

namespace punt {
namespace {

/// 32 weights and their common factor.
struct Block {
  ggml_fp16_t scale = 0;
  std::int8_t weights[kBlock] = {};
};

// The block formats of GGUF: a half for the scale, then the weights.

Block ReadQ8_0(const std::byte* bytes) {
  Block block{.scale = ReadHalf(bytes)};
  std::memcpy(block.weights, bytes + 2, kBlock);
  return block;
}

/// Nibbles: the low ones are the first half of the block.
Block ReadQ4_0(const std::byte* bytes) {
  Block block{.scale = ReadHalf(bytes)};
  for (std::int64_t i = 0; i < kBlock / 2; ++i) {
    const int pair = std::to_integer<int>(bytes[2 + i]);
    block.weights[i] = static_cast<std::int8_t>((pair & 15) - 8);
    block.weights[i + kBlock / 2] = static_cast<std::int8_t>((pair >> 4) - 8);
  }
  return block;
}

/// Like q4_0, with the fifth bits of all weights in a separate word.
Block ReadQ5_0(const std::byte* bytes) {
  Block block{.scale = ReadHalf(bytes)};
  std::uint32_t fifth = 0;
  std::memcpy(&fifth, bytes + 2, sizeof(fifth));
  for (std::int64_t i = 0; i < kBlock / 2; ++i) {
    const unsigned pair = std::to_integer<unsigned>(bytes[6 + i]);
    const unsigned low = (pair & 15) | ((fifth >> i & 1) << 4);
    const unsigned high = (pair >> 4) | ((fifth >> (i + kBlock / 2) & 1) << 4);
    block.weights[i] = static_cast<std::int8_t>(static_cast<int>(low) - 16);
    block.weights[i + kBlock / 2] = static_cast<std::int8_t>(static_cast<int>(high) - 16);
  }
  return block;
}

/// Nibbles, in q4_0's order, are places in a table.
Block ReadIq4Nl(const std::byte* bytes) {
  Block block{.scale = ReadHalf(bytes)};
  for (std::int64_t i = 0; i < kBlock / 2; ++i) {
    const unsigned pair = std::to_integer<unsigned>(bytes[2 + i]);
    block.weights[i] = kIq4Values[pair & 15];
    block.weights[i + kBlock / 2] = kIq4Values[pair >> 4];
  }
  return block;
}

using BlockReader = Block (*)(const std::byte*);

BlockReader ReaderOf(ggml_type type) {
  switch (type) {
    case GGML_TYPE_Q8_0:
      return ReadQ8_0;
    case GGML_TYPE_Q4_0:
      return ReadQ4_0;
    case GGML_TYPE_Q5_0:
      return ReadQ5_0;
    case GGML_TYPE_IQ4_NL:
      return ReadIq4Nl;
    default:
      return nullptr;
  }
}

Block Round(std::span<const float> weights) {
  float largest = 0;
  bool is_finite = true;
  for (float weight : weights) {
    largest = std::max(largest, std::abs(weight));
    is_finite = is_finite && std::isfinite(weight);
  }
  // Damage must show in the result; so do weights beyond f16, which no model has.
  if (!is_finite || largest / 127 > 65504) return {.scale = ggml_fp32_to_fp16(std::nanf(""))};
  Block block{.scale = ggml_fp32_to_fp16(largest / 127)};
  const float scale = ggml_fp16_to_fp32(block.scale);
  if (scale == 0) return {};  // too small for f16
  for (std::size_t i = 0; i < weights.size(); ++i) {
    block.weights[i] = static_cast<std::int8_t>(std::clamp(std::lrint(weights[i] / scale), -127L, 127L));
  }
  return block;
}

/// 32 weights of 16 bits.
struct WideBlock {
  ggml_fp16_t scale = 0;
  std::int16_t weights[kBlock] = {};
};

/// A half that is not below `value`.
ggml_fp16_t HalfAtLeast(float value) {
  const ggml_fp16_t half = ggml_fp32_to_fp16(value);
  // The next bits of a half are the next larger one.
  return ggml_fp16_to_fp32(half) < value ? static_cast<ggml_fp16_t>(half + 1) : half;
}

WideBlock RoundWide(std::span<const float> weights) {
  double sum = 0;  // also shows damage
  double largest = 0;
  for (float weight : weights) {
    const double magnitude = std::abs(static_cast<double>(weight));
    sum += magnitude;
    largest = std::max(largest, magnitude);
  }
  const double wanted = std::max(sum / kInt16Magnitudes, largest / 32767) * kInt16ScaleFactor;
  if (!(wanted <= 65504)) return {.scale = ggml_fp32_to_fp16(std::nanf(""))};
  WideBlock block{.scale = HalfAtLeast(static_cast<float>(wanted))};
  const double scale = static_cast<double>(ggml_fp16_to_fp32(block.scale)) / kInt16ScaleFactor;
  if (scale == 0) return {};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    block.weights[i] = static_cast<std::int16_t>(std::lrint(weights[i] / scale));
  }
  return block;
}

/// 32 weights from 0 to 15.
struct NibbleBlock {
  ggml_fp16_t scale = 0;
  ggml_fp16_t minimum = 0;  // what is subtracted of every scaled weight, in kInt4Min
  std::uint8_t weights[kBlock] = {};
};

NibbleBlock ReadCentred(const std::byte* row, std::int64_t block) {
  const Block centred = ReadQ4_0(row + static_cast<std::size_t>(block) * ggml_type_size(GGML_TYPE_Q4_0));
  NibbleBlock nibbles{.scale = centred.scale};
  for (std::int64_t i = 0; i < kBlock; ++i) nibbles.weights[i] = static_cast<std::uint8_t>(centred.weights[i] + 8);
  return nibbles;
}

/// q4_1: halves for the scale and for what is added to each scaled weight, then nibbles as in q4_0.
NibbleBlock ReadQ4_1(const std::byte* row, std::int64_t block) {
  const std::byte* bytes = row + static_cast<std::size_t>(block) * ggml_type_size(GGML_TYPE_Q4_1);
  NibbleBlock nibbles{.scale = ReadHalf(bytes), .minimum = static_cast<ggml_fp16_t>(ReadHalf(bytes + 2) ^ 0x8000)};
  for (std::int64_t i = 0; i < kBlock / 2; ++i) {
    const unsigned pair = std::to_integer<unsigned>(bytes[4 + i]);
    nibbles.weights[i] = static_cast<std::uint8_t>(pair & 15);
    nibbles.weights[i + kBlock / 2] = static_cast<std::uint8_t>(pair >> 4);
  }
  return nibbles;
}

/// q4_K: 8 blocks share two halves; scales and minima of 6 bits each take 12 bytes; then come nibbles: the low ones of
/// 32 bytes are one block, the high ones the next.
NibbleBlock ReadQ4_K(const std::byte* row, std::int64_t block) {
  const std::byte* bytes = row + static_cast<std::size_t>(block / 8) * ggml_type_size(GGML_TYPE_Q4_K);
  const std::int64_t j = block % 8;
  const auto [scale, minimum] = ReadSixBits(bytes + 4, j);
  const auto times = [](ggml_fp16_t half, unsigned factor) {
    return ggml_fp32_to_fp16(ggml_fp16_to_fp32(half) * static_cast<float>(factor));
  };
  NibbleBlock nibbles{.scale = times(ReadHalf(bytes), scale), .minimum = times(ReadHalf(bytes + 2), minimum)};
  for (std::int64_t i = 0; i < kBlock; ++i) {
    const unsigned pair = std::to_integer<unsigned>(bytes[16 + j / 2 * kBlock + i]);
    nibbles.weights[i] = static_cast<std::uint8_t>(j % 2 == 0 ? pair & 15 : pair >> 4);
  }
  return nibbles;
}

// Blocks of one channel among those of the others, in the order of PackedMatrix.

template <typename AnyBlock>
void PlaceBlock(const AnyBlock& block, std::int64_t channel, std::uint8_t* weights) {
  constexpr std::size_t kPair = 2 * sizeof(block.weights[0]);
  constexpr auto kCount = static_cast<std::int64_t>(std::size(AnyBlock{}.weights));
  for (std::int64_t i = 0; i < kCount / 2; ++i) {
    std::memcpy(weights + static_cast<std::size_t>(i * kPanel + channel) * kPair, block.weights + 2 * i, kPair);
  }
}

/// [depth / 4][16][2] bytes of two nibbles each.
void PlaceNibbles(const ScaledBlock& block, std::int64_t channel, std::uint8_t* weights) {
  for (std::int64_t i = 0; i < kStretch; i += 4) {
    for (std::int64_t k = 0; k < 2; ++k) {
      weights[(i / 4 * kPanel + channel) * 2 + k] =
          static_cast<std::uint8_t>((block.weights[i + k] & 15) | (block.weights[i + 2 + k] & 15) << 4);
    }
  }
}

void PlaceBlock(const NibbleBlock& block, std::int64_t channel, std::uint8_t* weights) {
  for (std::int64_t begin = 0; begin < kBlock; begin += 8) {
    for (std::int64_t i = 0; i < 4; ++i) {
      weights[(begin / 8 * kPanel + channel) * 4 + i] =
          static_cast<std::uint8_t>(block.weights[begin + i] | block.weights[begin + 4 + i] << 4);
    }
  }
}

/// The blocks of one channel.
class ChannelReader {
 public:
  /// `is_wide`: for ReadWide only, else for Read only.
  ChannelReader(ggml_type type, std::int64_t depth, bool is_wide)
      : type_(type), depth_(depth), reader_(is_wide ? nullptr : ReaderOf(type)) {
    if (reader_ == nullptr) floats_.resize(static_cast<std::size_t>(depth));
  }

  void Enter(const std::byte* row) {
    row_ = row;
    if (reader_ != nullptr) return;
    if (type_ == GGML_TYPE_F32) {
      std::memcpy(floats_.data(), row, floats_.size() * sizeof(float));
    } else {
      ggml_get_type_traits(type_)->to_float(row, floats_.data(), depth_);
    }
  }

  Block Read(std::int64_t block) const {
    if (reader_ != nullptr) return reader_(row_ + static_cast<std::size_t>(block) * ggml_type_size(type_));
    return Round(Floats(block));
  }

  WideBlock ReadWide(std::int64_t block) const { return RoundWide(Floats(block)); }

 private:
  std::span<const float> Floats(std::int64_t block) const {
    const std::int64_t begin = block * kBlock;
    const auto count = static_cast<std::size_t>(std::min(kBlock, depth_ - begin));
    return std::span(floats_).subspan(static_cast<std::size_t>(begin), count);
  }

  ggml_type type_;
  std::int64_t depth_;
  BlockReader reader_;
  const std::byte* row_ = nullptr;
  std::vector<float> floats_;
};

/// The type in a file that a form holds as it is; kInt8 and kInt16 hold any.
ggml_type TypeOf(PackedForm form) {
  switch (form) {
    case PackedForm::kF32:
      return GGML_TYPE_F32;
    case PackedForm::kF16:
      return GGML_TYPE_F16;
    case PackedForm::kBf16:
      return GGML_TYPE_BF16;
    case PackedForm::kInt4:
      return GGML_TYPE_Q4_0;
    case PackedForm::kInt4Min:
      return GGML_TYPE_Q4_K;
    case PackedForm::kScaled8:
      return GGML_TYPE_Q6_K;
    case PackedForm::kScaled8Min:
      return GGML_TYPE_Q5_K;
    case PackedForm::kScaled4:
      return GGML_TYPE_Q3_K;
    case PackedForm::kScaled4Min:
      return GGML_TYPE_Q2_K;
    case PackedForm::kScaledIq4:
      return GGML_TYPE_IQ4_XS;
    default:
      return GGML_TYPE_COUNT;
  }
}

/// Products run through all weights; with pages of 4 KiB they would wait for addresses as much as for numbers. This is
/// only a request, made before the memory is first touched.
void PreferHugePages(std::uint8_t* begin, std::size_t size) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + kPage - 1) / kPage * kPage;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(begin) + size) / kPage * kPage;
#ifdef MADV_HUGEPAGE
  if (begin != nullptr && first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

/// `out` is [depth][16], `rows` are `count` channels of `depth`.
template <typename T>
void Interleave(const std::byte* rows, std::int64_t depth, std::int64_t count, T* out) {
  std::vector<T> row(static_cast<std::size_t>(depth));
  for (std::int64_t channel = 0; channel < count; ++channel) {
    std::memcpy(row.data(), rows + static_cast<std::size_t>(channel * depth) * sizeof(T), row.size() * sizeof(T));
    for (std::int64_t k = 0; k < depth; ++k) out[k * kPanel + channel] = row[static_cast<std::size_t>(k)];
  }
}

}  // namespace

bool PackedExactly(ggml_type type) { return ReaderOf(type) != nullptr; }

PackedForm KeptForm(ggml_type type) {
  if (type == GGML_TYPE_Q4_1) return PackedForm::kInt4Min;
  for (PackedForm form : {PackedForm::kInt4, PackedForm::kInt4Min, PackedForm::kScaled8, PackedForm::kScaled8Min,
                          PackedForm::kScaled4, PackedForm::kScaled4Min, PackedForm::kScaledIq4}) {
    if (TypeOf(form) == type) return form;
  }
  return PackedForm::kInt8;
}

std::size_t PackedMatrix::DepthBytes(std::int64_t depth) const {
  const auto weights = static_cast<std::size_t>(depth * kPanel);
  switch (form_) {
    case PackedForm::kF32:
      return weights * 4;
    case PackedForm::kInt8:
    case PackedForm::kScaled8:
    case PackedForm::kScaled8Min:
      return weights;
    case PackedForm::kInt4:
    case PackedForm::kInt4Min:
    case PackedForm::kScaled4:
    case PackedForm::kScaled4Min:
    case PackedForm::kScaledIq4:
      return weights / 2;
    default:
      return weights * 2;
  }
}

PackedMatrix::PackedMatrix(PackedForm form, std::int64_t depth, std::int64_t channels, std::int64_t parts)
    : form_(form), depth_(depth), channels_(channels), parts_(parts) {
  Check(!is_scaled() || depth % kStretch == 0, "whole stretches in scaled forms");
  const std::size_t weights = DepthBytes(panels() * padded_depth());
  const auto units = [&](std::int64_t each) {
    return static_cast<std::size_t>(has_blocks() ? panels() * ((padded_depth() + each - 1) / each) : 0);
  };
  const std::size_t scales = units(scale_depth()) * kPanel;
  const std::size_t minima = has_minima() ? scales : 0;
  const std::size_t factors = is_scaled() ? units(kStretch) * static_cast<std::size_t>(stretch_factors()) : 0;
  bytes_ = weights + (scales + minima) * sizeof(ggml_fp16_t) + factors;
  values_ = hwy::AllocateAligned<std::uint8_t>(weights);
  PreferHugePages(values_.get(), weights);
  if (scales > 0) scales_ = hwy::AllocateAligned<ggml_fp16_t>(scales);
  if (minima > 0) minima_ = hwy::AllocateAligned<ggml_fp16_t>(minima);
  if (factors > 0) factors_ = hwy::AllocateAligned<std::int8_t>(factors);
  const bool is_missing =
      (scales > 0 && scales_ == nullptr) || (minima > 0 && minima_ == nullptr) || (factors > 0 && factors_ == nullptr);
  if (values_ == nullptr || is_missing) throw std::bad_alloc();
}

struct PackedMatrix::Contents {
  std::vector<std::uint8_t> weights;
  std::vector<ggml_fp16_t> scales;
  std::vector<ggml_fp16_t> minima;
  std::vector<std::int8_t> factors;
};

void PackedMatrix::Pack(std::int64_t panel, ggml_type type, const std::byte* rows) {
  const bool takes_any = form_ == PackedForm::kInt8 || form_ == PackedForm::kInt16;
  Check(takes_any || type == TypeOf(form_) || (type == GGML_TYPE_Q4_1 && form_ == PackedForm::kInt4Min),
        "weights of another type than their packed form");
  const std::int64_t first = panel % panels_of_part() * kPanel;
  const std::int64_t count = std::min(kPanel, channels_ - first);
  rows += static_cast<std::size_t>(panel / panels_of_part() * channels_ + first) * ggml_row_size(type, depth_);
  const std::int64_t scales = has_blocks() ? (padded_depth() + scale_depth() - 1) / scale_depth() * kPanel : 0;
  Contents contents{
      .weights = std::vector<std::uint8_t>(DepthBytes(padded_depth())),
      .scales = std::vector<ggml_fp16_t>(static_cast<std::size_t>(scales)),
      .minima = std::vector<ggml_fp16_t>(static_cast<std::size_t>(has_minima() ? scales : 0)),
      .factors = std::vector<std::int8_t>(static_cast<std::size_t>(is_scaled() ? stretches() * stretch_factors() : 0))};
  if (is_scaled()) {
    PackScaled(count, type, rows, contents);
  } else if (has_blocks()) {
    PackBlocks(count, type, rows, contents);
  } else {
    PackFloats(count, rows, contents.weights.data());
  }
  for (std::int64_t begin = 0; begin < padded_depth(); begin += kStretch) {
    const std::int64_t depth = std::min(kStretch, padded_depth() - begin);
    const std::int64_t before = DepthBefore(panel, begin);
    std::copy_n(contents.weights.data() + DepthBytes(begin), DepthBytes(depth), values_.get() + DepthBytes(before));
    const auto copy = [&](const auto& from, std::int64_t each, std::int64_t size, auto* to) {
      if (from.empty()) return;
      std::copy_n(from.data() + begin / each * size, depth / each * size, to + before / each * size);
    };
    copy(contents.scales, scale_depth(), kPanel, scales_.get());
    copy(contents.minima, scale_depth(), kPanel, minima_.get());
    copy(contents.factors, kStretch, stretch_factors(), factors_.get());
  }
}

void PackedMatrix::PackFloats(std::int64_t count, const std::byte* rows, std::uint8_t* weights) const {
  if (form_ == PackedForm::kF32) {
    Interleave(rows, depth_, count, reinterpret_cast<std::uint32_t*>(weights));
  } else {
    Interleave(rows, depth_, count, reinterpret_cast<std::uint16_t*>(weights));
  }
}

void PackedMatrix::PackBlocks(std::int64_t count, ggml_type type, const std::byte* rows, Contents& contents) const {
  ChannelReader reader(type, depth_, form_ == PackedForm::kInt16);
  for (std::int64_t channel = 0; channel < kPanel; ++channel) {
    const bool is_there = channel < count;
    const std::byte* row = rows + static_cast<std::size_t>(channel) * ggml_row_size(type, depth_);
    if (is_there && form_ < PackedForm::kInt4) reader.Enter(row);
    for (std::int64_t b = 0; b < blocks(); ++b) {
      const auto place = [&](const auto& block) {
        contents.scales[static_cast<std::size_t>(b * kPanel + channel)] = block.scale;
        PlaceBlock(block, channel, contents.weights.data() + DepthBytes(b * kBlock));
      };
      if (form_ == PackedForm::kInt16) {
        place(is_there ? reader.ReadWide(b) : WideBlock{});
      } else if (form_ == PackedForm::kInt8) {
        place(is_there ? reader.Read(b) : Block{});
      } else if (form_ == PackedForm::kInt4) {
        place(is_there ? ReadCentred(row, b) : NibbleBlock{});
      } else {
        NibbleBlock block;
        if (is_there) block = type == GGML_TYPE_Q4_1 ? ReadQ4_1(row, b) : ReadQ4_K(row, b);
        contents.minima[static_cast<std::size_t>(b * kPanel + channel)] = block.minimum;
        place(block);
      }
    }
  }
}

void PackedMatrix::PackScaled(std::int64_t count, ggml_type type, const std::byte* rows, Contents& contents) const {
  const bool is_bytes = form_ == PackedForm::kScaled8 || form_ == PackedForm::kScaled8Min;
  for (std::int64_t channel = 0; channel < count; ++channel) {
    const std::byte* row = rows + static_cast<std::size_t>(channel) * ggml_row_size(type, depth_);
    for (std::int64_t s = 0; s < stretches(); ++s) {
      const ScaledBlock block = ReadScaledBlock(type, row + static_cast<std::size_t>(s) * ggml_type_size(type));
      std::uint8_t* weights = contents.weights.data() + DepthBytes(s * kStretch);
      if (is_bytes) {
        PlaceBlock(block, channel, weights);
      } else {
        PlaceNibbles(block, channel, weights);
      }
      contents.scales[static_cast<std::size_t>(s * kPanel + channel)] = block.scale;
      std::int8_t* factors = contents.factors.data() + s * stretch_factors();
      for (std::int64_t piece = 0; piece < kPieces; ++piece) factors[piece * kPanel + channel] = block.factors[piece];
      if (!has_minima()) continue;
      contents.minima[static_cast<std::size_t>(s * kPanel + channel)] = block.minimum;
      factors += kPieces * kPanel;
      for (std::int64_t piece = 0; piece < kPieces; ++piece) {
        factors[(piece / 2 * kPanel + channel) * 2 + piece % 2] = block.minima[piece];
      }
    }
  }
}

}  // namespace punt
