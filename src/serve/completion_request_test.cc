// What requests may hold, and how a wrong one is told.
#include "serve/completion_request.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "serve/api_error.h"

namespace punt {
namespace {

CompletionRequest Parse(const std::string& body, bool chat = false) {
  return ParseCompletion(body, chat, {.max_tokens = 100, .max_choices = 4, .max_prompts = 3, .max_sequences = 8});
}

/// The field that is refused; "?" without one, "" when nothing is.
std::string Refused(const std::string& body, bool chat = false) {
  try {
    Parse(body, chat);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    const auto json = nlohmann::json::parse(error.Json());
    EXPECT_EQ(json["error"]["message"], error.what());
    EXPECT_EQ(json["error"]["type"], "invalid_request_error");
    return error.param().empty() ? "?" : error.param();
  }
  return "";
}

TEST(CompletionRequest, TakesWhatOpenAisClientsSend) {
  const CompletionRequest request = Parse(R"({"model": "any", "prompt": "one", "suffix": "two", "max_tokens": 7,
    "temperature": 0.5, "top_p": 0.9, "stop": "x", "seed": -1, "n": 3, "stream": true, "user": "somebody",
    "stream_options": {"include_usage": true}, "presence_penalty": 0, "logprobs": null, "tools": []})");
  EXPECT_EQ(request.prompts, std::vector<Prompt>{{.text = "one"}});
  EXPECT_EQ(request.suffix, "two");
  EXPECT_EQ(request.max_tokens, 7);
  EXPECT_EQ(request.sampling.temperature, 0.5);
  EXPECT_EQ(request.sampling.top_p, 0.9);
  EXPECT_EQ(request.sampling.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(request.seed->bits, ~std::uint64_t{0});
  EXPECT_TRUE(request.ignored.empty());
  EXPECT_EQ(request.choices, 3);
  EXPECT_TRUE(request.stream && request.include_usage);
  EXPECT_EQ(request.stream_kind, StreamKind::kSettled);
}

TEST(CompletionRequest, DefaultsAreOpenAis) {
  const CompletionRequest request = Parse("{}");
  EXPECT_EQ(request.sampling.temperature, 1);
  EXPECT_EQ(request.sampling.top_p, 1);
  EXPECT_EQ(request.choices, 1);
  EXPECT_FALSE(request.stream || request.seed || request.max_tokens || request.suffix);
  EXPECT_EQ(request.sampling.planner, "scout");
}

TEST(CompletionRequest, PromptsAreTextsOrTokensOrListsOfThem) {
  const auto prompts = [](const std::string& value) { return Parse(R"({"prompt": )" + value + "}").prompts; };
  using List = std::vector<Prompt>;
  EXPECT_EQ(prompts("null"), List{Prompt{}});
  EXPECT_EQ(prompts(R"("")"), List{Prompt{}});
  EXPECT_EQ(prompts(R"(["one"])"), List{{.text = "one"}});
  EXPECT_EQ(prompts(R"(["one", "two"])"), (List{{.text = "one"}, {.text = "two"}}));
  EXPECT_EQ(prompts("[1, 2.0, 3]"), (List{{.tokens = {{1, 2, 3}}}}));
  EXPECT_EQ(prompts("[[1], [2, 3]]"), (List{{.tokens = {{1}}}, {.tokens = {{2, 3}}}}));
  EXPECT_EQ(prompts(R"(["one", [2]])"), (List{{.text = "one"}, {.tokens = {{2}}}}));
}

TEST(CompletionRequest, LengthsAreCutAndNotRefused) {
  const auto length = [](const std::string& value) { return Parse(R"({"max_tokens": )" + value + "}").max_tokens; };
  EXPECT_EQ(length("null"), std::nullopt);
  EXPECT_EQ(length("7"), 7);
  EXPECT_EQ(length("7.0"), 7);
  for (const char* large : {"100", "101", "-1", "1e6", "1e300", "9223372036854775807", "18446744073709551615",
                            "1000000000000000000000000"}) {
    EXPECT_EQ(length(large), 100) << large;
  }
  EXPECT_EQ(Parse(R"({"max_tokens": 5, "max_completion_tokens": 6})").max_tokens, 6);
}

/// Lua, PHP, R and others have no other numbers than floats.
TEST(CompletionRequest, WholeNumbersMayBeWrittenAsFloats) {
  const CompletionRequest request = Parse(R"({"n": 2.0, "seed": 3.0, "max_tokens": 4.0, "top_k": 5.0,
    "diffusion": {"window": 6.0, "max_nfe": 7e0}})");
  EXPECT_EQ(request.choices, 2);
  EXPECT_EQ(request.seed->bits, 3u);
  EXPECT_EQ(request.max_tokens, 4);
  EXPECT_EQ(request.sampling.top_k, 5);
  EXPECT_EQ(request.sampling.window, 6);
  EXPECT_EQ(request.sampling.max_nfe, 7);
  for (const char* field : {"n", "seed", "max_tokens", "top_k"}) {
    for (const char* value : {"1.5", "\"1\"", "true", "[1]"}) {
      EXPECT_EQ(Refused(std::string(R"({")") + field + "\": " + value + "}"), field);
    }
  }
}

TEST(CompletionRequest, SeedsAreWholeNumbersOf64Bits) {
  const auto bits = [](const std::string& value) { return Parse(R"({"seed": )" + value + "}").seed->bits; };
  EXPECT_EQ(bits("0"), 0u);
  EXPECT_EQ(bits("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(bits("9223372036854775808"), std::uint64_t{1} << 63);
  EXPECT_EQ(bits("-1"), ~std::uint64_t{0});
  EXPECT_EQ(bits("-9223372036854775808"), std::uint64_t{1} << 63);
  EXPECT_EQ(bits("9007199254740992.0"), std::uint64_t{1} << 53);
  for (const char* wrong : {"18446744073709551616", "-9223372036854775809", "1e300", "1e19", "0.5", "\"1\""}) {
    EXPECT_EQ(Refused(std::string(R"({"seed": )") + wrong + "}"), "seed") << wrong;
  }
}

TEST(CompletionRequest, TopKStandsInEitherPlace) {
  EXPECT_EQ(Parse(R"({"top_k": 7})").sampling.top_k, 7);
  EXPECT_EQ(Parse(R"({"top_k": -1})").sampling.top_k, 0);
  EXPECT_EQ(Parse(R"({"top_k": 7, "diffusion": {"top_k": 7}})").sampling.top_k, 7);
  EXPECT_EQ(Refused(R"({"top_k": 7, "diffusion": {"top_k": 8}})"), "diffusion.top_k");
}

TEST(CompletionRequest, WhatIsNoJsonIsSaid) {
  const auto said = [](const std::string& body) -> std::string {
    try {
      Parse(body);
    } catch (const ApiError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said(R"({"temperature": NaN})"), "NaN is not JSON");
  EXPECT_EQ(said(R"({"temperature": -Infinity})"), "Infinity is not JSON");
  EXPECT_EQ(said(R"({"NaN": Name})"), "the body is not valid JSON in UTF-8 (at byte 9)");
  EXPECT_EQ(said(""), "the body is not valid JSON in UTF-8 (at byte 1)");
}

/// A client's text comes back in an error, but not a hundred kilobytes of it.
TEST(CompletionRequest, ErrorsAreShort) {
  const std::string lot(100'000, 'x');
  for (const std::string& body :
       {R"({"diffusion": {"planner": ")" + lot + R"("}})", R"({"diffusion": {"score": ")" + lot + R"("}})",
        R"({"diffusion": {"eos": ")" + lot + R"("}})", R"({"diffusion": {")" + lot + R"(": 1}})",
        R"({"guided_)" + lot + R"(": 1})", R"({"response_format": {"type": ")" + lot + R"("}})"}) {
    try {
      Parse(body);
      FAIL() << body.substr(0, 40);
    } catch (const ApiError& error) {
      EXPECT_LT(error.Json().size(), 1000u) << body.substr(0, 40);
    }
  }
}

TEST(CompletionRequest, TheSettingsOfDiffusion) {
  const CompletionRequest request = Parse(R"({"diffusion": {"planner": "top-k:k=2", "score": "margin", "window": 8,
    "cache": "settled", "eos": "forbid", "top_k": 5, "max_nfe": 9, "stream": "events"}})");
  EXPECT_EQ(request.sampling.planner, "top-k:k=2");
  EXPECT_EQ(request.sampling.window, 8);
  EXPECT_EQ(request.sampling.top_k, 5);
  EXPECT_EQ(request.sampling.max_nfe, 9);
  EXPECT_EQ(request.stream_kind, StreamKind::kEvents);
  const CompletionRequest mercury = Parse(R"({"diffusing": true})");
  EXPECT_TRUE(mercury.stream);
  EXPECT_EQ(mercury.stream_kind, StreamKind::kSnapshots);
}

/// One that is parsed without trouble may be too deep to be copied, by recursion, on the stack of a thread.
TEST(CompletionRequest, AnInfillIsTextsAndNumbersOfPositions) {
  const auto request = ParseCompletion(R"({"diffusion": {"infill": ["ab", 3, "c", 2.0]}})", false, {});
  const std::vector<Stretch> parts = {{.text = "ab"}, {.masks = 3}, {.text = "c"}, {.masks = 2}};
  EXPECT_EQ(request.infill, parts);
  for (const char* wrong : {R"("ab")", "[]", R"(["ab"])", "{}", "3"}) {
    EXPECT_EQ(Refused(std::string(R"({"diffusion": {"infill": )") + wrong + "}}"), "diffusion.infill") << wrong;
  }
  for (const char* wrong : {"0", "-1", "1.5", "true", "null", "[]", R"("")"}) {
    EXPECT_EQ(Refused(std::string(R"({"diffusion": {"infill": [1, )") + wrong + "]}}"), "diffusion.infill[1]") << wrong;
  }
  for (const char* other : {R"("prompt": "a")", R"("suffix": "a")", R"("max_tokens": 4)"}) {
    EXPECT_EQ(Refused(std::string("{") + other + R"(, "diffusion": {"infill": [1]}})"), "diffusion.infill") << other;
  }
  EXPECT_EQ(Refused(R"({"messages": [{"role": "user", "content": "a"}], "diffusion": {"infill": [1]}})", true),
            "diffusion.infill");
}

TEST(CompletionRequest, ConstraintsKeepTheOrderOfProperties) {
  const auto sampling = [](const std::string& body) { return Parse(body).sampling; };
  EXPECT_EQ(sampling(R"({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true,
                         "schema": {"z": 1, "a": {"y": 2, "b": 3}}}}})")
                .json_schema,
            R"({"z":1,"a":{"y":2,"b":3}})");
  EXPECT_EQ(sampling(R"({"guided_json": "{\"b\": 1}"})").json_schema, R"({"b": 1})");
  EXPECT_EQ(sampling(R"({"response_format": {"type": "json_object"}})").json_schema, R"({"type": "object"})");
  EXPECT_EQ(sampling(R"({"response_format": {"type": "text"}, "guided_regex": null})"), sampling("{}"));
  EXPECT_EQ(sampling(R"({"guided_regex": "a+"})").regex, "a+");
  EXPECT_EQ(sampling(R"({"guided_choice": ["b", "a"]})").choices, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(sampling(R"({"structured_outputs": {"choice": ["b"]}})").choices, std::vector<std::string>{"b"});
  EXPECT_EQ(Parse(R"({"structured_outputs": {"regex": "a"}})").constraint_field, "structured_outputs.regex");
}

TEST(CompletionRequest, DepthIsLimited) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  for (std::size_t depth : {std::size_t{65}, std::size_t{400'000}}) {
    EXPECT_EQ(Refused(R"({"stop": )" + nested(depth) + "}"), "?");
    EXPECT_EQ(Refused(R"({"response_format": {"type": )" + nested(depth) + "}}"), "?");
    EXPECT_EQ(Refused(R"({"messages": [{"role": "user", "content": [{"type": )" + nested(depth) + "}]}]}", true), "?");
  }
  EXPECT_EQ(Refused(R"({"stop": )" + nested(63) + "}"), "stop");
  EXPECT_EQ(Refused(R"({"metadata": )" + nested(63) + "}"), "");
}

TEST(CompletionRequest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(Refused("{"), "?");
  EXPECT_EQ(Refused("[]"), "?");
  EXPECT_EQ(Refused("\"\xff\""), "?");
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"prompt": 5})", "prompt"},
      {R"({"prompt": []})", "prompt"},
      {R"({"prompt": {}})", "prompt"},
      {R"({"prompt": [1, -2]})", "prompt"},
      {R"({"prompt": [1, 2.5]})", "prompt"},
      {R"({"prompt": [1, 4294967296]})", "prompt"},
      {R"({"prompt": ["a", 1]})", "prompt[1]"},
      {R"({"prompt": [[1], []]})", "prompt[1]"},
      {R"({"prompt": [["a"]]})", "prompt[0]"},
      {R"({"prompt": ["a", "b", "c", "d"]})", "prompt"},
      {R"({"prompt": ["a", "b", "c"], "n": 3})", "prompt"},
      {R"({"suffix": 5})", "suffix"},
      {R"({"max_tokens": 0})", "max_tokens"},
      {R"({"max_tokens": -2})", "max_tokens"},
      {R"({"max_completion_tokens": 0})", "max_completion_tokens"},
      {R"({"max_tokens": 1.5})", "max_tokens"},
      {R"({"max_tokens": "7"})", "max_tokens"},
      {R"({"temperature": -1})", "temperature"},
      {R"({"temperature": 1e300})", "temperature"},
      {R"({"top_p": 1.1})", "top_p"},
      {R"({"stop": [""]})", "stop"},
      {R"({"stop": 5})", "stop"},
      {R"({"stop": ["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"]})", "stop"},
      {R"({"n": 5})", "n"},
      {R"({"stream": 1})", "stream"},
      {R"({"stream_options": true})", "stream_options"},
      {R"({"tools": [{}]})", "tools"},
      {R"({"logprobs": 21})", "logprobs"},
      {R"({"response_format": {"type": "xml"}})", "response_format.type"},
      {R"({"response_format": "json"})", "response_format.type"},
      {R"({"response_format": {"type": "json_schema"}})", "response_format.json_schema"},
      {R"({"response_format": {"type": "json_schema", "json_schema": {"schema": 3}}})",
       "response_format.json_schema.schema"},
      {R"({"guided_json": 3})", "guided_json"},
      {R"({"guided_regex": ""})", "guided_regex"},
      {R"({"guided_choice": []})", "guided_choice"},
      {R"({"guided_choice": [1]})", "guided_choice"},
      {R"({"guided_choice": ["a"], "guided_regex": "a"})", "guided_choice"},
      {R"({"response_format": {"type": "json_object"}, "guided_json": {}})", "guided_json"},
      {R"({"structured_outputs": {"grammar": "a"}})", "structured_outputs.grammar"},
      {R"({"guided_grammar": "a"})", "guided_grammar"},
      {R"({"diffusion": []})", "diffusion"},
      {R"({"diffusion": {"epsilon": 1}})", "diffusion.epsilon"},
      {R"({"diffusion": {"planner": "nobody"}})", "diffusion.planner"},
      {R"({"diffusion": {"planner": "punt:epsilon=-1"}})", "diffusion.planner"},
      {R"({"diffusion": {"score": "nobody"}})", "diffusion.score"},
      {R"({"diffusion": {"cache": "nobody"}})", "diffusion.cache"},
      {R"({"diffusion": {"eos": "nobody"}})", "diffusion.eos"},
      {R"({"diffusion": {"stream": "nobody"}})", "diffusion.stream"},
      {R"({"diffusion": {"window": -1}})", "diffusion.window"},
  };
  for (const auto& [body, field] : wrong) EXPECT_EQ(Refused(body), field) << body;
  EXPECT_EQ(Refused("{}", true), "messages");
}

