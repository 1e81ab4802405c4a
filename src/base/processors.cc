#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace punt {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool Contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// A hierarchy of control groups that may limit processor time.
struct Hierarchy {
  bool is_version_2 = false;
  fs::path mounted;   // the folder where it is seen
  std::string top;    // the group that this folder is
  std::string group;  // of this process
};

/// The group of a process, from /proc/self/cgroup: lines "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers.
std::optional<std::string> GroupOf(const fs::path& root, bool is_version_2) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool fits = is_version_2 ? controllers.empty() : Contains(Split(controllers, ','), "cpu");
    if (fits) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Lines of /proc/self/mountinfo: "ID PARENT DEVICE ROOT MOUNTPOINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS".
std::vector<Hierarchy> Hierarchies(const fs::path& root) {
  std::vector<Hierarchy> all;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = Split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 7 || fields.end() - dash < 4) continue;
    const bool is_version_2 = dash[1] == "cgroup2";
    if (!is_version_2 && (dash[1] != "cgroup" || !Contains(Split(dash[3], ','), "cpu"))) continue;
    const std::optional<std::string> group = GroupOf(root, is_version_2);
    if (!group) continue;
    all.push_back({is_version_2, root / fs::path(fields[4]).relative_path(), fields[3], *group});
  }
  return all;
}

/// The first whole number of a file, or the two numbers of cpu.max; nothing if it says "max", or anything else.
std::optional<std::vector<std::int64_t>> Numbers(const fs::path& path, std::size_t count) {
  std::ifstream file(path);
  std::vector<std::int64_t> numbers(count);
  for (std::int64_t& number : numbers) {
    if (!(file >> number)) return std::nullopt;
  }
  return numbers;
}

/// What one group allows; 0: any number.
int LimitOf(const fs::path& folder, bool is_version_2) {
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (is_version_2) {
    const auto both = Numbers(folder / "cpu.max", 2);
    if (both) quota = both->at(0), period = both->at(1);
  } else {
    const auto time = Numbers(folder / "cpu.cfs_quota_us", 1);
    const auto every = Numbers(folder / "cpu.cfs_period_us", 1);
    if (time && every) quota = time->front(), period = every->front();
  }
  if (quota <= 0 || period <= 0) return 0;
  constexpr double kMost = 1 << 20;
  return static_cast<int>(std::min(kMost, std::ceil(static_cast<double>(quota) / static_cast<double>(period))));
}

/// The group below the mounted folder. A container that sees its own part of the hierarchy may have the group named
/// from the machine's top, or from its own: a group that does not lie below the folder's is taken to begin there.
fs::path BelowMount(const Hierarchy& hierarchy) {
  const fs::path group = fs::path(hierarchy.group).lexically_normal();
  const fs::path below = group.lexically_relative(fs::path(hierarchy.top).lexically_normal());
  if (hierarchy.top != "/" && !below.empty() && *below.begin() != "..") return below;
  return group.relative_path();
}

int SmallestLimit(const Hierarchy& hierarchy) {
  int smallest = LimitOf(hierarchy.mounted, hierarchy.is_version_2);
  fs::path folder = hierarchy.mounted;
  for (const fs::path& part : BelowMount(hierarchy)) {
    if (part == "..") break;
    folder /= part;
    const int limit = LimitOf(folder, hierarchy.is_version_2);
    if (limit > 0) smallest = smallest > 0 ? std::min(smallest, limit) : limit;
  }
  return smallest;
}

/// Processors the calling thread may run on; 0 when the system does not say.
int AllowedByAffinity() {
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(room));
    if (set == nullptr) return 0;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    const bool is_known = sched_getaffinity(0, bytes, set) == 0;
    const int count = is_known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (is_known) return count;
  }
  return 0;
}

}  // namespace

int QuotaProcessors(const fs::path& root) {
  int smallest = 0;
  for (const Hierarchy& hierarchy : Hierarchies(root)) {
    const int limit = SmallestLimit(hierarchy);
    if (limit > 0) smallest = smallest > 0 ? std::min(smallest, limit) : limit;
  }
  return smallest;
}

int UsableProcessors() {
  int usable = AllowedByAffinity();
  if (usable <= 0) usable = static_cast<int>(std::thread::hardware_concurrency());
  const int quota = QuotaProcessors("/");
  if (quota > 0) usable = std::min(usable, quota);
  return std::max(1, usable);
}

int ThreadCount(std::int64_t asked) {
  const int usable = UsableProcessors();
  return asked > 0 ? static_cast<int>(std::min<std::int64_t>(asked, usable)) : usable;
}

}  // namespace punt
