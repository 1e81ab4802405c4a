// The families of exact toy models, one file each; Toys() in punt/model.h lists them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "denoise/exact_model.h"
#include "punt/model.h"
#include "punt/spec.h"
#include "punt/types.h"

namespace punt {

ToyRow ProductToy();
ToyRow MarkovToy();
ToyRow TreeToy();
ToyRow JointToy();
ToyRow MixtureToy();

/// "toy:KIND,key=value,..." with every key written out, as OpenModel takes it.
std::string ToyName(const Params& params);

/// The denoiser of a model: its states and the mask token, which is the last of the vocabulary. eos is a state,
/// or -1 for none; throws Error when it is neither.
std::shared_ptr<const Denoiser> MakeExactDenoiser(std::string name, std::unique_ptr<const ExactModel> model,
                                                  Token eos = -1);

// Keys that several families share.
ParamRow LengthParam(int max);
ParamRow VocabParam(int max, std::string_view default_value);
ParamRow SeedParam();
ParamRow ConcentrationParam();
ParamRow CouplingParam();
ParamRow PermuteParam();
ParamRow EosParam(int max);

}  // namespace punt
