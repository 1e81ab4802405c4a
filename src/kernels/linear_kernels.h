// Products of a weight matrix with many rows of activations on the CPU: y = x W', four ways.
//
// A diffusion pass multiplies every matrix with hundreds of rows at once. So each weight that is fetched and converted
// serves many rows, and the arithmetic units set the pace, not memory. ggml's kernels take dot products, row by row;
// these compute tiles of 16 channels and a few rows in registers.
//
//   float   f32, f16 or bf16 weights, as in the file; activations in f32; one multiply-add per product.
//   int8    8-bit weights, a scale for every 32 along the depth and each channel; activations in 16 bits, a scale for
//           every 256 of a row. Sums of 32 products are exact (|sum| < 2^28), the rest is f32. Twice as many
//           products per instruction as floats. 16 bits cost no more than 8 here: without VNNI the 8-bit instruction
//           either saturates or wants 7-bit operands, and needs a second one to widen its sums.
//   int16   the same with 16-bit weights: as many bits (about 13 for weights of similar size) as keep sums of 32
//           products exact. For f16, at the speed of int8.
//   int4    4-bit weights, a scale and in K-quants a minimum for every 32; activations in 8 bits, a scale for every
//           32 of a row. The products are so small that 16 bits hold the sum of 16 of them, so an instruction adds
//           twice as many as above.
//
// All walk the depth in stretches of 256, whose operands stay in the first- and second-level caches: weights of a
// panel of 16 channels meet a stretch of all rows, then the next panel. The order of a sum depends on the depth alone.
// A row's result is therefore the same bits whichever rows are computed with it, and however channels are divided
// among threads. (That is why these kernels exist: OpenBLAS does not ensure it, see bench/linear_tool.cc.)
//
// Tested by linear_kernels_test.cc against naive twins.
#pragma once

#include <ggml.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace punt {

inline constexpr std::int64_t kPanel = 16;     // channels computed together
inline constexpr std::int64_t kGroup = 4;      // panels that share the rows they read
inline constexpr std::int64_t kStretch = 256;  // of the depth, computed together
inline constexpr std::int64_t kBlock = 32;     // of the depth, weights that share a scale

/// A block of 16-bit weights has magnitudes that add up to no more than this, so that 32 products with 16-bit numbers
/// stay below 2^31.
inline constexpr double kInt16Magnitudes = 65000;
/// Their scales are so small that f16 would round them away.
inline constexpr float kInt16ScaleFactor = 4096;

enum class PackedForm { kF32, kF16, kBf16, kInt16, kInt8, kInt4, kInt4Min };

/// How activations are laid out: see RowsShape.
enum class RowsForm { kFloat, kInt16, kInt8 };

/// A matrix [channels x depth] in panels, zeros where the last one is not full. Immutable once packed. As large as the
/// same weights in a file of f32, f16, bf16, q8_0 or q4_0.
///
/// Weights are stored in the order in which products read them, so that memory is fetched ahead:
///
///   floats            [group][stretch][panel of the group][depth of the stretch][16]
///   16 and 8 bits     [group][stretch][panel of the group][depth of the stretch / 2][16][2]
///   4 bits            [group][stretch][panel of the group][depth of the stretch / 8][16][4] bytes, whose low halves
///                     come first along the depth and whose high halves come 4 later; kInt4 with 8 added to each
///                     weight, kInt4Min as they are, from 0 to 15
///   scales, minima    [group][stretch][panel of the group][blocks][16] f16; scales of 16-bit weights are multiplied by
///                     kInt16ScaleFactor. A minimum is what is subtracted from each scaled weight of a block
///
/// With blocks the depth is rounded up to whole ones.
class PackedMatrix {
 public:
  PackedMatrix(PackedForm form, std::int64_t depth, std::int64_t channels);

  /// Fills one panel from the matrix as it is in a file: `rows` is the first byte of channel 0. kInt8 and kInt16 take
  /// any type, see PackedExactly; the other forms take only their own, kInt4 q4_0 and kInt4Min q4_K.
  /// Different panels can be filled at once.
  void Pack(std::int64_t panel, ggml_type type, const std::byte* rows);

  PackedForm form() const { return form_; }
  bool has_blocks() const { return form_ >= PackedForm::kInt16; }
  bool has_minima() const { return form_ == PackedForm::kInt4Min; }
  /// How the activations have to be laid out.
  RowsForm rows_form() const {
    if (!has_blocks()) return RowsForm::kFloat;
    return form_ >= PackedForm::kInt4 ? RowsForm::kInt8 : RowsForm::kInt16;
  }
  std::int64_t depth() const { return depth_; }
  std::int64_t channels() const { return channels_; }
  std::int64_t panels() const { return (channels_ + kPanel - 1) / kPanel; }
  std::int64_t stretches() const { return (depth_ + kStretch - 1) / kStretch; }
  std::int64_t blocks() const { return (depth_ + kBlock - 1) / kBlock; }
  /// The depth that is stored.
  std::int64_t padded_depth() const { return has_blocks() ? blocks() * kBlock : depth_; }
  std::size_t bytes() const { return bytes_; }

