#include "constrain/language.h"

#include "base/check.h"
#include "constrain/json_schema.h"
#include "constrain/regex.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::size_t kMostChoiceBytes = 100'000;

PatternRef ChoicePattern(const std::vector<std::string>& choices) {
  std::vector<PatternRef> ways;
  std::size_t bytes = 0;
  for (const std::string& choice : choices) {
    if (InvalidUtf8(choice) != std::string::npos) BadInput("choice {} is not valid UTF-8", ways.size() + 1);
    bytes += choice.size();
    if (bytes > kMostChoiceBytes) BadInput("the choices have more than {} bytes", kMostChoiceBytes);
    ways.push_back(Bytes(choice));
  }
  return Alternatives(std::move(ways));
}

}  // namespace

const char* LanguageSpec::what() const {
  return !regex.empty() ? "the regular expression" : !choices.empty() ? "the list of choices" : "the JSON schema";
}

ByteAutomaton CompileLanguage(const LanguageSpec& spec) {
  Check(spec.is_set(), "a language that nothing describes");
  if ((!spec.regex.empty() + !spec.choices.empty() + !spec.json_schema.empty()) > 1) {
    BadInput("a regular expression, choices and a JSON schema exclude each other");
  }
  const char* what = spec.what();
  if (!spec.regex.empty()) return Compile(ParseRegex(spec.regex, what), what);
  if (!spec.choices.empty()) return Compile(ChoicePattern(spec.choices), what);
  return Compile(ParseJsonSchema(spec.json_schema, what, {.depth = spec.json_depth}), what);
}

}  // namespace punt
