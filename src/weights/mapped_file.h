// A whole file in memory, read as it is touched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace punt {

/// Immutable; may be shared between threads. The file must not be shortened while it is mapped.
class MappedFile {
 public:
  /// Throws Error naming the file when it does not exist, is not a regular file or cannot be read.
  explicit MappedFile(std::filesystem::path path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  /// Empty for an empty file.
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

}  // namespace punt
