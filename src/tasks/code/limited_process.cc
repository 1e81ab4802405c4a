// Between fork and exec only calls that are safe in a copy of a process with threads: everything else is done before.
#include "tasks/code/limited_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <utility>

#include "punt/error.h"

namespace punt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kNobody = 65534;
constexpr int kStartFailed = 127;
constexpr int kFirstFree = 10;  // above all numbers to which a child's descriptors are moved
constexpr int kTickMilliseconds = 5;

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int get() const { return value_; }
  void Close() {
    if (value_ >= 0) close(std::exchange(value_, -1));
  }

 private:
  int value_;
};

[[noreturn]] void Fail(const char* what) {
  throw Error(ErrorCode::kFailed, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

/// Out of the way of descriptors 0 to 3, wherever the system put it.
Descriptor Moved(int value) {
  const Descriptor original(value);
  Descriptor moved(fcntl(value, F_DUPFD_CLOEXEC, kFirstFree));
  if (moved.get() < 0) Fail("move a descriptor");
  return moved;
}

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Pipe MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) Fail("make a pipe");
  Pipe pipe{Moved(ends[0]), Moved(ends[1])};
  fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

/// A file in memory: nothing has to keep writing, and a program that does not read it does no harm.
Descriptor FileOf(const std::string& text) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  if (file < 0) Fail("make a file in memory");
  Descriptor moved = Moved(file);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(moved.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) Fail("write to a file in memory");
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
  lseek(moved.get(), 0, SEEK_SET);
  return moved;
}

void Limit(int resource, std::int64_t value) {
  const auto bound = static_cast<rlim_t>(value);
  const rlimit limit{bound, bound};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

struct ChildSetup {
  std::array<int, kReportDescriptor + 1> descriptors;
  ProcessLimits limits;
  char* const* arguments;
};

[[noreturn]] void BecomeProgram(const ChildSetup& setup) {
  char* const environment[] = {nullptr};
  setsid();
  for (int target = 0; target <= kReportDescriptor; ++target) dup2(setup.descriptors[target], target);
  close_range(kReportDescriptor + 1, ~0U, 0);
  if (chdir("/") != 0) _exit(kStartFailed);
  const ProcessLimits& limits = setup.limits;
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_AS, limits.memory_bytes);
  Limit(RLIMIT_FSIZE, limits.file_bytes);
  Limit(RLIMIT_NOFILE, limits.open_files);
  Limit(RLIMIT_CPU, static_cast<std::int64_t>(std::ceil(limits.seconds)) + 2);
  if (geteuid() == 0) {
    // Fails inside containers that know no such user; their root is nobody outside already.
    (void)!setgroups(0, nullptr);
    (void)!setresgid(kNobody, kNobody, kNobody);
    (void)!setresuid(kNobody, kNobody, kNobody);
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(setup.arguments[0], setup.arguments, environment);
  _exit(kStartFailed);
}

/// Reads a pipe, up to a number of bytes.
class Collector {
 public:
  Collector(Descriptor source, std::size_t limit) : source_(std::move(source)), limit_(limit) {}

  int descriptor() const { return source_.get(); }
  const std::string& text() const { return text_; }
  bool is_cut() const { return is_cut_; }

  /// Takes what is there; always returns, however fast more arrives.
  void Collect() {
    std::array<char, 4096> buffer;
    for (int round = 0; round < 64 && source_.get() >= 0; ++round) {
      const ssize_t count = read(source_.get(), buffer.data(), buffer.size());
      if (count < 0) return;
      if (count == 0) return source_.Close();
      const std::size_t kept = std::min(static_cast<std::size_t>(count), limit_ - text_.size());
      text_.append(buffer.data(), kept);
      is_cut_ = is_cut_ || kept < static_cast<std::size_t>(count);
    }
  }

 private:
  Descriptor source_;
  std::size_t limit_;
  std::string text_;
  bool is_cut_ = false;
};

/// Leaves the child to be reaped, so that its number stays taken.
bool HasEnded(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

Clock::time_point After(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Returns whether its time was up.
bool WatchChild(pid_t child, const ProcessLimits& limits, Collector& output, Collector& report) {
  bool is_started = limits.start_seconds == 0;
  Clock::time_point deadline = After(is_started ? limits.seconds : limits.start_seconds);
  while (!HasEnded(child)) {
    std::array<pollfd, 2> sources = {
        {{.fd = output.descriptor(), .events = POLLIN}, {.fd = report.descriptor(), .events = POLLIN}}};
    poll(sources.data(), sources.size(), kTickMilliseconds);
    output.Collect();
    report.Collect();
    if (!is_started && !report.text().empty()) {
      is_started = true;
      deadline = After(limits.seconds);
    }
    if (Clock::now() >= deadline) return true;
  }
  return false;
}

}  // namespace

ProcessResult RunLimited(const ProcessCommand& command) {
  const Descriptor input = FileOf(command.input);
  Pipe output = MakePipe();
  Pipe report = MakePipe();
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const ChildSetup setup{{input.get(), output.write_end.get(), output.write_end.get(), report.write_end.get()},
                         command.limits,
                         arguments.data()};
  const pid_t child = fork();
  if (child < 0) Fail("start a process");
  if (child == 0) BecomeProgram(setup);
  output.write_end.Close();
  report.write_end.Close();

  Collector from_output(std::move(output.read_end), command.limits.output_bytes);
  Collector from_report(std::move(report.read_end), command.limits.output_bytes);
  const bool is_late = WatchChild(child, command.limits, from_output, from_report);
  kill(-child, SIGKILL);  // the session's first group: what the program has left behind in it
  kill(child, SIGKILL);   // in case it has not made its session yet
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  from_output.Collect();
  from_report.Collect();

  ProcessResult result{.output = from_output.text(), .is_cut = from_output.is_cut(), .report = from_report.text()};
  result.end = is_late ? ProcessEnd::kOutOfTime : WIFSIGNALED(status) ? ProcessEnd::kSignalled : ProcessEnd::kExited;
  result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace punt
