// The table of sub-commands. Adding one: a file cmd_<name>.cc and a row in commands.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>

namespace punt {

/// Runs a command whose options have been parsed; returns the exit code. Throws Error.
using Runner = std::function<int()>;

struct CommandRow {
  const char* name;
  const char* summary;
  Runner (*add)(CLI::App& command);  // declares the options; the runner owns what they are stored in
  const char* group = "";            // heading in the help
};

std::span<const CommandRow> Commands();

/// The whole program: parses, runs, prints errors as one line "punt: ..." on stderr. Without arguments it prints its
/// help there. Returns the exit code: 0 done, 1 failed while running, 2 bad input, 130 interrupted.
int RunProgram(int argc, const char* const* argv);

Runner AddGenerate(CLI::App& command);
Runner AddList(CLI::App& command);
Runner AddReplay(CLI::App& command);
Runner AddCompare(CLI::App& command);
Runner AddDemo(CLI::App& command);
Runner AddAnalyze(CLI::App& command);
Runner AddConvert(CLI::App& command);
Runner AddPull(CLI::App& command);
Runner AddInspect(CLI::App& command);
Runner AddLogits(CLI::App& command);
Runner AddTokenize(CLI::App& command);
Runner AddDetokenize(CLI::App& command);
Runner AddEval(CLI::App& command);
Runner AddLikelihood(CLI::App& command);
Runner AddScore(CLI::App& command);
Runner AddBench(CLI::App& command);
Runner AddServe(CLI::App& command);
Runner AddPuzzles(CLI::App& command);

}  // namespace punt
