// When the caller of a team of threads works alone for a while.
//
// On a busy machine a helper that is preempted in the middle of a portion keeps the caller waiting until the scheduler
// lets it run again: milliseconds, for loops of a tenth of that. Sharing then costs more than it gains, for as long as
// the other program runs. So after a wait that no portion explains the caller works alone, for several times as long as
// it lost; each further wait doubles that time, up to a fifth of a second, so that trying again costs only a few
// percent. Once the team has worked for as long without such a wait, all is forgotten: a single hiccup of an idle
// machine costs little more than itself.
#pragma once

#include <algorithm>
#include <chrono>

namespace punt {

class SoloTime {
 public:
  using Nanoseconds = std::chrono::nanoseconds;  // times count from any fixed moment

  static constexpr Nanoseconds kLeastStall = std::chrono::microseconds(300);
  static constexpr int kPortions = 3;  // a wait of at least this many portions is a stall
  static constexpr int kFirstFactor = 4;
  static constexpr Nanoseconds kLongest = std::chrono::milliseconds(200);

  bool IsAlone(Nanoseconds now) const { return now < until_; }

  /// A loop that was shared ended at `now`; the caller, which took `portion` for each of its own, had to wait `waited`.
  void EndShared(Nanoseconds now, Nanoseconds waited, Nanoseconds portion) {
    if (waited >= std::max(kLeastStall, kPortions * portion)) {
      length_ = std::min(std::max(2 * length_, kFirstFactor * waited), kLongest);
      until_ = now + length_;
    } else if (length_ > Nanoseconds(0) && now >= until_ + length_) {
      length_ = Nanoseconds(0);
    }
  }

 private:
  Nanoseconds until_ = Nanoseconds::min();
  Nanoseconds length_ = Nanoseconds(0);  // how long it last worked alone; 0: forgotten
};

}  // namespace punt