  /// Weights of a panel from `begin` on, a multiple of kStretch; and the bytes that `depth` of a panel takes.
  const std::uint8_t* Weights(std::int64_t panel, std::int64_t begin) const {
    return values_.get() + DepthBytes(DepthBefore(panel, begin));
  }
  std::size_t DepthBytes(std::int64_t depth) const;
  /// Scales of a panel from `begin` on, a multiple of kStretch, [blocks][16]; only if has_blocks().
  const ggml_fp16_t* Scales(std::int64_t panel, std::int64_t begin) const {
    return scales_.get() + DepthBefore(panel, begin) / kBlock * kPanel;
  }
  /// The same for minima; only if has_minima().
  const ggml_fp16_t* Minima(std::int64_t panel, std::int64_t begin) const {
    return minima_.get() + DepthBefore(panel, begin) / kBlock * kPanel;
  }

 private:
  /// What is stored before a panel's stretch, in units of a panel's depth.
  std::int64_t DepthBefore(std::int64_t panel, std::int64_t begin) const {
    const std::int64_t first = panel / kGroup * kGroup;
    const std::int64_t in_group = std::min(kGroup, panels() - first);
    const std::int64_t stretch = std::min(kStretch, padded_depth() - begin);
    return first * padded_depth() + begin * in_group + (panel - first) * stretch;
  }
  void PackFloats(std::int64_t panel, const std::byte* rows, std::uint8_t* weights) const;
  struct Parts;  // of a panel, before they are taken apart by stretches
  void PackBlocks(std::int64_t panel, ggml_type type, const std::byte* rows, Parts& parts) const;

  PackedForm form_;
  std::int64_t depth_;
  std::int64_t channels_;
  std::size_t bytes_ = 0;
  hwy::AlignedFreeUniquePtr<std::uint8_t[]> values_;
  hwy::AlignedFreeUniquePtr<ggml_fp16_t[]> scales_;
  hwy::AlignedFreeUniquePtr<ggml_fp16_t[]> minima_;
};

/// Whether a block of 8-bit integers and a scale hold this type without loss: q8_0, q4_0, q5_0. Other types are rounded
/// as for q8_0, in steps of the block's largest magnitude / 127, rounded to f16. kInt16 rounds in steps of the sum of a
/// block's magnitudes / 65000.
bool PackedExactly(ggml_type type);
/// Whether weights of this type are kept as they are in four bits: q4_0, q4_K. Only the scales of q4_K, which are
/// products, are rounded to f16.
bool PackedInNibbles(ggml_type type);

/// Activations as the kernels read them: stretch by stretch, a stretch's rows one after another, with zeros after the
/// end of the depth.
///
///   kFloat   [stretches][rows][256] f32
///   kInt16   [stretches][rows][256] i16, then their scales, [stretches][rows] f32
///   kInt8    [stretches][rows][256] i8, then their scales, [stretches][rows][8] f32, then what the 8 that is added to
///            4-bit weights adds to a product: 8 times the sum of a block's integers, [stretches][rows][8] i32
struct RowsShape {
  std::int64_t depth = 0;
  std::int64_t rows = 0;

  std::int64_t stretches() const { return (depth + kStretch - 1) / kStretch; }
  std::int64_t numbers() const { return stretches() * rows * kStretch; }
  std::size_t Bytes(RowsForm form) const {
    switch (form) {
      case RowsForm::kFloat:
        return static_cast<std::size_t>(numbers()) * sizeof(float);
      case RowsForm::kInt16:
        return static_cast<std::size_t>(numbers() * 2) + static_cast<std::size_t>(stretches() * rows) * sizeof(float);
      case RowsForm::kInt8:
        return static_cast<std::size_t>(numbers()) + static_cast<std::size_t>(numbers() / kBlock * 2) * sizeof(float);
    }
    return 0;
  }
};

/// The rows that a thread lays out, from a matrix whose rows are `stride` floats apart.
struct RowsShare {
  const float* x = nullptr;
  std::int64_t stride = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};
/// kInt16 rounds to the nearest of 65,535 steps across a stretch, kInt8 to the nearest of 255 across a block. A stretch
/// or block with a NaN or an infinity gives NaN; one whose largest magnitude is below 1e-30 counts as zero.
void LayOutRows(RowsForm form, const RowsShape& shape, const RowsShare& share, std::byte* laid_out);

/// The panels, and their rows, that a thread computes: `y` is the whole result, [rows x channels].
struct PanelShare {
  std::int64_t first = 0;
  std::int64_t last = 0;
  float* y = nullptr;
  std::int64_t first_row = 0;
  std::int64_t last_row = -1;  // -1: all
};
/// The rows must be laid out in the weights' rows_form().
void Multiply(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out, const PanelShare& share);

}  // namespace punt
