#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "punt/model.h"
#include "text/letters.h"

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
  BadInput("unknown toy model '{}'; valid: {}; as toy:KIND,key=value,...", kind, fmt::join(ToyKinds(), ", "));
}

}  // namespace

Model OpenModel(std::string_view name) {
  if (!name.starts_with(kToyPrefix)) {
    BadInput("unknown model '{}'; valid: toy:{}", name, fmt::join(ToyKinds(), ", toy:"));
  }
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
  model.tokenizer = std::make_shared<LettersTokenizer>(info.vocab_size, info.mask_token);
  return model;
}

}  // namespace punt
