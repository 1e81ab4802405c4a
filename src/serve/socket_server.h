// Connections of punt serve: who gets one, what of a request reaches cpp-httplib, and when it ends. For .cc files of
// this layer only.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "serve/client_socket.h"
#include "serve/connection_slots.h"
#include "serve/request_head.h"
#include "serve/request_screen.h"

namespace punt {

struct ConnectionLimits {
  int max_connections = 2048;             // more are told so, or closed at once
  int max_connections_per_address = 512;  // those of an IPv6 network count as one
  std::size_t max_body_bytes = 1 << 20;
  std::chrono::seconds head{15};     // for a whole head, from its first byte
  std::chrono::seconds body{30};     // for a body, and what it takes at body_rate
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
  bool closes = false;     // the connection ends behind it
};

class SocketServer : public httplib::Server {
 public:
  /// `log` is told of answers that no handler gave, and of connections that were not taken (status 0).
  SocketServer(const ConnectionLimits& limits, const RequestScreen& screen,
               std::function<void(const Exchange& exchange)> log);

  /// Opens the port and returns it; -1: it cannot.
  int Bind(const std::string& host, int port);

  /// Takes connections until Stop, then waits for their ends.
  void Serve();
  void Stop() { must_stop_ = true; }

  // Of the request that the calling thread answers:

  static Exchange& Current();
  /// Whether the client has gone away. One that has only said its last word has not; when it must wait for its answer
  /// it is sent an interim one (100), which tells: where nobody is, that is an error.
  static bool ClientIsGone();
  /// Whether a stream should send something just to see whether somebody is there.
  static bool WantsSign();

 private:
  class Connection;
  class ExchangeStream;

  void Take(int listener);
  void Start(int socket, const sockaddr_storage& address);
  void FinishHeaders(httplib::Response& response) const;

  const ConnectionLimits limits_;
  const RequestScreen& screen_;
  const std::function<void(const Exchange&)> log_;
  std::atomic<bool> must_stop_ = false;
  ConnectionSlots slots_;
};

}  // namespace punt
