// A program is executed by a few lines of Python that run first (kDriver). They read a random token and the program
// from standard input, replace the input by an empty one, execute the program in its own name space, and write the
// token with the verdict to a separate descriptor. So neither what the program prints nor how it exits can be taken
// for a verdict. The token is in a local variable of the driver: a program that searches the interpreter's
// frames for it can cheat, as it could by comparing equal to everything.
#include "tasks/code/python_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <vector>

#include "base/check.h"
#include "base/setting_error.h"
#include "report/data_file.h"

namespace punt {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

// `names` is emptied before a MemoryError is reported: reporting takes memory. If the program forked, the copy also
// continues after the program, but its verdict does not count.
constexpr const char* kDriver = R"(
import os, sys, traceback

def describe(error, lines):
    text = str(error).split('\n')[0]
    text = type(error).__name__ + (': ' + text if text else '')
    numbers = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == '<program>']
    if numbers and 0 < numbers[-1] <= len(lines):
        text += ' at line %d: %s' % (numbers[-1], lines[numbers[-1] - 1].strip())
    return text

def main():
    with os.fdopen(os.dup(0), 'rb') as stream:
        token, _, program = stream.read().partition(b'\n')
    nothing = os.open('/dev/null', os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    write, getpid, leave, owner = os.write, os.getpid, os._exit, os.getpid()
    def report(verdict):
        if getpid() == owner:
            write(3, token + b' ' + verdict.encode('utf-8', 'replace')[:400] + b'\n')
    report('started')
    program = program.decode('utf-8', 'replace')
    names = {}
    try:
        exec(compile(program, '<program>', 'exec', dont_inherit=True), names)
        report('passed')
    except MemoryError:
        names.clear()
        report('out of memory')
    except BaseException as error:
        names.clear()
        report('failed: ' + describe(error, program.split('\n')))
    leave(0)

main()
)";

std::string RandomToken() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

/// The verdicts after the token, one per line; anything else was not written by the driver.
std::vector<std::string> VerdictsOf(const std::string& report, const std::string& token) {
  std::vector<std::string> verdicts;
  for (std::string_view line : SplitLines(report)) {
    if (line.starts_with(token + " ")) verdicts.emplace_back(line.substr(token.size() + 1));
  }
  return verdicts;
}

std::string ReasonOf(const ProcessResult& result, const std::vector<std::string>& verdicts) {
  if (result.end == ProcessEnd::kOutOfTime) return "timed out";
  if (result.end == ProcessEnd::kSignalled) {
    return result.status == SIGXCPU ? "timed out" : fmt::format("killed: signal {}", result.status);
  }
  if (verdicts.size() > 1) return verdicts.back();
  return fmt::format("failed: it left before its checks with exit status {}", result.status);
}

}  // namespace

PythonRunner::PythonRunner(const Options& options) : options_(options) {
  if (access(kPython, X_OK) != 0) BadInput("programs need '{}' (Debian package python3)", kPython);
  if (!options.sandboxed) return;
  const std::string trouble = SandboxTrouble();
  if (!trouble.empty()) {
    BadSetting("unsandboxed", "programs of unknown origin run in a sandbox, and {}", trouble);
  }
}

PythonOutcome PythonRunner::Run(const std::string& program) const {
  const std::string token = RandomToken();
  const ProcessCommand command{
      .arguments = {kPython, "-I", "-B", "-c", kDriver}, .input = token + "\n" + program, .limits = options_.limits};
  const ProcessResult result =
      RunConfined(command, options_.sandboxed ? Confinement::kSandbox : Confinement::kLimitsOnly);
  const std::vector<std::string> verdicts = VerdictsOf(result.report, token);
  if (verdicts.empty()) {
    const auto lines = SplitLines(result.output);
    throw Error(ErrorCode::kFailed,
                fmt::format("{} did not start: {}", kPython, lines.empty() ? "it says nothing" : lines.back()));
  }
  const std::string reason = ReasonOf(result, verdicts);
  return {.passed = reason == "passed" && result.status == 0, .reason = reason};
}

}  // namespace punt
