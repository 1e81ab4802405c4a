// Schemas that hold together, as one.
//
// Keywords that bound something are combined; of lists of values and of types the common ones stay; what both say of a
// property becomes an allOf, which is put together when that property is read. What is said by patterns is not
// combined.
//
// A condition asks for one thing or another of a value; a value that fits both is valid whatever the condition says. So
// if, then and else become two schemas that hold together, and a dependency one that always does.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "constrain/schema_terms.h"

namespace punt {
namespace {

using Json = SchemaTerms::Json;

constexpr const char* kConditions[] = {"if", "then", "else", "dependencies", "dependentRequired", "dependentSchemas"};
constexpr std::string_view kLower[] = {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"};
constexpr std::string_view kUpper[] = {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"};

template <std::size_t kSize>
bool Has(const std::string_view (&names)[kSize], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Json Both(const Json& a, const Json& b) { return a == b ? a : Json{{"allOf", Json::array({a, b})}}; }

/// The types of both lists; an integer is a number.
Json CommonTypes(const Json& a, const Json& b) {
  const auto list = [](const Json& types) { return types.is_array() ? types : Json::array({types}); };
  Json common = Json::array();
  const auto add = [&](const Json& one, const Json& others) {
    for (const Json& type : one) {
      const bool is_there = std::find(others.begin(), others.end(), type) != others.end();
      const bool is_covered = type == "integer" && std::find(others.begin(), others.end(), "number") != others.end();
      const bool is_known = std::find(common.begin(), common.end(), type) != common.end();
      if ((is_there || is_covered) && !is_known) common.push_back(type);
    }
  };
  add(list(a), list(b));
  add(list(b), list(a));
  return common;
}

/// The listed values; null: any.
Json Listed(const Json& schema) {
  if (schema.contains("const")) return Json::array({schema["const"]});
  return schema.contains("enum") ? schema["enum"] : Json();
}

/// What `one` allows of properties that only the other names. True if the other has such properties.
void Restrict(const Json& one, Json& other) {
  const auto additional = one.find("additionalProperties");
  const auto named = other.find("properties");
  if (additional == one.end() || *additional == true || named == other.end() || !named->is_object()) return;
  for (const auto& [name, schema] : named->items()) {
    const bool is_own = one.contains("properties") && one["properties"].contains(name);
    if (!is_own) (*named)[name] = *additional == false ? Json(false) : Both(schema, *additional);
  }
}

}  // namespace

bool SchemaTerms::HasConditions(const Json& schema) {
  return schema.is_object() && std::any_of(std::begin(kConditions), std::end(kConditions),
                                           [&](const char* name) { return schema.contains(name); });
}

Json SchemaTerms::WithoutConditions(Json schema, const std::string& place) const {
  Json parts = schema.contains("allOf") ? schema["allOf"] : Json::array();
  if (!parts.is_array()) Refuse(Below(place, "allOf"), "a list that is not empty is needed");
  const bool has_if = schema.contains("if");
  for (const char* name : {"then", "else"}) {
    if (has_if && schema.contains(name)) parts.push_back(schema[name]);
  }
  for (const char* name : {"dependencies", "dependentRequired", "dependentSchemas"}) {
    const auto found = schema.find(name);
    if (found == schema.end()) continue;
    if (!found->is_object()) Refuse(Below(place, name), "an object is needed");
    for (const auto& [property, asks] : found->items()) {
      parts.push_back(asks.is_array() ? Json{{"required", asks}} : asks);
    }
  }
  for (const char* name : kConditions) schema.erase(name);
  if (!parts.empty()) schema["allOf"] = std::move(parts);
  return schema;
}

Json SchemaTerms::Together(Json a, const Json& given, const std::string& place) const {
  if (a == false || given == false) return false;
  if (given == true) return a;
  if (a == true) return given;
  if (!given.is_object()) Refuse(place, "a schema is an object, true or false");
  RequireSupported(given, place);
  Json b = HasConditions(given) ? WithoutConditions(given, place) : given;
  const auto clash = [&](const char* one, const char* other) {
    if ((a.contains(one) && b.contains(other)) || (a.contains(other) && b.contains(one))) {
      Refuse(place, fmt::format("'{}' and '{}' of schemas that hold together are not supported", one, other));
    }
  };
  clash("items", "prefixItems");
  if (a.contains("patternProperties") || b.contains("patternProperties")) clash("additionalProperties", "properties");
  clash("additionalProperties", "patternProperties");
  Restrict(a, b);
  Restrict(b, a);
  if (const Json own = Listed(a), other = Listed(b); !own.is_null() && !other.is_null()) {
    Json common = Json::array();
    for (const Json& value : own) {
      if (std::find(other.begin(), other.end(), value) != other.end()) common.push_back(value);
    }
    if (common.empty()) return false;
    a.erase("const");
    b.erase("const");
    b.erase("enum");
    a["enum"] = std::move(common);
  }
  for (const auto& [name, value] : b.items()) {
    const auto own = a.find(name);
    if (own == a.end()) {
      a[name] = value;
    } else if (*own == value || !IsKeyword(name)) {
      continue;
    } else if (name == "type") {
      *own = CommonTypes(*own, value);
      if (own->empty()) return false;
    } else if ((Has(kLower, name) || Has(kUpper, name)) && own->is_number() && value.is_number()) {
      if (Has(kLower, name) ? value > *own : value < *own) *own = value;
    } else if ((name == "required" || name == "allOf") && own->is_array() && value.is_array()) {
      own->insert(own->end(), value.begin(), value.end());
    } else if ((name == "properties" || name == "patternProperties") && own->is_object() && value.is_object()) {
      for (const auto& [property, schema] : value.items()) {
        (*own)[property] = own->contains(property) ? Both((*own)[property], schema) : schema;
      }
    } else if (name == "additionalProperties" || (name == "items" && !own->is_array() && !value.is_array())) {
      *own = Both(*own, value);
    } else if (name == "uniqueItems") {
      *own = true;
    } else {
      Refuse(place, fmt::format("schemas that hold together have different '{}'", name));
    }
  }
  return a;
}

}  // namespace punt
