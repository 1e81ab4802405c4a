#include "serve/tool_language.h"

#include <fmt/format.h>

#include <memory>

#include "base/check.h"
#include "base/parse_json.h"
#include "constrain/json_schema.h"
#include "serve/input_error.h"
#include "serve/json_fields.h"
#include "serve/tool_texts.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// Whether the schema names nothing that arguments could hold: the clients' way of saying that there are none, though
/// any object would be valid.
bool IsEmpty(const Json& schema) {
  for (const auto& [name, value] : schema.items()) {
    const bool is_idle = value.empty() || (name == "additionalProperties" && value == false);
    if ((name == "properties" || name == "required" || name == "additionalProperties") && is_idle) continue;
    if (name != "type" && name != "title" && name != "description" && name != "$schema" && name != "strict")
      return false;
  }
  return true;
}

PatternRef Arguments(const Tool& tool, const LanguageSpec& beside, SchemaWork& work) {
  const Json schema = tool.parameters.empty() ? Json::object() : ParseJson<Json>(tool.parameters);
  const auto type = schema.find("type");
  if (type != schema.end() && *type != "object") BadInput("the parameters of '{}' are not of type object", tool.name);
  if (IsEmpty(schema)) return Bytes("{}");
  return ParseJsonSchema(tool.parameters, fmt::format("the schema of '{}'", tool.name),
                         {.depth = beside.json_depth, .work = &work});
}

PatternRef Calls(const ToolRequest& request, const LanguageSpec& beside) {
  const bool is_bare = request.form == ToolForm::kBare;
  const std::string before = is_bare ? "" : fmt::format("{}\n", kCallOpen);
  const std::string after = is_bare ? "}" : fmt::format("}}\n{}", kCallClose);
  SchemaWork work;
  std::vector<PatternRef> ways;
  for (const Tool& tool : request.tools) {
    const std::string head =
        fmt::format("{}{{\"name\": \"{}\", \"{}\": ", before, tool.name, is_bare ? "parameters" : "arguments");
    PatternRef arguments = InField(fmt::format("tools[{}].function.parameters", tool.index),
                                   [&] { return Arguments(tool, beside, work); });
    ways.push_back(Sequence({Bytes(head), std::move(arguments), Bytes(after)}));
  }
  PatternRef call = Alternatives(std::move(ways));
  if (request.is_single || is_bare) return call;
  return List(std::move(call), Bytes("\n"), 1);
}

}  // namespace

std::optional<ByteAutomaton> AnswerLanguageOf(const ToolRequest& request, const LanguageSpec& beside) {
  if (request.choice == ToolChoice::kRequired) {
    return InField("tools", [&] { return Compile(Calls(request, beside), "the language of the tools"); });
  }
  if (!beside.is_set()) return std::nullopt;
  ByteAutomaton language = CompileLanguage(beside);
  if (!request.is_on()) return language;
  const PatternRef either =
      Alternatives({Calls(request, beside), Accepted(std::make_shared<const ByteAutomaton>(std::move(language)))});
  return InField("tools", [&] { return Compile(either, "the language of the tools"); });
}

}  // namespace punt
