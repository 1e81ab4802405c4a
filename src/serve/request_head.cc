// Strict reading of requests. A server and a proxy in front of it must agree where one request ends and the next
// begins, or one client's body becomes another's request ("smuggling"). They disagree about what the grammar leaves
// open, or forbids and readers tolerate: two lengths, a length that is not a number, a length together with chunks, a
// space before a colon, a header continued on the next line, a line that ends in a bare LF or CR. So nothing is
// tolerated: every byte of the head is where the grammar of RFC 9112 wants it, or the answer is 400 and the connection
// ends.
//
// Sizes are checked before anything is kept: the scanner gives up at 8 KB of a target and 64 KB in total, the decoder
// of chunks at the limit of a body and some bytes of extensions and trailers, which are checked and dropped.
//
// Cost: one pass over the bytes. Tested by request_head_test.cc (a table of what is refused; random cuts give the same
// result as one piece), tests/serve_attacks_test.py (over sockets) and fuzz/request_head_fuzz.cc.
#include "serve/request_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/trim.h"
#include "serve/api_error.h"

namespace punt {
namespace {

// The method and the version beside a target.
constexpr std::size_t kMostRequestLine = kMostTargetBytes + 64;
constexpr std::size_t kMostChunkLine = 256;
constexpr std::size_t kMostTrailers = 8 << 10;

[[noreturn]] void Malformed(const std::string& message) { throw ApiError(400, "malformed_request", message); }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsTokenChar(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || IsDigit(c) ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

/// Of a header's value: everything visible, space and tab.
bool IsFieldChar(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

bool IsTargetChar(char c) { return c > 0x20 && c < 0x7f && c != '#'; }

/// Removes a line from the front and returns it without its CR LF.
std::string_view TakeLine(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos || end == 0 || bytes[end - 1] != '\r') Malformed("a line must end in CR LF");
  const std::string_view line = bytes.substr(0, end - 1);
  bytes.remove_prefix(end + 1);
  return line;
}

Header ParseHeaderLine(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') Malformed("a header must not go on in the next line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)))
    Malformed("the name of a header is malformed");
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (!std::all_of(value.begin(), value.end(), IsFieldChar)) Malformed("the value of a header has control characters");
  return {LowerCase(line.substr(0, colon)), std::string(value)};
}

void ParseRequestLine(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) Malformed("the request line is malformed");
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  head.method = line.substr(0, first);
  if (!IsToken(head.method) || head.method.size() > 32) Malformed("the method is malformed");
  if (target.size() > kMostTargetBytes) throw ApiError(414, "target_too_long", "the target is too long");
  if (target.empty() || !std::all_of(target.begin(), target.end(), IsTargetChar)) Malformed("the target is malformed");
  const bool is_version = version.size() == 8 && version.starts_with("HTTP/") && IsDigit(version[5]) &&
                          version[6] == '.' && IsDigit(version[7]);
  if (!is_version) Malformed("the version is malformed");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    throw ApiError(505, "unsupported_version", "the version must be HTTP/1.1 or HTTP/1.0");
  }
  head.is_http10 = version == "HTTP/1.0";
  head.target = target;
}

/// Requests to proxies may have the whole address.
void SplitTarget(RequestHead& head) {
  const std::string lower = LowerCase(std::string_view(head.target).substr(0, 8));
  const std::size_t scheme = lower.starts_with("http://") ? 7 : lower.starts_with("https://") ? 8 : 0;
  if (scheme > 0) {
    const std::size_t slash = std::min(head.target.find_first_of("/?", scheme), head.target.size());
    head.host = head.target.substr(scheme, slash - scheme);
    head.target.erase(0, slash);
    if (head.host.empty()) Malformed("the target has no host");
    if (!head.target.starts_with('/')) head.target = "/" + head.target;
  }
  if (!head.target.starts_with('/') && head.target != "*") Malformed("the target must begin with /");
  head.path = head.target.substr(0, head.target.find('?'));
}

void FindHost(RequestHead& head) {
  const int count = head.Count("host");
  if (count > 1 || (count == 0 && !head.is_http10)) Malformed("there must be one Host");
  const std::string_view host = head.Get("host");
  const bool is_host =
      std::all_of(host.begin(), host.end(), [](char c) { return IsTokenChar(c) || c == ':' || c == '[' || c == ']'; });
  if (!is_host) Malformed("the Host is malformed");
  if (head.host.empty()) head.host = host;
}

void FindFraming(RequestHead& head) {
  const int lengths = head.Count("content-length");
  const int codings = head.Count("transfer-encoding");
  if (lengths + codings > 1) Malformed("the length of the body is given more than once");
  if (codings == 1) {
    if (head.is_http10 || LowerCase(head.Get("transfer-encoding")) != "chunked") {
      Malformed("Transfer-Encoding must be chunked");
    }
    head.framing = BodyFraming::kChunked;
  }
  if (lengths == 1) {
    const std::string_view text = head.Get("content-length");
    const bool is_number = !text.empty() && text.size() <= 18 && std::all_of(text.begin(), text.end(), IsDigit);
    if (!is_number) Malformed("Content-Length must be a number");
    head.framing = BodyFraming::kLength;
    for (char digit : text) head.length = 10 * head.length + static_cast<std::uint64_t>(digit - '0');
  }
}

bool WantsClose(const RequestHead& head) {
  if (head.is_http10) return true;
  for (const auto& [name, value] : head.headers) {
    if (name != "connection") continue;
    std::string_view rest = value;
    for (;;) {
      const std::size_t comma = rest.find(',');
      if (LowerCase(Trimmed(rest.substr(0, comma))) == "close") return true;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return false;
}

/// The size of a chunk; what follows a semicolon is ignored.
std::uint64_t ParseChunkSize(std::string_view line) {
  const std::size_t end = std::min(line.find(';'), line.size());
  const std::string_view digits = Trimmed(line.substr(0, end));
  std::uint64_t size = 0;
  for (char c : digits) {
    const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!IsDigit(c) && !is_letter) Malformed("the size of a chunk is malformed");
    size = 16 * size + static_cast<std::uint64_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  // Space is allowed only before an extension, and no size has this many digits.
  const bool is_clean = end < line.size() ? line.starts_with(digits) : digits.size() == line.size();
  if (digits.empty() || digits.size() > 15 || !is_clean) Malformed("the size of a chunk is malformed");
  if (!std::all_of(line.begin(), line.end(), IsFieldChar)) Malformed("a chunk has control characters");
  return size;
}

}  // namespace

bool IsToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar); }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return lower;
}

