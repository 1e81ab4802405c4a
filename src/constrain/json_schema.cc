// A recursive walk over the schema, with a pattern for every part of it.
//
// What is decided here. The schema describes a set of values; the pattern a set of texts, all of them values of that
// set. Wherever the schema leaves something open, the texts are those that a program would write: properties in the
// schema's order, none besides those that are named, no white space but one optional space after a colon or a comma,
// characters written plainly and escapes only where they must be. A schema without a type gets the types that its other
// keywords speak of.
//
// allOf, anyOf and references with keywords beside them are conjunctions: their keywords are put together
// (schema_merge.cc). Texts that are written for a branch of oneOf must not fit another one (schema_branches.cc).
//
// A reference through itself is followed `depth` times; then there is no text, and what may be left out is left out.
//
// Keywords that could make a text invalid and are not supported are refused by name. Others that are not known are
// annotations, as in JSON Schema itself.
//
// Tested by json_schema_test.cc and fuzz/json_schema_fuzz.cc; bench/json_schemas.py has texts for public schemas judged
// by the package jsonschema.
#include "constrain/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "constrain/byte_automaton.h"
#include "constrain/counted_text.h"
#include "constrain/json_numbers.h"
#include "constrain/regex.h"
#include "constrain/schema_numbers.h"
#include "constrain/schema_terms.h"

namespace punt {
namespace {

using Json = SchemaTerms::Json;

constexpr std::size_t kMostBytes = 200'000;
constexpr int kMostParts = 20'000;
constexpr int kMostNested = 400;  // schemas inside each other: each takes some of the stack
constexpr int kMostLength = 10'000;
constexpr int kMostCompiled = 32;  // each takes its time before the whole is compiled
constexpr AutomatonLimits kSmall = {.parts = 50'000, .states = 5'000, .work = 2'000'000};

class SchemaReader {
 public:
  SchemaReader(Json root, std::string_view what, const SchemaOptions& options)
      : terms_(std::move(root), what, options.depth),
        options_(options),
        work_(options.work != nullptr ? *options.work : own_work_) {}

  PatternRef Read() {
    PatternRef pattern = Value(terms_.root(), "#");
    if (pattern->is_nothing()) {
      BadInput("{}: no value fits: it contradicts itself, or goes through itself more than {} times", terms_.what(),
               options_.depth);
    }
    return pattern;
  }

 private:
  [[noreturn]] void Refuse(const std::string& place, std::string_view why) const { terms_.Refuse(place, why); }
  static std::string Below(const std::string& place, std::string_view name) { return SchemaTerms::Below(place, name); }

  void Count(const std::string& place) {
    if (++work_.parts <= kMostParts) return;
    throw TooLarge(fmt::format("{} at {}: there are more than {} parts up to here", terms_.what(),
                               place.size() > 100 ? place.substr(0, 97) + "..." : place, kMostParts));
  }

  PatternRef Value(const Json& schema, const std::string& place) {
    if (nested_ == kMostNested) Refuse(place, fmt::format("schemas lie more than {} deep in each other", kMostNested));
    ++nested_;
    PatternRef pattern = ValueOf(schema, place);
    --nested_;
    return pattern;
  }

  PatternRef ValueOf(const Json& schema, const std::string& place) {
    Count(place);
    if (schema.is_boolean()) return schema.get<bool>() ? Anything(options_.depth) : Nothing();
    if (!schema.is_object()) Refuse(place, "a schema is an object, true or false");
    terms_.RequireSupported(schema, place);
    if (SchemaTerms::HasConditions(schema)) return Value(terms_.WithoutConditions(schema, place), place);
    if (schema.contains("$ref")) return Reference(schema, place);
    if (schema.contains("allOf")) return AllOf(schema, place);
    for (const char* name : {"anyOf", "oneOf"}) {
      if (schema.contains(name)) return Branches(schema, name, place);
    }
    if (schema.contains("const") || schema.contains("enum")) return Literals(schema, place);
    const std::vector<std::string> types = terms_.TypesOf(schema, place);
    if (types.empty()) return Anything(options_.depth);
    std::vector<PatternRef> ways;
    for (const std::string& type : types) {
      const bool is_covered = type == "integer" && std::find(types.begin(), types.end(), "number") != types.end();
      if (!is_covered) ways.push_back(OfType(type, schema, place));
    }
    return Alternatives(std::move(ways));
  }

