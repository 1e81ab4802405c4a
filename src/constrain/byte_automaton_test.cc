#include "constrain/byte_automaton.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error_testing.h"
#include "constrain/regex.h"
#include "punt/random.h"
#include "text/utf8.h"

namespace punt {
namespace {

/// Tries everything: calls `next` with the rest of the text after every way to match a beginning of it.
bool Match(const Pattern& pattern, std::string_view text, const std::function<bool(std::string_view)>& next) {
  switch (pattern.kind) {
    case Pattern::Kind::kNothing:
      return false;
    case Pattern::Kind::kBytes:
      return text.starts_with(pattern.bytes) && next(text.substr(pattern.bytes.size()));
    case Pattern::Kind::kCharacters: {
      const std::size_t bytes = text.empty() ? 0 : CharacterBytes(text);
      if (bytes == 0 || !pattern.characters.Contains(CodePoints(text.substr(0, bytes)).front())) return false;
      return next(text.substr(bytes));
    }
    case Pattern::Kind::kSequence: {
      const std::function<bool(std::size_t, std::string_view)> from = [&](std::size_t i, std::string_view rest) {
        if (i == pattern.parts.size()) return next(rest);
        return Match(*pattern.parts[i], rest, [&, i](std::string_view more) { return from(i + 1, more); });
      };
      return from(0, text);
    }
    case Pattern::Kind::kAlternatives:
      for (const PatternRef& part : pattern.parts) {
        if (Match(*part, text, next)) return true;
      }
      return false;
    case Pattern::Kind::kList: {
      const std::function<bool(int, std::string_view)> from = [&](int count, std::string_view rest) {
        if (count >= pattern.min && next(rest)) return true;
        if (count == pattern.max) return false;
        const auto item = [&, count](std::string_view more) {
          return Match(*pattern.parts[0], more, [&, count](std::string_view end) {
            // An item that takes nothing may be repeated as often as is needed, and no more than that.
            if (count >= pattern.min && end.size() == rest.size()) return false;
            return from(count + 1, end);
          });
        };
        return count == 0 ? item(rest) : Match(*pattern.parts[1], rest, item);
      };
      return from(0, text);
    }
    case Pattern::Kind::kFields: {
      const std::function<bool(std::size_t, bool, std::string_view)> from = [&](std::size_t i, bool has_some,
                                                                                std::string_view rest) {
        if (i == pattern.is_required.size()) return next(rest);
        if (!pattern.is_required[i] && from(i + 1, has_some, rest)) return true;
        const auto field = [&, i](std::string_view more) {
          return Match(*pattern.parts[i], more, [&, i](std::string_view end) { return from(i + 1, true, end); });
        };
        return has_some ? Match(*pattern.parts.back(), rest, field) : field(rest);
      };
      return from(0, false, text);
    }
    case Pattern::Kind::kAutomaton:
      for (std::size_t size = 0; size <= text.size(); ++size) {
        if (pattern.automaton->Matches(text.substr(0, size)) && next(text.substr(size))) return true;
      }
      return false;
  }
  return false;
}

bool Matches(const Pattern& pattern, std::string_view text) {
  return Match(pattern, text, [](std::string_view rest) { return rest.empty(); });
}

/// All texts of at most `most` of the letters.
void ForTexts(const std::vector<std::string>& letters, int most, const std::function<void(const std::string&)>& visit,
              const std::string& begin = "") {
  visit(begin);
  if (most == 0) return;
  for (const std::string& letter : letters) ForTexts(letters, most - 1, visit, begin + letter);
}

PatternRef RandomPattern(RandomStream& random, int depth) {
  const CharacterSet a({{'a', 'a'}}), ab({{'a', 'b'}}), accents({{0xe0, 0x20ac}});
  switch (depth == 0 ? random.Below(5) : random.Below(10)) {
    case 0:
      return Bytes("a");
    case 1:
      return Bytes(random.Below(2) == 0 ? "" : "b,");
    case 2:
      return Characters(ab);
    case 3:
      return Characters(random.Below(2) == 0 ? accents : a.Negated());
    case 4:
      return random.Below(6) == 0 ? Nothing() : Bytes("b");
    case 5:
    case 6:
      return Sequence({RandomPattern(random, depth - 1), RandomPattern(random, depth - 1)});
    case 7:
      return Alternatives({RandomPattern(random, depth - 1), RandomPattern(random, depth - 1)});
    case 8: {
      const auto min = static_cast<int>(random.Below(3));
      const int max = random.Below(2) == 0 ? Pattern::kUnbounded : min + static_cast<int>(random.Below(3));
      return List(RandomPattern(random, depth - 1), Bytes(random.Below(2) == 0 ? "" : ","), min, max);
    }
    default:
      return Fields({RandomPattern(random, depth - 1), RandomPattern(random, depth - 1), Bytes("b")},
                    {random.Below(2) == 0, random.Below(2) == 0, random.Below(2) == 0}, Bytes(","));
  }
}

constexpr const char* kNoText = "matches no text at all";

TEST(ByteAutomaton, AcceptsWhatTryingEverythingMatches) {
  const std::vector<std::string> letters = {"a", "b", ",", "\xc3\xa9", "\xe2\x82\xac", "\xff"};
  RandomStream random(7);
  int empty = 0, accepted = 0;
  for (int round = 0; round < 300; ++round) {
    const PatternRef pattern = RandomPattern(random, 4);
    std::optional<ByteAutomaton> automaton;
    try {
      automaton = Compile(pattern, "it");
    } catch (const Error& error) {
      ASSERT_NE(std::string(error.what()).find(kNoText), std::string::npos) << error.what();
      ++empty;
    }
    ForTexts(letters, 4, [&](const std::string& text) {
      const bool matches = Matches(*pattern, text);
      accepted += matches;
      ASSERT_EQ(automaton && automaton->Matches(text), matches) << "pattern " << round << ", text '" << text << "'";
    });
  }
  EXPECT_GT(empty, 5);
  EXPECT_GT(accepted, 1000);
}

TEST(ByteAutomaton, IsMinimal) {
  const auto states = [](const char* regex) { return Compile(ParseRegex(regex, "it"), "it").size(); };
  EXPECT_EQ(states("abc"), 4);
  EXPECT_EQ(states("(a|b)*"), 1);
  EXPECT_EQ(states("(foo|bar|baz)x"), 7);  // the last letters share a state
  EXPECT_EQ(states("[0-9]{4}-[0-9]{2}"), 8);
  EXPECT_EQ(states("(a|b)*a(a|b){3}"), 16);  // it must remember four letters
  EXPECT_EQ(states("(aa)*|(aaa)*"), 6);
}

TEST(ByteAutomaton, IntersectionIsBoth) {
  const ByteAutomaton a = Compile(ParseRegex("[ab]*b", "a"), "a");
  const ByteAutomaton b = Compile(ParseRegex("[^b]{1,2}(b|c)", "b"), "b");
  const ByteAutomaton both = Intersection(a, b, "both");
  ForTexts({"a", "b", "c"}, 4,
           [&](const std::string& text) { EXPECT_EQ(both.Matches(text), a.Matches(text) && b.Matches(text)) << text; });
  const ByteAutomaton c = Compile(ParseRegex("c+", "c"), "c");
  EXPECT_EQ(ErrorOf([&] { Intersection(a, c, "the two"); }), "the two matches no text at all");
}

TEST(ByteAutomaton, WhatIsTooLargeIsRefusedWithItsBound) {
  const auto refusal = [](const std::string& regex) {
    return ErrorOf([&] { Compile(ParseRegex(regex, "the expression"), "the expression"); });
  };
  EXPECT_EQ(refusal("(a|b)*a(a|b){30}"),
            "the expression is too large: it needs an automaton of more than 20000 states");
  EXPECT_EQ(refusal("((a{1000}){1000}){1000}"),
            "the expression is too large: it has more than 200000 parts when its repetitions are written out");
  EXPECT_NE(refusal("(((){10000}){10000}){10000}").find("takes more than 30000000 steps"), std::string::npos);
  EXPECT_NE(refusal("(.*a.*b){100}(.*c){100}").find("the expression is too large"), std::string::npos);
  EXPECT_EQ(refusal("(x+x+)+y"), "accepted");  // catastrophic for those who try everything
  EXPECT_EQ(refusal("[^\\s\\S]"), "the expression matches no text at all");
}

}  // namespace
}  // namespace punt
