// How many processors this process may use, which is the default number of threads.
//
// A process need not have all of a machine's processors: `taskset`, batch systems and containers give it some of them
// (its affinity), or a share of their time (a quota of its control group, or of one further up). A process with more
// threads than that computes no faster, and threads that wait for each other even slow it down.
#pragma once

#include <cstdint>
#include <filesystem>

namespace punt {

/// At least 1: what the affinity of the calling thread allows, and no more than the smallest quota of the control
/// groups it is in, rounded up. What cannot be read sets no limit. Asks the system each time.
int UsableProcessors();

/// 0 means all that the process may use, and more than those are not used.
int ThreadCount(std::int64_t asked);

/// The part that reads files: processors that control groups allow, 0 when they set no limit. `root` is where /proc and
/// the mounted hierarchies are found, / but in tests.
///
/// Version 2 has `cpu.max` ("QUOTA PERIOD" or "max PERIOD"), version 1 `cpu.cfs_quota_us` (-1: none) and
/// `cpu.cfs_period_us`, in the folder of a group; a limit holds for all groups below. /proc/self/cgroup names the group
/// and /proc/self/mountinfo where the hierarchy is mounted, of which a container may see only a part.
int QuotaProcessors(const std::filesystem::path& root);

}  // namespace punt
