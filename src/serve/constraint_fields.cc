#include "serve/constraint_fields.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostChoices = 10'000;
constexpr const char* kAnyObject = R"({"type": "object"})";

/// The text of a schema, which some clients send as a text.
std::string Schema(const Json& value, const std::string& field) {
  if (value.is_string()) {
    if (value.get<std::string>().empty()) RefuseField(field, "is an empty text");
    return value.get<std::string>();
  }
  if (!value.is_object() && !value.is_boolean()) RefuseField(field, "must be a JSON schema: an object");
  return Dump(value);
}

std::string Text(const Json& value, const std::string& field) {
  if (!value.is_string() || value.get<std::string>().empty()) RefuseField(field, "must be a text that is not empty");
  return value.get<std::string>();
}

std::vector<std::string> Choices(const Json& value, const std::string& field) {
  if (!value.is_array() || value.empty() || value.size() > kMostChoices) {
    RefuseField(field, fmt::format("must be a list of 1 to {} texts", kMostChoices));
  }
  std::vector<std::string> choices;
  for (const Json& choice : value) {
    if (!choice.is_string()) RefuseField(field, "must hold texts only");
    choices.push_back(choice.get<std::string>());
  }
  return choices;
}

/// The schema of a response_format; empty if it asks for nothing.
std::string FormatSchema(const Json& format) {
  const auto type = format.is_object() ? format.find("type") : format.end();
  const std::string name = type != format.end() && type->is_string() ? type->get<std::string>() : "";
  if (name == "text") return "";
  if (name == "json_object") return kAnyObject;
  if (name != "json_schema") RefuseField("response_format.type", "must be text, json_object or json_schema");
  const auto about = format.find("json_schema");
  const bool has_schema = about != format.end() && about->is_object() && about->contains("schema");
  if (!has_schema) RefuseField("response_format.json_schema", "must be an object with a member schema");
  return Schema((*about)["schema"], "response_format.json_schema.schema");
}

}  // namespace

std::string ReadConstraint(std::string_view text, const nlohmann::json& body, Sampling& sampling) {
  constexpr const char* kFields[] = {"response_format", "guided_json",     "guided_regex",
                                     "guided_choice",   "guided_template", "structured_outputs"};
  bool is_there = false;
  for (const char* field : kFields) is_there = is_there || FindField(body, field) != nullptr;
  if (!is_there) return "";
  const Json ordered = ParseJson<Json>(text);
  Sampling asked;
  std::string by;
  const auto take = [&](const std::string& field) {
    if (!by.empty()) RefuseField(field, fmt::format("and {} exclude each other", by));
    by = field;
  };
  const auto read = [&](const Json& object, const char* member, const std::string& field, const auto& into) {
    const auto value = object.find(member);
    if (value == object.end() || value->is_null()) return;
    take(field);
    into(*value, field);
  };
  const auto json = [&](const Json& value, const std::string& field) { asked.json_schema = Schema(value, field); };
  const auto regex = [&](const Json& value, const std::string& field) { asked.regex = Text(value, field); };
  const auto choice = [&](const Json& value, const std::string& field) { asked.choices = Choices(value, field); };

  if (FindField(body, "response_format") != nullptr) {
    asked.json_schema = FormatSchema(ordered["response_format"]);
    if (!asked.json_schema.empty()) take("response_format");
  }
  read(ordered, "guided_json", "guided_json", json);
  read(ordered, "guided_regex", "guided_regex", regex);
  read(ordered, "guided_choice", "guided_choice", choice);
  read(ordered, "guided_template", "guided_template",
       [&](const Json& value, const std::string& field) { asked.text_template = Text(value, field); });
  if (FindField(body, "structured_outputs") != nullptr) {
    const std::string field = "structured_outputs";
    const Json& outputs = ordered[field];
    if (!outputs.is_object()) RefuseField(field, "must be an object");
    for (const auto& [name, value] : outputs.items()) {
      if (value.is_null() || name == "json" || name == "regex" || name == "choice") continue;
      RefuseField(field + "." + Shown(name), "is not supported: only json, regex and choice are");
    }
    read(outputs, "json", field + ".json", json);
    read(outputs, "regex", field + ".regex", regex);
    read(outputs, "choice", field + ".choice", choice);
  }
  if (by.empty()) return "";
  sampling.regex = asked.regex;
  sampling.choices = asked.choices;
  sampling.json_schema = asked.json_schema;
  sampling.text_template = asked.text_template;
  return by;
}

}  // namespace punt
