#include "serve/socket_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace punt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr socket_t kNoSocket = -1;
// How often a connection without a request looks whether the server has stopped.
constexpr std::chrono::milliseconds kLook{100};
// How long a client may keep a server waiting that has stopped.
constexpr std::chrono::seconds kFarewell{1};

thread_local socket_t current_socket = kNoSocket;
thread_local bool must_close = false;

/// Waits for `events` until the deadline, or a little longer than until the server stops.
bool WaitFor(socket_t sock, short events, Clock::time_point deadline, const std::atomic<socket_t>& listener) {
  bool is_stopping = false;
  for (;;) {
    const Clock::time_point now = Clock::now();
    if (!is_stopping && listener == kNoSocket) {
      is_stopping = true;
      deadline = std::min(deadline, now + kFarewell);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now);
    if (left.count() <= 0) return false;
    pollfd entry{.fd = sock, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::min(left, kLook).count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

void AddressOf(const sockaddr_storage& address, std::string& ip, int& port) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
    port = ntohs(v6.sin6_port);
  }
  ip = text;
}

class SocketStream : public httplib::Stream {
 public:
  SocketStream(socket_t sock, const ConnectionLimits& limits, const std::atomic<socket_t>& listener)
      : socket_(sock), limits_(limits), listener_(listener) {}

  void StartRequest() { request_deadline_ = Clock::now() + limits_.request; }
  bool has_buffered() const { return begin_ < end_; }

  bool is_readable() const override { return has_buffered(); }
  bool wait_readable() const override {
    return has_buffered() || WaitFor(socket_, POLLIN, request_deadline_, listener_);
  }
  bool wait_writable() const override { return WaitFor(socket_, POLLOUT, Clock::now() + limits_.write, listener_); }
  time_t duration() const override { return 0; }

  ssize_t read(char* to, std::size_t size) override {
    if (!has_buffered()) {
      if (!WaitFor(socket_, POLLIN, request_deadline_, listener_)) return -1;
      const ssize_t count = recv(socket_, buffer_, sizeof(buffer_), 0);
      if (count <= 0) return count;
      begin_ = 0;
      end_ = static_cast<std::size_t>(count);
    }
    const std::size_t taken = std::min(size, end_ - begin_);
    std::memcpy(to, buffer_ + begin_, taken);
    begin_ += taken;
    return static_cast<ssize_t>(taken);
  }

  ssize_t write(const char* from, std::size_t size) override {
    std::size_t sent = 0;
    while (sent < size) {
      if (!wait_writable()) return -1;
      // Not waiting here: that would be without a deadline.
      const ssize_t count = send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) sent += static_cast<std::size_t>(count);
      if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return -1;
    }
    return static_cast<ssize_t>(size);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    if (getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) AddressOf(address, ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) AddressOf(address, ip, port);
  }
  socket_t socket() const override { return socket_; }

 private:
  socket_t socket_;
  const ConnectionLimits& limits_;
  const std::atomic<socket_t>& listener_;
  Clock::time_point request_deadline_;
  char buffer_[4096];
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// A thread for every connection: most of them wait, for a request or for a generation.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(int most) : most_(most) {}

  bool enqueue(std::function<void()> connection) override {
    {
      std::lock_guard lock(mutex_);
      if (count_ < most_) {
        ++count_;
        try {
          std::thread([this, connection] {
            connection();
            End();
          }).detach();
          return true;
        } catch (const std::system_error&) {
          --count_;
        }
      }
    }
    return false;
  }

  void shutdown() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  void End() {
    std::lock_guard lock(mutex_);  // held while notifying: the queue may be gone right after
    --count_;
    changed_.notify_all();
  }

  const int most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

}  // namespace

SocketServer::SocketServer(const ConnectionLimits& limits) : limits_(limits) {
  new_task_queue = [most = limits.max_connections] { return new ConnectionThreads(most); };
  set_tcp_nodelay(true);
}

void SocketServer::WidenQueue() { ::listen(svr_sock_, SOMAXCONN); }

bool SocketServer::ClientIsGone() {
  char byte = 0;
  const ssize_t count = recv(current_socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void SocketServer::CloseAfterAnswer() { must_close = true; }

bool SocketServer::process_and_close_socket(socket_t sock) {
  current_socket = sock;
  must_close = false;
  SocketStream stream(sock, limits_, svr_sock_);
  std::string remote, local;
  int remote_port = 0, local_port = 0;
  stream.get_remote_ip_and_port(remote, remote_port);
  stream.get_local_ip_and_port(local, local_port);
  bool goes_on = true;
  while (goes_on && svr_sock_ != kNoSocket) {
    const Clock::time_point end = Clock::now() + limits_.idle;
    bool is_there = stream.has_buffered();
    while (!is_there && svr_sock_ != kNoSocket && Clock::now() < end) {
      is_there = WaitFor(sock, POLLIN, std::min(end, Clock::now() + kLook), svr_sock_);
    }
    if (!is_there) break;
    stream.StartRequest();
    bool is_closed = false;
    goes_on = process_request(stream, remote, remote_port, local, local_port, false, is_closed, nullptr) &&
              !is_closed && !must_close;
  }
  current_socket = kNoSocket;
  ::shutdown(sock, SHUT_RDWR);
  ::close(sock);
  return true;
}

}  // namespace punt
