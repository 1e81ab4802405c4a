// Connections of punt serve: who gets one, what of a request reaches cpp-httplib, and when it ends. For .cc files of
// this layer only.
#pragma once

#include <httplib.h>

#include <functional>
#include <string>

#include "serve/connection.h"
#include "serve/connection_slots.h"
#include "serve/request_screen.h"

namespace punt {

class SocketServer : public httplib::Server {
 public:
  /// `log` is told of answers that no handler gave, by any thread; `log_no_place` of addresses whose connections were
  /// not taken, by the thread that serves.
  SocketServer(const ConnectionLimits& limits, const RequestScreen& screen,
               std::function<void(const Exchange& exchange)> log,
               std::function<void(const std::string& address)> log_no_place);

  /// Opens the port and returns it; -1: it cannot.
  int Bind(const std::string& host, int port);

  /// Takes connections until Stop, then waits for their ends.
  void Serve();
  void Stop() { context_.must_stop = true; }

  // Of the request that the calling thread answers:

  static Exchange& Current();
  /// Whether the client has gone away. One that has only said its last word has not; when it must wait for its answer
  /// it is sent an interim one (100), which tells: where nobody is, that is an error.
  static bool ClientIsGone();
  /// Whether a stream should send something just to see whether somebody is there.
  static bool WantsSign();

 private:
  void Take(int listener);
  void Start(int socket, const sockaddr_storage& address);
  void FinishHeaders(httplib::Response& response) const;

  ConnectionContext context_;
  const std::function<void(const std::string&)> log_no_place_;
  ConnectionSlots slots_;
};

}  // namespace punt
