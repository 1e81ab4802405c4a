#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace punt {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void FailToWrite(const fs::path& path, int error) {
  throw Error(ErrorCode::kFailed, fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

/// After open has failed. A full disk is not the fault of the caller that chose the name.
[[noreturn]] void FailToOpen(const fs::path& path) {
  const int error = errno;
  if (error == ENOSPC || error == EDQUOT) FailToWrite(path, error);
  BadInput("cannot write {}: {}", path.string(), std::strerror(error));
}

/// The error number; 0: everything is written.
int WriteAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (path_.empty()) BadInput("the name of the file to write is empty");
  if (fs::is_directory(path_, ignored)) BadInput("cannot write {}: it is a directory", path_.string());
  if (fs::exists(path_, ignored)) {
    if (!fs::is_regular_file(path_, ignored)) {
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) FailToOpen(path_);
      return;
    }
    // A link stays a link: what it points to is replaced.
    if (fs::is_symlink(path_, ignored)) path_ = fs::canonical(path_);
  }
  constexpr int kAttempts = 100;  // names that another process has taken
  for (int i = 0; i < kAttempts && descriptor_ < 0; ++i) {
    partial_ = path_;
    partial_ += fmt::format(".partial-{}-{}", ::getpid(), i);
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) FailToOpen(path_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  std::error_code ignored;  // there is no one to report it to
  if (!partial_.empty()) fs::remove(partial_, ignored);
}

void AtomicFile::Fail(int error) const { FailToWrite(path_, error); }

void AtomicFile::Write(std::span<const std::byte> bytes) {
  Check(descriptor_ >= 0, "write to a file that is finished");
  if (const int error = WriteAll(descriptor_, bytes); error != 0) Fail(error);
  size_ += bytes.size();
}

void AtomicFile::Pad(std::size_t alignment) {
  constexpr std::array<std::byte, 64> kZeros = {};
  while (size_ % alignment != 0) {
    Write(std::span(kZeros).first(std::min(kZeros.size(), alignment - size_ % alignment)));
  }
}

void AtomicFile::Commit() {
  Check(descriptor_ >= 0, "a file is finished twice");
  if (!partial_.empty()) {
    if (::fsync(descriptor_) != 0) Fail(errno);
    std::error_code error;
    fs::rename(partial_, path_, error);
    if (error) Fail(error.value());
  }
  ::close(descriptor_);  // synchronised above: closing can lose nothing
  descriptor_ = -1;
}

void WriteFileAtomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.Write(std::as_bytes(std::span(text)));
  file.Commit();
}

void AppendLine(const fs::path& path, std::string_view line) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) FailToOpen(path);
  const off_t before = ::lseek(descriptor, 0, SEEK_END);
  const std::string text = std::string(line) + "\n";
  const int error = WriteAll(descriptor, std::as_bytes(std::span(text)));
  // If this fails too, half a line stays: readers of such files must expect that anyway, after a crash.
  if (error != 0 && ::ftruncate(descriptor, before) != 0) errno = 0;
  ::close(descriptor);
  if (error != 0) FailToWrite(path, error);
}

}  // namespace punt
