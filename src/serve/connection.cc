#include "serve/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace punt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSpareHead{2};
// Time for a client to read an answer that was sent before the end of its request.
constexpr std::chrono::milliseconds kLinger{2000};
constexpr std::size_t kMostAcceptEncoding = 1000;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

thread_local Connection* current = nullptr;

std::string NewId() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("req-{:016x}{:08x}", random(), static_cast<std::uint32_t>(random()));
}

/// The client's own name for the request, if it can safely be repeated everywhere.
std::string IdOf(const RequestHead& head) {
  const std::string_view id = head.Get("x-request-id");
  const bool is_plain = !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '_' || c == '.';
  });
  return is_plain ? std::string(id) : NewId();
}

bool IsHealth(const Admission& admission) { return admission.route != nullptr && admission.label.ends_with("/health"); }

bool HasBody(const RequestHead& head) { return head.framing == BodyFraming::kChunked || head.length > 0; }

}  // namespace

/// The request as httplib reads it, from memory, and the way back.
class Connection::Replay : public httplib::Stream {
 public:
  Replay(std::string head, std::string body, Connection& connection)
      : head_(std::move(head)), body_(std::move(body)), connection_(connection) {}

  bool is_readable() const override { return true; }
  bool wait_readable() const override { return true; }
  bool wait_writable() const override { return true; }  // write waits
  bool is_peer_alive() const override { return !connection_.client_.IsGone(); }
  ssize_t read(char* to, std::size_t size) override {
    const bool is_head = at_ < head_.size();
    const std::string_view from =
        is_head ? std::string_view(head_).substr(at_) : std::string_view(body_).substr(at_ - head_.size());
    const std::size_t count = std::min(size, from.size());
    std::copy_n(from.data(), count, to);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    connection_.is_answering_ = false;
    return connection_.client_.Write({from, size}, connection_.limits_.write) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }
  time_t duration() const override { return 0; }

 private:
  const std::string head_;
  const std::string body_;
  std::size_t at_ = 0;
  Connection& connection_;
};

Connection::Connection(ConnectionContext& context, int socket, std::string address, bool is_spare)
    : context_(context),
      limits_(context.limits),
      client_(socket, context.must_stop),
      address_(std::move(address)),
      is_spare_(is_spare),
      on_loopback_(IsOnLoopback(socket)) {}

Connection* Connection::Current() { return current; }

void Connection::Run() {
  current = this;
  while (client_.AwaitRequest(is_spare_ ? kSpareHead : limits_.idle)) {
    exchange_ = Exchange{.address = address_};
    has_probed_ = false;
    bool goes_on = false;
    try {
      goes_on = Answer();
    } catch (const std::exception&) {  // from httplib's writing, or no memory: the status may have been sent
      exchange_.status = 500;
    }
    is_answering_ = false;
    if (exchange_.status == 0) exchange_.status = 499;
    if (!exchange_.is_logged) context_.log(exchange_);
    if (!goes_on) break;
  }
  current = nullptr;
  client_.CloseGently(must_linger_ ? kLinger : std::chrono::milliseconds(0));
}

bool Connection::ClientIsGone() {
  if (client_.IsGone()) return true;
  if (is_answering_ && !has_probed_ && !exchange_.head.is_http10 && client_.IsHalfClosed()) {
    has_probed_ = true;
    client_.Write(kContinue, limits_.write);
  }
  return false;
}

bool Connection::WantsSign() {
  if (has_probed_ || !client_.IsHalfClosed()) return false;
  has_probed_ = true;
  return true;
}

/// One request; whether another may follow.
bool Connection::Answer() {
  std::string body;
  try {
    if (!ReadHead()) return false;
    Screen();
    if (exchange_.admission.is_preflight) return WriteAnswer(204, "") && !exchange_.closes;
    if (!ReadBody(body)) return false;
  } catch (const ApiError& error) {
    return Refuse(error);
  }
  return Dispatch(std::move(body));
}

/// Throws what the request is refused with.
void Connection::Screen() {
  exchange_.id = IdOf(exchange_.head);
  exchange_.admission = context_.screen.Admit(exchange_.head, on_loopback_);
  if (is_spare_ && !IsHealth(exchange_.admission)) {
    throw ApiError(503, "too_many_connections", "there are too many connections");
  }
  if (exchange_.admission.refusal) throw ApiError(*exchange_.admission.refusal);
  must_linger_ = exchange_.admission.is_preflight && HasBody(exchange_.head);
  exchange_.closes = exchange_.head.wants_close || is_spare_ || context_.must_stop || must_linger_;
}