std::string_view Trimmed(std::string_view text) { return Trim(text, " \t"); }

std::string_view RequestHead::Get(std::string_view name) const {
  for (const Header& header : headers) {
    if (header.first == name) return header.second;
  }
  return {};
}

int RequestHead::Count(std::string_view name) const {
  return static_cast<int>(
      std::count_if(headers.begin(), headers.end(), [&](const Header& header) { return header.first == name; }));
}

std::size_t HeadScanner::Find(std::string_view bytes) {
  for (; scanned_ < bytes.size(); ++scanned_) {
    if (line_ == 0 && scanned_ > kMostRequestLine) throw ApiError(414, "target_too_long", "the target is too long");
    if (scanned_ >= kMostHeadBytes) throw ApiError(431, "head_too_large", "the headers are too large");
    if (bytes[scanned_] != '\n') continue;
    if (scanned_ == line_ || bytes[scanned_ - 1] != '\r') Malformed("a line must end in CR LF");
    if (scanned_ == line_ + 1) return scanned_ + 1;
    line_ = scanned_ + 1;
  }
  return 0;
}

RequestHead ParseHead(std::string_view bytes) {
  RequestHead head;
  ParseRequestLine(TakeLine(bytes), head);
  for (std::string_view line = TakeLine(bytes); !line.empty(); line = TakeLine(bytes)) {
    if (head.headers.size() == kMostHeaders) throw ApiError(431, "too_many_headers", "there are too many headers");
    head.headers.push_back(ParseHeaderLine(line));
  }
  SplitTarget(head);
  FindHost(head);
  FindFraming(head);
  head.wants_close = WantsClose(head);
  return head;
}

void ChunkedDecoder::TakeLine(std::string_view line, std::size_t taken) {
  if (state_ == State::kSize) {
    left_ = ParseChunkSize(line);
    if (left_ > most_ - taken_) throw ApiError(413, "too_large", "the body is too large");
    state_ = left_ == 0 ? State::kTrailer : State::kData;
  } else if (state_ == State::kDataEnd) {
    if (!line.empty()) Malformed("a chunk is longer than its size");
    state_ = State::kSize;
  } else if (line.empty()) {
    state_ = State::kDone;
  } else {
    trailers_ += taken;
    if (trailers_ > kMostTrailers) throw ApiError(431, "head_too_large", "the trailers are too large");
    ParseHeaderLine(line);
  }
}

std::size_t ChunkedDecoder::Take(std::string_view bytes, std::string& body) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::kDone) {
    if (state_ == State::kData) {
      const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - at));
      body.append(bytes, at, count);
      at += count;
      taken_ += count;
      left_ -= count;
      if (left_ == 0) state_ = State::kDataEnd;
      continue;
    }
    const char c = bytes[at++];
    line_.push_back(c);
    const std::size_t most = state_ == State::kTrailer ? kMostTrailers : kMostChunkLine;
    if (line_.size() > most)
      throw ApiError(state_ == State::kTrailer ? 431 : 400, "head_too_large", "a chunk's line is too long");
    if (c != '\n') {
      // Refused at once, instead of waiting for a sender that continues with data.
      if (state_ == State::kDataEnd && line_ != "\r") Malformed("a chunk is longer than its size");
      continue;
    }
    if (line_.size() < 2 || line_[line_.size() - 2] != '\r') Malformed("a line must end in CR LF");
    const std::string line = std::move(line_);
    line_.clear();
    TakeLine(std::string_view(line).substr(0, line.size() - 2), line.size());
  }
  return at;
}

}  // namespace punt
