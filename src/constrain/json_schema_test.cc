#include "constrain/json_schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error_testing.h"
#include "constrain/byte_automaton.h"

namespace punt {
namespace {

ByteAutomaton Of(std::string_view schema, int depth = 4) {
  return Compile(ParseJsonSchema(schema, "the schema", {.depth = depth}), "the schema");
}

std::string Refusal(std::string_view schema) {
  return ErrorOf([&] { Of(schema); });
}

struct Case {
  const char* schema;
  std::vector<const char*> in;
  std::vector<const char*> out;
};

TEST(JsonSchema, TextsInAndOut) {
  const Case cases[] = {
      {R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}, "required": ["a"]})",
       {R"({"a":1})", R"({"a": 1, "b": true})", R"({"a":-20,"b":false})"},
       {"{}", R"({"b":true})", R"({"b":true,"a":1})", R"({"a":1.5})", R"({"a":1,})", R"({ "a":1})", R"({"a":01})"}},
      {R"({"properties": {"x": {"const": 1}, "y": {"const": 2}, "z": {"const": 3}}})",
       {"{}", R"({"x":1})", R"({"y":2})", R"({"z":3})", R"({"x":1,"z":3})", R"({"x":1,"y":2,"z":3})"},
       {R"({"z":3,"x":1})", R"({,"y":2})", R"({"x":1"z":3})"}},
      {R"({"type": "array", "items": {"enum": ["a", "b\n"]}, "minItems": 1, "maxItems": 3})",
       {R"(["a"])", R"(["b\n", "a"])", R"(["a","a","a"])"},
       {"[]", R"(["c"])", R"(["a","a","a","a"])", R"(["a",])"}},
      {R"({"type": "array", "items": {"type": "null"}})", {"[]", "[null]", "[null,null, null,null]"}, {"[,]", "null"}},
      {R"({"type": "string", "minLength": 2, "maxLength": 3})",
       {R"("ab")", R"("é€")", R"("a\"b")", R"("\n\u0001")", "\"\xf0\x9f\x98\x80x\""},
       {R"("a")", R"("abcd")", R"("\u0041b")", R"("a\/")", "\"a\n\""}},
      {R"({"type": "string", "pattern": "^[a-z]+\\d$"})", {R"("ab1")"}, {R"("1")", R"("ab1x")", R"("AB1")"}},
      {R"({"type": "string", "pattern": "b", "maxLength": 3})", {R"("b")", R"("abc")"}, {R"("abcd")", R"("ac")"}},
      {R"({"type": ["integer", "null"]})", {"1", "null"}, {"1.5", "true"}},
      {R"({"type": "number", "minimum": 0, "exclusiveMaximum": 2})",
       {"0", "1", "0.5", "1.999"},
       {"2", "2.0", "-0.5", "3"}},
      {R"({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "boolean"}]})", {R"("")", "true"}, {R"("ab")", "1"}},
      {R"({"oneOf": [{"type": "string", "maxLength": 1}, {"type": "boolean"}]})", {R"("")", "true"}, {"null"}},
      {R"({"oneOf": [{"type": "object", "properties": {"k": {"const": "a"}, "x": {"type": "null"}}, "required": ["k", "x"]},
                     {"type": "object", "properties": {"k": {"const": "b"}}, "required": ["k"]}]})",
       {R"({"k":"a","x":null})", R"({"k":"b"})"},
       {R"({"k":"a"})", R"({"k":"c"})"}},
      {R"({"$defs": {"p": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
           "type": "array", "items": {"$ref": "#/$defs/p", "description": "one"}})",
       {"[]", R"([{"n":1}, {"n":2}])"},
       {"[{}]"}},
      {R"({"allOf": [{"type": "object", "properties": {"a": {"const": 1}}}, {"required": ["a"]}]})",
       {R"({"a":1})"},
       {"{}"}},
      {R"({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 3}, "minItems": 1})",
       {"[1]", "[1,2]", "[1,2,3,3]"},
       {"[]", "[2]", "[1,3]"}},
      {R"({"type": "array", "items": [{"const": 1}, {"const": 2}], "additionalItems": false})",
       {"[]", "[1,2]"},
       {"[1,2,3]"}},
      {R"({"type": "object", "additionalProperties": {"type": "integer"}})",
       {"{}", R"({"any \" key":1, "b":2})"},
       {R"({"a":""})"}},
      {R"({"required": ["a"]})", {R"({"a":[{"x":[1]}]})", R"({"a":null})"}, {"{}"}},
      {R"({"enum": [1, "a", null, [1, {"b": 2}]], "type": ["integer", "array"]})",
       {"1", R"([1,{"b":2}])"},
       {R"("a")", "null"}},
      {R"({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 5,
           "exclusiveMinimum": true, "maximum": 7, "exclusiveMaximum": false})",
       {"6", "7"},
       {"5", "8"}},
      {R"({"$defs": {"a b%": {"const": 1}}, "$ref": "#/$defs/a%20b%25"})", {"1"}, {"2"}},
      {R"({"$id": "http://x/y", "$defs": {"a": {"$anchor": "n", "const": 1}, "b": {"const": 2}},
           "anyOf": [{"$ref": "#n"}, {"$ref": "http://x/y#/$defs/b"}]})",
       {"1", "2"},
       {"3"}},
      {R"({"type": "string", "enum": ["a", "bb", "ccc"], "minLength": 2, "pattern": "^[a-b]"})",
       {R"("bb")"},
       {R"("a")", R"("ccc")"}},
      {R"({"type": "integer", "enum": [1, 2, 3], "exclusiveMinimum": 1})", {"2", "3"}, {"1"}},
      {R"({"type": "array", "items": {"enum": ["a", "b", "c", "a"]}, "uniqueItems": true})",
       {"[]", R"(["a"])", R"(["a","c"])", R"(["b", "c"])", R"(["a","b","c"])"},
       {R"(["a","a"])", R"(["c","a"])", R"([,"b"])"}},
      {R"({"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": true, "minItems": 2, "maxItems": 2})",
       {"[1,2]", "[2,3]"},
       {"[1]", "[1,2,3]", "[2,2]"}},
      {R"({"type": "array", "items": {"type": "null"}, "uniqueItems": true})", {"[]", "[null]"}, {"[null,null]"}},
      {R"({"type": "object", "patternProperties": {"^x": {"const": 1}, "y$": {"const": 2}},
           "additionalProperties": false})",
       {"{}", R"({"x":1})", R"({"y":2,"xa": 1})"},
       {R"({"xy":1})", R"({"xy":2})", R"({"z":1})", R"({"x":2})"}},
      {R"({"properties": {"xa": {"type": "integer"}, "b": {"const": 3}}, "patternProperties": {"^x": {"minimum": 5}}})",
       {"{}", R"({"xa":5})", R"({"b":3})"},
       {R"({"xa":4})", R"({"b":4})"}},
      {R"({"properties": {"a": {"const": 1}, "b": {"const": 2}}, "minProperties": 1})",
       {R"({"a":1})", R"({"a":1,"b":2})"},
       {"{}"}},
      {R"({"properties": {"a": {"const": 1}, "b": {"const": 2}},
           "if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"properties": {"b": {"minimum": 0}}}})",
       {R"({"b":2})", R"({"a":1,"b":2})"},
       {"{}", R"({"a":1})"}},
      {R"({"properties": {"a": {"const": 1}, "b": {"const": 2}}, "dependentRequired": {"a": ["b"]}})",
       {R"({"b":2})", R"({"a":1,"b":2})"},
       {R"({"a":1})"}},
      {R"({"allOf": [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"maximum": 2}}},
                     {"properties": {"a": {"type": "integer"}}, "required": ["a"]}]})",
       {R"({"a":1})", R"({"a":2})"},
       {R"({"a":0})", R"({"a":3})", R"({"a":1.5})", "{}"}},
      {R"({"allOf": [{"properties": {"a": {"const": 1}}, "additionalProperties": false},
                     {"properties": {"a": {}, "b": {"const": 2}}}]})",
       {"{}", R"({"a":1})"},
       {R"({"a":1,"b":2})", R"({"b":2})"}},
      {R"({"allOf": [{"type": ["integer", "string"]}, {"type": ["number", "null"]}, {"minimum": 3}, {"minimum": 2}]})",
       {"3"},
       {"2", "null", "3.5"}},
      {R"({"allOf": [{"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}, {"not-a-keyword": 1}]})", {"2", "3"}, {"1", "4"}},
      {R"({"properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}},
           "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})",
       {R"({"a":1})", R"({"b":2,"c":3})"},
       {R"({"a":1,"b":2})", "{}", R"({"c":3})"}},
      {R"({"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false},
                     {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["b"],
                      "additionalProperties": false}, {"enum": ["x", null]}]})",
       {R"({"a":1})", R"({"b":2})", R"("x")"},
       {R"({})", R"({"b":1})"}},
      {R"({"oneOf": [{"type": "object", "properties": {"a": {"const": 1}, "p": {"const": 2}}, "required": ["a"],
                      "additionalProperties": false},
                     {"type": "object", "properties": {"a": {"const": 1}, "p": {"const": 2}, "c": {"const": 3}},
                      "required": ["c", "p"], "additionalProperties": false},
                     {"type": "object", "properties": {"a": {"const": 1}, "p": {"const": 2}, "d": {"const": 4}},
                      "required": ["d"], "additionalProperties": false}]})",
       {R"({"a":1})", R"({"p":2,"c":3})", R"({"d":4})"},
       {R"({"p":2})", R"({"c":3})"}},
      {R"({"oneOf": [{"properties": {"a": {"const": 1}, "i": {"const": 0}}, "additionalProperties": false},
                     {"properties": {"b": {"const": 2}, "i": {"const": 0}}, "additionalProperties": false}]})",
       {R"({"a":1})", R"({"b":2,"i":0})"},
       {"{}", R"({"i":0})", R"({"a":1,"b":2})"}},
      {"true", {"null", "[[[]]]", R"({"a":{"b":[1,"x"]}})", "-1.5e3"}, {"nul", "[1,]", "{a:1}"}},
      {"{}", {"1", R"({"a":1})"}, {"", " 1"}},
  };
  for (const Case& one : cases) {
    std::optional<ByteAutomaton> automaton;
    ASSERT_NO_THROW(automaton = Of(one.schema)) << one.schema;
    for (const char* text : one.in) EXPECT_TRUE(automaton->Matches(text)) << one.schema << " and " << text;
    for (const char* text : one.out) EXPECT_FALSE(automaton->Matches(text)) << one.schema << " but " << text;
  }
}