  PatternRef OfType(const std::string& type, const Json& schema, const std::string& place) {
    if (type == "object") return Object(schema, place);
    if (type == "array") return Array(schema, place);
    if (type == "string") return String(schema, place);
    if (type == "integer") return WholeNumbers(BoundsOf(terms_, schema, place));
    if (type == "number") return NumbersOrRefuse(schema, place);
    if (type == "boolean") return Alternatives({Bytes("true"), Bytes("false")});
    return Bytes("null");
  }

  // Conjunctions.

  static Json Without(const Json& schema, const char* name) {
    Json rest = schema;
    rest.erase(name);
    return rest;
  }

  PatternRef Reference(const Json& schema, const std::string& place) {
    const Json& target = terms_.Target(schema, place);
    int& uses = uses_[&target];
    if (uses > options_.depth) return Nothing();
    ++uses;
    const Json rest = Without(schema, "$ref");
    const std::string there = schema["$ref"].get<std::string>();
    PatternRef pattern =
        SchemaTerms::SaysNothing(rest) ? Value(target, there) : Value(terms_.Together(rest, target, there), there);
    --uses_[&target];
    return pattern;
  }

  PatternRef AllOf(const Json& schema, const std::string& place) {
    Json all = Without(schema, "allOf");
    const std::string list = Below(place, "allOf");
    terms_.RequireList(schema["allOf"], list);
    for (std::size_t i = 0; i < schema["allOf"].size(); ++i) {
      const Json& part = schema["allOf"][i];
      const std::string own = Below(list, std::to_string(i));
      all = terms_.Together(std::move(all), terms_.Followed(part, own), own);
    }
    return Value(all, place);
  }

  PatternRef Branches(const Json& schema, const char* name, const std::string& place) {
    const Json rest = Without(schema, name);
    const std::string list = Below(place, name);
    const Json& branches = schema[name];
    terms_.RequireList(branches, list);
    std::vector<SchemaTerms::Separation> separations(branches.size());
    if (name == std::string_view("oneOf")) separations = terms_.Separations(rest, branches, list);
    std::vector<PatternRef> ways;
    for (std::size_t i = 0; i < branches.size(); ++i) {
      const std::string own = Below(list, std::to_string(i));
      Json branch = terms_.Together(rest, branches[i], own);
      for (const std::string& property : separations[i].left_out) branch["properties"][property] = false;
      for (const std::string& property : separations[i].required) branch["required"].push_back(property);
      const bool is_alone =
          SchemaTerms::SaysNothing(rest) && separations[i].left_out.empty() && separations[i].required.empty();
      ways.push_back(Value(is_alone ? branches[i] : branch, own));
    }
    return Alternatives(std::move(ways));
  }

  PatternRef Literals(const Json& schema, const std::string& place) {
    for (const auto& [name, value] : schema.items()) {
      if (!SchemaTerms::IsKeyword(name) || name == "type" || name == "const" || name == "enum") continue;
      const bool is_of_parts = name != "minLength" && name != "maxLength" && name != "pattern" &&
                               !name.ends_with("inimum") && !name.ends_with("aximum");
      if (is_of_parts) Refuse(place, fmt::format("'{}' beside a list of values is not supported", name));
    }
    if (schema.contains("const") && schema.contains("enum")) Refuse(place, "'const' and 'enum' exclude each other");
    const Json plain = Without(Without(Without(schema, "enum"), "const"), "type");
    const bool is_one = schema.contains("const");
    if (!is_one) terms_.RequireList(schema["enum"], Below(place, "enum"));
    const std::vector<std::string> types = terms_.TypesOf(schema, place);
    std::vector<PatternRef> ways;
    for (const Json& value : is_one ? Json::array({schema["const"]}) : schema["enum"]) {
      Count(place);
      if (value.is_number_float() && std::abs(value.get<double>()) >= kLargestExact) {
        Refuse(place, "a listed number beyond 2^53 with a fraction, an exponent or too many digits is not supported");
      }
      const bool fits = types.empty() || std::any_of(types.begin(), types.end(), [&](const std::string& type) {
                          return SchemaTerms::IsOfType(value, type);
                        });
      if (fits && Fits(value, plain, place)) ways.push_back(Bytes(Dump(value)));
    }
    return Alternatives(std::move(ways));
  }

