// A meeting point for threads that each generate a sequence with the ordinary loop, and whose
// forward passes should nevertheless run together in batches.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "punt/denoiser.h"

namespace punt {

/// Lets several participants share one session. Each holds a session of its own, from Join, and uses it on its
/// own thread as if it were alone. A call waits until every participant waits in a call or has left; then
/// one of the waiting threads runs the calls of one kind merged into a single call on the shared session,
/// hands out the results, and wakes the others.
///
/// - Results are those of the shared session: a query's result does not depend on its neighbours.
/// - Passes belong to the shared session and must not outlive it. All participants may read them.
/// - Counters of a participant are its own: its passes, its dependent calls, its rows. The shared
///   session counts the merged calls.
/// - Reads go first: passes are run only when all participants want passes, so the merged number of
///   calls is that of the participant with the most.
/// - When a merged call throws, the participants' calls are repeated one by one: the one that caused the error gets
///   it, the others get their results. (The shared session's rows_read then counts the rows of both attempts.)
///
/// A participant that neither calls nor leaves holds up all others: every joined session needs a thread that
/// uses or destroys it. The shared session must not be used by others in the meantime; it and the hub
/// must outlive the participants.
class BatchHub {
 public:
  /// Told of every batch of passes that did not throw: how many, and how long they took.
  using OnForward = std::function<void(std::size_t passes, double seconds)>;

  explicit BatchHub(DenoiserSession& shared, OnForward on_forward = {});
  ~BatchHub();
  BatchHub(const BatchHub&) = delete;
  BatchHub& operator=(const BatchHub&) = delete;

  /// A new participant. All should join before the first of them makes a call; later ones only join later batches.
  /// Destroying the session leaves the hub.
  std::unique_ptr<DenoiserSession> Join();

 private:
  class Table;
  class Participant;

  std::unique_ptr<Table> table_;
};

/// Calls run(0, ...), run(1, ...), ... `count` of them, each on its own thread and with its own participant's session,
/// in groups of bounded size. When some throw, the caller gets the first exception, once all of the group have ended;
/// no further group is begun.
void RunTogether(DenoiserSession& shared, std::size_t count,
                 const std::function<void(std::size_t index, DenoiserSession& session)>& run);

}  // namespace punt
