// Between the sockets and cpp-httplib.
//
// What httplib 0.57 offers a server that faces strangers is not enough by itself: its time limits are per read (a byte
// every four seconds keeps a connection for ever), its task queue does not know whose connection it is given, it
// takes a client that closed its sending side for gone, and its reader forgives (a line that ends in a bare LF is
// skipped, equal lengths are taken twice). So connections are our own, in three steps:
//
//   1. The head is read to its end, within a time and 64 KB, and parsed strictly (request_head.cc).
//   2. The screen decides (request_screen.cc). What it refuses is answered here, before a byte of the body is read, and
//      the connection ends: bytes that were not read are never taken for a request.
//   3. The body is read whole, within its limits in bytes and time, chunks taken apart. Then the request is written
//      anew from what was understood (method, target, length, Accept-Encoding) and httplib, which does the routing, the
//      compression and the writing of answers, gets that from memory.
//
// Two parsers can only disagree about what is ambiguous, and nothing ambiguous is written in step 3. Range, Connection,
// Expect, Content-Type and the like do not reach httplib at all; handlers see the head as it was sent in
// SocketServer::Current(). Nothing of httplib is overridden: the protected process_request is called with a Stream of
// ours, and the listening socket is the one that its bind_to_port opened. (An own HTTP server would need the writing
// and routing besides; a proxy in front alone would leave every user without one in the open.)
//
// A thread for every connection: most of them wait, for a request or for a generation. One address gets a quarter of
// the places by default, and when there are none left some spare ones still answer /health.
//
// Tested by tests/serve_attacks_test.py, tests/cli_serve_faults_test.sh and, behind a real proxy, scripts/test-nginx.
#include "serve/socket_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <random>
#include <thread>

namespace punt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kSpareHead{2};
// For a client to read an answer that came before the end of its request.
constexpr std::chrono::milliseconds kLinger{2000};
constexpr std::size_t kMostAcceptEncoding = 1000;

std::string NewId() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("req-{:016x}{:08x}", random(), static_cast<std::uint32_t>(random()));
}

/// The client's own name of the request, if it is one that can be repeated everywhere.
std::string IdOf(const RequestHead& head) {
  const std::string_view id = head.Get("x-request-id");
  const bool is_plain = !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '_' || c == '.';
  });
  return is_plain ? std::string(id) : NewId();
}

bool IsHealth(const Admission& admission) { return admission.route != nullptr && admission.label.ends_with("/health"); }

}  // namespace

/// The request as httplib reads it, and the way back.
class SocketServer::ExchangeStream : public httplib::Stream {
 public:
  ExchangeStream(std::string head, std::string body, ClientSocket& client, std::chrono::seconds patience)
      : head_(std::move(head)), body_(std::move(body)), client_(client), patience_(patience) {}

  bool has_written() const { return has_written_; }

  bool is_readable() const override { return true; }
  bool wait_readable() const override { return true; }
  bool wait_writable() const override { return true; }  // write waits
  bool is_peer_alive() const override { return !client_.IsGone(); }
  ssize_t read(char* to, std::size_t size) override {
    std::string& from = at_ < head_.size() ? head_ : body_;
    const std::size_t begin = &from == &head_ ? at_ : at_ - head_.size();
    const std::size_t count = std::min(size, from.size() - begin);
    std::copy_n(from.data() + begin, count, to);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    has_written_ = true;
    return client_.Write({from, size}, patience_) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }
  time_t duration() const override { return 0; }

 private:
  std::string head_;
  std::string body_;
  std::size_t at_ = 0;
  ClientSocket& client_;
  std::chrono::seconds patience_;
  bool has_written_ = false;
};

/// A client's requests, one after the other.
class SocketServer::Connection {
 public:
  Connection(SocketServer& server, int socket, std::string address, int port, bool is_spare)
      : server_(server),
        limits_(server.limits_),
        client_(socket, server.must_stop_),
        address_(std::move(address)),
        port_(port),
        is_spare_(is_spare) {}

