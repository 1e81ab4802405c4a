#include "constrain/schema_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/json_text.h"

namespace punt {
namespace {

using Json = SchemaTerms::Json;

constexpr std::string_view kTypes[] = {"object", "array", "string", "number", "integer", "boolean", "null"};

// What would make a text invalid, and is not supported.
constexpr std::string_view kRefused[] = {"not",         "propertyNames", "unevaluatedProperties", "unevaluatedItems",
                                         "contains",    "minContains",   "maxContains",           "multipleOf",
                                         "$dynamicRef", "$recursiveRef"};

// What says something about values, by the type that it speaks of.
struct Keyword {
  std::string_view name;
  std::string_view type;  // empty: any
};
constexpr Keyword kKeywords[] = {{"type", ""},
                                 {"const", ""},
                                 {"enum", ""},
                                 {"anyOf", ""},
                                 {"oneOf", ""},
                                 {"allOf", ""},
                                 {"$ref", ""},
                                 {"if", ""},
                                 {"then", ""},
                                 {"else", ""},
                                 {"properties", "object"},
                                 {"required", "object"},
                                 {"additionalProperties", "object"},
                                 {"patternProperties", "object"},
                                 {"dependencies", "object"},
                                 {"dependentRequired", "object"},
                                 {"dependentSchemas", "object"},
                                 {"minProperties", "object"},
                                 {"maxProperties", "object"},
                                 {"items", "array"},
                                 {"prefixItems", "array"},
                                 {"additionalItems", "array"},
                                 {"minItems", "array"},
                                 {"maxItems", "array"},
                                 {"uniqueItems", "array"},
                                 {"pattern", "string"},
                                 {"minLength", "string"},
                                 {"maxLength", "string"},
                                 {"minimum", "number"},
                                 {"maximum", "number"},
                                 {"exclusiveMinimum", "number"},
                                 {"exclusiveMaximum", "number"}};

}  // namespace

bool SchemaTerms::IsKeyword(const std::string& name) {
  return std::any_of(std::begin(kKeywords), std::end(kKeywords), [&](const Keyword& row) { return row.name == name; });
}

bool SchemaTerms::IsWhole(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()));
}

bool SchemaTerms::IsOfType(const Json& value, std::string_view type) {
  if (type == "integer") return IsWhole(value);
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

void SchemaTerms::Refuse(const std::string& place, std::string_view why) const {
  BadInput("{} at {}: {}", what_, place.size() > 100 ? place.substr(0, 97) + "..." : place, why);
}

std::string SchemaTerms::Below(const std::string& place, std::string_view name) {
  std::string escaped;
  for (char c : name) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  const std::string quoted = Quoted(escaped);
  return fmt::format("{}/{}", place, std::string_view(quoted).substr(1, quoted.size() - 2));
}

void SchemaTerms::RequireSupported(const Json& schema, const std::string& place) const {
  for (std::string_view name : kRefused) {
    if (schema.contains(name)) Refuse(place, fmt::format("'{}' is not supported", name));
  }
}

void SchemaTerms::RequireList(const Json& list, const std::string& place) const {
  if (!list.is_array() || list.empty()) Refuse(place, "a list that is not empty is needed");
}

std::vector<std::string> SchemaTerms::TypesOf(const Json& schema, const std::string& place) const {
  std::vector<std::string> types;
  if (const auto named = schema.find("type"); named != schema.end()) {
    for (const Json& type : named->is_array() ? *named : Json::array({*named})) {
      if (!type.is_string()) Refuse(Below(place, "type"), "a type is named by a text");
      types.push_back(type.get<std::string>());
      if (std::find(std::begin(kTypes), std::end(kTypes), types.back()) == std::end(kTypes)) {
        Refuse(Below(place, "type"), fmt::format("{} is not a type", Quoted(types.back())));
      }
    }
    if (types.empty()) Refuse(Below(place, "type"), "it names no type");
    return types;
  }
  std::set<std::string> spoken_of;
  for (const Keyword& row : kKeywords) {
    if (!row.type.empty() && schema.contains(row.name)) spoken_of.emplace(row.type);
  }
  return {spoken_of.begin(), spoken_of.end()};
}

bool SchemaTerms::SaysNothing(const Json& schema) {
  for (const auto& [name, value] : schema.items()) {
    if (IsKeyword(name)) return false;
  }
  return true;
}

namespace {

/// "%25" is "%", as in any URL.
std::string Unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    plain += is_escape ? static_cast<char>(byte) : text[i];
    if (is_escape) i += 2;
  }
  return plain;
}

/// The schema that calls itself so; null if none does.
const Json* Anchored(const Json& schema, const std::string& name) {
  if (schema.is_object()) {
    for (const auto& [keyword, called] : {std::pair("$anchor", name), {"$id", "#" + name}, {"id", "#" + name}}) {
      if (const auto own = schema.find(keyword); own != schema.end() && *own == called) return &schema;
    }
  }
  if (!schema.is_structured()) return nullptr;
  for (const Json& member : schema) {
    if (const Json* found = Anchored(member, name)) return found;
  }
  return nullptr;
}

}  // namespace

const Json& SchemaTerms::Target(const Json& schema, const std::string& place) const {
  const Json& reference = schema["$ref"];
  if (!reference.is_string()) Refuse(Below(place, "$ref"), "a reference is a text");
  const auto given = reference.get<std::string>();
  std::string path = Unescaped(given);
  for (const char* keyword : {"$id", "id"}) {
    const auto own = root_.is_object() ? root_.find(keyword) : root_.end();
    if (own == root_.end() || !own->is_string()) continue;
    std::string self = own->get<std::string>();
    while (self.ends_with('#')) self.pop_back();
    if (!self.empty() && path.starts_with(self) && (path.size() == self.size() || path[self.size()] == '#')) {
      path = "#" + path.substr(std::min(self.size() + 1, path.size()));
    }
  }
  if (!path.starts_with("#")) {
    Refuse(Below(place, "$ref"), fmt::format("{} does not lead into this schema: only #... does", Quoted(given)));
  }
  if (path.size() > 1 && path[1] != '/') {
    if (const Json* found = Anchored(root_, path.substr(1))) return *found;
    Refuse(Below(place, "$ref"), fmt::format("{} leads nowhere", Quoted(given)));
  }
  try {
    return root_.at(Json::json_pointer(path.substr(1)));
  } catch (const Json::exception&) {
    Refuse(Below(place, "$ref"), fmt::format("{} leads nowhere", Quoted(given)));
  }
}

const Json& SchemaTerms::Followed(const Json& schema, const std::string& place) const {
  const Json* followed = &schema;
  for (int links = 0; followed->is_object() && followed->contains("$ref"); ++links) {
    Json rest = *followed;
    rest.erase("$ref");
    if (!SaysNothing(rest)) break;
    if (links > depth_) Refuse(place, "references that lead to each other");
    followed = &Target(*followed, place);
  }
  return *followed;
}

}  // namespace punt
