// Products of a weight matrix with many rows of activations on the CPU: y = x W', five ways.
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
//   scaled  weights of at most 8 bits, whole-number scales (and minima) of at most 8 bits for every 16, and one f16
//           factor for every 256: K-quants and iq4_xs. Weights are multiplied by their scales when a stretch is
//           fetched, which gives at most 13 bits; activations have 12 bits, a scale for every 256 of a row. So a sum of
//           256 products is exact (at most 4096 x 2047 x 256 < 2^31), and nothing but products is computed until its
//           end.
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
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace punt {

inline constexpr std::int64_t kPanel = 16;     // channels computed together
inline constexpr std::int64_t kGroup = 4;      // panels that share the rows they read
inline constexpr std::int64_t kStretch = 256;  // of the depth, computed together
inline constexpr std::int64_t kBlock = 32;     // of the depth, weights that share a scale
inline constexpr std::int64_t kPiece = 16;     // of the depth, weights that share a whole-number scale
inline constexpr std::int64_t kPieces = kStretch / kPiece;

/// A block of 16-bit weights has magnitudes that add up to no more than this, so that 32 products with 16-bit numbers
/// stay below 2^31.
inline constexpr double kInt16Magnitudes = 65000;
/// Their scales are so small that f16 would round them away.
inline constexpr float kInt16ScaleFactor = 4096;

/// Of the scaled forms, kScaled8 has bytes, kScaled4 numbers from -8 to 7, kScaledIq4 places in a table of 16; `Min` is
/// for minima.
enum class PackedForm {
  kF32,
  kF16,
  kBf16,
  kInt16,
  kInt8,
  kInt4,
  kInt4Min,
  kScaled8,
  kScaled8Min,
  kScaled4,
  kScaled4Min,
  kScaledIq4
};

/// How activations are laid out: see RowsShape.
enum class RowsForm { kFloat, kInt16, kInt8, kInt12 };

/// A matrix [channels x depth] in panels, zeros where the last one is not full. Immutable once packed. As large as the
/// same weights in a file of f32, f16, bf16, q8_0 or q4_0; kScaled8 takes 8.5 bits a weight, the other scaled
/// forms 4.6, half a bit more with minima.
///
/// May have several parts, such as the experts of a mixture, matrices of one shape that follow each other in the file;
/// each has panels of its own. Panels count through all parts.
///
/// Weights are stored in the order in which products read them, so that memory is fetched ahead:
///
///   floats            [group][stretch][panel of the group][depth of the stretch][16]
///   16 and 8 bits     [group][stretch][panel of the group][depth of the stretch / 2][16][2]
///   4 bits            [group][stretch][panel of the group][depth of the stretch / 8][16][4] bytes, whose low halves
///                     come first along the depth and whose high halves come 4 later; kInt4 with 8 added to each
///                     weight, kInt4Min as they are, from 0 to 15
///   8 bits, scaled    as 8 bits; depth is a multiple of 256 in all scaled forms
///   4 bits, scaled    [group][stretch][panel of the group][depth of the stretch / 4][16][2] bytes, whose low halves
///                     come first along the depth and whose high halves come 2 later; kScaled4 with 8 added
///   factors           of the scaled forms: [group][stretch][panel of the group][16 pieces][16] i8, and with minima
///                     theirs after each, [8 pairs of pieces][16][2] i8; scales and minima have one f16 per stretch in
///                     place of one per block
///   scales, minima    [group][stretch][panel of the group][blocks][16] f16; scales of 16-bit weights are multiplied by
///                     kInt16ScaleFactor. A minimum is what is subtracted from each scaled weight of a block
///
/// With blocks the depth is rounded up to whole ones.
class PackedMatrix {
 public:
  PackedMatrix(PackedForm form, std::int64_t depth, std::int64_t channels, std::int64_t parts = 1);

  /// Fills one panel from the matrix as it is in a file: `rows` is the first byte of channel 0. kInt8 and kInt16 take
  /// any type, see PackedExactly; the other forms take only their own: kInt4 q4_0, kInt4Min q4_K and q4_1, kScaled8
  /// q6_K, kScaled8Min q5_K, kScaled4 q3_K, kScaled4Min q2_K, kScaledIq4 iq4_xs. Panels can be filled at once.
  void Pack(std::int64_t panel, ggml_type type, const std::byte* rows);

  PackedForm form() const { return form_; }
  bool has_blocks() const { return form_ >= PackedForm::kInt16; }
  bool is_scaled() const { return form_ >= PackedForm::kScaled8; }
  bool has_minima() const {
    return form_ == PackedForm::kInt4Min || form_ == PackedForm::kScaled8Min || form_ == PackedForm::kScaled4Min;
  }
  /// How the activations have to be laid out.
  RowsForm rows_form() const {
    if (!has_blocks()) return RowsForm::kFloat;
    if (is_scaled()) return RowsForm::kInt12;
    return form_ >= PackedForm::kInt4 ? RowsForm::kInt8 : RowsForm::kInt16;
  }
  std::int64_t depth() const { return depth_; }
  /// Of each part.
  std::int64_t channels() const { return channels_; }
  std::int64_t panels_of_part() const { return (channels_ + kPanel - 1) / kPanel; }
  std::int64_t parts() const { return parts_; }
  std::int64_t panels() const { return parts_ * panels_of_part(); }
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
    return scales_.get() + DepthBefore(panel, begin) / scale_depth() * kPanel;
  }
  /// The same for minima; only if has_minima().
  const ggml_fp16_t* Minima(std::int64_t panel, std::int64_t begin) const {
    return minima_.get() + DepthBefore(panel, begin) / scale_depth() * kPanel;
  }
  /// Whole-number scales of a panel's stretch, [16 pieces][16], then those of minima, [8 pairs of pieces][16][2]; only
  /// if is_scaled().
  const std::int8_t* Factors(std::int64_t panel, std::int64_t begin) const {
    return factors_.get() + DepthBefore(panel, begin) / kStretch * stretch_factors();
  }

 private:
  /// What is stored before a panel's stretch, in units of a panel's depth.
  std::int64_t DepthBefore(std::int64_t panel, std::int64_t begin) const {
    const std::int64_t first = panel / kGroup * kGroup;
    const std::int64_t in_group = std::min(kGroup, panels() - first);
    const std::int64_t stretch = std::min(kStretch, padded_depth() - begin);
    return first * padded_depth() + begin * in_group + (panel - first) * stretch;
  }
  /// Of the depth, what shares an f16 scale.
  std::int64_t scale_depth() const { return is_scaled() ? kStretch : kBlock; }
  std::int64_t stretch_factors() const { return (has_minima() ? 2 : 1) * kPieces * kPanel; }
  void PackFloats(std::int64_t count, const std::byte* rows, std::uint8_t* weights) const;
  struct Contents;  // of a panel, before they are taken apart by stretches
  void PackBlocks(std::int64_t count, ggml_type type, const std::byte* rows, Contents& contents) const;
  void PackScaled(std::int64_t count, ggml_type type, const std::byte* rows, Contents& contents) const;

  PackedForm form_;
  std::int64_t depth_;
  std::int64_t channels_;
  std::int64_t parts_;
  std::size_t bytes_ = 0;
  hwy::AlignedFreeUniquePtr<std::uint8_t[]> values_;
  hwy::AlignedFreeUniquePtr<ggml_fp16_t[]> scales_;
  hwy::AlignedFreeUniquePtr<ggml_fp16_t[]> minima_;
  hwy::AlignedFreeUniquePtr<std::int8_t[]> factors_;
};

