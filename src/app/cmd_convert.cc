// punt convert: a checkpoint or a GGUF file to a GGUF file with weights of a chosen type.
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/command.h"
#include "app/glyphs.h"
#include "app/hub_pull.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/json_text.h"
#include "punt/weights.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct ConvertFlags {
  std::string input;
  std::string output;
  std::string type = "keep";
  std::vector<std::string> lora;
  std::int64_t threads = 0;
  bool json = false;
};

/// On a terminal a status line, elsewhere a line for every tenth. Goes to stderr, beside any result.
class ConvertStatus {
 public:
  void Show(const ConvertProgress& progress) {
    const double share =
        static_cast<double>(progress.done) / static_cast<double>(std::max<std::uint64_t>(progress.total, 1));
    const int percent = static_cast<int>(100 * share);
    if (is_live_) {
      constexpr int kBar = 30;
      line_.Show([&](int columns) {
        const std::string bar = ProgressBar(share, kBar);
        return FitToWidth(fmt::format("{} {:3} %  {}", bar, percent, progress.tensor), columns);
      });
    } else if (percent / 10 > shown_ / 10) {
      fmt::print(stderr, "{:3} %  {}\n", percent / 10 * 10, progress.tensor);
    }
    shown_ = std::max(shown_, percent);
  }

  void Clear() { line_.Clear(); }

 private:
  bool is_live_ = CanMoveCursor(stderr);
  int shown_ = 0;
  StatusLine line_;
};

Json ResultJson(const ConvertFlags& flags, const ConvertResult& result, double seconds) {
  Json types = Json::object();
  for (const TypeCount& count : result.types) {
    types[count.type] = {{"tensors", count.tensors}, {"bytes", count.bytes}};
  }
  return {{"input", flags.input},
          {"output", flags.output},
          {"type", flags.type},
          {"lora", flags.lora},
          {"tensors", result.tensors},
          {"parameters", result.parameters},
          {"bytes_in", result.bytes_in},
          {"bytes_out", result.bytes_out},
          {"types", types},
          {"fallbacks", result.fallbacks},
          {"not_finite", result.not_finite},
          {"clamped", result.clamped},
          {"seconds", seconds}};
}

void PrintResult(const ConvertFlags& flags, const ConvertResult& result) {
  fmt::print("{}: {} tensors, {:.1f} MB -> {:.1f} MB\n", flags.output, result.tensors,
             static_cast<double>(result.bytes_in) / 1e6, static_cast<double>(result.bytes_out) / 1e6);
  for (const TypeCount& count : result.types) {
    fmt::print("  {:<8} {:5} tensors {:12.1f} MB\n", count.type, count.tensors, static_cast<double>(count.bytes) / 1e6);
  }
}

void PrintWarnings(const ConvertFlags& flags, const ConvertResult& result) {
  punt::PrintWarnings(result.warnings);
  if (result.fallbacks > 0) {
    fmt::print(stderr, "punt: warning: {} tensors have rows that blocks of {} do not divide; see the types written\n",
               result.fallbacks, flags.type);
  }
  if (result.not_finite + result.clamped > 0) {
    fmt::print(stderr, "punt: warning: {} weights are not finite, {} were clamped to +-65504; first in {}\n",
               result.not_finite, result.clamped, result.first_bad_tensor);
  }
}

int Run(const ConvertFlags& flags) {
  PullIfMissing(flags.input, flags.lora);
  ConvertStatus status;
  ConvertOptions options{.type = flags.type,
                         .lora = flags.lora,
                         .threads = ThreadCount(flags.threads),
                         .cancel = &InstallInterruptHandlers()};
  options.progress = [&status](const ConvertProgress& progress) { status.Show(progress); };
  const auto start = std::chrono::steady_clock::now();
  const ConvertResult result = ConvertModel(flags.input, flags.output, options);
  status.Clear();
  if (result.is_cancelled) {
    fmt::print(stderr, "punt: interrupted, {} was not written\n", flags.output);
    return kInterruptedExit;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.json) {
    fmt::print("{}\n", Dump(ResultJson(flags, result, seconds)));
  } else {
    PrintResult(flags, result);
  }
  FlushOutput();
  PrintWarnings(flags, result);
  return 0;
}

std::string Footer() {
  std::string text = R"(Examples:
  punt convert LLaDA-8B-Instruct llada.gguf                   a checkpoint as it is, in one file
  punt convert LLaDA-8B-Instruct llada-q4.gguf --type q4_k_m
  punt convert llada.gguf llada-q8.gguf --type q8_0 --json
  punt convert LLaDA-8B-Instruct tuned.gguf --lora my-adapter --lora style.gguf:0.5 --type q8_0

Types (bits per weight):
)";
  for (const ConvertTypeRow& row : ConvertTypes()) {
    const std::string bits = row.bits_per_weight > 0 ? fmt::format("{:.2f}", row.bits_per_weight) : "";
    text += fmt::format("  {:<8} {:>5}  {}\n", row.name, bits, row.summary);
  }
  return text +
         R"(Norms, biases, routers and position embeddings are always f32. A mixture gives embeddings, and attn_v and
ffn_down in some layers, more bits. Matrices whose rows are not whole blocks get a type with smaller blocks.)";
}

}  // namespace

Runner AddConvert(CLI::App& command) {
  const auto flags = std::make_shared<ConvertFlags>();
  command.footer(Footer());
  command
      .add_option("input", flags->input,
                  "A Hugging Face folder (safetensors, or checkpoints of PyTorch), or a GGUF file (its first part)")
      ->required();
  command.add_option("output", flags->output, "The GGUF file to write")->required();
  command.add_option("--type", flags->type, "Type of the matrices, see below")->capture_default_str();
  AddLora(command, flags->lora);
  AddThreads(command, flags->threads);
  command.add_flag("--json", flags->json, "Print the result as JSON");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
