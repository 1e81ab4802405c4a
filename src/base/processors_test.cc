// Control groups as files: what systems of both versions, containers and damaged files look like.
#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace punt {
namespace {

namespace fs = std::filesystem;

/// A made-up file system with /proc/self and what is mounted.
class Quota : public ::testing::Test {
 protected:
  Quota() : root_(fs::temp_directory_path() / ("punt_processors_" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "proc/self");
  }
  ~Quota() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void Group(const std::string& lines) { Write("proc/self/cgroup", lines); }
  void Mount(const std::string& lines) { Write("proc/self/mountinfo", lines); }
  int Processors() const { return QuotaProcessors(root_); }

  const fs::path root_;
};

constexpr const char* kVersion2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kVersion1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

TEST_F(Quota, NothingToReadIsNoLimit) {
  EXPECT_EQ(Processors(), 0);
  Group("0::/a\n");
  EXPECT_EQ(Processors(), 0);
  Mount(kVersion2);
  EXPECT_EQ(Processors(), 0);
}

TEST_F(Quota, Version2IsRoundedUp) {
  Group("0::/user/app\n");
  Mount(kVersion2);
  for (const auto& [text, expected] : std::initializer_list<std::pair<const char*, int>>{{"max 100000\n", 0},
                                                                                         {"100000 100000\n", 1},
                                                                                         {"100001 100000\n", 2},
                                                                                         {"250000 100000\n", 3},
                                                                                         {"400000 100000\n", 4},
                                                                                         {"1000 100000\n", 1},
                                                                                         {"50000 20000\n", 3}}) {
    Write("sys/fs/cgroup/user/app/cpu.max", text);
    EXPECT_EQ(Processors(), expected) << text;
  }
}

TEST_F(Quota, TheSmallestOnTheWayUpHolds) {
  Group("0::/a/b/c\n");
  Mount(kVersion2);
  Write("sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  EXPECT_EQ(Processors(), 8);
  Write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(Processors(), 8);
  Write("sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(Processors(), 3);
  Write("sys/fs/cgroup/cpu.max", "200000 100000\n");  // the top of a container
  EXPECT_EQ(Processors(), 2);
  Write("sys/fs/cgroup/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(Processors(), 2);
}

TEST_F(Quota, Version1) {
  Group("5:memory:/x\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/y\n0::/z\n");
  Mount(kVersion1);
  const std::string folder = "sys/fs/cgroup/cpu,cpuacct/";
  Write(folder + "docker/abc/cpu.cfs_quota_us", "-1\n");
  Write(folder + "docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Processors(), 0);
  Write(folder + "docker/abc/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(Processors(), 2);
  Write(folder + "docker/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(Processors(), 2) << "a quota without a period says nothing";
  Write(folder + "docker/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Processors(), 1);
  Group("4:cpuacct,cpuset:/docker/abc\n");
  EXPECT_EQ(Processors(), 0) << "another controller's group";
}

TEST_F(Quota, AContainerSeesAPartOfTheHierarchy) {
  // Named from the machine's top, mounted from the container's group.
  Group("4:cpu:/docker/abc/inner\n");
  Mount("33 31 0:30 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Processors(), 2);
  Write("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "100000");
  Write("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Processors(), 1);
  // Named from its own: what is above cannot be seen.
  Group("4:cpu:/inner\n");
  EXPECT_EQ(Processors(), 1);
  Group("4:cpu:/../inner\n");
  EXPECT_GE(Processors(), 1);
}

TEST_F(Quota, BothVersionsAtOnce) {
  Group("3:cpu:/a\n0::/b\n");
  Mount(std::string("33 31 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n") +
        "34 31 0:31 / /cg/unified rw - cgroup2 cgroup2 rw\n");
  Write("cg/cpu/a/cpu.cfs_quota_us", "500000");
  Write("cg/cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Processors(), 5);
  Write("cg/unified/b/cpu.max", "400000 100000");
  EXPECT_EQ(Processors(), 4);
}

TEST_F(Quota, GarbageIsNoLimit) {
  Group("0::/a\n");
  Mount(kVersion2);
  for (const char* text : {"", "\n", "max", "100000", "100000 0", "0 100000", "-5 100000", "100000 -1", "a b",
                           "99999999999999999999999 1", "1e9 100000", "\xff\xfe"}) {
    Write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(Processors(), 0) << text;
  }
  Write("sys/fs/cgroup/a/cpu.max", "9000000000000 1");
  EXPECT_GT(Processors(), 1000);
  Write("sys/fs/cgroup/a/cpu.max", "200000 100000");
  for (const char* lines : {"", ":", "::", "0", "x\n\n::::\n", "0:/a"}) {
    Group(lines);
    EXPECT_GE(Processors(), 0) << lines;
  }
  Group("0::/a\n");
  for (const char* lines : {"", "-", "- cgroup2", "a b c d e f - cgroup2", "30 23 0:26 / /sys/fs/cgroup rw -\n"}) {
    Mount(lines);
    EXPECT_EQ(Processors(), 0) << lines;
  }
}

TEST(Processors, FollowTheAffinityOfTheCaller) {
  const int all = UsableProcessors();
  EXPECT_GE(all, 1);
  int alone = 0;
  std::thread([&] {  // a thread's own affinity: the others keep theirs
    cpu_set_t set;
    CPU_ZERO(&set);
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    alone = UsableProcessors();
  })
      .join();
  EXPECT_EQ(alone, 1);
  EXPECT_EQ(UsableProcessors(), all);
}

}  // namespace
}  // namespace punt