/// Whether a block of 8-bit integers and a scale hold this type without loss: q8_0, q4_0, q5_0, iq4_nl. Other types are
/// rounded as for q8_0, in steps of the block's largest magnitude / 127, rounded to f16. kInt16 rounds in steps of the
/// sum of a block's magnitudes / 65000.
bool PackedExactly(ggml_type type);
/// The form that keeps weights of this type as they are besides kInt8: four bits for q4_0, q4_1 and q4_K, whose scales,
/// which are products, are rounded to f16; a scaled form for other K-quants and iq4_xs. kInt8 if there is none.
PackedForm KeptForm(ggml_type type);

/// Activations as the kernels read them: stretch by stretch, a stretch's rows one after another, with zeros after the
/// end of the depth.
///
///   kFloat   [stretches][rows][256] f32
///   kInt16   [stretches][rows][256] i16, then their scales, [stretches][rows] f32
///   kInt8    [stretches][rows][256] i8, then their scales, [stretches][rows][8] f32, then what the 8 that is added to
///            4-bit weights adds to a product: 8 times the sum of a block's integers, [stretches][rows][8] i32
///   kInt12   [stretches][rows][256] i16 from -2047 to 2047, then their scales, [stretches][rows] f32, then the sums of
///            16 integers that minima meet, [stretches][rows][16] i16
struct RowsShape {
  std::int64_t depth = 0;
  std::int64_t rows = 0;

  std::int64_t stretches() const { return (depth + kStretch - 1) / kStretch; }
  std::int64_t numbers() const { return stretches() * rows * kStretch; }
  std::size_t Bytes(RowsForm form) const {
    std::size_t bytes = 0;
    for (std::size_t each : RowBytes(form)) bytes += each * static_cast<std::size_t>(stretches() * rows);
    return bytes;
  }
  /// What a stretch of a row takes in each of the arrays.
  static std::array<std::size_t, 3> RowBytes(RowsForm form) {
    switch (form) {
      case RowsForm::kFloat:
        return {kStretch * sizeof(float), 0, 0};
      case RowsForm::kInt16:
        return {kStretch * sizeof(std::int16_t), sizeof(float), 0};
      case RowsForm::kInt8:
        return {kStretch, kStretch / kBlock * sizeof(float), kStretch / kBlock * sizeof(std::int32_t)};
      case RowsForm::kInt12:
        return {kStretch * sizeof(std::int16_t), sizeof(float), kPieces * sizeof(std::int16_t)};
    }
    return {};
  }
};

/// The rows that a thread lays out, from a matrix whose rows are `stride` floats apart.
struct RowsShare {
  const float* x = nullptr;
  std::int64_t stride = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};
/// kInt16 rounds to the nearest of 65,535 steps across a stretch, kInt12 to that of 4,095, kInt8 to the nearest of 255
/// across a block. A stretch or block with a NaN or an infinity gives NaN; one below 1e-30 throughout is zero.
void LayOutRows(RowsForm form, const RowsShape& shape, const RowsShare& share, std::byte* laid_out);
/// Some rows of what was laid out, as if they alone had been.
void GatherRows(RowsForm form, const RowsShape& shape, const std::byte* laid_out, std::span<const std::int64_t> rows,
                std::byte* gathered);

/// The panels of a part, and their rows, that a thread computes: `y` is the whole result, [rows x channels].
struct PanelShare {
  std::int64_t first = 0;
  std::int64_t last = 0;
  float* y = nullptr;
  std::int64_t first_row = 0;
  std::int64_t last_row = -1;  // -1: all
  std::int64_t part = 0;
};
/// The rows must be laid out in the weights' rows_form().
void Multiply(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out, const PanelShare& share);

}  // namespace punt
