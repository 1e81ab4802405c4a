// Hashes by which the hub calls files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace punt {

/// SHA-256 of the bytes, or SHA-1 of them as a blob of git, whose size must be known first. Used by one thread.
class FileHash {
 public:
  static FileHash Sha256() { return FileHash(true, 0); }
  static FileHash GitBlob(std::int64_t size) { return FileHash(false, size); }

  void Add(std::string_view bytes);
  /// In lower-case digits; the last call.
  std::string Finish();

 private:
  FileHash(bool is_sha256, std::int64_t size);

  std::unique_ptr<void, void (*)(void*)> context_;
};

}  // namespace punt
