// Programs that mean harm, or do it by accident: each is contained, gets its verdict, and leaves nothing behind. What
// the walls keep out is tried without them as well, where that is harmless, to see that there was something to keep
// out.
#include "tasks/code/sandbox.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "punt/error.h"
#include "tasks/code/python_runner.h"

namespace punt {
namespace {

using std::chrono_literals::operator""ms;
namespace fs = std::filesystem;

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string trouble = SandboxTrouble();
    if (!trouble.empty()) GTEST_SKIP() << "no sandbox here: " << trouble;
  }

  /// With more time than a busy machine needs: only endless programs are to run out of it.
  static std::string Run(const std::string& program, bool sandboxed = true, double seconds = 60) {
    PythonRunner::Options options{.sandboxed = sandboxed};
    options.limits.seconds = seconds;
    return PythonRunner(options).Run(program).reason;
  }
  /// With the message cut out, which is worded otherwise in other versions of Python: "EXCEPTION at line N: CODE".
  static std::string ExceptionOf(const std::string& program) {
    const std::string reason = Run(program);
    const std::size_t name = reason.find(": ") + 2;
    const std::size_t message = reason.find(':', name);
    const std::size_t place = reason.rfind(" at line ");
    if (!reason.starts_with("failed: ") || message == std::string::npos) return reason;
    return reason.substr(name, message - name) + (place == std::string::npos ? "" : reason.substr(place));
  }
  static std::string RunBriefly(const std::string& program, bool sandboxed = true) {
    return Run(program, sandboxed, 1.5);
  }
};

/// Whether a process runs anywhere whose command line has `marker`.
bool IsRunning(const std::string& marker) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::ostringstream line;
    line << file.rdbuf();  // of a process that ends just now nothing can be read: no text, and no exception
    if (line.str().find(marker) != std::string::npos) return true;
  }
  return false;
}

