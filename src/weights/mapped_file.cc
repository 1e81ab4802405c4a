#include "weights/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace punt {
namespace {

/// Closes the file in its destructor; the mapping outlives it.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

MappedFile::MappedFile(std::filesystem::path path) : path_(std::move(path)) {
  // Without O_NONBLOCK a pipe of that name would block here.
  const Descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) BadInput("cannot open {}: {}", path_.string(), std::strerror(errno));
  struct stat status = {};
  if (::fstat(file.number, &status) != 0) BadInput("cannot open {}: {}", path_.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode)) BadInput("cannot read {}: it is not a regular file", path_.string());
  if (status.st_size == 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number, 0);
  if (data == MAP_FAILED) {
    throw Error(ErrorCode::kFailed, fmt::format("cannot map {}: {}", path_.string(), std::strerror(errno)));
  }
  bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

}  // namespace punt
