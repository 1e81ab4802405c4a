// Checkpoints of torch.save: pytorch_model.bin, .pt and .pth files.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "weights/stored_tensor.h"

namespace punt {

/// The tensors of a state dict in its order, pointing into `file`: zip archives (PyTorch 1.6 and later) and the single
/// stream used before. The state dict is the file's value or, if that has no tensors of its own, what it keeps under
/// "state_dict", "model_state_dict" or "model"; numbers and texts among the tensors are skipped. Transposed and other
/// strided tensors keep their strides. Checksums are compared if the file has them, which reads all of it. Nothing in
/// the file is executed (pickle.h).
///
/// Throws Error naming `origin` and the offending tensor, opcode or global: files that are cut or damaged, anything but
/// tensors, unknown storage types, sizes and strides that leave their storage or claim more elements than it has,
/// duplicate names. Memory is bounded by the pickle's limits, whatever sizes the file claims.
std::vector<StoredTensor> ParsePytorch(std::span<const std::byte> file, std::string_view origin);

}  // namespace punt