/// The kernel takes its time to end a name space with many processes.
bool IsGoneSoon(const std::string& marker) {
  for (int i = 0; i < 2000; ++i) {
    if (!IsRunning(marker)) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

/// Python code with a marker on its command line that copies of the process inherit.
ProcessCommand Marked(const std::string& code, const std::string& marker) {
  ProcessCommand command{.arguments = {"/usr/bin/python3", "-I", "-c", code, marker}};
  command.limits.seconds = 1;
  return command;
}

std::string Marker(const char* name) { return fmt::format("punt-sandbox-test-{}-{}", name, getpid()); }

TEST_F(SandboxTest, ProgramsPassAndFail) {
  EXPECT_EQ(Run("assert 1 + 1 == 2"), "passed");
  EXPECT_EQ(Run("x = 1\nassert x == 2, 'no'"), "failed: AssertionError: no at line 2: assert x == 2, 'no'");
  EXPECT_EQ(ExceptionOf("def f(:"), "SyntaxError");
  EXPECT_EQ(Run("raise KeyboardInterrupt"), "failed: KeyboardInterrupt at line 1: raise KeyboardInterrupt");
  EXPECT_EQ(ExceptionOf("input()"), "EOFError at line 1: input()");
  EXPECT_EQ(Run("if __name__ == '__main__':\n    raise ValueError"), "passed");
  EXPECT_EQ(Run(std::string("x = '\0'", 7)).substr(0, 7), "failed:");
  EXPECT_EQ(Run("import collections, heapq, itertools, math, re, string, typing"), "passed");
}

TEST_F(SandboxTest, AForkBombRunsIntoItsLimitAndOutOfTime) {
  const char* bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n";
  EXPECT_EQ(RunBriefly(bomb), "timed out");
  const std::string marker = Marker("bomb");
  ProcessCommand command = Marked("import os\nos.write(3, b'x')\n" + std::string(bomb), marker);
  EXPECT_EQ(RunConfined(command, Confinement::kSandbox).end, ProcessEnd::kOutOfTime);
  EXPECT_TRUE(IsGoneSoon(marker));
  EXPECT_EQ(Run(R"(
import os, time
count = 0
try:
    while count < 100:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
except BlockingIOError:
    pass
assert 5 < count < 16, count
)"),
            "passed");
  EXPECT_EQ(ExceptionOf("import threading, time\nfor i in range(100):\n"
                        "    threading.Thread(target=time.sleep, args=(60,)).start()\n"),
            "RuntimeError at line 3: threading.Thread(target=time.sleep, args=(60,)).start()");
}

TEST_F(SandboxTest, AChildDoesNotOutliveTheProgram) {
  const std::string marker = Marker("daemon");
  const ProcessCommand command = Marked(R"(
import os, time
os.write(3, b'x')
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
)",
                                        marker);
  EXPECT_EQ(RunConfined(command, Confinement::kSandbox).end, ProcessEnd::kExited);
  EXPECT_TRUE(IsGoneSoon(marker));
}

TEST_F(SandboxTest, AMemoryHogIsOutOfMemory) {
  EXPECT_EQ(Run("x = bytearray(4 << 30)"), "out of memory");
  EXPECT_EQ(Run("x = []\nwhile True:\n    x.append(bytearray(1 << 20))"), "out of memory");
  EXPECT_EQ(Run("x = 'a' * (1 << 26)"), "passed");
}

TEST_F(SandboxTest, EndlessProgramsAreOutOfTime) {
  EXPECT_EQ(RunBriefly("while True:\n    pass"), "timed out");
  EXPECT_EQ(RunBriefly("import time\ntime.sleep(600)"), "timed out");
  EXPECT_EQ(RunBriefly("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"), "timed out");
  EXPECT_EQ(
      RunBriefly(
          "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"),
      "timed out");
  EXPECT_EQ(
      RunBriefly("import signal\nfor number in range(1, 65):\n    try:\n        signal.signal(number, signal.SIG_IGN)\n"
                 "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass"),
      "timed out");
}

TEST_F(SandboxTest, LeavingEarlyIsNotPassing) {
  EXPECT_EQ(Run("import sys\nsys.exit(0)"), "failed: SystemExit: 0 at line 2: sys.exit(0)");
  EXPECT_EQ(Run("exit()"), "failed: SystemExit: None at line 1: exit()");
  EXPECT_EQ(Run("import os\nos._exit(0)"), "failed: it left before its checks with exit status 0");
  EXPECT_EQ(Run("import os\nos.execv('/bin/true', ['true'])"), "failed: it left before its checks with exit status 0");
  EXPECT_EQ(Run("import os\nif os.fork() > 0:\n    os._exit(0)"),
            "failed: it left before its checks with exit status 0");
  EXPECT_EQ(Run("import os\nos.abort()"), "killed: signal 6");
  EXPECT_EQ(Run("import os\nos.kill(os.getpid(), 9)"), "killed: signal 9");
  EXPECT_EQ(Run("import ctypes\nctypes.string_at(0)"), "killed: signal 11");
}

TEST_F(SandboxTest, AVerdictCannotBePrinted) {
  EXPECT_EQ(Run("import os\nprint('passed', flush=True)\nos.write(3, b'passed\\n0123 passed\\n')\nos._exit(0)"),
            "failed: it left before its checks with exit status 0");
  // Neither the input nor the program's own names hold the token.
  EXPECT_EQ(Run("import os, sys\nassert os.read(0, 1) == b''\nassert sorted(globals()) == "
                "['__builtins__', 'os', 'sys']\nassert sorted(n for n in vars(sys.modules['__main__']) "
                "if n[0] != '_') == ['describe', 'main', 'os', 'sys', 'traceback']"),
            "passed");
}

TEST_F(SandboxTest, ClosedDescriptorsAndHugeOutput) {
  EXPECT_EQ(Run("import os\nos.close(1)\nos.close(2)"), "passed");
  EXPECT_EQ(Run("import os\nos.closerange(0, 64)").substr(0, 30), "failed: it left before its che");
  EXPECT_EQ(Run("print('a' * (1 << 24))"), "passed");
  EXPECT_EQ(RunBriefly("while True:\n    print('a' * (1 << 16))"), "timed out");
  EXPECT_EQ(RunBriefly("import os\nwhile True:\n    os.write(3, b'a' * (1 << 16))"), "timed out");
  const ProcessResult result =
      RunConfined(Marked("import os\nos.write(3, b'x')\nprint('a' * 1000000)", "x"), Confinement::kSandbox);
  EXPECT_EQ(result.output.size(), ProcessLimits().output_bytes);
  EXPECT_TRUE(result.is_cut);
}

TEST_F(SandboxTest, NothingCanBeWrittenButASmallTmp) {
  EXPECT_EQ(Run(R"(
import os
for place in ['/x', '/usr/x', '/usr/bin/x', '/bin/x', '/lib/x', '/dev/x', '/etc/x', '/proc/x', '/var/x', '/opt/x']:
    try:
        open(place, 'w')
    except OSError:
        continue
    raise ValueError(place)
for move in [lambda: os.remove('/usr/bin/env'), lambda: os.rename('/usr', '/x'), lambda: os.chmod('/usr/bin/env', 0)]:
    try:
        move()
    except OSError:
        continue
    raise ValueError
with open('/tmp/mine', 'w') as file:
    file.write('a')
assert os.listdir('.') == ['mine']
)"),
            "passed");
  EXPECT_EQ(Run("assert __import__('os').listdir('/tmp') == []"), "passed") << "what one has written, another sees";
  EXPECT_EQ(Run("open('/tmp/x', 'wb').write(bytes(17 << 20))").substr(0, 16), "failed: OSError:");
  EXPECT_EQ(Run("for i in range(100):\n    open('/tmp/%d' % i, 'wb').write(bytes(1 << 20))").substr(0, 16),
            "failed: OSError:");
  EXPECT_EQ(Run("for i in range(100):\n    open('/dev/shm/%d' % i, 'wb').write(bytes(1 << 16))").substr(0, 16),
            "failed: OSError:");
  EXPECT_EQ(Run("files = [open('/dev/null') for i in range(100)]").substr(0, 16), "failed: OSError:");
}

TEST_F(SandboxTest, TheHostsFilesAreNotThere) {
  const char* home = std::getenv("HOME");
  const std::string look = fmt::format(R"(
import os
for place in ['/etc/shadow', '/etc/passwd', '/home', '/root', '/proc', '/sys', '/var', '/run', '{}', '{}']:
    assert not os.path.exists(place), place
assert set(os.listdir('/')) <= {{'bin', 'sbin', 'lib', 'lib32', 'lib64', 'usr', 'dev', 'tmp', 'etc'}}, os.listdir('/')
)",
                                       PUNT_SOURCE_DIR, home == nullptr ? "/home" : home);
  EXPECT_EQ(Run(look), "passed");
  EXPECT_EQ(Run(look, false).substr(0, 23), "failed: AssertionError:");
}

