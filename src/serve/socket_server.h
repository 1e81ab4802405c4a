// Connections of punt serve: which clients get one, what of a request reaches cpp-httplib, and when it ends. For .cc
// files of this layer only.
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
  /// `log` is called for answers that no handler gave, by any thread; `log_no_place` for addresses whose connections
  /// were refused, by the thread that serves.
  SocketServer(const ConnectionLimits& limits, const RequestScreen& screen,
               std::function<void(const Exchange& exchange)> log,
               std::function<void(const std::string& address)> log_no_place);

  /// Opens the port and returns it; -1: it cannot.
  int Bind(const std::string& host, int port);

  /// Accepts connections until Stop, then waits until all have ended.
  void Serve();
  void Stop() { context_.must_stop = true; }

  // Of the request that the calling thread answers:

  static Exchange& Current();
  /// Whether the client has gone away. One that only closed its sending side has not; if it must wait for its answer
  /// it is sent an interim one (100), which fails if the client is gone.
  static bool ClientIsGone();
  /// Whether a stream should send something only to find out whether the client is still there.
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
