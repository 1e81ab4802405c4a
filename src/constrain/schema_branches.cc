// Branches of oneOf, of which a value may fit one only.
//
// What matters is that no text that is *written* for a branch fits another one. Texts of objects have no properties but
// those that a branch names, so a branch that requires another one is out of their reach; where the property is named
// and may be left out, it is left out. And what only this branch allows may be required of its texts.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json_text.h"
#include "constrain/schema_terms.h"

namespace punt {
namespace {

using Json = SchemaTerms::Json;
using Names = std::set<std::string>;

constexpr const char* kCombinations[] = {"$ref", "allOf", "anyOf", "oneOf", "enum", "const", "patternProperties"};

Names LiteralsOf(const Json& schema) {
  Names literals;
  if (!schema.is_object()) return literals;
  if (const auto one = schema.find("const"); one != schema.end()) literals.insert(Dump(*one));
  if (const auto list = schema.find("enum"); list != schema.end() && list->is_array()) {
    for (const Json& value : *list) literals.insert(Dump(value));
  }
  return literals;
}

bool AreApart(const Names& a, const Names& b) {
  return !a.empty() && !b.empty() &&
         std::none_of(a.begin(), a.end(), [&](const std::string& entry) { return b.contains(entry); });
}

/// What is known of a branch: of the values that fit it, and of its texts, which are fewer.
struct Branch {
  Names valid_types;                      // empty: any
  Names written_types;                    // empty: any
  std::map<std::string, Names> literals;  // of properties; of the value itself below ""
  Names required;                         // of values
  Names allowed;                          // of values, where it is closed
  bool is_closed = false;                 // values have no other properties
  Names given;                            // in all texts
  Names named;                            // in some
  bool is_plain = false;                  // texts have no other properties

  bool writes_objects() const { return written_types == Names{"object"}; }
};

std::string Wide(const std::string& type) { return type == "integer" ? "number" : type; }

std::string TypeOf(const Json& value) { return value.is_number() ? "number" : value.type_name(); }

Branch About(const SchemaTerms& terms, const Json& schema, const std::string& place) {
  Branch about;
  if (!schema.is_object()) return about;
  for (const std::string& type : terms.TypesOf(schema, place)) about.written_types.insert(Wide(type));
  if (schema.contains("type")) about.valid_types = about.written_types;
  about.literals[""] = LiteralsOf(schema);
  if (!about.literals[""].empty() && !schema.contains("type")) {
    for (const std::string& literal : about.literals[""]) about.valid_types.insert(TypeOf(Json::parse(literal)));
    about.written_types = about.valid_types;
  }
  if (const auto list = schema.find("required"); list != schema.end() && list->is_array()) {
    for (const Json& name : *list) {
      if (name.is_string()) about.required.insert(name.get<std::string>());
    }
  }
  about.given = about.required;
  if (const auto properties = schema.find("properties"); properties != schema.end() && properties->is_object()) {
    for (const auto& [name, value] : properties->items()) {
      if (value == false) continue;
      about.named.insert(name);
      about.literals["/" + name] = LiteralsOf(value);
    }
  }
  about.allowed = about.named;
  const bool is_bounded = schema.contains("additionalProperties") && schema["additionalProperties"] == false;
  about.is_closed = is_bounded && !schema.contains("patternProperties");
  about.is_plain = !SchemaTerms::HasConditions(schema) &&
                   std::none_of(std::begin(kCombinations), std::end(kCombinations),
                                [&](const char* name) { return schema.contains(name); }) &&
                   (about.is_closed || !about.named.empty() || !about.required.empty());
  return about;
}

/// Whether no text of `a` fits `b`.
bool IsOut(const Branch& a, const Branch& b) {
  if (AreApart(a.written_types, b.valid_types) || AreApart(a.literals.at(""), b.literals.at(""))) return true;
  if (!a.writes_objects()) return false;
  for (const std::string& name : a.given) {
    if (b.is_closed && !b.allowed.contains(name)) return true;
    const auto own = a.literals.find("/" + name), other = b.literals.find("/" + name);
    if (own != a.literals.end() && other != b.literals.end() && AreApart(own->second, other->second)) return true;
  }
  return a.is_plain && std::any_of(b.required.begin(), b.required.end(), [&](const std::string& name) {
           return !a.named.contains(name) && !a.given.contains(name);
         });
}

}  // namespace

std::vector<SchemaTerms::Separation> SchemaTerms::Separations(const Json& rest, const Json& branches,
                                                              const std::string& place) const {
  std::vector<Branch> known;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const std::string own = Below(place, std::to_string(i));
    const Json& branch = Followed(branches[i], own);
    Branch about = About(*this, SaysNothing(rest) ? branch : Together(rest, branch, own), own);
    about.literals.try_emplace("");
    known.push_back(std::move(about));
  }
  std::vector<Separation> separations(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    for (std::size_t j = 0; j < known.size(); ++j) {
      Branch& a = known[i];
      const Branch& b = known[j];
      if (i == j || IsOut(a, b)) continue;
      const bool is_known = a.is_plain && a.writes_objects();
      const auto spare = std::find_if(b.required.begin(), b.required.end(),
                                      [&](const std::string& name) { return !a.given.contains(name); });
      const auto own = std::find_if(a.named.begin(), a.named.end(),
                                    [&](const std::string& name) { return !b.allowed.contains(name); });
      if (is_known && spare != b.required.end()) {
        separations[i].left_out.insert(*spare);
        a.named.erase(*spare);
      } else if (is_known && b.is_closed && own != a.named.end()) {
        separations[i].required.insert(*own);
        a.given.insert(*own);
      } else {
        Refuse(place, fmt::format("branches {} and {} may both fit a value; use anyOf, or give them different types",
                                  std::min(i, j), std::max(i, j)));
      }
    }
  }
  return separations;
}

}  // namespace punt
