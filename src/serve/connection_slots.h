// Limits the number of connections, in total and from one address.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

namespace punt {

/// Safe to use from any thread.
class ConnectionSlots {
 public:
  /// A spare place is for health checks while the server is full: its connection gets one answer, soon.
  enum class Place { kNone, kOrdinary, kSpare };

  ConnectionSlots(int most, int most_per_address) : most_(most), most_per_address_(most_per_address) {}

  /// Takes a place for a connection from this address.
  Place Take(const std::string& address);
  void Leave(const std::string& address, Place place);

  /// Waits until all places are free.
  void AwaitNone();

 private:
  struct Count {
    int ordinary = 0;
    int spare = 0;
  };

  const int most_;
  const int most_per_address_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Count all_;
  std::map<std::string, Count> of_address_;
};

}  // namespace punt
