// A file that appears under its name whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace punt {

/// Writes to a temporary file beside `path`; Commit flushes it to the disk and renames it. Without Commit nothing
/// of it is left. Used by one thread. Trouble throws Error (kFailed; kBadInput when `path` cannot be opened) that
/// names the file.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::span<const std::byte> bytes);
  /// Appends zeros until the size is a multiple of `alignment`.
  void Pad(std::size_t alignment);
  std::size_t size() const { return size_; }
  void Commit();

 private:
  [[noreturn]] void Fail(int error) const;

  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace punt