  void Run() {
    current = this;
    while (client_.AwaitRequest(is_spare_ ? kSpareHead : limits_.idle)) {
      exchange_ = Exchange{.address = address_};
      has_probed_ = false;
      bool goes_on = false;
      try {
        goes_on = Answer();
      } catch (const std::exception&) {  // of httplib's writing, or no memory: the status may be out already
        exchange_.status = 500;
      }
      if (!exchange_.is_logged) server_.log_(exchange_);
      if (!goes_on) break;
    }
    current = nullptr;
    client_.CloseGently(must_linger_ ? kLinger : std::chrono::milliseconds(0));
  }

  static thread_local Connection* current;
  Exchange& exchange() { return exchange_; }

  bool IsGone() {
    if (client_.IsGone()) return true;
    const bool may_probe = !has_probed_ && !exchange_.head.is_http10 && stream_ != nullptr && !stream_->has_written();
    if (may_probe && client_.IsHalfClosed()) {
      has_probed_ = true;
      client_.Write("HTTP/1.1 100 Continue\r\n\r\n", limits_.write);
    }
    return false;
  }
  bool WantsSign() {
    if (has_probed_ || !client_.IsHalfClosed()) return false;
    has_probed_ = true;
    return true;
  }

 private:
  /// One request; whether another may follow.
  bool Answer() {
    try {
      if (!ReadHead()) return false;
      exchange_.id = IdOf(exchange_.head);
      exchange_.admission = server_.screen_.Admit(exchange_.head);
      if (is_spare_ && !IsHealth(exchange_.admission)) {
        throw ApiError(503, "too_many_connections", "there are too many connections");
      }
    } catch (const ApiError& error) {
      exchange_.admission.refusal = error;
    }
    const RequestHead& head = exchange_.head;
    const bool has_body = head.framing == BodyFraming::kChunked || head.length > 0;
    exchange_.closes = head.wants_close || is_spare_ || exchange_.admission.refusal || server_.must_stop_ ||
                       (exchange_.admission.is_preflight && has_body);
    if (exchange_.admission.refusal) return Refuse(*exchange_.admission.refusal);
    if (exchange_.admission.is_preflight) return WriteAnswer(204, "") && !exchange_.closes;
    std::string body;
    try {
      if (!ReadBody(body)) return false;
    } catch (const ApiError& error) {
      exchange_.closes = true;
      return Refuse(error);
    }
    return Dispatch(std::move(body));
  }

