#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace punt {
namespace fs = std::filesystem;

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (path_.empty()) BadInput("the name of the file to write is empty");
  if (fs::is_directory(path_, ignored)) BadInput("cannot write {}: it is a directory", path_.string());
  // A link stays a link: what it points to is replaced.
  if (fs::is_symlink(path_, ignored) && fs::exists(path_, ignored)) path_ = fs::canonical(path_);
  constexpr int kAttempts = 100;  // names that another process has taken
  for (int i = 0; i < kAttempts && descriptor_ < 0; ++i) {
    partial_ = path_;
    partial_ += fmt::format(".partial-{}-{}", ::getpid(), i);
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) BadInput("cannot write {}: {}", path_.string(), std::strerror(errno));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  std::error_code ignored;  // nobody is left to tell
  fs::remove(partial_, ignored);
}

void AtomicFile::Fail(int error) const {
  throw Error(ErrorCode::kFailed, fmt::format("cannot write {}: {}", path_.string(), std::strerror(error)));
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  Check(descriptor_ >= 0, "write to a file that is finished");
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::size_t>(written);
  }
}

void AtomicFile::Pad(std::size_t alignment) {
  constexpr std::array<std::byte, 64> kZeros = {};
  while (size_ % alignment != 0) {
    Write(std::span(kZeros).first(std::min(kZeros.size(), alignment - size_ % alignment)));
  }
}

void AtomicFile::Commit() {
  Check(descriptor_ >= 0, "a file is finished twice");
  if (::fsync(descriptor_) != 0) Fail(errno);
  std::error_code error;
  fs::rename(partial_, path_, error);
  if (error) Fail(error.value());
  ::close(descriptor_);  // synchronised above: closing can lose nothing
  descriptor_ = -1;
}

}  // namespace punt
