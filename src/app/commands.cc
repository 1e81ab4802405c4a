#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/glyphs.h"
#include "app/help.h"
#include "app/interruptible.h"
#include "app/parse_error.h"
#include "app/setting_hint.h"
#include "app/terminal.h"
#include "base/check.h"
#include "base/instruction_set.h"
#include "punt/error.h"

namespace punt {
namespace {

constexpr const char* kUse = "To use";
constexpr const char* kMeasure = "To measure";
constexpr const char* kStudy = "To study";
constexpr const char* kTools = "Tools";

constexpr CommandRow kCommands[] = {
    {"generate", "Generate text with a model and a planner", AddGenerate, kUse},
    {"serve", "Serve a model over HTTP, as OpenAI's API and as a page", AddServe, kUse},
    {"demo", "Tell a story live, and show what other planners make of it", AddDemo, kUse},
    {"replay", "Play a trace in the terminal", AddReplay, kUse},
    {"list", "List planners, scores, caches, models, tasks or devices", AddList, kUse},
    {"eval", "Measure the quality of what a model generates", AddEval, kMeasure},
    {"bench", "Measure many planners on a task: quality against passes", AddBench, kMeasure},
    {"likelihood", "Measure how likely a model finds given texts", AddLikelihood, kMeasure},
    {"score", "Judge given responses to a benchmark; needs no model", AddScore, kMeasure},
    {"analyze", "Write reports about planners", AddAnalyze, kStudy},
    {"compare", "Compare planners on an exact model: passes against error", AddCompare, kStudy},
    {"pull", "Fetch a model from the Hugging Face hub", AddPull, kTools},
    {"convert", "Convert a model to a GGUF file", AddConvert, kTools},
    {"inspect", "Show what a model's files say about it", AddInspect, kTools},
    {"logits", "Write the logits of a model for given inputs", AddLogits, kTools},
    {"tokenize", "Show the tokens of a text", AddTokenize, kTools},
    {"detokenize", "Show the text of tokens", AddDetokenize, kTools},
    {"puzzles", "Write sudoku puzzles with one solution each", AddPuzzles, kTools},
};

constexpr const char* kFullHelp = "--help-all";
constexpr int kFailedExit = 1;
constexpr int kBadInputExit = 2;

constexpr const char* kExamples = R"(Examples:
  punt demo
  punt generate "Once upon a time" --temperature 0.7 --top-p 0.9
  punt generate abba --model toy:markov,length=32,vocab=4 --trace run.jsonl
  punt replay run.jsonl
  punt eval sudoku --planner punt --out runs/sudoku
  punt list planners
  punt generate --help        the usual options; --help-all: all of them

Exit codes: 0 done, 1 failed while running, 2 bad input, 130 interrupted.)";

/// One line, whatever the message holds: it may quote files and arguments.
int Complain(std::string message, int exit_code) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fflush(stdout);
  PrintMessage(fmt::format("punt: {}\n", SafeText(message)));
  return exit_code;
}

/// `punt help` and `punt help help` are `punt --help`, `punt help generate` is `punt generate --help`, and so with
/// --help-all.
std::vector<const char*> WithoutHelpCommand(int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return arguments;
  arguments.erase(arguments.begin() + 1);
  if (argc == 3 && std::string_view(argv[2]) == "help") arguments.pop_back();
  const auto is_full = [](std::string_view argument) { return argument == kFullHelp; };
  if (std::none_of(arguments.begin(), arguments.end(), is_full)) arguments.push_back("--help");
  return arguments;
}

/// The parser's own message for a wrong command would only say that one is required, and it cannot ask for help.
void RequireKnownCommand(const CLI::App& app, std::span<const char* const> arguments) {
  const std::string first = arguments[1];
  if (first.starts_with('-')) {
    if (app.get_option_no_throw(first) != nullptr) return;
    BadInput("unknown option {} of punt: options come after the command (see punt --help)", first);
  }
  for (const CommandRow& row : Commands()) {
    if (first == row.name) return;
  }
  BadInput("{}", UnknownCommand(app, "punt", first));
}

/// An empty name, as of a script's unset variable, would pass for an option that was not given.
void RequireNames(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const char* name : {"--out", "--reference", "--compare"}) {
      const CLI::Option* option = command->get_option_no_throw(name);
      if (option == nullptr) continue;
      for (const std::string& value : option->results()) {
        if (value.empty()) BadInput("{} needs the name of a file or folder", name);
      }
    }
    RequireNames(*command);
  }
}

/// --help and --version end in here too. The name of the program alone shows help, but fails: scripts
/// that lost their arguments should notice.
int Parse(CLI::App& app, std::span<const char* const> arguments, bool& is_done) {
  is_done = true;
  if (arguments.size() < 2) {
    PrintMessage(app.help());
    return kBadInputExit;
  }
  RequireKnownCommand(app, arguments);
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return Complain(ExplainParseError(app, error), kBadInputExit);
    std::ostringstream text;
    app.exit(error, text, text);
    fmt::print("{}", text.str());
    FlushOutput();
    return 0;
  }
  RequireNames(app);
  is_done = false;
  return 0;
}

int RunChosen(const CLI::App& app, const std::vector<Runner>& runners) {
  const auto rows = Commands();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (app.got_subcommand(rows[i].name)) return runners[i]();
  }
  return 0;
}

}  // namespace

std::span<const CommandRow> Commands() { return kCommands; }

int RunProgram(int argc, const char* const* argv) {
  CLI::App app("Masked diffusion language models, decoded in parallel with tested independence.", "punt");
  app.set_version_flag("-V,--version", "punt " PUNT_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  app.formatter(MakeHelpFormatter());
  app.set_help_flag("-h,--help", "Print this help; of a command: its usual options");
  app.set_help_all_flag(kFullHelp, "Print all options");
  std::vector<Runner> runners;
  for (const CommandRow& row : Commands()) {
    CLI::App* command = app.add_subcommand(row.name, row.summary);
    command->group(row.group);
    runners.push_back(row.add(*command));
  }
  try {
    bool is_done = false;
    const int parsed = Parse(app, WithoutHelpCommand(argc, argv), is_done);
    if (is_done) return parsed;
    UseInstructionSet();
    const int exit_code = RunChosen(app, runners);
    FlushOutput();
    return exit_code;
  } catch (const Interrupted& interrupted) {
    std::_Exit(SayInterrupted(interrupted.doing));
  } catch (const SettingError& error) {
    return Complain(WithHint(app, error), error.code() == ErrorCode::kBadInput ? kBadInputExit : kFailedExit);
  } catch (const Error& error) {
    return Complain(error.what(), error.code() == ErrorCode::kBadInput ? kBadInputExit : kFailedExit);
  } catch (const std::bad_alloc&) {
    return Complain("out of memory", kFailedExit);
  } catch (const std::exception& error) {
    return Complain(error.what(), kFailedExit);
  }
}

}  // namespace punt
