// JSON Schema as patterns: every text that matches is valid under the schema. The reverse does not hold: properties
// come in the schema's order, there is at most a space after a colon or comma, and what a schema leaves open is left
// out. docs/constraints.md says what is supported.
#pragma once

#include <string_view>

#include "constrain/pattern.h"

namespace punt {

/// What reading schemas has taken so far.
struct SchemaWork {
  int parts = 0;
  int compiled = 0;
};

struct SchemaOptions {
  int depth = 4;  // how often a reference may go through itself, and how deep values are nested that may be anything
  int most = 10'000;  // what upper bounds of lengths and repetitions are cut to, unless the lower ones are larger
  SchemaWork* work = nullptr;  // of several schemas that share the bounds of one; null: this one has them for itself
};

/// Throws Error, which calls the schema `what` and names the place by a JSON pointer, when it is not JSON, asks for
/// what is not supported, contradicts itself, or is too large.
PatternRef ParseJsonSchema(std::string_view schema, std::string_view what, const SchemaOptions& options = {});

}  // namespace punt