  bool Fits(const Json& value, const Json& schema, const std::string& place) {
    if (value.is_number()) return IsWithin(BoundsOf(terms_, schema, place), value.get<double>());
    const bool is_asked = schema.contains("pattern") || schema.contains("minLength") || schema.contains("maxLength");
    if (!value.is_string() || !is_asked) return true;
    try {
      return Compile(String(schema, place), place, kSmall).Matches(Dump(value));
    } catch (const NoText&) {
      return false;
    }
  }

  // Types.

  std::optional<int> Length(const Json& schema, const char* name, const std::string& place) const {
    const auto found = schema.find(name);
    if (found == schema.end()) return std::nullopt;
    if (!found->is_number() || !SchemaTerms::IsWhole(*found) || found->get<double>() < 0) {
      Refuse(Below(place, name), "a whole number from 0 is needed");
    }
    if (found->get<double>() > kMostLength) {
      if (std::string_view(name).starts_with("max")) return kMostLength;  // fewer are valid too
      Refuse(Below(place, name), fmt::format("{} is the limit", kMostLength));
    }
    return static_cast<int>(found->get<double>());
  }

  /// From `least` to `most`, as lists take them. Nothing when it goes backwards.
  PatternRef Times(PatternRef item, PatternRef separator, int least, std::optional<int> most) const {
    if (most && *most < least) return Nothing();
    if (most) most = std::min(*most, std::max(least, options_.most));
    return List(std::move(item), std::move(separator), least, most.value_or(Pattern::kUnbounded));
  }

  static PatternRef AnyCharacter() { return Written(CharacterSet().Negated(), Writing::kJsonString); }
  static PatternRef AnyString() { return Sequence({Bytes("\""), Repeat(AnyCharacter(), 0), Bytes("\"")}); }
  static PatternRef Comma() { return Sequence({Bytes(","), Optional(Bytes(" "))}); }
  static PatternRef Colon() { return Sequence({Bytes(":"), Optional(Bytes(" "))}); }
  static PatternRef Braces(PatternRef inside) { return Sequence({Bytes("{"), std::move(inside), Bytes("}")}); }
  static PatternRef Brackets(PatternRef inside) { return Sequence({Bytes("["), std::move(inside), Bytes("]")}); }

  /// Any value with at most `depth` levels of arrays and objects.
  PatternRef Anything(int depth) {
    while (std::ssize(anything_) <= depth) anything_.push_back(AnythingOf(static_cast<int>(anything_.size())));
    return anything_[static_cast<std::size_t>(depth)];
  }

  PatternRef AnythingOf(int depth) {
    std::vector<PatternRef> ways = {AnyString(), Numbers({}), Bytes("true"), Bytes("false"), Bytes("null")};
    if (depth > 0) {
      ways.push_back(Brackets(List(Anything(depth - 1), Comma(), 0)));
      ways.push_back(AnyObject(Anything(depth - 1), 0, std::nullopt));
    }
    return Alternatives(std::move(ways));
  }

  PatternRef AnyObject(PatternRef value, int least, std::optional<int> most) const {
    return Braces(Times(Sequence({AnyString(), Colon(), std::move(value)}), Comma(), least, most));
  }

