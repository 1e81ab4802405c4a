// punt pull: a model of the Hugging Face hub into its cache.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/glyphs.h"
#include "app/hub_pull.h"
#include "app/terminal.h"
#include "base/json_text.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct PullFlags {
  std::string model;
  bool dry_run = false;
  bool json = false;
};

Json ResultJson(const PullFlags& flags, const HubName& name, const PullResult& result) {
  Json files = Json::array();
  for (const PulledFile& pulled : result.files) {
    files.push_back({{"name", pulled.file.name},
                     {"bytes", pulled.file.size},
                     {pulled.file.has_sha256() ? "sha256" : "git_sha1", pulled.file.hash},
                     {"was_there", pulled.was_there}});
  }
  return {{"model", name.text()},    {"commit", result.commit},   {"path", result.path.string()}, {"files", files},
          {"bytes", result.bytes()}, {"fetched", result.fetched}, {"dry_run", flags.dry_run}};
}

int Run(const PullFlags& flags) {
  const HubName name = ParseHubName(flags.model);
  const PullResult result = flags.dry_run ? PlanPull(name) : PullModel(name);
  if (flags.json) {
    fmt::print("{}\n", Dump(ResultJson(flags, name, result)));
  } else if (flags.dry_run) {
    for (const PulledFile& pulled : result.files) {
      fmt::print("{:>14}  {}{}\n", pulled.file.size, SafeText(pulled.file.name),
                 pulled.was_there ? "  (in the cache)" : "");
    }
  } else {
    fmt::print("{}\n", result.path.string());
  }
  return 0;
}

constexpr const char* kFooter = R"(Examples:
  punt pull GSAI-ML/LLaDA-8B-Instruct            a folder, as it is published
  punt pull user/LLaDA-8B-Instruct-GGUF:q8_0     of several GGUF files the one of this type (or name)
  punt pull user/repo@v1.1                       another branch, tag or commit
  punt pull user/repo --dry-run                  what would be fetched
  punt generate --model hf:user/repo "Once upon a time"

--model hf:user/repo does the same when the model is not there yet, and asks nobody when it is. Files go into the hub's
own cache (HF_HUB_CACHE, HF_HOME/hub, ~/.cache/huggingface/hub), which the Python library shares. An interrupted pull goes on
where it ended. HF_TOKEN, or the token file of `hf auth login`, opens gated models; HF_ENDPOINT names a mirror;
HF_HUB_OFFLINE=1 keeps it from asking.)";

}  // namespace

Runner AddPull(CLI::App& command) {
  const auto flags = std::make_shared<PullFlags>();
  command.footer(kFooter);
  command.add_option("model", flags->model, "user/repo, user/repo:TYPE or user/repo@REVISION")->required();
  command.add_flag("--dry-run", flags->dry_run, "Only say which files, and how large");
  command.add_flag("--json", flags->json, "Print a JSON object");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
