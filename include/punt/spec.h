// Specs: the one way in which planners, scores, caches and toy models are named and configured, on the
// command line, in HTTP requests and in result files:
//
//   punt                                       a name, everything at its default
//   punt:epsilon=0.04,form=parallel            keys and values
//   hybrid:first=(top-k:k=2),at=0.3            a value in parentheses is a spec itself
//
// What a name accepts is a table of ParamRow; help texts, JSON listings and error messages are made from
// the same table, so they cannot disagree with what is parsed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace punt {

enum class ParamKind { kReal, kInteger, kBoolean, kChoice, kSpec };

/// One key. Bounds are inclusive and apply to kReal and kInteger; choices apply to kChoice.
struct ParamRow {
  std::string_view key;
  ParamKind kind = ParamKind::kReal;
  std::string_view default_value;
  std::string_view help;
  double min = 0;
  double max = 0;
  std::vector<std::string_view> choices = {};
};

/// "real", "integer", "boolean", "choice", "spec".
std::string_view Name(ParamKind kind);

/// A spec taken apart, not yet checked against a table.
struct Spec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;
};

/// Throws Error on an empty name, a key without a value, a key given twice, unbalanced parentheses.
Spec ParseSpec(std::string_view text);

/// Values checked against a table, with defaults filled in. Asking for a key that the table does not have, or
/// for one of another kind, throws std::logic_error.
class Params {
 public:
  /// `owner` is named in errors ("planner punt"). Throws Error listing the valid keys or values.
  Params(const Spec& spec, std::span<const ParamRow> rows, std::string_view owner);

  double Real(std::string_view key) const;
  int Integer(std::string_view key) const;
  bool Boolean(std::string_view key) const;
  const std::string& Choice(std::string_view key) const;
  const std::string& Nested(std::string_view key) const;

  /// Index of the chosen value in the row's choices: maps directly to an enum in the same order.
  int ChoiceIndex(std::string_view key) const;

  /// "name:key=value,..." with every key written out: the full configuration, for results and traces.
  std::string Canonical() const;

 private:
  const ParamRow& RowOf(std::string_view key, ParamKind kind) const;
  const std::string& ValueOf(std::string_view key, ParamKind kind) const;

  std::string name_;
  std::span<const ParamRow> rows_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace punt
