// cpp-httplib's server with connections of our own: a thread each up to a limit, deadlines for whole requests, and a
// way to ask whether the client is still there. For .cc files of this layer only.
#pragma once

#include <httplib.h>

#include <chrono>

namespace punt {

struct ConnectionLimits {
  int max_connections = 2048;        // more are closed at once
  std::chrono::seconds request{60};  // to send a request
  std::chrono::seconds idle{60};     // between requests
  std::chrono::seconds write{20};    // without taking a byte of the answer
};

class SocketServer : public httplib::Server {
 public:
  explicit SocketServer(const ConnectionLimits& limits);

  /// Lets more connections wait to be taken than httplib does (five): a burst should not have to knock again. Once
  /// bound.
  void WidenQueue();

  /// Whether the client of the connection that the calling thread serves has gone away.
  static bool ClientIsGone();

  /// Ends the connection that the calling thread serves behind this answer: what follows was not read.
  static void CloseAfterAnswer();

 private:
  bool process_and_close_socket(socket_t sock) override;

  const ConnectionLimits limits_;
};

}  // namespace punt