TEST_F(SandboxTest, NoEnvironmentNoDescriptorsNoPrivileges) {
  setenv("PUNT_SECRET", "1", 1);
  const int leak = open("/dev/null", O_RDONLY);  // would be inherited by any child
  ASSERT_GE(leak, 0);
  EXPECT_EQ(Run(R"(
import ctypes, os
assert set(os.environ) <= {'PWD', 'LC_CTYPE'}, os.environ
for number in range(4, 64):
    try:
        os.fstat(number)
    except OSError:
        continue
    raise ValueError(number)
assert os.getuid() == 65534 and os.getgid() == 65534 and os.getgroups() in ([], [65534])
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(39, 0, 0, 0, 0) == 1, 'new privileges'
for flag in [0x10000000, 0x00020000]:
    assert libc.unshare(flag) == -1, 'a name space of its own'
assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0) == -1, 'a mount'
for gain in [lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot('/tmp'), lambda: os.nice(-5)]:
    try:
        gain()
    except OSError:
        continue
    raise ValueError
)"),
            "passed");
  close(leak);
  unsetenv("PUNT_SECRET");
}

TEST_F(SandboxTest, ItCannotReachOtherProcesses) {
  EXPECT_EQ(Run("import os\nos.kill(os.getppid(), 9)\nos.kill(1, 9)\ntry:\n    os.kill(-1, 9)\n"
                "except ProcessLookupError:\n    pass"),
            "passed");
  EXPECT_EQ(Run(fmt::format("import os\nos.kill({}, 0)", getpid())).substr(0, 26), "failed: ProcessLookupError");
}

/// Listens on the machine's own address, on any port.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, plain, size) == 0 && listen(socket_, 8) == 0 && getsockname(socket_, plain, &size) == 0) {
      port_ = ntohs(address.sin_port);
    }
  }
  ~Listener() { close(socket_); }
  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

TEST_F(SandboxTest, ThereIsNoNetwork) {
  const Listener listener;
  ASSERT_NE(listener.port(), 0);
  const std::string call =
      fmt::format("import socket\nsocket.create_connection(('127.0.0.1', {}), timeout=1)", listener.port());
  EXPECT_EQ(Run(call, false), "passed");
  EXPECT_EQ(Run(call).substr(0, 30), "failed: ConnectionRefusedError");
  EXPECT_EQ(Run("import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)").substr(0, 16),
            "failed: OSError:");
  EXPECT_EQ(Run("import socket\nassert [name for _, name in socket.if_nameindex()] == ['lo']"), "passed");
}

// Without walls, the limits hold all the same.
TEST(LimitedProcess, LimitsHoldWithoutASandbox) {
  PythonRunner::Options options{.sandboxed = false};
  options.limits.seconds = 1;
  const PythonRunner runner(options);
  EXPECT_EQ(runner.Run("assert True").reason, "passed");
  EXPECT_EQ(runner.Run("while True:\n    pass").reason, "timed out");
  EXPECT_EQ(runner.Run("x = bytearray(4 << 30)").reason, "out of memory");
  EXPECT_EQ(runner.Run("import os\nos.kill(os.getpid(), 9)").reason, "killed: signal 9");
  EXPECT_EQ(runner.Run("import os\nos._exit(0)").reason, "failed: it left before its checks with exit status 0");
  EXPECT_EQ(runner.Run("import os\nassert os.getuid() != 0\nassert not os.environ.get('HOME')").reason, "passed");
  EXPECT_EQ(runner.Run("import os\nos.kill(os.getppid(), 0)").passed, getuid() != 0);
}

TEST(LimitedProcess, ChildrenInTheGroupDoNotOutliveTheProgram) {
  const std::string marker = Marker("group");
  const ProcessCommand command =
      Marked("import os, time\nos.write(3, b'x')\nif os.fork() == 0:\n    time.sleep(600)", marker);
  EXPECT_EQ(RunLimited(command).end, ProcessEnd::kExited);
  EXPECT_TRUE(IsGoneSoon(marker));
}

TEST(LimitedProcess, WhatCannotBeStarted) {
  const ProcessResult result = RunLimited({.arguments = {"/nothing/here"}});
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.status, 127);
}

TEST(LimitedProcess, TimeUntilTheFirstByteIsLimitedAsWell) {
  ProcessCommand command{.arguments = {"/bin/sleep", "600"}};
  command.limits.start_seconds = 0.2;
  EXPECT_EQ(RunLimited(command).end, ProcessEnd::kOutOfTime);
}

}  // namespace
}  // namespace punt
