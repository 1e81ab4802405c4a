#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "base/check.h"
#include "base/setting_error.h"
#include "model/architecture.h"

namespace punt {
namespace {

bool IsAutoregressive(std::string_view name) {
  // The families of libllama that people are likely to have; versions and sizes follow the name.
  constexpr std::string_view kFamilies[] = {"llama",    "mistral",   "qwen",    "gemma",   "phi",      "gpt",
                                            "falcon",   "mpt",       "olmo",    "granite", "stablelm", "mamba",
                                            "deepseek", "starcoder", "command", "cohere",  "smollm",   "glm",
                                            "internlm", "baichuan",  "bloom",   "rwkv",    "exaone",   "minicpm"};
  for (std::string_view family : kFamilies) {
    if (name.starts_with(family)) return true;
  }
  return false;
}

}  // namespace

std::span<const ArchitectureRow> Architectures() {
  static const std::array kRows = {kLladaRow,      kDreamRow,     kLladaMoeRow, kLlada2MoeRow,  kA2dRow,
                                   kSdarRow,       kSdarMoeRow,   kRnd1Row,     kFastDllmV2Row, kStableDiffcoderRow,
                                   kEsm2Row,       kEsmcRow,      kBertRow,     kRobertaRow,    kAlbertRow,
                                   kDistilbertRow, kModernBertRow};
  return kRows;
}

const ArchitectureRow& FindArchitecture(std::string_view name, std::string_view origin) {
  std::vector<std::string_view> names;
  for (const ArchitectureRow& row : Architectures()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  if (IsAutoregressive(name)) {
    BadSetting("judge", "{}: it is autoregressive ({}) and fills no masks; it serves as a judge", origin, name);
  }
  BadInput("{}: unknown architecture '{}'; known: {}", origin, name, fmt::join(names, ", "));
}

}  // namespace punt
