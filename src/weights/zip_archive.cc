// A zip file is read from its end: a record there says where the directory is, which lists entries, each of which says
// where its own header is; the entry's bytes follow that. Sizes are taken from the directory; those in an entry's own
// header may be zero (written before they were known). Fields whose bits are all ones stand for 64-bit fields in the
// zip64 records. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
//
// Tested by: pytorch_test.cc, fuzz/pytorch_fuzz.cc.
#include "weights/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "base/check.h"
#include "weights/pickle.h"

namespace punt {
namespace {

constexpr std::uint32_t kLocalMark = 0x04034b50;
constexpr std::uint32_t kDirectoryMark = 0x02014b50;
constexpr std::uint32_t kEndMark = 0x06054b50;
constexpr std::uint32_t kEnd64Mark = 0x06064b50;
constexpr std::uint32_t kLocator64Mark = 0x07064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kDirectoryBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kMostComment = 65'535;
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint16_t kEncrypted = 1;

/// Where the directory is, and how many entries it has.
struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> file, std::string_view origin) : file_(file), origin_(origin) {}

  std::vector<ZipEntry> Read() {
    const Directory directory = FindDirectory();
    if (directory.offset > file_.size() || directory.size > file_.size() - directory.offset) {
      Refuse("its directory lies outside the file: it is cut or damaged");
    }
    if (directory.entries > directory.size / kDirectoryBytes) {
      Refuse("{} entries do not fit a directory of {} bytes", directory.entries, directory.size);
    }
    std::vector<ZipEntry> entries;
    entries.reserve(directory.entries);
    std::set<std::string_view> names;
    std::uint64_t at = directory.offset;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
      entries.push_back(ReadEntry(at, directory.offset + directory.size, directory.offset));
      if (!names.insert(entries.back().name).second) Refuse("entry {} occurs twice", ShowText(entries.back().name));
    }
    return entries;
  }

 private:
  template <typename... Args>
  [[noreturn]] void Refuse(fmt::format_string<Args...> format, Args&&... args) const {
    BadInput("{}: zip archive: {}", origin_, fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename T>
  T Number(std::uint64_t at) const {
    T number = 0;
    if (at > file_.size() || sizeof(T) > file_.size() - at) Refuse("it is cut or damaged");
    std::memcpy(&number, file_.data() + at, sizeof(T));
    return number;
  }

  Directory FindDirectory() const {
    if (file_.size() < kEndBytes) Refuse("{} bytes are too few", file_.size());
    const std::size_t last = file_.size() - kEndBytes;
    const std::size_t first = last > kMostComment ? last - kMostComment : 0;
    for (std::size_t at = last + 1; at-- > first;) {
      if (Number<std::uint32_t>(at) == kEndMark && Number<std::uint16_t>(at + 20) == last - at) return ReadEnd(at);
    }
    Refuse("it has no directory at its end: it is cut or damaged");
  }

  Directory ReadEnd(std::size_t at) const {
    if (Number<std::uint16_t>(at + 4) != 0 || Number<std::uint16_t>(at + 6) != 0) Refuse("it has several parts");
    const bool has_64 = at >= kLocator64Bytes && Number<std::uint32_t>(at - kLocator64Bytes) == kLocator64Mark;
    if (!has_64) {
      return {Number<std::uint16_t>(at + 10), Number<std::uint32_t>(at + 12), Number<std::uint32_t>(at + 16)};
    }
    const auto end = Number<std::uint64_t>(at - kLocator64Bytes + 8);
    if (end > file_.size() || file_.size() - end < kEnd64Bytes || Number<std::uint32_t>(end) != kEnd64Mark) {
      Refuse("its zip64 record is not where it should be: it is cut or damaged");
    }
    return {Number<std::uint64_t>(end + 32), Number<std::uint64_t>(end + 40), Number<std::uint64_t>(end + 48)};
  }

  /// Reads the directory's record at `at` and moves `at` past it. Entries lie before `data_end`.
  ZipEntry ReadEntry(std::uint64_t& at, std::uint64_t directory_end, std::uint64_t data_end) const {
    if (directory_end - at < kDirectoryBytes || Number<std::uint32_t>(at) != kDirectoryMark) {
      Refuse("its directory is damaged");
    }
    const std::uint64_t name_bytes = Number<std::uint16_t>(at + 28);
    const std::uint64_t extra_bytes = Number<std::uint16_t>(at + 30);
    const std::uint64_t record = kDirectoryBytes + name_bytes + extra_bytes + Number<std::uint16_t>(at + 32);
    if (directory_end - at < record) Refuse("its directory is damaged");
    ZipEntry entry{.name = Text(at + kDirectoryBytes, name_bytes), .checksum = Number<std::uint32_t>(at + 16)};
    const std::string shown = ShowText(entry.name);
    if ((Number<std::uint16_t>(at + 8) & kEncrypted) != 0) Refuse("entry {} is encrypted", shown);
    if (Number<std::uint16_t>(at + 10) != 0) Refuse("entry {} is compressed, PyTorch stores them plainly", shown);
    std::uint64_t packed = Number<std::uint32_t>(at + 20);
    std::uint64_t size = Number<std::uint32_t>(at + 24);
    std::uint64_t offset = Number<std::uint32_t>(at + 42);
    ReadZip64({&size, &packed, &offset}, at + kDirectoryBytes + name_bytes, extra_bytes);
    if (packed != size) Refuse("entry {} has {} bytes and {}", shown, size, packed);
    entry.bytes = Bytes(entry.name, offset, size, data_end);
    at += record;
    return entry;
  }

  /// The bytes after the entry's own header, which must have the same name.
  std::span<const std::byte> Bytes(const std::string& name, std::uint64_t offset, std::uint64_t size,
                                   std::uint64_t data_end) const {
    const bool has_header = offset <= data_end && data_end - offset >= kLocalBytes;
    if (!has_header || Number<std::uint32_t>(offset) != kLocalMark) {
      Refuse("entry {} is not at its place, {}", ShowText(name), offset);
    }
    const std::uint64_t name_bytes = Number<std::uint16_t>(offset + 26);
    const std::uint64_t header = kLocalBytes + name_bytes + Number<std::uint16_t>(offset + 28);
    if (data_end - offset < header || size > data_end - offset - header) {
      Refuse("entry {} of {} bytes reaches beyond the data", ShowText(name), size);
    }
    if (Text(offset + kLocalBytes, name_bytes) != name || Number<std::uint16_t>(offset + 8) != 0) {
      Refuse("entry {} has another header than the directory says", ShowText(name));
    }
    return file_.subspan(offset + header, size);
  }

  std::string Text(std::uint64_t at, std::uint64_t size) const {
    return {reinterpret_cast<const char*>(file_.data()) + at, size};
  }

  /// Reads those of `fields` that are all ones from the extra field of zip64.
  void ReadZip64(std::initializer_list<std::uint64_t*> fields, std::uint64_t at, std::uint64_t bytes) const {
    constexpr std::uint64_t kOnes = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t end = at + bytes;
    while (end - at >= 4 && Number<std::uint16_t>(at) != kZip64Field) {
      at += std::min<std::uint64_t>(end - at, std::uint64_t{4} + Number<std::uint16_t>(at + 2));
    }
    at += 4;
    for (std::uint64_t* field : fields) {
      if (*field != kOnes) continue;
      if (at > end || end - at < 8) Refuse("its directory is damaged");
      *field = Number<std::uint64_t>(at);
      at += 8;
    }
  }

  std::span<const std::byte> file_;
  std::string_view origin_;
};

}  // namespace

bool IsZip(std::span<const std::byte> file) {
  std::uint32_t mark = 0;
  if (file.size() < sizeof(mark)) return false;
  std::memcpy(&mark, file.data(), sizeof(mark));
  return mark == kLocalMark;
}

std::vector<ZipEntry> ParseZip(std::span<const std::byte> file, std::string_view origin) {
  return ZipReader(file, origin).Read();
}

void CheckZipEntry(const ZipEntry& entry, std::string_view origin) {
  if (entry.checksum == 0) return;
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(entry.bytes.data()), entry.bytes.size());
  if (sum != entry.checksum) {
    BadInput("{}: zip archive: entry {} is damaged: its checksum is {:08x} instead of {:08x}", origin,
             ShowText(entry.name), sum, entry.checksum);
  }
}

}  // namespace punt
