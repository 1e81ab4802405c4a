#include "constrain/schema_numbers.h"

#include <optional>

namespace punt {
namespace {

using Json = SchemaTerms::Json;

/// In which exclusiveMinimum says whether minimum is one; later it is a bound of its own.
bool IsDraft4(const Json& root) {
  if (!root.is_object() || !root.contains("$schema") || !root["$schema"].is_string()) return false;
  const auto draft = root["$schema"].get<std::string>();
  return draft.find("draft-03") != std::string::npos || draft.find("draft-04") != std::string::npos;
}

struct Bound {
  std::optional<double> value;
  bool is_exclusive = false;
};

Bound Read(const SchemaTerms& terms, const Json& schema, const std::string& place, const char* name,
           const char* exclusive) {
  Bound bound;
  const auto number = [&](const char* keyword, const Json& value) {
    if (!value.is_number()) terms.Refuse(SchemaTerms::Below(place, keyword), "a number is needed");
    return value.get<double>();
  };
  if (const auto found = schema.find(name); found != schema.end()) bound.value = number(name, *found);
  const auto other = schema.find(exclusive);
  if (other == schema.end()) return bound;
  if (other->is_boolean()) {
    const std::string there = SchemaTerms::Below(place, exclusive);
    if (!IsDraft4(terms.root())) {
      terms.Refuse(there, "a number is needed; true and false are of draft 4, which $schema does not name");
    }
    if (!bound.value) terms.Refuse(there, "in draft 4 it belongs to a bound, and there is none");
    bound.is_exclusive = other->get<bool>();
    return bound;
  }
  const double value = number(exclusive, *other);
  const bool is_lower = exclusive == std::string_view("exclusiveMinimum");
  if (!bound.value || (is_lower ? value >= *bound.value : value <= *bound.value)) return {value, true};
  return bound;
}

}  // namespace

NumberBounds BoundsOf(const SchemaTerms& terms, const Json& schema, const std::string& place) {
  const Bound min = Read(terms, schema, place, "minimum", "exclusiveMinimum");
  const Bound max = Read(terms, schema, place, "maximum", "exclusiveMaximum");
  if ((min.value && *min.value >= kLargestExact) || (max.value && *max.value <= -kLargestExact)) {
    terms.Refuse(place, "only numbers beyond 2^53 lie within the bounds; they are not supported");
  }
  return {.min = min.value, .max = max.value, .is_above_min = min.is_exclusive, .is_below_max = max.is_exclusive};
}

bool IsWithin(const NumberBounds& bounds, double number) {
  const bool is_below = bounds.min && (number < *bounds.min || (bounds.is_above_min && number == *bounds.min));
  const bool is_above = bounds.max && (number > *bounds.max || (bounds.is_below_max && number == *bounds.max));
  return !is_below && !is_above;
}

}  // namespace punt
