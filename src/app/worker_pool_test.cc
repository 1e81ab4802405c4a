#include "app/worker_pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>

namespace punt {
namespace {

constexpr int kPatience = 20000;  // milliseconds

WorkerPool Shell(const std::string& script) { return {"/bin/sh", {"sh", "-c", script}}; }

WorkerEvent Next(WorkerPool& pool) {
  for (int i = 0; i < 100; ++i) {
    if (std::optional<WorkerEvent> event = pool.Wait(kPatience)) return *event;
  }
  ADD_FAILURE() << "no event";
  return {};
}

TEST(WorkerPool, LinesGoThereAndBack) {
  WorkerPool pool("/bin/cat", {"cat"});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pool.Start(), i);
  pool.Send(0, "a\nb");
  pool.Send(1, "");
  std::map<std::size_t, std::vector<std::string>> lines;
  for (int i = 0; i < 3; ++i) {
    const WorkerEvent event = Next(pool);
    lines[event.worker].push_back(event.line.value_or("end"));
  }
  EXPECT_EQ(lines[0], (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lines[1], (std::vector<std::string>{""}));
  EXPECT_EQ(pool.running(), 3u);
  for (std::size_t i = 0; i < 3; ++i) pool.Dismiss(i);
  for (int i = 0; i < 3; ++i) {
    const WorkerEvent event = Next(pool);
    EXPECT_FALSE(event.line.has_value());
    EXPECT_EQ(event.end, "exit code 0");
  }
  EXPECT_EQ(pool.running(), 0u);
  EXPECT_FALSE(pool.Wait(kPatience).has_value());
}

TEST(WorkerPool, LongLinesComeWhole) {
  WorkerPool pool = Shell("head -c 300000 /dev/zero | tr '\\0' x; echo; echo done");
  pool.Start();
  EXPECT_EQ(Next(pool).line, std::string(300000, 'x'));
  EXPECT_EQ(Next(pool).line, "done");
  EXPECT_EQ(Next(pool).end, "exit code 0");
}

TEST(WorkerPool, TellsHowAWorkerEndedAndDropsHalfALine) {
  WorkerPool pool = Shell("printf 'whole\\nhalf'; kill -9 $$");
  pool.Start();
  EXPECT_EQ(Next(pool).line, "whole");
  EXPECT_EQ(Next(pool).end, "signal 9");
  pool.Send(0, "to nobody");
  WorkerPool failing = Shell("exit 3");
  failing.Start();
  failing.Send(0, "perhaps too late: no signal, no error");
  EXPECT_EQ(Next(failing).end, "exit code 3");
}

TEST(WorkerPool, NobodyKeepsABrothersInputOpen) {
  // The first is started before the second: if the second had inherited its socket, the first would never see the end.
  WorkerPool pool("/bin/cat", {"cat"});
  pool.Start();
  pool.Start();
  pool.Dismiss(0);
  const WorkerEvent event = Next(pool);
  EXPECT_EQ(event.worker, 0u);
  EXPECT_EQ(event.end, "exit code 0");
}

TEST(WorkerPool, TheDestructorLeavesNobodyBehind) {
  pid_t process = 0;
  {
    WorkerPool pool = Shell("echo $$; exec sleep 1000");
    pool.Start();
    process = static_cast<pid_t>(std::stol(*Next(pool).line));
    EXPECT_EQ(kill(process, 0), 0);
  }
  EXPECT_NE(kill(process, 0), 0);
}

TEST(WorkerPool, KnowsItself) {
  EXPECT_NE(OwnProgram().find("app_tests"), std::string::npos);
  EXPECT_NE(OwnArguments().front().find("app_tests"), std::string::npos);
}

}  // namespace
}  // namespace punt
