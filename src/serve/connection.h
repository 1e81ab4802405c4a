// A client's connection: its requests, one after another, from their first byte to their answers. For .cc files of
// this layer only.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "serve/client_socket.h"
#include "serve/request_head.h"
#include "serve/request_screen.h"

namespace punt {

struct ConnectionLimits {
  int max_connections = 2048;             // further ones get 503, or are closed at once
  int max_connections_per_address = 512;  // those of an IPv6 network count as one
  std::size_t max_body_bytes = 1 << 20;
  std::chrono::seconds head{15};     // for a whole head, from its first byte
  std::chrono::seconds body{30};     // for a body, plus the time that it takes at body_rate
  std::size_t body_rate = 16 << 10;  // bytes a second
  std::chrono::seconds idle{60};     // between requests
  std::chrono::seconds write{20};    // without taking a byte of the answer
};

/// One request and its answer.
struct Exchange {
  std::string address;  // of the client
  std::string id;       // X-Request-Id
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  RequestHead head;  // empty when it was malformed
  Admission admission;
  int status = 0;          // of the answer
  bool is_logged = false;  // a handler has done it, or will
  bool closes = false;     // the connection ends after it
};

/// What connections need of their server.
struct ConnectionContext {
  ConnectionLimits limits;
  const RequestScreen& screen;
  /// Called for answers that no handler gave.
  std::function<void(const Exchange& exchange)> log;
  /// Has httplib answer a request that was read whole; false when the answer could not be sent.
  std::function<bool(httplib::Stream& stream, const Exchange& exchange)> answer;
  std::atomic<bool> must_stop = false;
};

/// Used by one thread.
class Connection {
 public:
  /// `is_spare`: takes one request, and only about the server's health.
  Connection(ConnectionContext& context, int socket, std::string address, bool is_spare);

  /// Answers requests until the connection ends.
  void Run();

  /// The exchange of the calling thread; null if it has none.
  static Connection* Current();

  Exchange& exchange() { return exchange_; }
  bool ClientIsGone();
  bool WantsSign();

 private:
  class Replay;

  bool Answer();
  void Screen();
  bool ReadHead();
  bool ReadBody(std::string& body);
  bool Fill(std::chrono::steady_clock::time_point deadline);
  bool Dispatch(std::string body);
  bool Refuse(const ApiError& error);
  bool WriteAnswer(int status, const std::string& body);

  ConnectionContext& context_;
  const ConnectionLimits& limits_;
  ClientSocket client_;
  const std::string address_;
  const bool is_spare_;
  const bool on_loopback_;
  Exchange exchange_;
  bool is_answering_ = false;  // a handler is at work and has sent nothing yet
  bool has_probed_ = false;
  bool must_linger_ = false;
};

}  // namespace punt