  PatternRef String(const Json& schema, const std::string& place) {
    const int least = Length(schema, "minLength", place).value_or(0);
    const std::optional<int> most = Length(schema, "maxLength", place);
    PatternRef content = Times(AnyCharacter(), Bytes(""), least, most);
    if (const auto pattern = schema.find("pattern"); pattern != schema.end()) {
      const std::string there = Below(place, "pattern");
      if (!pattern->is_string()) Refuse(there, "a pattern is a text");
      const std::string name = fmt::format("{} at {}: the pattern", terms_.what(), there);
      PatternRef own =
          ParseRegex(pattern->get<std::string>(), name, Writing::kJsonString, Extent::kPart, options_.most);
      if (content->is_nothing()) return content;
      content = least == 0 && !most ? std::move(own) : Counted(pattern->get<std::string>(), own, {least, most}, name);
    }
    return Sequence({Bytes("\""), std::move(content), Bytes("\"")});
  }

  PatternRef Counted(const std::string& text, const PatternRef& pattern, std::pair<int, std::optional<int>> bounds,
                     const std::string& name) {
    const auto [least, most] = bounds;
    PatternRef& known = counted_[{text, bounds}];
    if (known != nullptr) return known;
    if (++work_.compiled > kMostCompiled) BadInput("{}: {} patterns with lengths are the limit", name, kMostCompiled);
    if (!character_) character_ = Compile(AnyCharacter(), name);
    const ByteAutomaton language = Compile(pattern, name, kSmall);
    std::optional<int> cut = most;
    if (cut) cut = std::min(*cut, std::max(least, options_.most));
    while (known == nullptr) {
      try {
        known = Accepted(std::make_shared<const ByteAutomaton>(
            WithCharacters(language, *character_, least, cut, name + " with its lengths", kSmall)));
      } catch (const NoText&) {
        if (cut == most) throw;
        cut = std::min(*most, 2 * *cut);  // the pattern has no text that is so short
      }
    }
    return known;
  }

  PatternRef NumbersOrRefuse(const Json& schema, const std::string& place) const {
    const NumberBounds bounds = BoundsOf(terms_, schema, place);
    PatternRef numbers = Numbers(bounds);
    const bool has_room = bounds.min && bounds.max && *bounds.min <= *bounds.max;
    if (numbers->is_nothing() && has_room) Refuse(place, "bounds with no whole number between them are not supported");
    return numbers;
  }

  PatternRef Array(const Json& schema, const std::string& place) {
    const int least = Length(schema, "minItems", place).value_or(0);
    std::optional<int> most = Length(schema, "maxItems", place);
    if (most && *most < least) return Nothing();
    const char* tuple = schema.contains("prefixItems") ? "prefixItems" : "items";
    const bool is_tuple = schema.contains(tuple) && schema[tuple].is_array();
    if (const auto unique = schema.find("uniqueItems"); unique != schema.end() && *unique != false) {
      const std::vector<PatternRef> values = is_tuple ? std::vector<PatternRef>() : Listed(schema, place);
      if (!values.empty()) return Different(values, least, most);
      if (least > 1) {
        Refuse(Below(place, "uniqueItems"), "more than one item is supported only where 'items' lists the values");
      }
      most = std::min(most.value_or(1), 1);
    }
    const char* others = !is_tuple ? "items" : tuple == std::string_view("items") ? "additionalItems" : "items";
    const PatternRef item =
        schema.contains(others) ? Value(schema[others], Below(place, others)) : Anything(options_.depth);
    if (!is_tuple) {
      if (item->is_nothing() && least > 0) return Nothing();
      return Brackets(Times(item, Comma(), least, most));
    }
    // Each first item may be left out with all that follow, so it is built from the end.
    const Json& first = schema[tuple];
    const auto count = static_cast<int>(first.size());
    PatternRef rest = Times(Sequence({Comma(), item}), Bytes(""), std::max(least - count, 0),
                            most ? std::optional(std::max(*most - count, 0)) : std::nullopt);
    for (int i = count; i-- > 0;) {
      const std::string own = Below(Below(place, tuple), std::to_string(i));
      if (most && i >= *most) {
        rest = Bytes("");
        continue;
      }
      PatternRef value = Value(first[static_cast<std::size_t>(i)], own);
      rest = Sequence({i > 0 ? Comma() : Bytes(""), std::move(value), std::move(rest)});
      if (i >= least) rest = rest->is_nothing() ? Bytes("") : Optional(std::move(rest));
    }
    return Brackets(std::move(rest));
  }