// What another branch would take as well is refused, unless leaving something out helps.
TEST(JsonSchema, BranchesOfOneOfMustNotMeet) {
  for (const char* branches :
       {R"([{"type": ["object", "null"], "properties": {"k": {"const": 1}}, "required": ["k"]},
            {"type": ["object", "null"], "properties": {"k": {"const": 2}}, "required": ["k"]}])",
        R"([{"properties": {"a": {}}}, {"properties": {"b": {}}}])",
        R"([{"type": "object", "additionalProperties": {"type": "null"}}, {"required": ["b"], "type": "object"}])",
        R"([{"required": ["a"], "anyOf": [{"properties": {"b": {}}}]}, {"required": ["b"]}])",
        R"([{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 2}])"}) {
    const std::string schema = fmt::format(R"({{"oneOf": {}}})", branches);
    EXPECT_NE(Refusal(schema).find("may both fit a value"), std::string::npos) << schema;
  }
}

TEST(JsonSchema, LongStringsAndListsAreCutWhereAskedFor) {
  const auto matches = [](std::string_view schema, int most, const std::string& text) {
    return Compile(ParseJsonSchema(schema, "the schema", {.most = most}), "the schema").Matches(text);
  };
  const char* string = R"({"type": "string", "pattern": "^[a-z]{1,900}$", "maxLength": 800})";
  const char* list = R"({"type": "array", "items": {"const": 1}, "minItems": 4, "maxItems": 900})";
  EXPECT_TRUE(matches(string, 3, R"("aaa")"));
  EXPECT_FALSE(matches(string, 3, R"("aaaa")"));
  EXPECT_TRUE(matches(string, 10'000, fmt::format("\"{}\"", std::string(800, 'a'))));
  EXPECT_FALSE(matches(string, 10'000, fmt::format("\"{}\"", std::string(801, 'a'))));
  const char* longer = R"({"type": "string", "pattern": "^a{9}b*$", "maxLength": 800})";
  EXPECT_TRUE(matches(longer, 3, R"("aaaaaaaaab")")) << "no text of the pattern has 3";
  EXPECT_TRUE(matches(list, 3, "[1,1,1,1]")) << "lower bounds are kept";
  EXPECT_FALSE(matches(list, 3, "[1,1,1,1,1]"));
}

TEST(JsonSchema, RecursionHasADepth) {
  const char* tree = R"({"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
                         "$ref": "#/$defs/node"})";
  const auto nested = [](int levels) {
    std::string text = "{}";
    for (int i = 0; i < levels; ++i) text = fmt::format("{{\"next\":{}}}", text);
    return text;
  };
  for (int depth : {0, 1, 3}) {
    const ByteAutomaton automaton = Of(tree, depth);
    for (int levels = 0; levels < 6; ++levels) EXPECT_EQ(automaton.Matches(nested(levels)), levels <= depth) << levels;
  }
  EXPECT_EQ(Refusal(R"({"properties": {"a": {"$ref": "#"}}, "required": ["a"]})"),
            "the schema: no value fits: it contradicts itself, or goes through itself more than 4 times");
  EXPECT_EQ(Refusal(R"({"$ref": "#"})").substr(0, 27), "the schema: no value fits: ");
}

TEST(JsonSchema, WhatContradictsItselfIsRefused) {
  for (const char* schema :
       {R"({"type": "integer", "minimum": 3, "maximum": 2})", R"({"type": "string", "minLength": 3, "maxLength": 2})",
        R"({"type": "array", "minItems": 3, "maxItems": 2})", R"({"enum": [1], "type": "string"})", "false",
        R"({"required": ["a"], "additionalProperties": false})", R"({"type": "array", "items": false, "minItems": 1})",
        R"({"anyOf": [false, {"enum": ["x"], "type": "null"}]})"}) {
    EXPECT_EQ(Refusal(schema).substr(0, 27), "the schema: no value fits: ") << schema;
  }
  EXPECT_NE(Refusal(R"({"type": "string", "pattern": "^a$", "minLength": 2})").find("matches no text"),
            std::string::npos);
}

TEST(JsonSchema, RefusalsNameThePlaceAndTheKeyword) {
  EXPECT_EQ(Refusal(R"({"properties": {"a/b": {"not": {}}}})"),
            "the schema at #/properties/a~1b: 'not' is not supported");
  EXPECT_EQ(Refusal(R"({"type": "array", "uniqueItems": true, "minItems": 2})"),
            "the schema at #/uniqueItems: more than one item is supported only where 'items' lists the values");
  EXPECT_EQ(Refusal(R"({"type": "text"})"), "the schema at #/type: \"text\" is not a type");
  EXPECT_EQ(Refusal(R"({"$ref": "other.json"})"),
            "the schema at #/$ref: \"other.json\" does not lead into this schema: only #... does");
  EXPECT_EQ(Refusal(R"({"$ref": "#/a"})"), "the schema at #/$ref: \"#/a\" leads nowhere");
  EXPECT_NE(Refusal(R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})").find("branches 0 and 1 may both fit"),
            std::string::npos);
  EXPECT_NE(
      Refusal(R"~({"type": "string", "pattern": "(?=a)"})~").find("#/pattern: the pattern \"(?=a)\": character 3"),
      std::string::npos);
  EXPECT_NE(Refusal(R"({"type": "number", "multipleOf": 2})").find("'multipleOf' is not supported"), std::string::npos);
  EXPECT_NE(Refusal(R"({"minLength": -1})").find("#/minLength: a whole number from 0"), std::string::npos);
  EXPECT_NE(Refusal(R"({"enum": []})").find("#/enum: a list that is not empty"), std::string::npos);
  EXPECT_NE(Refusal(R"({"anyOf": [{"pattern": "a"}], "pattern": "b"})").find("have different 'pattern'"),
            std::string::npos);
  for (const char* value : {"true", "false"}) {
    const std::string schema = fmt::format(R"({{"minimum": 5, "exclusiveMinimum": {}}})", value);
    EXPECT_NE(Refusal(schema).find("#/exclusiveMinimum: a number is needed; true and false are of draft 4"),
              std::string::npos);
  }
  EXPECT_NE(Refusal(R"({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMaximum": true})")
                .find("it belongs to a bound, and there is none"),
            std::string::npos);
  const char* spelt = R"({"oneOf": [{"properties": {"a": {}}, "required": true, "additionalProperties": false},
                                    {"properties": {"b": {}}, "additionalProperties": false}]})";
  EXPECT_EQ(Refusal(spelt), "the schema: a keyword has a value of the wrong kind");
  EXPECT_NE(Refusal(R"({"properties": 3})").find("#/properties: an object is needed"), std::string::npos);
  EXPECT_NE(Refusal("[").find("the schema: "), std::string::npos);
  EXPECT_NE(Refusal("3").find("a schema is an object, true or false"), std::string::npos);
  EXPECT_EQ(Refusal(R"({"x-own": {"not": 1}, "title": "t", "format": "uuid", "type": "null"})"), "accepted");
}

TEST(JsonSchema, SchemasThatHoldTogetherWithThemselvesAreRefused) {
  for (const char* schema :
       {R"({"allOf":[{"$ref":"#"}]})", R"({"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"})",
        R"({"required":["a"],"properties":{"a":{"allOf":[{"$ref":"#/properties/a"}]}}})"}) {
    EXPECT_NE(Refusal(schema).find("more than 400 deep in each other"), std::string::npos) << schema;
  }
}

TEST(JsonSchema, NumbersThatDoublesDoNotHoldAreRefused) {
  for (const char* schema :
       {R"({"type":"integer","minimum":9007199254740993,"maximum":9007199254740993})",
        R"({"type":"number","maximum":-9007199254740993})", R"({"enum":[12345678901234567890123]})"}) {
    EXPECT_NE(Refusal(schema).find("beyond 2^53"), std::string::npos) << schema;
  }
  EXPECT_TRUE(Of(R"({"type":"integer","maximum":9223372036854775807})").Matches("12"));
  EXPECT_TRUE(Of(R"({"const":9007199254740993})").Matches("9007199254740993"));
}

TEST(JsonSchema, HostileSchemasEndSoon) {
  std::string deep = R"({"$defs":{"a":{"anyOf":[)";
  for (int i = 0; i < 30; ++i) deep += R"({"type":"array","items":{"$ref":"#/$defs/a"}},)";
  deep += R"({"type":"null"}]}},"$ref":"#/$defs/a"})";
  EXPECT_NE(Refusal(deep).find("there are more than 20000 parts"), std::string::npos);
  std::string many = R"({"properties":{)";
  for (int i = 0; i < 300; ++i) {
    many += fmt::format(R"({}"{}":{{"type":"string","pattern":"^a+{}$","minLength":1}})", i > 0 ? "," : "", i, i);
  }
  EXPECT_NE(Refusal(many + "}}").find("32 patterns with lengths are the limit"), std::string::npos);
  EXPECT_NE(Refusal(R"({"type":"string","pattern":"^(a|b)*a(a|b){40}$"})").find("too large"), std::string::npos);
  EXPECT_NE(Refusal(R"({"type":"array","items":{"type":"string","minLength":9000},"minItems":9000})").find("too large"),
            std::string::npos);
  EXPECT_NE(Refusal(std::string(300'000, ' ')).find("has 300000 bytes"), std::string::npos);
  EXPECT_NE(Refusal(std::string(1000, '[')).find("the schema: "), std::string::npos);
}

}  // namespace
}  // namespace punt
