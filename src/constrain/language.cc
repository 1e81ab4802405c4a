// Several languages hold together: their automata are intersected one after another, with a bound on each. Together
// they take about as long as one may.
//
// Tested by language_test.cc.
#include "constrain/language.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/check.h"
#include "base/json_text.h"
#include "constrain/json_schema.h"
#include "constrain/protein_language.h"
#include "constrain/regex.h"
#include "constrain/text_template.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::size_t kMostChoiceBytes = 100'000;
constexpr std::size_t kMostParts = 64;
constexpr std::size_t kShownBytes = 60;

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

/// One of the languages that hold together.
struct Part {
  std::string what;
  std::function<PatternRef()> read;
  bool is_schema = false;
};

/// What is written need not be all that is valid: where long strings, long lists and deep values make a schema too
/// large, they are shorter.
ByteAutomaton CompileSchema(const LanguageSpec& spec, std::string_view what, AutomatonLimits limits) {
  const auto compile = [&](int most, int depth) {
    const SchemaOptions options{.depth = std::min(spec.json_depth, depth), .most = most};
    return Compile(ParseJsonSchema(spec.json_schema, what, options), what, limits);
  };
  std::optional<TooLarge> refusal;
  for (const auto& [most, depth] : {std::pair(SchemaOptions{}.most, spec.json_depth), {64, 2}, {12, 1}, {4, 0}}) {
    try {
      return compile(most, depth);
    } catch (const TooLarge& error) {
      if (!refusal) refusal = error;
      limits.work /= 2;
    } catch (const Error&) {
      if (!refusal) throw;  // else with less depth no value is left
    }
  }
  throw TooLarge(*refusal);
}

std::string Named(const char* kind, const std::string& text) {
  const bool is_whole = text.size() <= kShownBytes;
  return fmt::format("the {} {}{}", kind, Quoted(text.substr(0, WholeCharacters(text, kShownBytes))),
                     is_whole ? "" : "...");
}

std::vector<Part> PartsOf(const LanguageSpec& spec) {
  std::vector<Part> parts;
  const auto add = [&](std::string what, auto read) { parts.push_back({what, [what, read] { return read(what); }}); };
  if (!spec.regex.empty())
    add("the regular expression", [&](const std::string& what) { return ParseRegex(spec.regex, what); });
  if (!spec.choices.empty()) add("the list of choices", [&](const auto&) { return ChoicePattern(spec.choices); });
  if (!spec.json_schema.empty()) parts.push_back({"the JSON schema", {}, true});
  if (!spec.text_template.empty()) {
    add("the template",
        [&](const std::string& what) { return ParseTemplate(spec.text_template, what, spec.json_depth); });
  }
  if (!spec.allowed_residues.empty()) {
    add("the allowed residues",
        [&](const std::string& what) { return ParseAllowedResidues(spec.allowed_residues, what); });
  }
  for (const std::string& motif : spec.motifs)
    add(Named("motif", motif), [&](const std::string& what) { return ParseMotif(motif, what); });
  for (const std::string& count : spec.composition)
    add(Named("composition", count), [&](const std::string& what) { return ParseComposition(count, what); });
  return parts;
}

}  // namespace

std::string LanguageSpec::what() const {
  const std::vector<Part> parts = PartsOf(*this);
  return parts.size() == 1 ? parts.front().what : "the constraint";
}

ByteAutomaton CompileLanguage(const LanguageSpec& spec) {
  Check(spec.is_set(), "a language that nothing describes");
  if (!spec.regex.empty() + !spec.choices.empty() + !spec.json_schema.empty() + !spec.text_template.empty() > 1) {
    BadInput("a regular expression, choices, a JSON schema and a template exclude each other");
  }
  const std::vector<Part> parts = PartsOf(spec);
  if (parts.size() > kMostParts) BadInput("{} constraints at once; {} are the limit", parts.size(), kMostParts);
  AutomatonLimits limits;
  if (parts.size() > 1) limits.work = 2 * limits.work / (2 * parts.size() - 1);
  std::optional<ByteAutomaton> all;
  std::string what;
  for (const Part& part : parts) {
    ByteAutomaton own =
        part.is_schema ? CompileSchema(spec, part.what, limits) : Compile(part.read(), part.what, limits);
    what = all ? fmt::format("{} with {}", what, part.what) : part.what;
    all = all ? Intersection(*all, own, what, limits) : std::move(own);
  }
  return std::move(*all);
}

}  // namespace punt
