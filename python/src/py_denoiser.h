// A punt.Denoiser written in Python, for the engine; python/punt/denoiser.py has the contract.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "punt/denoiser.h"
#include "punt/tokenizer.h"

namespace punt::py {

/// Reads the facts at once: later changes of the attributes are not seen. Throws Error on those that are missing or
/// make no sense.
std::shared_ptr<const Denoiser> NewPyDenoiser(nanobind::object denoiser);

/// A punt.Tokenizer written in Python.
std::shared_ptr<const Tokenizer> NewPyTokenizer(nanobind::object tokenizer);

}  // namespace punt::py
