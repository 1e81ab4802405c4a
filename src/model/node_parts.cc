#include "model/node_parts.h"

#include <algorithm>

namespace punt {
namespace {

constexpr std::int64_t kProductColumns = 16;      // ggml's kernels read the weights again for every 16 at most
constexpr std::int64_t kManyProductColumns = 32;  // of many columns
constexpr std::int64_t kExpertChannels = 256;
constexpr std::int64_t kAttentionQueries = 64;  // a tile of ggml's kernel

Cut Whole() {
  Cut cut;
  cut.sources.fill(Cut::kWhole);
  return cut;
}

/// The outermost dimension there is more than one of.
int LastDimension(const ggml_tensor* tensor) {
  int last = 0;
  for (int i = 0; i < GGML_MAX_DIMS; ++i) {
    if (tensor->ne[i] > 1) last = i;
  }
  return last;
}

Cut Along(const ggml_tensor* node, int dimension) {
  Cut cut = Whole();
  cut.node = dimension;
  cut.count = node->ne[dimension];
  return cut;
}

/// Sources have the node's columns, or one for all.
Cut ByElements(const ggml_tensor* node) {
  const int last = LastDimension(node);
  if (last == 0) return Whole();
  Cut cut = Along(node, last);
  for (std::size_t i = 0; i < GGML_MAX_SRC && node->src[i] != nullptr; ++i) {
    const std::int64_t columns = node->src[i]->ne[last];
    if (columns != 1 && columns != cut.count) return Whole();
    if (columns != 1) cut.sources[i] = last;
  }
  return cut;
}

Cut OfCopy(const ggml_tensor* node) { return ggml_are_same_shape(node, node->src[0]) ? ByElements(node) : Whole(); }

Cut OfRope(const ggml_tensor* node) {
  if (node->ne[2] < 2 || node->ne[3] != 1) return Whole();
  Cut cut = Along(node, 2);
  cut.sources[0] = 2;
  cut.sources[1] = 0;
  return cut;
}

Cut OfRows(const ggml_tensor* node) {
  if (node->ne[1] < 2 || node->ne[2] != 1 || node->ne[3] != 1) return Whole();
  Cut cut = Along(node, 1);
  cut.sources[1] = 0;
  return cut;
}

Cut OfProduct(const ggml_tensor* node) {
  if (node->ne[2] != 1 || node->ne[3] != 1) return Whole();
  Cut cut = Along(node, 1);
  cut.sources[1] = 1;
  cut.part = cut.count < 8 * kProductColumns ? kProductColumns : kManyProductColumns;
  return cut;
}

Cut OfExperts(const ggml_tensor* node) {
  Cut cut = Along(node, 0);
  cut.sources[0] = 1;
  cut.part = kExpertChannels;
  return cut;
}

Cut OfAttention(const ggml_tensor* node) {
  if (node->src[4] != nullptr) return Whole();
  if (node->ne[3] > 1) {
    Cut cut = Along(node, 3);
    cut.part = 1;
    for (std::size_t i = 0; i < 4 && node->src[i] != nullptr; ++i) {
      if (node->src[i]->ne[3] == cut.count) cut.sources[i] = 3;
    }
    return cut;
  }
  Cut cut = Along(node, 2);
  cut.part = kAttentionQueries;
  cut.sources[0] = 1;
  if (node->src[3] != nullptr) cut.sources[3] = 1;
  return cut;
}

void Shorten(ggml_tensor& tensor, int dimension, std::int64_t first, std::int64_t last) {
  if (dimension == Cut::kWhole) return;
  tensor.data = static_cast<std::byte*>(tensor.data) + static_cast<std::size_t>(first) * tensor.nb[dimension];
  tensor.ne[dimension] = last - first;
}

/// Memory of a tensor that is cut into columns: `width` bytes of each, `stride` apart.
struct Region {
  const std::byte* begin;
  const std::byte* end;
  std::size_t stride;  // 0: not cut
  std::size_t width;
};

Region RegionOf(const ggml_tensor* tensor, int dimension) {
  const auto* begin = static_cast<const std::byte*>(tensor->data);
  const std::size_t bytes = ggml_nbytes(tensor);
  Region region{.begin = begin, .end = begin + bytes, .stride = 0, .width = bytes};
  if (dimension == Cut::kWhole) return region;
  region.stride = tensor->nb[dimension];
  region.width = bytes - static_cast<std::size_t>(tensor->ne[dimension] - 1) * region.stride;
  return region;
}

/// Whether different columns of the two share memory.
bool AreEntangled(const Region& a, const Region& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (a.stride == 0 || a.stride != b.stride) return true;
  const Region& earlier = a.begin <= b.begin ? a : b;
  const Region& later = a.begin <= b.begin ? b : a;
  const auto shift = static_cast<std::size_t>(later.begin - earlier.begin);
  return earlier.width > earlier.stride || shift + later.width > later.stride;
}

bool ReadsColumnsOf(const ggml_tensor* reader, const Cut& cut, const Region& written) {
  for (std::size_t i = 0; i < GGML_MAX_SRC && reader->src[i] != nullptr; ++i) {
    if (AreEntangled(RegionOf(reader->src[i], cut.sources[i]), written)) return false;
  }
  return true;
}

}  // namespace

Cut CutOf(const ggml_tensor* node) {
  switch (node->op) {
    case GGML_OP_ADD:
    case GGML_OP_SUB:
    case GGML_OP_MUL:
    case GGML_OP_DIV:
    case GGML_OP_SCALE:
    case GGML_OP_NORM:
    case GGML_OP_RMS_NORM:
    case GGML_OP_UNARY:
    case GGML_OP_GLU:
      return ByElements(node);
    case GGML_OP_CPY:
    case GGML_OP_CONT:
    case GGML_OP_DUP:
      return OfCopy(node);
    case GGML_OP_ROPE:
      return OfRope(node);
    case GGML_OP_GET_ROWS:
      return OfRows(node);
    case GGML_OP_MUL_MAT:
      return OfProduct(node);
    case GGML_OP_MUL_MAT_ID:
      return OfExperts(node);
    case GGML_OP_FLASH_ATTN_EXT:
      return OfAttention(node);
    default:
      return Whole();
  }
}

ggml_tensor* NodePart::Of(const ggml_tensor* node, const Cut& cut, std::int64_t first, std::int64_t last) {
  node_ = *node;
  Shorten(node_, cut.node, first, last);
  for (std::size_t i = 0; i < GGML_MAX_SRC && node->src[i] != nullptr; ++i) {
    sources_[i] = *node->src[i];
    Shorten(sources_[i], cut.sources[i], first, last);
    node_.src[i] = &sources_[i];
  }
  return &node_;
}

bool MayFollow(std::span<ggml_tensor* const> before, const ggml_tensor* node) {
  const Cut cut = CutOf(node);
  const Region written = RegionOf(node, cut.node);
  if (!ReadsColumnsOf(node, cut, written)) return false;
  for (const ggml_tensor* each : before) {
    const Cut own = CutOf(each);
    const Region earlier = RegionOf(each, own.node);
    if (own.count != cut.count || AreEntangled(earlier, written)) return false;
    if (!ReadsColumnsOf(node, cut, earlier) || !ReadsColumnsOf(each, own, written)) return false;
  }
  return true;
}

}  // namespace punt
