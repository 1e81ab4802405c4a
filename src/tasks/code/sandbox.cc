// The walls. Whatever is not listed here does not exist inside: no home folders, no /etc, no /proc, no network but a
// loopback that is down. The name space ends with the process: nothing inside can outlive the program or reach out.
//
// The number of processes is limited inside (`prlimit`): the limit counts all processes of a user per user name space,
// and outside that user may have many. For root it would not count at all, which is why RunLimited has become nobody.
#include "tasks/code/sandbox.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "report/data_file.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBubblewrap = "bwrap";
constexpr const char* kPrlimit = "/usr/bin/prlimit";
constexpr int kShellSignal = 128;  // bwrap's exit status for signal n is 128 + n

/// Looks in the folders of PATH; empty: not found.
std::string FindBubblewrap() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = fmt::format("{}/{}", folder, kBubblewrap);
    if (folder.starts_with('/') && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

void Append(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

/// /bin, /lib and the like are links into /usr on most systems, folders on others.
void AppendSystemFolders(std::vector<std::string>& arguments) {
  Append(arguments, {"--ro-bind", "/usr", "/usr"});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    std::error_code error;
    if (fs::is_symlink(folder, error)) {
      Append(arguments, {"--symlink", fs::read_symlink(folder, error).string(), folder});
    } else {
      Append(arguments, {"--ro-bind-try", folder, folder});
    }
  }
  // Debian's choices among libraries of one name; Python's numerical packages are linked through them.
  Append(arguments, {"--ro-bind-try", "/etc/alternatives", "/etc/alternatives"});
}

std::vector<std::string> Walls(const ProcessLimits& limits) {
  std::vector<std::string> arguments = {FindBubblewrap()};
  Append(arguments, {"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
                     "--unshare-cgroup-try", "--disable-userns", "--uid", "65534", "--gid", "65534", "--cap-drop",
                     "ALL", "--new-session", "--die-with-parent", "--clearenv", "--hostname", "sandbox"});
  AppendSystemFolders(arguments);
  Append(arguments, {"--dev", "/dev"});
  Append(arguments, {"--perms", "1777", "--size", "1048576", "--tmpfs", "/dev/shm"});
  Append(arguments, {"--perms", "1777", "--size", fmt::format("{}", limits.file_bytes), "--tmpfs", "/tmp"});
  Append(arguments, {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"});
  Append(arguments, {kPrlimit, fmt::format("--nproc={}", limits.processes)});
  return arguments;
}

}  // namespace

ProcessResult RunConfined(const ProcessCommand& command, Confinement confinement) {
  if (confinement == Confinement::kLimitsOnly) return RunLimited(command);
  ProcessCommand wrapped = command;
  wrapped.arguments = Walls(command.limits);
  wrapped.arguments.insert(wrapped.arguments.end(), command.arguments.begin(), command.arguments.end());
  ProcessResult result = RunLimited(wrapped);
  if (result.end == ProcessEnd::kExited && result.status > kShellSignal) {
    result.end = ProcessEnd::kSignalled;
    result.status -= kShellSignal;
  }
  return result;
}

std::string SandboxTrouble() {
  if (FindBubblewrap().empty()) return fmt::format("'{}' is missing (Debian package bubblewrap)", kBubblewrap);
  if (access(kPrlimit, X_OK) != 0) return fmt::format("'{}' is missing (Debian package util-linux)", kPrlimit);
  ProcessCommand nothing{.arguments = {"/usr/bin/true"}};
  nothing.limits.seconds = nothing.limits.start_seconds;
  nothing.limits.start_seconds = 0;
  const ProcessResult result = RunConfined(nothing, Confinement::kSandbox);
  if (result.end == ProcessEnd::kExited && result.status == 0) return "";
  const auto lines = SplitLines(result.output);
  return fmt::format("bubblewrap cannot make one here ({})", lines.empty() ? "it says nothing" : lines[0]);
}

}  // namespace punt
