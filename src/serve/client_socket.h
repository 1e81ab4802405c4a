// A client's connection: reads and writes that end in time. For .cc files of this layer only.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace punt {

/// Used by one thread. Closes the socket when destroyed.
class ClientSocket {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Wait { kReady, kTimeout, kStopped };

  /// `must_stop` must outlive it: once it is set, no client is waited for much longer.
  ClientSocket(int socket, const std::atomic<bool>& must_stop) : socket_(socket), must_stop_(must_stop) {}
  ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  /// Bytes that have arrived and have not been taken.
  std::string_view bytes() const { return std::string_view(buffer_).substr(begin_); }
  void Drop(std::size_t count);

  enum class Read { kMore, kEnd, kTimeout };
  /// Waits for more bytes. kEnd: no more will come, or the server stops.
  Read Fill(Clock::time_point deadline);

  /// Waits for the first byte of a request; false when none arrives in time, or the server stops.
  bool AwaitRequest(std::chrono::seconds patience);

  /// False when the client does not take it in time, or has gone away.
  bool Write(std::string_view bytes, std::chrono::seconds patience);

  /// Whether no one will read what is sent.
  bool IsGone() const;
  /// Whether the client closed its sending side some time ago: it may be waiting for its answer, or be gone.
  bool IsHalfClosed();

  /// Closes the sending side, and lets a client that is still sending read its answer: closing the socket with unread
  /// bytes would take the answer away from it.
  void CloseGently(std::chrono::milliseconds patience);

 private:
  Wait AwaitEvents(short events, Clock::time_point deadline) const;

  const int socket_;
  const std::atomic<bool>& must_stop_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::optional<Clock::time_point> half_closed_;
};

/// Whether the client has connected to an address that only this machine can reach.
bool IsOnLoopback(int socket);

/// The address in letters.
std::string AddressText(const sockaddr_storage& address);
/// What counts as one address: for IPv6 the network, since one host can have any number of addresses.
std::string AddressGroup(const sockaddr_storage& address);

}  // namespace punt