/// False when there is none to answer.
bool Connection::ReadHead() {
  const Clock::time_point deadline = Clock::now() + (is_spare_ ? kSpareHead : limits_.head);
  HeadScanner scanner;
  // One empty line before a request is accepted, as the standard recommends.
  if (client_.bytes().starts_with("\r\n")) client_.Drop(2);
  for (;;) {
    const std::string_view bytes = client_.bytes();
    if (bytes.starts_with('\x16')) {  // a TLS handshake: no answer would be understood
      exchange_.status = 400;
      exchange_.admission.refusal.emplace(400, "tls", "TLS on a port without it");
      return false;
    }
    const std::size_t size = scanner.Find(bytes);
    if (size > 0) {
      exchange_.head = ParseHead(bytes.substr(0, size));
      client_.Drop(size);
      return true;
    }
    if (!Fill(deadline)) return false;
  }
}

/// False when the client has gone or the server stops.
bool Connection::ReadBody(std::string& body) {
  const RequestHead& head = exchange_.head;
  if (head.framing == BodyFraming::kNone) return true;
  if (!head.is_http10 && head.Has("expect") && client_.bytes().empty()) {
    if (!client_.Write(kContinue, limits_.write)) return false;
  }
  const Clock::time_point start = Clock::now();
  ChunkedDecoder decoder(limits_.max_body_bytes);
  for (;;) {
    const std::string_view bytes = client_.bytes();
    if (head.framing == BodyFraming::kChunked) {
      client_.Drop(decoder.Take(bytes, body));
      if (decoder.is_done()) return true;
    } else {
      const std::size_t count = std::min<std::size_t>(bytes.size(), head.length - body.size());
      body.append(bytes, 0, count);
      client_.Drop(count);
      if (body.size() == head.length) return true;
    }
    const auto earned = std::chrono::milliseconds(1000 * body.size() / limits_.body_rate);
    if (!Fill(start + limits_.body + earned)) return false;
  }
}

/// False at the end; throws when it takes too long.
bool Connection::Fill(Clock::time_point deadline) {
  const ClientSocket::Read read = client_.Fill(deadline);
  if (read == ClientSocket::Read::kMore) return true;
  if (read == ClientSocket::Read::kTimeout) throw ApiError(408, "timeout", "the request did not come in time");
  exchange_.status = 499;
  return false;
}

bool Connection::Dispatch(std::string body) {
  const RequestHead& head = exchange_.head;
  std::string text = fmt::format("{} {} HTTP/1.{}\r\n", head.method, head.target, head.is_http10 ? 0 : 1);
  const std::string_view encoding = head.Get("accept-encoding");
  if (!encoding.empty() && encoding.size() <= kMostAcceptEncoding) {
    text += fmt::format("Accept-Encoding: {}\r\n", encoding);
  }
  if (head.framing != BodyFraming::kNone) text += fmt::format("Content-Length: {}\r\n", body.size());
  Replay stream(text + "\r\n", std::move(body), *this);
  is_answering_ = true;
  const bool is_written = context_.answer(stream, exchange_);
  return is_written && !exchange_.closes;
}

bool Connection::Refuse(const ApiError& error) {
  must_linger_ = true;
  exchange_.closes = true;
  if (exchange_.id.empty()) exchange_.id = NewId();
  exchange_.admission.refusal = error;
  WriteAnswer(error.status(), error.Json());
  return false;
}

bool Connection::WriteAnswer(int status, const std::string& body) {
  exchange_.status = status;
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, httplib::status_message(status));
  std::vector<Header> headers = context_.screen.CommonHeaders();
  headers.insert(headers.end(), exchange_.admission.headers.begin(), exchange_.admission.headers.end());
  headers.emplace_back("X-Request-Id", exchange_.id);
  if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
  if (status != 204) headers.emplace_back("Content-Length", std::to_string(body.size()));
  if (status == 503) headers.emplace_back("Retry-After", "1");
  headers.emplace_back(exchange_.closes ? "Connection" : "Keep-Alive",
                       exchange_.closes ? "close" : fmt::format("timeout={}", limits_.idle.count()));
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  return client_.Write(text + "\r\n" + (exchange_.head.method == "HEAD" ? "" : body), limits_.write);
}

}  // namespace punt