/// The field, in a request where it stands, with a value that is not its default.
nlohmann::json Asking(const SamplingField& field, ApiPlace place) {
  const std::map<std::string_view, nlohmann::json> values = {{"planner", "top-k"},
                                                             {"score", "margin"},
                                                             {"convention", "dream"},
                                                             {"score_on", "tempered"},
                                                             {"eos", "forbid"},
                                                             {"cache", "step"},
                                                             {"stop", nlohmann::json{"a", "b"}},
                                                             {"top_p", 0.5},
                                                             {"temperature", 0.25},
                                                             {"min_p", 0.125}};
  const auto found = values.find(field.name());
  const nlohmann::json value = found == values.end() ? nlohmann::json(3) : found->second;
  const nlohmann::json object = {{std::string(field.name()), value}};
  nlohmann::json body = place == ApiPlace::kTop ? object : nlohmann::json{{"diffusion", object}};
  body["prompt"] = "x";
  return body;
}

TEST(CompletionRequest, TakesEveryWayOfSampling) {
  for (const SamplingField& field : SamplingFields()) {
    for (ApiPlace place : {ApiPlace::kTop, ApiPlace::kDiffusion}) {
      if (field.place != place && field.place != ApiPlace::kBoth) continue;
      const std::string body = Asking(field, place).dump();
      const CompletionRequest request = ParseCompletion(body, false, {});
      EXPECT_TRUE(request.ignored.empty()) << body;
      for (const SamplingField& other : SamplingFields()) {
        if (other.key == "seed") continue;  // a request's is drawn when it has none
        const bool differs = TextOf(request.sampling, other) != TextOf(Sampling(), other);
        EXPECT_EQ(differs, &other == &field) << body << " " << other.key;
      }
      EXPECT_EQ(request.seed.has_value(), field.key == "seed");
    }
    if (field.place != ApiPlace::kNone) continue;
    EXPECT_THROW(ParseCompletion(Asking(field, ApiPlace::kDiffusion).dump(), false, {}), ApiError) << field.key;
  }
}

TEST(CompletionRequest, WhatIsNotSaidIsAsTheServerHasIt) {
  const Sampling usual{.planner = "top-k:k=2", .temperature = 0.5, .min_p = 0.25, .window = 8, .stop = {"x"}};
  EXPECT_EQ(ParseCompletion(R"({"prompt":"a"})", false, {}, usual).sampling, usual);
  const Sampling said = ParseCompletion(R"({"prompt":"a","temperature":1,"stop":[]})", false, {}, usual).sampling;
  EXPECT_EQ(said.temperature, 1);
  EXPECT_TRUE(said.stop.empty());
  EXPECT_EQ(said.min_p, 0.25);
}

}  // namespace
}  // namespace punt
