#include "constrain/schema_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/check.h"
#include "base/json_text.h"

namespace punt {
namespace {

using Json = SchemaTerms::Json;

constexpr std::string_view kTypes[] = {"object", "array", "string", "number", "integer", "boolean", "null"};

// What would make a text invalid, and is not supported.
constexpr std::string_view kRefused[] = {"not",
                                         "if",
                                         "then",
                                         "else",
                                         "dependencies",
                                         "dependentRequired",
                                         "dependentSchemas",
                                         "patternProperties",
                                         "propertyNames",
                                         "unevaluatedProperties",
                                         "unevaluatedItems",
                                         "contains",
                                         "minContains",
                                         "maxContains",
                                         "multipleOf",
                                         "$dynamicRef",
                                         "$recursiveRef"};

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
                                 {"properties", "object"},
                                 {"required", "object"},
                                 {"additionalProperties", "object"},
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

std::set<std::string> LiteralsOf(const Json& schema) {
  std::set<std::string> literals;
  if (!schema.is_object()) return literals;
  if (const auto one = schema.find("const"); one != schema.end()) literals.insert(Dump(*one));
  if (const auto list = schema.find("enum"); list != schema.end() && list->is_array()) {
    for (const Json& value : *list) literals.insert(Dump(value));
  }
  return literals;
}

template <typename Set>
bool AreApart(const Set& a, const Set& b) {
  return !a.empty() && !b.empty() &&
         std::none_of(a.begin(), a.end(), [&](const auto& entry) { return b.contains(entry); });
}

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

const Json& SchemaTerms::Target(const Json& schema, const std::string& place) const {
  const Json& reference = schema["$ref"];
  if (!reference.is_string()) Refuse(Below(place, "$ref"), "a reference is a text");
  const auto path = reference.get<std::string>();
  if (path != "#" && !path.starts_with("#/")) {
    Refuse(Below(place, "$ref"), fmt::format("{} does not lead into this schema: only #/... does", Quoted(path)));
  }
  try {
    return root_.at(Json::json_pointer(path.substr(1)));
  } catch (const Json::exception&) {
    Refuse(Below(place, "$ref"), fmt::format("{} leads nowhere", Quoted(path)));
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

Json SchemaTerms::Together(Json a, const Json& b, const std::string& place) const {
  if (b.is_boolean() && b.get<bool>()) return a;
  if (!b.is_object()) Refuse(place, "it cannot be put together with other keywords");
  const auto clash = [&](const char* one, const char* other) {
    if ((a.contains(one) && b.contains(other)) || (a.contains(other) && b.contains(one))) {
      Refuse(place, fmt::format("'{}' and '{}' of schemas that hold together are not supported", one, other));
    }
  };
  clash("additionalProperties", "properties");
  clash("items", "prefixItems");
  clash("enum", "const");
  for (const auto& [name, value] : b.items()) {
    const auto own = a.find(name);
    if (own == a.end() || *own == value || !IsKeyword(name)) {
      if (own == a.end()) a[name] = value;
    } else if (name == "required" && own->is_array() && value.is_array()) {
      own->insert(own->end(), value.begin(), value.end());
    } else if (name == "properties" && own->is_object() && value.is_object()) {
      for (const auto& [property, schema] : value.items()) {
        if (own->contains(property) && (*own)[property] != schema) {
          Refuse(Below(Below(place, name), property), "schemas that hold together describe it differently");
        }
        (*own)[property] = schema;
      }
    } else {
      Refuse(place, fmt::format("schemas that hold together have different '{}'", name));
    }
  }
  return a;
}

/// What is known of a branch of oneOf.
struct SchemaTerms::Known {
  std::set<std::string> types;                            // empty: any
  std::map<std::string, std::set<std::string>> literals;  // of required properties
};

SchemaTerms::Known SchemaTerms::About(const Json& branch, const std::string& place) const {
  const Json* schema = &Followed(branch, place);
  Known known;
  if (!schema->is_object()) return known;
  if (schema->contains("type")) {
    for (const std::string& type : TypesOf(*schema, place)) known.types.insert(type == "integer" ? "number" : type);
  }
  known.literals[""] = LiteralsOf(*schema);
  const auto required = schema->find("required"), properties = schema->find("properties");
  if (required == schema->end() || properties == schema->end()) return known;
  for (const Json& name : *required) {
    if (!name.is_string() || !properties->is_object() || !properties->contains(name.get<std::string>())) continue;
    known.literals[fmt::format("/{}", name.get<std::string>())] = LiteralsOf((*properties)[name.get<std::string>()]);
  }
  return known;
}

void SchemaTerms::RequireExclusive(const Json& branches, const std::string& place) const {
  std::vector<Known> known;
  for (std::size_t i = 0; i < branches.size(); ++i)
    known.push_back(About(branches[i], Below(place, std::to_string(i))));
  for (std::size_t i = 0; i < known.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      bool are_apart = AreApart(known[i].types, known[j].types);
      for (const auto& [property, values] : known[i].literals) {
        const auto other = known[j].literals.find(property);
        are_apart = are_apart || (other != known[j].literals.end() && AreApart(values, other->second));
      }
      if (!are_apart) {
        Refuse(place,
               fmt::format("branches {} and {} may both fit a value; use anyOf, or give them different types", j, i));
      }
    }
  }
}

}  // namespace punt
