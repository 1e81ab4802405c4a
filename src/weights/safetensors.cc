#include "weights/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "tensor files are little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeaderBytes = 100'000'000;  // the limit of the reference implementation
constexpr std::string_view kMetadata = "__metadata__";

/// Parses the header; a name that occurs twice is an error, which a JSON object alone would not show.
Json ParseHeader(std::span<const std::byte> text, std::string_view origin) {
  std::set<std::string> names;
  const auto check_names = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMostJsonDepth) BadInput("{}: the header nests deeper than {} levels", origin, kMostJsonDepth);
    if (depth == 1 && event == Json::parse_event_t::key && !names.insert(value.get<std::string>()).second) {
      BadInput("{}: tensor '{}' occurs twice in the header", origin, value.get<std::string>());
    }
    return true;
  };
  const char* begin = reinterpret_cast<const char*>(text.data());
  if (text.empty() || *begin != '{') BadInput("{}: the header does not begin with '{{'", origin);
  try {
    return Json::parse(begin, begin + text.size(), check_names);
  } catch (const Json::exception& error) {
    BadInput("{}: the header is not JSON: {}", origin, ReasonOf(error));
  }
}

/// A JSON array of numbers from 0 to 2^63 - 1.
std::vector<std::int64_t> Sizes(const Json& entry, const char* field, std::string_view where) {
  const auto it = entry.find(field);
  if (it == entry.end()) BadInput("{}: {} is missing", where, field);
  if (!it->is_array()) BadInput("{}: {} is not an array", where, field);
  std::vector<std::int64_t> sizes;
  for (const Json& item : *it) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > INT64_MAX) {
      BadInput("{}: {} has the entry {}", where, field, Dump(item));
    }
    sizes.push_back(item.get<std::int64_t>());
  }
  return sizes;
}

StoredTensor ParseEntry(const std::string& name, const Json& entry, std::span<const std::byte> data,
                        std::string_view origin) {
  const std::string where = fmt::format("{}: tensor '{}'", origin, name);
  if (!entry.is_object()) BadInput("{} is not an object", where);
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) BadInput("{}: dtype is missing or no string", where);
  StoredTensor result{.name = name, .dtype = dtype->get<std::string>(), .shape = Sizes(entry, "shape", where)};

  std::uint64_t bytes = DtypeBytes(result.dtype);
  if (bytes == 0) BadInput("{}: dtype '{}' is unknown", where, result.dtype);
  for (const std::int64_t size : result.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
      BadInput("{}: shape [{}] is too large", where, fmt::join(result.shape, ", "));
    }
  }
  const std::vector<std::int64_t> offsets = Sizes(entry, "data_offsets", where);
  if (offsets.size() != 2) BadInput("{}: data_offsets has {} entries instead of 2", where, offsets.size());
  const auto begin = static_cast<std::uint64_t>(offsets[0]);
  const auto end = static_cast<std::uint64_t>(offsets[1]);
  if (begin > end || end > data.size()) {
    BadInput("{}: data_offsets [{}, {}] are out of bounds, the file has {} bytes of data", where, begin, end,
             data.size());
  }
  if (end - begin != bytes) {
    BadInput("{}: data_offsets span {} bytes, {} [{}] needs {}", where, end - begin, result.dtype,
             fmt::join(result.shape, ", "), bytes);
  }
  result.bytes = data.subspan(begin, bytes);
  return result;
}

void CheckMetadata(const Json& metadata, std::string_view origin) {
  if (!metadata.is_object()) BadInput("{}: {} is not an object", origin, kMetadata);
  for (const auto& [key, value] : metadata.items()) {
    if (!value.is_string()) BadInput("{}: {} '{}' is not a string", origin, kMetadata, key);
  }
}

/// The bytes of the tensors must follow each other without gap or overlap, and fill the file.
void CheckCoverage(std::span<const StoredTensor> sorted, std::span<const std::byte> data, std::string_view origin) {
  const std::byte* next = data.data();
  for (const StoredTensor& entry : sorted) {
    if (entry.bytes.data() != next) {
      BadInput("{}: tensor '{}': data_offsets {} the tensor before", origin, entry.name,
               entry.bytes.data() < next ? "overlap" : "leave a gap behind");
    }
    next += entry.bytes.size();
  }
  if (next != data.data() + data.size()) {
    BadInput("{}: {} bytes after the last tensor belong to none", origin, data.data() + data.size() - next);
  }
}

}  // namespace

std::vector<StoredTensor> ParseSafetensors(std::span<const std::byte> file, std::string_view origin) {
  if (file.size() < kLengthBytes) BadInput("{}: {} bytes are too few for a safetensors header", origin, file.size());
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMostHeaderBytes || length > file.size() - kLengthBytes) {
    BadInput("{}: a header length of {} does not fit a file of {} bytes", origin, length, file.size());
  }
  const Json header = ParseHeader(file.subspan(kLengthBytes, length), origin);
  const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
  std::vector<StoredTensor> entries;
  entries.reserve(header.size());
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      CheckMetadata(entry, origin);
    } else {
      entries.push_back(ParseEntry(name, entry, data, origin));
    }
  }
  // Empty tensors begin where others do, so the end decides between them.
  std::stable_sort(entries.begin(), entries.end(), [](const StoredTensor& a, const StoredTensor& b) {
    if (a.bytes.data() != b.bytes.data()) return a.bytes.data() < b.bytes.data();
    return a.bytes.size() < b.bytes.size();
  });
  CheckCoverage(entries, data, origin);
  return entries;
}

SafetensorsFile::SafetensorsFile(std::filesystem::path path)
    : file_(std::move(path)), entries_(ParseSafetensors(file_.bytes(), file_.path().string())) {}

void WriteSafetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors) {
  Json header = Json::object();
  std::size_t offset = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    const std::int64_t size =
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>());
    Check(std::ssize(tensor.values) == size, "a tensor of another size");
    if (header.contains(tensor.name) || tensor.name == kMetadata) {
      BadInput("{}: the name '{}' cannot be given to a tensor twice", path.string(), tensor.name);
    }
    const std::size_t end = offset + tensor.values.size_bytes();
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = Dump(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();

  AtomicFile file(path);
  file.Write(std::as_bytes(std::span(&length, 1)));
  file.Write(std::as_bytes(std::span(text)));
  for (const SafetensorsTensor& tensor : tensors) file.Write(std::as_bytes(tensor.values));
  file.Commit();
}

}  // namespace punt
