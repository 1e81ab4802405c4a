// Events of a run, kept for later.
#pragma once

#include <utility>
#include <vector>

#include "punt/trace.h"

namespace punt {

class EventList : public Observer {
 public:
  void On(const TraceEvent& event) override { events_.push_back(event); }
  void ReplayTo(Observer& observer) const {
    for (const TraceEvent& event : events_) observer.On(event);
  }
  const std::vector<TraceEvent>& events() const { return events_; }

 private:
  std::vector<TraceEvent> events_;
};

}  // namespace punt
