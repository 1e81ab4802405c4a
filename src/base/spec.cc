#include "punt/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/suggest.h"

namespace punt {
namespace {

/// Splits at commas outside parentheses.
std::vector<std::string_view> SplitTopLevel(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth < 0) BadInput("unbalanced ')' in '{}'", text);
    if (text[i] == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (depth != 0) BadInput("unbalanced '(' in '{}'", text);
  parts.push_back(text.substr(begin));
  return parts;
}

std::string_view StripParentheses(std::string_view value) {
  const bool wrapped = value.size() >= 2 && value.front() == '(' && value.back() == ')';
  return wrapped ? value.substr(1, value.size() - 2) : value;
}

double ParseReal(std::string_view text, std::string_view key, std::string_view owner) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    BadInput("{}: {} must be a number, got '{}'", owner, key, text);
  }
  return value;
}

void CheckRange(double value, std::string_view text, const ParamRow& row, std::string_view owner) {
  if (value < row.min || value > row.max) {
    BadInput("{}: {} must be between {} and {}, got {}", owner, row.key, row.min, row.max, text);
  }
}

void CheckValue(std::string_view text, const ParamRow& row, std::string_view owner) {
  switch (row.kind) {
    case ParamKind::kReal:
      CheckRange(ParseReal(text, row.key, owner), text, row, owner);
      return;
    case ParamKind::kInteger: {
      const double value = ParseReal(text, row.key, owner);
      if (value != std::floor(value)) BadInput("{}: {} must be a whole number, got '{}'", owner, row.key, text);
      CheckRange(value, text, row, owner);
      return;
    }
    case ParamKind::kBoolean:
      if (text != "true" && text != "false") BadInput("{}: {} must be true or false, got '{}'", owner, row.key, text);
      return;
    case ParamKind::kChoice:
      for (std::string_view choice : row.choices) {
        if (text == choice) return;
      }
      BadInput("{}: {} must be one of {}, got '{}'{}", owner, row.key, fmt::join(row.choices, ", "), text,
               DidYouMean(text, row.choices));
    case ParamKind::kSpec:
      return;  // checked when the nested thing is made
  }
}

}  // namespace

std::string_view Name(ParamKind kind) {
  switch (kind) {
    case ParamKind::kReal:
      return "real";
    case ParamKind::kInteger:
      return "integer";
    case ParamKind::kBoolean:
      return "boolean";
    case ParamKind::kChoice:
      return "choice";
    case ParamKind::kSpec:
      return "spec";
  }
  throw std::logic_error("ParamKind");
}

Spec ParseSpec(std::string_view text) {
  Spec spec;
  const std::size_t colon = text.find(':');
  spec.name = std::string(text.substr(0, colon));
  if (spec.name.empty()) BadInput("a name is missing in '{}'", text);
  if (colon == std::string_view::npos) return spec;
  for (std::string_view part : SplitTopLevel(text.substr(colon + 1))) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) {
      BadInput("expected key=value, got '{}' in '{}'", part, text);
    }
    const std::string key(part.substr(0, equals));
    for (const auto& [earlier, value] : spec.values) {
      if (earlier == key) BadInput("{} is given twice in '{}'", key, text);
    }
    spec.values.emplace_back(key, std::string(StripParentheses(part.substr(equals + 1))));
  }
  return spec;
}

Params::Params(const Spec& spec, std::span<const ParamRow> rows, std::string_view owner)
    : name_(spec.name), rows_(rows) {
  for (const ParamRow& row : rows) values_[std::string(row.key)] = std::string(row.default_value);
  for (const auto& [key, value] : spec.values) {
    const ParamRow* match = nullptr;
    std::vector<std::string_view> keys;
    for (const ParamRow& row : rows) {
      keys.push_back(row.key);
      if (row.key == key) match = &row;
    }
    if (match == nullptr && keys.empty()) BadInput("{} takes no keys, got '{}'", owner, key);
    if (match == nullptr) {
      BadInput("{} has no key '{}'{}; valid keys: {}", owner, key, DidYouMean(key, keys), fmt::join(keys, ", "));
    }
    CheckValue(value, *match, owner);
    values_[key] = value;
  }
}

const ParamRow& Params::RowOf(std::string_view key, ParamKind kind) const {
  for (const ParamRow& row : rows_) {
    if (row.key == key && row.kind == kind) return row;
  }
  throw std::logic_error(fmt::format("{} has no {} key '{}'", name_, Name(kind), key));
}

const std::string& Params::ValueOf(std::string_view key, ParamKind kind) const {
  return values_.find(RowOf(key, kind).key)->second;
}

double Params::Real(std::string_view key) const { return ParseReal(ValueOf(key, ParamKind::kReal), key, name_); }

int Params::Integer(std::string_view key) const {
  return static_cast<int>(ParseReal(ValueOf(key, ParamKind::kInteger), key, name_));
}

bool Params::Boolean(std::string_view key) const { return ValueOf(key, ParamKind::kBoolean) == "true"; }

const std::string& Params::Choice(std::string_view key) const { return ValueOf(key, ParamKind::kChoice); }

const std::string& Params::Nested(std::string_view key) const { return ValueOf(key, ParamKind::kSpec); }

int Params::ChoiceIndex(std::string_view key) const {
  const ParamRow& row = RowOf(key, ParamKind::kChoice);
  const std::string& value = Choice(key);
  for (std::size_t i = 0; i < row.choices.size(); ++i) {
    if (row.choices[i] == value) return static_cast<int>(i);
  }
  throw std::logic_error(fmt::format("{}: default of {} is not among its choices", name_, key));
}

std::string Params::Canonical() const {
  std::string text = name_;
  char separator = ':';
  for (const ParamRow& row : rows_) {
    const std::string& value = values_.find(row.key)->second;
    const bool nested = row.kind == ParamKind::kSpec;
    text += fmt::format("{}{}={}{}{}", separator, row.key, nested ? "(" : "", value, nested ? ")" : "");
    separator = ',';
  }
  return text;
}

}  // namespace punt
