// Files and lines that are written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace punt {

/// Writes to a temporary file beside `path`; Commit flushes it to the disk and renames it. Without Commit nothing
/// of it is left. What is not a regular file (a device, a pipe) is written to directly. Used by one thread. Failures
/// throw Error (kFailed; kBadInput when `path` cannot be opened) naming the file and the system's reason.
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
  std::filesystem::path partial_;  // empty: none
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

/// Replaces a file: readers see the old text or the new, never a part. Throws as AtomicFile does.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view text);

/// Appends `line` and a line feed to a file that no one else writes to, and creates it if there is none. A line that
/// does not fit on the disk leaves the file as it was. Throws as AtomicFile does.
void AppendLine(const std::filesystem::path& path, std::string_view line);

}  // namespace punt
