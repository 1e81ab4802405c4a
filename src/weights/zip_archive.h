// Zip files whose entries are stored as they are, which is how PyTorch writes checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct ZipEntry {
  std::string name;
  std::span<const std::byte> bytes;
  std::uint32_t checksum = 0;  // the CRC-32 in the archive; 0: none (PyTorch can leave it out)
};

/// True when the bytes begin like a zip file.
bool IsZip(std::span<const std::byte> file);

/// The archive's entries in the order of its directory, pointing into `file`. Zip64 is read. Throws Error naming
/// `origin` for archives that are cut, compressed, encrypted, spread over several files or contradict themselves, and
/// for names that occur twice. Compares no checksums: that would read everything.
std::vector<ZipEntry> ParseZip(std::span<const std::byte> file, std::string_view origin);

/// Throws Error when the archive has a checksum for the entry and its bytes have another.
void CheckZipEntry(const ZipEntry& entry, std::string_view origin);

}  // namespace punt
