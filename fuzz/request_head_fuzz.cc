// Any bytes as a connection's: a head, a chunked body and what they mean, or an ApiError; the same in one piece and
// byte by byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/api_error.h"
#include "serve/request_head.h"

namespace {

constexpr std::size_t kMostBody = 100;

void Require(bool condition) {
  if (!condition) std::abort();
}

/// What is understood of the bytes when so many come at once; empty: refused.
std::string Understand(std::string_view bytes, std::size_t piece) {
  try {
    punt::HeadScanner scanner;
    std::size_t have = 0;
    std::size_t end = 0;
    while (end == 0 && have < bytes.size()) {
      have = std::min(have + piece, bytes.size());
      end = scanner.Find(bytes.substr(0, have));
    }
    if (end == 0) return "unfinished";
    const punt::RequestHead head = punt::ParseHead(bytes.substr(0, end));
    Require(!head.path.empty() && head.headers.size() <= punt::kMostHeaders);
    Require(head.framing == punt::BodyFraming::kLength || head.length == 0);
    std::string body;
    if (head.framing == punt::BodyFraming::kChunked) {
      punt::ChunkedDecoder decoder(kMostBody);
      while (!decoder.is_done() && end < bytes.size()) end += decoder.Take(bytes.substr(end, piece), body);
      Require(body.size() <= kMostBody);
    }
    return head.method + " " + head.target + " " + head.host + " " + body + " " + std::to_string(end);
  } catch (const punt::ApiError& error) {
    Require(error.status() >= 400 && error.status() < 600);
    return "";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Require(Understand(bytes, bytes.size() + 1) == Understand(bytes, 1));
  return 0;
}
