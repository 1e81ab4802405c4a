// The head of an HTTP request, read strictly: whatever two readers could understand differently is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace punt {

constexpr std::size_t kMostHeadBytes = 64 << 10;
constexpr std::size_t kMostTargetBytes = 8 << 10;
constexpr std::size_t kMostHeaders = 100;

using Header = std::pair<std::string, std::string>;

/// How the body is delimited.
enum class BodyFraming { kNone, kLength, kChunked };

struct RequestHead {
  std::string method;
  std::string target;  // path and query as sent, without decoding
  std::string path;    // of the target, without the query
  std::string host;    // of the absolute target, or else of the header; empty: not given (HTTP/1.0)
  bool is_http10 = false;
  std::vector<Header> headers;  // names in lower case, values as sent, without the space around them
  BodyFraming framing = BodyFraming::kNone;
  std::uint64_t length = 0;  // of the body, if it is given
  bool wants_close = false;

  /// The value of the first header with this name (lower case); empty: there is none.
  std::string_view Get(std::string_view name) const;
  int Count(std::string_view name) const;
  bool Has(std::string_view name) const { return Count(name) > 0; }
};

/// Finds the end of a head as bytes arrive. Keeps only a position.
class HeadScanner {
 public:
  /// The size of the head with its empty line; 0: more is needed. Takes all bytes so far. Throws ApiError when they
  /// cannot become a head: 400 for a line that does not end in CR LF, 414 for a target that is too long, 431 for a head
  /// that is too long.
  std::size_t Find(std::string_view bytes);

 private:
  std::size_t scanned_ = 0;
  std::size_t line_ = 0;  // where the line begins
};

/// Reads a head with its empty line. Throws ApiError: 400, 414, 431, 505.
RequestHead ParseHead(std::string_view bytes);

/// Characters of methods, header names, and the like.
bool IsToken(std::string_view text);
/// ASCII only.
std::string LowerCase(std::string_view text);
/// Without leading and trailing spaces and tabs, as in values of headers.
std::string_view Trimmed(std::string_view text);

/// Decodes a chunked body as it arrives.
class ChunkedDecoder {
 public:
  explicit ChunkedDecoder(std::size_t most_bytes) : most_(most_bytes) {}

  /// Appends what `bytes` hold of the body and returns how many of them belong to it; fewer than all: the body is done.
  /// Throws ApiError: 400, 413, 431.
  std::size_t Take(std::string_view bytes, std::string& body);
  bool is_done() const { return state_ == State::kDone; }

 private:
  enum class State { kSize, kData, kDataEnd, kTrailer, kDone };

  void TakeLine(std::string_view line, std::size_t taken);

  const std::size_t most_;
  State state_ = State::kSize;
  std::string line_;          // the part of a line that has come
  std::uint64_t left_ = 0;    // of the chunk
  std::size_t taken_ = 0;     // of the body
  std::size_t trailers_ = 0;  // bytes
};

}  // namespace punt
