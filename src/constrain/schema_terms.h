// The words of JSON Schema: which are known, how schemas are put together, which branches exclude each other.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// A schema with references into itself. Places are JSON pointers, for errors. All throw Error that name the place.
class SchemaTerms {
 public:
  using Json = nlohmann::ordered_json;

  SchemaTerms(Json root, std::string_view what, int depth) : root_(std::move(root)), what_(what), depth_(depth) {}

  const Json& root() const { return root_; }
  const std::string& what() const { return what_; }

  [[noreturn]] void Refuse(const std::string& place, std::string_view why) const;
  /// The place of a member.
  static std::string Below(const std::string& place, std::string_view name);

  /// Throws when the schema holds a keyword that could make a value invalid and is not supported.
  void RequireSupported(const Json& schema, const std::string& place) const;
  void RequireList(const Json& list, const std::string& place) const;

  /// Those that `type` names, or that other keywords speak of; empty: any.
  std::vector<std::string> TypesOf(const Json& schema, const std::string& place) const;
  static bool IsOfType(const Json& value, std::string_view type);
  static bool IsWhole(const Json& value);

  /// Whether the name says something about values, and is supported.
  static bool IsKeyword(const std::string& name);
  /// Whether a schema allows every value.
  static bool SaysNothing(const Json& schema);

  /// What `$ref` leads to.
  const Json& Target(const Json& schema, const std::string& place) const;
  /// A schema that is only a reference becomes what it leads to.
  const Json& Followed(const Json& schema, const std::string& place) const;

  /// Whether there are conditions: if, dependencies and their like.
  static bool HasConditions(const Json& schema);
  /// Conditions become parts of allOf: what they ask for in either case.
  Json WithoutConditions(Json schema, const std::string& place) const;
  /// The keywords of both; false if nothing fits both. `place` is that of `b`.
  Json Together(Json a, const Json& b, const std::string& place) const;
  /// Properties that the texts of a branch must leave out, and must have.
  struct Separation {
    std::set<std::string> left_out;
    std::set<std::string> required;
  };
  /// For each branch of oneOf what keeps its texts from fitting another one. Throws where that is not enough. `rest`:
  /// the keywords beside it.
  std::vector<Separation> Separations(const Json& rest, const Json& branches, const std::string& place) const;

 private:
  const Json root_;
  const std::string what_;
  const int depth_;
};

}  // namespace punt
