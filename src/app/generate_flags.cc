#include "app/generate_flags.h"

#include <limits>

#include "app/help.h"
#include "app/request.h"
#include "app/sampling_flags.h"
#include "base/check.h"
#include "model/devices.h"
#include "model/linear.h"

namespace punt {
namespace {

constexpr std::int64_t kInt = std::numeric_limits<int>::max();
constexpr std::int64_t kMostSamples = 1'000'000;
constexpr std::int64_t kMostBatch = 64;

CLI::Option* AddText(CLI::App& command, const std::string& name, std::optional<std::string>& value,
                     const std::string& help) {
  return command.add_option_function<std::string>(
      name, [&value](const std::string& text) { value = text; }, help);
}

void AddContent(GenerateFlags& flags, CLI::App& command) {
  command.add_option("prompt,-p,--prompt", flags.prompt, "Text to continue; - reads it from the standard input");
  command.add_flag("--chat", flags.chat, "The prompt is a message: put it into the model's template, show the answer");
  command.add_option("--thinking", flags.thinking, kThinkingHelp)->capture_default_str();
  AddText(command, "--infill", flags.infill,
          "Text with holes of n tokens, [MASK:n]: ab[MASK:12]cd. A space before a hole belongs to the hole");
  AddInteger(command, "-n,--length", flags.length, 1, kInt,
             "Positions to generate; default: 128, or all that a small model takes");
  AddInteger(command, "--samples", flags.samples, 1, kMostSamples, "Number of sequences")->default_str("1");
  AddSeed(command, "--first-sample", flags.first_sample, "Number of the first sequence");
  AddInteger(command, "--batch", flags.batch, 0, kMostBatch,
             "Sequences that run together (0: as many as pay); never changes a result")
      ->default_str("0");
  flags.protein.AddTo(command);
  command.add_option("--from", flags.from,
                     "Repeat runs that --json wrote to this file (- is the standard input), one after another; options "
                     "given with it replace theirs");
  SetGroup(command, "Text", {"--prompt", "--chat", "--infill", "--length", "--samples"});
  SetGroup(command, "Text", {"--thinking", "--first-sample", "--batch", "--from", "--residues", "--lengths"},
           kInFullHelp);
}

void AddOutput(GenerateFlags& flags, CLI::App& command) {
  command.add_flag("--json", flags.json,
                   "Print one JSON object per line, with everything needed to repeat the run (see --from)");
  command.add_flag("--show-thinking", flags.show_thinking,
                   "Print what a model thinks (<think>...</think>) before its answer to a chat as well");
  AddText(command, "--separator", flags.separator,
          "This line between samples, instead of one above each with its seed and number");
  AddText(command, "--trace", flags.trace, "Write every event to this file (JSON lines)");
  AddInteger(command, "--logprobs", flags.logprobs, 0, 1000,
             "In JSON and traces, how probable each token was when it was committed, and that many alternatives")
      ->default_str("");
  flags.view.AddTo(command);
  SetGroup(command, "Output", {"--json", "--trace"});
  SetGroup(command, "Output", {"--logprobs", "--separator", "--show-thinking", "--format"}, kInFullHelp);
}

}  // namespace

void GenerateFlags::AddTo(CLI::App& command) {
  AddContent(*this, command);
  AddModel(command, model)->default_str("stories");
  AddSampling(command, sampling);
  AddOutput(*this, command);
}

void RequireConsistent(const GenerateFlags& flags) {
  if (flags.protein.format != "text" && !flags.protein.is_fasta()) {
    BadInput("unknown format '{}'; valid: text, fasta", flags.protein.format);
  }
  if (flags.logprobs >= 0 && !flags.json && !flags.trace) BadInput("--logprobs is for --json and --trace");
  if (flags.protein.is_fasta() && flags.json) BadInput("--format fasta and --json exclude each other");
  Validate(flags.sampling);
  ParseCompute(flags.model.compute);
  FindDevice(flags.model.device);
  CanvasRequest content{.prompt = flags.prompt, .chat = flags.chat, .thinking = flags.thinking, .infill = flags.infill};
  if (flags.length > 0) content.length = flags.length;
  RequireConsistent(content);
  if (!flags.sampling.stop.empty() && (flags.infill || !flags.protein.lengths.empty())) {
    BadInput("--stop and {} exclude each other: lengths are fixed", flags.infill ? "--infill" : "--lengths");
  }
  if (flags.show_thinking && !flags.chat) BadInput("--show-thinking is for --chat");
  if (flags.separator && flags.is_for_machines())
    BadInput("--separator is for texts: not with --json or --format fasta");
  if (flags.protein.lengths.empty()) return;
  for (std::string_view key :
       {"regex", "choices", "json_schema", "template", "motifs", "allowed_residues", "composition"}) {
    for (const SamplingField& field : SamplingFields()) {
      if (field.key != key || TextOf(flags.sampling, field).empty()) continue;
      BadInput("{} and --lengths exclude each other: a constraint is made for one canvas", OptionOf(field));
    }
  }
  if (flags.length > 0) BadInput("--length and --lengths exclude each other");
  if (flags.infill) BadInput("--infill and --lengths exclude each other: the holes have lengths");
  if (!flags.prompt.empty()) BadInput("a prompt and --lengths exclude each other: lengths are those of whole proteins");
  if (flags.chat || flags.sampling.guidance != 0) BadInput("--lengths goes with neither --chat nor --guidance");
}

}  // namespace punt