  std::vector<PatternRef> Listed(const Json& schema, const std::string& place) {
    const std::string there = Below(place, "items");
    if (!schema.contains("items")) return {};
    const Json& items = terms_.Followed(schema["items"], there);
    if (!items.is_object() || !items.contains("enum") || !items["enum"].is_array()) return {};
    Json values = Json::array();
    for (const Json& value : items["enum"]) {
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    std::vector<PatternRef> listed;
    for (const Json& value : values) {
      Json one = Without(items, "enum");
      one["const"] = value;
      PatternRef pattern = Value(one, there);
      if (!pattern->is_nothing()) listed.push_back(std::move(pattern));
    }
    return listed;
  }

  /// Some of the values in their order: `least` in a row, any behind them.
  PatternRef Different(const std::vector<PatternRef>& values, int least, std::optional<int> most) {
    const auto count = static_cast<int>(std::min<std::size_t>(values.size(), 64));
    std::vector<PatternRef> ways;
    const int first = std::max(least, 1);
    if (least == 0) ways.push_back(Bytes("[]"));
    for (int i = 0; i + first <= count && most.value_or(first) >= first; ++i) {
      std::vector<PatternRef> list;
      for (int j = i; j < count && j - i < most.value_or(count); ++j) {
        PatternRef next =
            j == i ? values[static_cast<std::size_t>(j)] : Sequence({Comma(), values[static_cast<std::size_t>(j)]});
        list.push_back(j - i < first ? std::move(next) : Optional(std::move(next)));
      }
      ways.push_back(Brackets(Sequence(std::move(list))));
    }
    return Alternatives(std::move(ways));
  }

  PatternRef Object(const Json& schema, const std::string& place) {
    const auto properties = schema.find("properties");
    if (properties != schema.end() && !properties->is_object())
      Refuse(Below(place, "properties"), "an object is needed");
    std::vector<std::string> names;
    if (properties != schema.end()) {
      for (const auto& [name, value] : properties->items()) names.push_back(name);
    }
    std::set<std::string> required;
    if (const auto list = schema.find("required"); list != schema.end() && !list->is_boolean()) {
      if (!list->is_array()) Refuse(Below(place, "required"), "a list of names is needed");
      for (const Json& name : *list) {
        if (!name.is_string()) Refuse(Below(place, "required"), "a list of names is needed");
        if (required.insert(name.get<std::string>()).second && properties != schema.end() &&
            properties->contains(name.get<std::string>()))
          continue;
        if (std::find(names.begin(), names.end(), name.get<std::string>()) == names.end()) names.push_back(name);
      }
    }
    const Json others = schema.contains("additionalProperties") ? schema["additionalProperties"] : Json(true);
    const std::string others_place = Below(place, "additionalProperties");
    const Json patterned = schema.contains("patternProperties") ? schema["patternProperties"] : Json::object();
    if (!patterned.is_object()) Refuse(Below(place, "patternProperties"), "an object is needed");
    const int least = Length(schema, "minProperties", place).value_or(0);
    const std::optional<int> most = Length(schema, "maxProperties", place);
    if (names.empty()) {
      if (least > 1) Refuse(Below(place, "minProperties"), "more than one property that is not named is not supported");
      if (!patterned.empty()) return Patterned(patterned, place, least, most);
      const PatternRef value = Value(others, others_place);
      return value->is_nothing() && least == 0 ? Bytes("{}") : AnyObject(value, least, most);
    }
    // Some that could be left out are not.
    for (const std::string& name : names) {
      if (least > std::ssize(required)) required.insert(name);
    }
    if (least > std::ssize(required)) Refuse(Below(place, "minProperties"), "it is more than are named");
    if (most.value_or(kMostLength) < std::ssize(names))
      Refuse(Below(place, "maxProperties"), "it is less than are named");
    std::vector<PatternRef> fields;
    std::vector<bool> is_required;
    for (const std::string& name : names) {
      const bool is_named = properties != schema.end() && properties->contains(name);
      const Json asked = AskedByPatterns(patterned, name, place);
      Json own = is_named ? (*properties)[name] : asked.is_null() ? others : Json(true);
      if (!asked.is_null()) own = terms_.Together(std::move(own), asked, Below(place, "patternProperties"));
      PatternRef value = !asked.is_null() ? Value(own, Below(Below(place, "properties"), name))
                         : is_named       ? Value((*properties)[name], Below(Below(place, "properties"), name))
                                          : Value(others, others_place);
      fields.push_back(Sequence({Bytes(Dump(Json(name))), Colon(), std::move(value)}));
      is_required.push_back(required.contains(name));
    }
    return Braces(Fields(std::move(fields), std::move(is_required), Comma()));
  }

  ByteAutomaton NamesOf(const std::string& pattern, const std::string& place) {
    if (++work_.compiled > kMostCompiled) Refuse(place, fmt::format("{} patterns are the limit", kMostCompiled));
    const std::string name = fmt::format("{} at {}: the pattern", terms_.what(), Below(place, "patternProperties"));
    return Compile(ParseRegex(pattern, name, Writing::kJsonString, Extent::kPart, options_.most), name, kSmall);
  }

  /// What patterns ask of a property with this name; null: nothing.
  Json AskedByPatterns(const Json& patterned, const std::string& name, const std::string& place) {
    Json asked;
    const std::string written = Dump(Json(name));
    for (const auto& [pattern, schema] : patterned.items()) {
      if (!names_.contains(pattern)) names_.emplace(pattern, NamesOf(pattern, place));
      if (!names_.at(pattern).Matches(std::string_view(written).substr(1, written.size() - 2))) continue;
      const std::string there = Below(Below(place, "patternProperties"), pattern);
      asked = asked.is_null() ? schema : terms_.Together(std::move(asked), schema, there);
    }
    return asked;
  }

  PatternRef Patterned(const Json& patterned, const std::string& place, int least, std::optional<int> most) {
    std::vector<PatternRef> ways;
    for (const auto& [pattern, schema] : patterned.items()) {
      PatternRef value = Value(schema, Below(Below(place, "patternProperties"), pattern));
      if (value->is_nothing()) continue;
      try {
        ByteAutomaton names = NamesOf(pattern, place);
        for (const auto& [other, unused] : patterned.items()) {
          if (other != pattern) names = Difference(names, NamesOf(other, place), place, kSmall);
        }
        ways.push_back(Sequence({Bytes("\""), Accepted(std::make_shared<const ByteAutomaton>(std::move(names))),
                                 Bytes("\""), Colon(), std::move(value)}));
      } catch (const NoText&) {  // names that fit this one fit another one too
      }
    }
    PatternRef entry = Alternatives(std::move(ways));
    if (entry->is_nothing()) return least == 0 ? Bytes("{}") : Nothing();
    return Braces(Times(std::move(entry), Comma(), least, most));
  }

  const SchemaTerms terms_;
  const SchemaOptions options_;
  std::map<std::string, ByteAutomaton> names_;  // of patterns of properties
  std::map<std::pair<std::string, std::pair<int, std::optional<int>>>, PatternRef> counted_;
  std::optional<ByteAutomaton> character_;
  SchemaWork own_work_;
  SchemaWork& work_;
  int nested_ = 0;
  std::map<const Json*, int> uses_;   // of references that are being followed
  std::vector<PatternRef> anything_;  // by depth
};

}  // namespace

PatternRef ParseJsonSchema(std::string_view schema, std::string_view what, const SchemaOptions& options) {
  if (schema.size() > kMostBytes) BadInput("{} has {} bytes; {} are the limit", what, schema.size(), kMostBytes);
  Json root;
  try {
    root = ParseJson(schema);
  } catch (const Error& error) {
    BadInput("{}: {}", what, error.what());
  }
  try {
    return SchemaReader(std::move(root), what, options).Read();
  } catch (const Json::exception&) {
    BadInput("{}: a keyword has a value of the wrong kind", what);
  }
}

}  // namespace punt
