#include "serve/connection_slots.h"

namespace punt {
namespace {

constexpr int kSpare = 16;
constexpr int kSparePerAddress = 4;

}  // namespace

ConnectionSlots::Place ConnectionSlots::Take(const std::string& address) {
  std::lock_guard lock(mutex_);
  Count& mine = of_address_[address];
  if (all_.ordinary < most_ && mine.ordinary < most_per_address_) {
    ++all_.ordinary;
    ++mine.ordinary;
    return Place::kOrdinary;
  }
  if (all_.spare < kSpare && mine.spare < kSparePerAddress) {
    ++all_.spare;
    ++mine.spare;
    return Place::kSpare;
  }
  if (mine.ordinary + mine.spare == 0) of_address_.erase(address);
  return Place::kNone;
}

void ConnectionSlots::Leave(const std::string& address, Place place) {
  std::lock_guard lock(mutex_);  // held while notifying: the slots may be gone right after
  Count& mine = of_address_[address];
  --(place == Place::kSpare ? all_.spare : all_.ordinary);
  --(place == Place::kSpare ? mine.spare : mine.ordinary);
  if (mine.ordinary + mine.spare == 0) of_address_.erase(address);
  changed_.notify_all();
}

void ConnectionSlots::AwaitNone() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return all_.ordinary + all_.spare == 0; });
}

}  // namespace punt
