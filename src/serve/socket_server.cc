// Between the sockets and cpp-httplib.
//
// httplib 0.57 alone is not enough for a server that is open to strangers: its time limits are per read (a byte
// every four seconds keeps a connection for ever), its task queue does not know the client of a connection, it
// assumes that a client which closed its sending side is gone, and its reader is tolerant (a line that ends in a bare
// LF is skipped, a length given twice is accepted). So connections are our own (connection.cc), in three steps:
//
//   1. The head is read to its end, within a time and 64 KB, and parsed strictly (request_head.cc).
//   2. The screen decides (request_screen.cc). What it refuses is answered here, before a byte of the body is read, and
//      the connection ends: unread bytes are never taken for a request.
//   3. The body is read whole, within its limits in bytes and time, chunks taken apart. Then the request is written
//      anew from what was understood (method, target, length, Accept-Encoding) and httplib, which does the routing, the
//      compression and the writing of answers, gets that from memory.
//
// Two parsers can only disagree about what is ambiguous, and nothing ambiguous is written in step 3. Range, Connection,
// Expect, Content-Type and the like do not reach httplib at all; handlers see the head as it was sent in
// SocketServer::Current(). Nothing in httplib is overridden: the protected process_request is called with our own
// Stream, and the listening socket is the one that its bind_to_port opened. (Our own HTTP server would need writing
// and routing as well; relying on a proxy would leave users without one unprotected.)
//
// Every connection has its own thread: most of them wait, for a request or for a generation. One address gets a quarter
// of the places by default, and when there are none left some spare ones still answer /health.
//
// Tested by tests/serve_attacks_test.py, tests/cli_serve_faults_test.sh and, behind a real proxy, scripts/test-nginx.
#include "serve/socket_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace punt {
namespace {

// How often the thread that accepts connections checks whether it should stop.
constexpr std::chrono::milliseconds kLook{100};

}  // namespace

SocketServer::SocketServer(const ConnectionLimits& limits, const RequestScreen& screen,
                           std::function<void(const Exchange&)> log,
                           std::function<void(const std::string&)> log_no_place)
    : context_{.limits = limits, .screen = screen, .log = std::move(log)},
      log_no_place_(std::move(log_no_place)),
      slots_(limits.max_connections, limits.max_connections_per_address) {
  context_.answer = [this](httplib::Stream& stream, const Exchange& exchange) {
    bool is_closed = false;
    return process_request(stream, exchange.address, 0, "", 0, exchange.closes, is_closed, nullptr);
  };
  set_payload_max_length(limits.max_body_bytes);
  set_post_routing_handler([this](const httplib::Request&, httplib::Response& response) { FinishHeaders(response); });
}

int SocketServer::Bind(const std::string& host, int port) {
  // Without SO_REUSEPORT, which httplib sets: a second server on the same port must get an error.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  const int bound = port == 0 ? bind_to_any_port(host) : (bind_to_port(host, port) ? port : -1);
  if (bound < 0) return -1;
  ::listen(svr_sock_, SOMAXCONN);  // clients of a burst should not have to try again
  fcntl(svr_sock_, F_SETFL, fcntl(svr_sock_, F_GETFL) | O_NONBLOCK);
  return bound;
}

void SocketServer::Serve() {
  const int listener = svr_sock_;
  while (!context_.must_stop) {
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
  const std::string text = AddressText(address);
  const std::string group = AddressGroup(address);
  const ConnectionSlots::Place place = slots_.Take(group);
  if (place != ConnectionSlots::Place::kNone) {
    try {
      std::thread([this, socket, text, group, place] {
        {
          Connection connection(context_, socket, text, place == ConnectionSlots::Place::kSpare);
          connection.Run();
        }
        slots_.Leave(group, place);
      }).detach();
      return;
    } catch (const std::system_error&) {
      slots_.Leave(group, place);
    }
  }
  log_no_place_(text);
  ::close(socket);
}

void SocketServer::FinishHeaders(httplib::Response& response) const {
  Exchange& exchange = Current();
  exchange.status = response.status;
  for (const char* name : {"Connection", "Keep-Alive", "Accept-Ranges"}) response.headers.erase(name);
  for (const auto& [name, value] : context_.screen.CommonHeaders()) response.set_header(name, value);
  response.set_header("X-Request-Id", exchange.id);
  if (exchange.closes) {
    response.set_header("Connection", "close");
  } else {
    response.set_header("Keep-Alive", fmt::format("timeout={}", context_.limits.idle.count()));
  }
}

Exchange& SocketServer::Current() { return Connection::Current()->exchange(); }
bool SocketServer::ClientIsGone() { return Connection::Current()->ClientIsGone(); }
bool SocketServer::WantsSign() { return Connection::Current()->WantsSign(); }

}  // namespace punt
