#include "app/model_flags.h"

#include <fmt/format.h>

#include <limits>

#include "app/help.h"
#include "app/interruptible.h"
#include "app/options.h"
#include "app/request.h"
#include "app/terminal.h"
#include "model/devices.h"

namespace punt {
namespace {

std::vector<std::string> Unheeded(const ModelFlags& flags, const Model& model) {
  const bool has_gpu = !model.is_toy && ggml_backend_dev_type(FindDevice(flags.device)) == GGML_BACKEND_DEVICE_TYPE_GPU;
  if (flags.gpu_layers < 0 || has_gpu) return {};
  return {fmt::format("--gpu-layers {} is ignored: the model runs on the CPU", flags.gpu_layers)};
}

}  // namespace

void AddLora(CLI::App& command, std::vector<std::string>& lora) {
  command
      .add_option(
          "--lora", lora,
          "Adapter to merge into the weights (repeatable): a GGUF file or a PEFT folder; FILE:0.5 halves its scale")
      ->allow_extra_args(false);
}

CLI::Option* AddModel(CLI::App& command, ModelFlags& flags, const std::string& which) {
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  CLI::Option* option = command.add_option("-m,--model", flags.name, which);
  if (!flags.name.empty()) option->capture_default_str();
  AddThreads(command, flags.threads);
  command
      .add_option("--compute", flags.compute,
                  "How the CPU multiplies weights: exact, as the file's types say; float, nothing rounded; int8, all "
                  "rounded to 8 bits; ggml, with ggml's own kernels; auto")
      ->capture_default_str();
  command.add_option("--influence", flags.influence,
                     "Head that predicts influence, for the planner distilled (training/train influence makes it); "
                     "default: NAME.influence.gguf beside the model");
  AddLora(command, flags.lora);
  command.add_option("--device", flags.device, "Device (see punt list devices)")->capture_default_str();
  AddInteger(command, "--gpu-layers", flags.gpu_layers, -1, kInt, "Layers on a GPU device, from the last (-1: all)");
  command.add_flag("--no-repack", flags.no_repack, "Use weights as they are mapped: opens at once, computes slower");
  SetGroup(command, "Model", {"--model", "--threads", "--compute", "--lora"});
  SetGroup(command, "Model", {"--influence", "--device", "--gpu-layers", "--no-repack"}, kInFullHelp);
  return option;
}

Model OpenAndWarn(const ModelFlags& flags, const std::string& name) {
  const std::string chosen = !name.empty() ? name : !flags.name.empty() ? flags.name : DefaultModel();
  Model model = OpenInterruptibly(chosen, flags.Options());
  WarnOf(flags, model);
  return model;
}

void WarnOf(const ModelFlags& flags, const Model& model) {
  PrintWarnings(model.warnings);
  PrintWarnings(Unheeded(flags, model));
}

}  // namespace punt
