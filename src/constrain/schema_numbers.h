// What a schema says of numbers.
#pragma once

#include <string>

#include "constrain/json_numbers.h"
#include "constrain/schema_terms.h"

namespace punt {

inline constexpr double kLargestExact = 0x1p53;  // whole numbers from here on are not told apart

/// Throws Error naming the place when a bound is not a number, or when only larger numbers than kLargestExact fit. True
/// and false, as draft 4 has them, are read where $schema names that draft.
NumberBounds BoundsOf(const SchemaTerms& terms, const SchemaTerms::Json& schema, const std::string& place);

bool IsWithin(const NumberBounds& bounds, double number);

}  // namespace punt
