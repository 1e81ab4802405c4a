#include "app/worker_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include "punt/error.h"

namespace punt {
namespace {

[[noreturn]] void Fail(const char* what, int error) {
  throw Error(ErrorCode::kFailed, fmt::format("{}: {}", what, std::strerror(error)));
}

}  // namespace

WorkerPool::WorkerPool(std::string program, std::vector<std::string> arguments)
    : program_(std::move(program)), arguments_(std::move(arguments)) {}

WorkerPool::~WorkerPool() {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].socket < 0) continue;
    kill(workers_[i].process, SIGKILL);
    Reap(i);
  }
}

std::size_t WorkerPool::Start() {
  // A pair of sockets rather than two pipes: writing to a worker that is gone can then be an error instead of a signal.
  // Closed on exec, or a worker would keep the inputs of the others open.
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) Fail("cannot make a socket", errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& argument : arguments_) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error = posix_spawn(&process, program_.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  if (error != 0) {
    close(sockets[0]);
    Fail("cannot start a process", error);
  }
  workers_.push_back({.process = process, .socket = sockets[0]});
  return workers_.size() - 1;
}

void WorkerPool::Send(std::size_t worker, std::string_view line) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size() && workers_[worker].socket >= 0;) {
    const ssize_t count = send(workers_[worker].socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

void WorkerPool::Dismiss(std::size_t worker) {
  if (workers_[worker].socket >= 0) shutdown(workers_[worker].socket, SHUT_WR);
}

std::size_t WorkerPool::running() const {
  std::size_t count = 0;
  for (const Worker& worker : workers_) count += worker.socket >= 0 ? 1 : 0;
  return count;
}

std::optional<WorkerEvent> WorkerPool::Wait(int milliseconds) {
  std::vector<pollfd> polls;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (std::optional<WorkerEvent> event = TakeLine(i)) return event;
    if (workers_[i].socket < 0) continue;
    polls.push_back({.fd = workers_[i].socket, .events = POLLIN, .revents = 0});
    numbers.push_back(i);
  }
  if (polls.empty() || poll(polls.data(), polls.size(), milliseconds) <= 0) return std::nullopt;
  for (std::size_t i = 0; i < polls.size(); ++i) {
    if (polls[i].revents == 0) continue;
    char bytes[65536];
    const ssize_t count = recv(polls[i].fd, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) return std::nullopt;
    if (count <= 0) return Reap(numbers[i]);
    workers_[numbers[i]].text.append(bytes, static_cast<std::size_t>(count));
    return TakeLine(numbers[i]);
  }
  return std::nullopt;
}

std::optional<WorkerEvent> WorkerPool::TakeLine(std::size_t worker) {
  std::string& text = workers_[worker].text;
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  WorkerEvent event{.worker = worker, .line = text.substr(0, end)};
  text.erase(0, end + 1);
  return event;
}

WorkerEvent WorkerPool::Reap(std::size_t worker) {
  int status = 0;
  close(std::exchange(workers_[worker].socket, -1));
  workers_[worker].text.clear();
  while (waitpid(workers_[worker].process, &status, 0) < 0 && errno == EINTR) continue;
  return {.worker = worker,
          .end = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                     : fmt::format("exit code {}", WEXITSTATUS(status))};
}

std::string OwnProgram() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size < 0 || size == sizeof path) Fail("cannot find this program", size < 0 ? errno : ENAMETOOLONG);
  return std::string(path, static_cast<std::size_t>(size));
}

std::vector<std::string> OwnArguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(in, argument, '\0');) arguments.push_back(argument);
  if (arguments.empty()) Fail("cannot read this program's arguments", EIO);
  return arguments;
}

}  // namespace punt
