// The language that a sampling asks for.
#pragma once

#include "constrain/language.h"
#include "punt/sampling.h"

namespace punt {

LanguageSpec LanguageOf(const Sampling& sampling);

}  // namespace punt
