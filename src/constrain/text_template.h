// Templates: fixed text with typed holes.
//
//   Name: {name:[A-Z][a-z]+}, born {year:int 1900..2030}
//
// A hole is {name:type} or {name:expression}; a name may be left out, and no two holes have the same one. {{ and }} are
// the characters. The types are those of kHoleTypes.
#pragma once

#include <span>
#include <string_view>

#include "constrain/pattern.h"

namespace punt {

struct HoleType {
  std::string_view name;
  std::string_view summary;
  bool takes_bounds = false;    // "int 1..12", "int 1.."
  std::string_view regex = {};  // empty: made by the name
};

std::span<const HoleType> HoleTypes();

/// Throws Error, which calls the template `what` and names the character, when a hole is not closed, has no type, or
/// has an expression that ParseRegex refuses. `depth` is that of values that may be anything.
PatternRef ParseTemplate(std::string_view text, std::string_view what, int depth);

}  // namespace punt
