#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/instruction_set.h"
#include "base/setting_error.h"
#include "base/suggest.h"
#include "denoise/neural_denoiser.h"
#include "model/architecture.h"
#include "model/bundled_models.h"
#include "model/hub_cache.h"
#include "model/influence_head.h"
#include "model/merged_source.h"
#include "model/network.h"
#include "punt/model.h"
#include "punt/named_models.h"
#include "text/letters.h"
#include "text/vocabulary.h"

namespace punt {
namespace {

constexpr std::string_view kToyPrefix = "toy:";

std::vector<std::string_view> ToyKinds() {
  std::vector<std::string_view> kinds;
  for (const ToyRow& row : Toys()) kinds.push_back(row.name);
  return kinds;
}

const ToyRow& FindToy(std::string_view kind) {
  for (const ToyRow& row : Toys()) {
    if (row.name == kind) return row;
  }
  BadInput("unknown toy model '{}'{}; valid: {}; as toy:KIND,key=value,...", kind, DidYouMean(kind, ToyKinds()),
           fmt::join(ToyKinds(), ", "));
}

/// The bundled models that fill masks; a judge of texts is bundled too.
std::vector<NamedModel> BundledDenoisers() {
  std::vector<NamedModel> models;
  for (const BundledModel& model : BundledModels()) {
    const std::unique_ptr<WeightSource> file = OpenGguf(model.file);
    const std::string architecture = file->metadata().StringOr("general.architecture", "");
    for (const ArchitectureRow& row : Architectures()) {
      if (row.name != architecture) continue;
      models.push_back({model.name, file->metadata().StringOr("general.description", ""), model.file});
    }
  }
  return models;
}

bool LooksLikePath(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".gguf") || name.ends_with(".safetensors");
}

[[noreturn]] void NoSuchModel(std::string_view name) {
  if (IsHubName(name)) BadSetting("pull", "{} is not, or not whole, in {}", name, HubCacheFolder().string());
  if (LooksLikePath(name)) BadInput("no such file: {}", name);
  const std::vector<NamedModel> bundled = BundledDenoisers();
  std::vector<std::string_view> names;
  for (const NamedModel& model : bundled) names.push_back(model.name);
  BadInput("unknown model '{}'{}; valid: {}{}a GGUF file, a Hugging Face folder, toy:{}", name, DidYouMean(name, names),
           fmt::join(names, ", "), names.empty() ? "" : ", ", fmt::join(ToyKinds(), ", toy:"));
}

/// The head that is named, or found beside the model; null if there is none. One that was not asked for and does not
/// fit is ignored, with a warning.
std::shared_ptr<const InfluenceHead> OpenHead(const std::filesystem::path& model, const ModelOptions& options,
                                              const Network& network, std::vector<std::string>& warnings) {
  const Hyperparameters& hyper = network.hyper();
  const HeadOwner owner{.name = network.metadata().StringOr("general.name", ""),
                        .architecture = hyper.architecture,
                        .width = hyper.model_dim,
                        .layers = hyper.layers,
                        .vocab_size = hyper.vocab_size};
  if (!options.influence.empty()) return std::make_shared<InfluenceHead>(options.influence, owner);
  const std::filesystem::path beside = InfluenceFileOf(model);
  if (!std::filesystem::exists(beside)) return nullptr;
  try {
    return std::make_shared<InfluenceHead>(beside, owner);
  } catch (const Error& error) {
    warnings.emplace_back(error.what());
    return nullptr;
  }
}

Model OpenNetwork(std::string_view name, const std::filesystem::path& path, const ModelOptions& options) {
  auto network = std::make_shared<const Network>(OpenMergedFiles(path, options.lora),
                                                 NetworkOptions{.device = options.device,
                                                                .gpu_layers = options.gpu_layers,
                                                                .compute = ParseCompute(options.compute),
                                                                .repack = options.repack,
                                                                .on_progress = options.on_progress});
  const Vocabulary vocabulary = OpenVocabulary(network->metadata());
  const Hyperparameters& hyper = network->hyper();
  DenoiserInfo info{.name = std::string(name),
                    .vocab_size = vocabulary.size,
                    .mask_token = network->mask_token(),
                    .eos_tokens = vocabulary.eos_tokens,
                    .max_length = static_cast<int>(hyper.context_length),
                    .has_attention_maps = true,
                    // A shifted row predicts the position after it; a shadow would have to see past itself.
                    .has_shadow_rows = !hyper.shift_logits};
  if (hyper.has_length_tokens) info.length_tokens = vocabulary.length_tokens;
  Model model{.name = std::string(name),
              .architecture = hyper.architecture,
              .tokenizer = vocabulary.tokenizer,
              .has_chat_template = vocabulary.has_chat_template,
              .warnings = network->warnings()};
  auto head = OpenHead(path, options, *network, model.warnings);
  model.denoiser = std::make_shared<NeuralDenoiser>(std::move(info), network, hyper.never_generated, std::move(head),
                                                    options.block_cache_bytes);
  return model;
}

Model OpenToy(std::string_view name) {
  const std::string_view toy = name.substr(kToyPrefix.size());
  const std::size_t comma = toy.find(',');
  const std::string_view kind = toy.substr(0, comma);
  const ToyRow& row = FindToy(kind);
  std::string spec(kind);
  if (comma != std::string_view::npos) spec += fmt::format(":{}", toy.substr(comma + 1));

  Model model;
  model.denoiser = row.make(Params(ParseSpec(spec), row.params, fmt::format("toy model {}", kind)));
  const DenoiserInfo& info = model.denoiser->info();
  model.name = info.name;
  model.is_toy = true;
  model.tokenizer = std::make_shared<LettersTokenizer>(info.vocab_size, info.mask_token);
  return model;
}

}  // namespace

std::vector<NamedModel> NamedModels() {
  std::vector<NamedModel> models = BundledDenoisers();
  for (const BundledModel& model : FetchedModels()) models.push_back({model.name, "fetched", model.file});
  return models;
}

Model OpenModel(std::string_view name, const ModelOptions& options) {
  UseInstructionSet();
  if (name.starts_with(kToyPrefix)) {
    if (!options.lora.empty()) BadInput("{} has no weights that '{}' could change", name, options.lora.front());
    return OpenToy(name);
  }
  const std::filesystem::path path = LocateModel(name);
  if (!std::filesystem::exists(path)) NoSuchModel(name);
  return OpenNetwork(name, path, options);
}

}  // namespace punt
