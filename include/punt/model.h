// Opening models by name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "punt/denoiser.h"
#include "punt/spec.h"
#include "punt/tokenizer.h"

namespace punt {

/// A denoiser with the texts of its tokens. `name` is the full specification that opens it again.
struct Model {
  std::string name;
  std::shared_ptr<const Denoiser> denoiser;
  std::shared_ptr<const Tokenizer> tokenizer;
};

/// Opens an exact toy model "toy:KIND,key=value,...", for example
/// "toy:markov,length=32,vocab=8,seed=1,coupling=0.9,permute=true". Throws Error on anything else.
Model OpenModel(std::string_view name);

/// One kind of exact toy model.
struct ToyRow {
  std::string_view name;
  std::string_view summary;
  std::span<const ParamRow> params;
  std::shared_ptr<const Denoiser> (*make)(const Params& params);
};

std::span<const ToyRow> Toys();

}  // namespace punt