  /// False when there is none to answer.
  bool ReadHead() {
    const Clock::time_point deadline = Clock::now() + (is_spare_ ? kSpareHead : limits_.head);
    HeadScanner scanner;
    // One empty line before a request is forgiven, as the standard asks.
    if (client_.bytes().starts_with("\r\n")) client_.Drop(2);
    for (;;) {
      const std::string_view bytes = client_.bytes();
      if (bytes.starts_with('\x16')) {  // a TLS handshake: nothing that we say would be understood
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
  bool ReadBody(std::string& body) {
    const RequestHead& head = exchange_.head;
    if (head.framing == BodyFraming::kNone) return true;
    if (!head.is_http10 && head.Has("expect") && client_.bytes().empty()) {
      if (!client_.Write("HTTP/1.1 100 Continue\r\n\r\n", limits_.write)) return false;
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
  bool Fill(Clock::time_point deadline) {
    const ClientSocket::Read read = client_.Fill(deadline);
    if (read == ClientSocket::Read::kMore) return true;
    if (read == ClientSocket::Read::kTimeout) throw ApiError(408, "timeout", "the request did not come in time");
    exchange_.status = 499;
    return false;
  }

  bool Dispatch(std::string body) {
    const RequestHead& head = exchange_.head;
    std::string text = fmt::format("{} {} HTTP/1.{}\r\n", head.method, head.target, head.is_http10 ? 0 : 1);
    const std::string_view encoding = head.Get("accept-encoding");
    if (!encoding.empty() && encoding.size() <= kMostAcceptEncoding) {
      text += fmt::format("Accept-Encoding: {}\r\n", encoding);
    }
    if (head.framing != BodyFraming::kNone) text += fmt::format("Content-Length: {}\r\n", body.size());
    ExchangeStream stream(text + "\r\n", std::move(body), client_, limits_.write);
    stream_ = &stream;
    bool is_closed = false;
    const bool is_written =
        server_.process_request(stream, address_, port_, "", 0, exchange_.closes, is_closed, nullptr);
    stream_ = nullptr;
    return is_written && !exchange_.closes;
  }

  bool Refuse(const ApiError& error) {
    must_linger_ = true;
    if (exchange_.id.empty()) exchange_.id = NewId();
    exchange_.admission.refusal = error;
    WriteAnswer(error.status(), error.Json());
    return false;
  }

  bool WriteAnswer(int status, const std::string& body) {
    exchange_.status = status;
    std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, httplib::status_message(status));
    std::vector<Header> headers = server_.screen_.CommonHeaders();
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

  SocketServer& server_;
  const ConnectionLimits& limits_;
  ClientSocket client_;
  const std::string address_;
  const int port_;
  const bool is_spare_;
  Exchange exchange_;
  ExchangeStream* stream_ = nullptr;  // while httplib answers
  bool has_probed_ = false;
  bool must_linger_ = false;
};

thread_local SocketServer::Connection* SocketServer::Connection::current = nullptr;

SocketServer::SocketServer(const ConnectionLimits& limits, const RequestScreen& screen,
                           std::function<void(const Exchange&)> log)
    : limits_(limits),
      screen_(screen),
      log_(std::move(log)),
      slots_(limits.max_connections, limits.max_connections_per_address) {
  set_payload_max_length(limits.max_body_bytes);
  set_post_routing_handler([this](const httplib::Request&, httplib::Response& response) { FinishHeaders(response); });
}

int SocketServer::Bind(const std::string& host, int port) {
  // Without SO_REUSEPORT, which httplib sets: a second server on a taken port must be told.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  const int bound = port == 0 ? bind_to_any_port(host) : (bind_to_port(host, port) ? port : -1);
  if (bound < 0) return -1;
  ::listen(svr_sock_, SOMAXCONN);  // a burst should not have to knock again
  fcntl(svr_sock_, F_SETFL, fcntl(svr_sock_, F_GETFL) | O_NONBLOCK);
  return bound;
}

void SocketServer::Serve() {
  const int listener = svr_sock_;
  while (!must_stop_) {
    pollfd entry{.fd = listener, .events = POLLIN, .revents = 0};
    if (poll(&entry, 1, static_cast<int>(kLook.count())) > 0) Take(listener);
  }
  slots_.AwaitNone();
  httplib::Server::stop();  // closes the listener
}

void SocketServer::Take(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  const int socket = accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC);
  if (socket >= 0) {
    Start(socket, address);
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED) {
    std::this_thread::sleep_for(kLook);  // out of descriptors: others will be given back
  }
}

void SocketServer::Start(int socket, const sockaddr_storage& address) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  const auto [text, port] = AddressText(address);
  const std::string group = AddressGroup(address);
  const ConnectionSlots::Place place = slots_.Take(group);
  if (place != ConnectionSlots::Place::kNone) {
    try {
      std::thread([this, socket, text = text, port = port, group, place] {
        {
          Connection connection(*this, socket, text, port, place == ConnectionSlots::Place::kSpare);
          connection.Run();
        }
        slots_.Leave(group, place);
      }).detach();
      return;
    } catch (const std::system_error&) {
      slots_.Leave(group, place);
    }
  }
  log_(Exchange{.address = text});
  ::close(socket);
}

void SocketServer::FinishHeaders(httplib::Response& response) const {
  Exchange& exchange = Current();
  exchange.status = response.status;
  for (const char* name : {"Connection", "Keep-Alive", "Accept-Ranges"}) response.headers.erase(name);
  for (const auto& [name, value] : screen_.CommonHeaders()) response.set_header(name, value);
  response.set_header("X-Request-Id", exchange.id);
  if (exchange.closes) {
    response.set_header("Connection", "close");
  } else {
    response.set_header("Keep-Alive", fmt::format("timeout={}", limits_.idle.count()));
  }
}

Exchange& SocketServer::Current() { return Connection::current->exchange(); }
bool SocketServer::ClientIsGone() { return Connection::current->IsGone(); }
bool SocketServer::WantsSign() { return Connection::current->WantsSign(); }

}  // namespace punt
