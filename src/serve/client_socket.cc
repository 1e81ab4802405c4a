#include "serve/client_socket.h"

#include <arpa/inet.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace punt {
namespace {

// How often a waiting thread checks whether the server has stopped.
constexpr std::chrono::milliseconds kLook{100};
// How long a client may delay a server that has stopped.
constexpr std::chrono::seconds kFarewell{1};
constexpr std::size_t kReadBytes = 16 << 10;
// For a moment, a client that closes looks like one that waits for its answer.
constexpr std::chrono::seconds kHalfClosed{1};

}  // namespace

ClientSocket::~ClientSocket() { ::close(socket_); }

ClientSocket::Wait ClientSocket::AwaitEvents(short events, Clock::time_point deadline) const {
  bool is_stopping = false;
  for (;;) {
    const Clock::time_point now = Clock::now();
    if (!is_stopping && must_stop_) {
      is_stopping = true;
      deadline = std::min(deadline, now + kFarewell);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
    if (left.count() <= 0) return is_stopping ? Wait::kStopped : Wait::kTimeout;
    pollfd entry{.fd = socket_, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::min(left, kLook).count()));
    if (ready > 0) return Wait::kReady;
    if (ready < 0 && errno != EINTR) return Wait::kTimeout;
  }
}

void ClientSocket::Drop(std::size_t count) {
  begin_ += count;
  if (begin_ < buffer_.size()) return;
  begin_ = 0;
  // Most connections are idle most of the time: they keep no memory for what they sent.
  buffer_ = std::string();
}

ClientSocket::Read ClientSocket::Fill(Clock::time_point deadline) {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  char piece[kReadBytes];
  for (;;) {
    const Wait wait = AwaitEvents(POLLIN, deadline);
    if (wait != Wait::kReady) return wait == Wait::kStopped ? Read::kEnd : Read::kTimeout;
    const ssize_t count = recv(socket_, piece, sizeof(piece), MSG_DONTWAIT);
    if (count > 0) {
      buffer_.append(piece, static_cast<std::size_t>(count));
      return Read::kMore;
    }
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return Read::kEnd;
  }
}

bool ClientSocket::AwaitRequest(std::chrono::seconds patience) {
  const Clock::time_point end = Clock::now() + patience;
  while (!must_stop_) {
    if (!bytes().empty()) return true;
    if (Clock::now() >= end) return false;
    if (AwaitEvents(POLLIN, std::min(end, Clock::now() + kLook)) == Wait::kReady) return Fill(end) == Read::kMore;
  }
  return false;
}

bool ClientSocket::Write(std::string_view bytes, std::chrono::seconds patience) {
  while (!bytes.empty()) {
    if (AwaitEvents(POLLOUT, Clock::now() + patience) != Wait::kReady) return false;
    // Does not block: there would be no deadline.
    const ssize_t count = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return false;
  }
  return true;
}

bool ClientSocket::IsGone() const {
  if (must_stop_) return true;
  pollfd entry{.fd = socket_, .events = 0, .revents = 0};
  return poll(&entry, 1, 0) > 0;  // POLLERR, POLLHUP: not of a client that has only said its last word
}

bool ClientSocket::IsHalfClosed() {
  pollfd entry{.fd = socket_, .events = POLLRDHUP, .revents = 0};
  if (poll(&entry, 1, 0) <= 0 || (entry.revents & POLLRDHUP) == 0) return false;
  if (!half_closed_) half_closed_ = Clock::now();
  return Clock::now() - *half_closed_ >= kHalfClosed;
}

void ClientSocket::CloseGently(std::chrono::milliseconds patience) {
  ::shutdown(socket_, SHUT_WR);
  const Clock::time_point deadline = Clock::now() + patience;
  char piece[kReadBytes];
  while (AwaitEvents(POLLIN, deadline) == Wait::kReady) {
    if (recv(socket_, piece, sizeof(piece), MSG_DONTWAIT) <= 0) break;
  }
}

bool IsOnLoopback(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return true;  // the stricter of the two
  constexpr unsigned char kNet = 127;
  if (address.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == kNet;
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == kNet);
}

std::string AddressText(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool is_v4 = address.ss_family == AF_INET;
  const void* bytes = is_v4 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
                            : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  inet_ntop(is_v4 ? AF_INET : AF_INET6, bytes, text, sizeof(text));
  return text;
}

std::string AddressGroup(const sockaddr_storage& address) {
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (address.ss_family != AF_INET6 || IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return AddressText(address);
  return std::string(reinterpret_cast<const char*>(&v6.sin6_addr), 8);
}

}  // namespace punt
