// Each row of the table does what it says, and the documentation says the same.
#include "serve/request_settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "serve/api_error.h"
#include "serve/completion_request.h"

namespace punt {
namespace {

using Json = nlohmann::json;

/// A name that the row is about.
std::string NameOf(const SettingRow& row) {
  std::string name(row.name);
  if (name.ends_with('*')) name.back() = 'x';
  return name;
}

/// A request that has nothing but this, and what every request must have.
Json Body(const std::string& name, const Json& value, bool chat = false) {
  Json body = {{name, value}};
  if (chat && name != "messages") body["messages"] = {{{"role", "user"}, {"content", "hi"}}};
  return body;
}

CompletionRequest Parse(const Json& body, bool chat = false) { return ParseCompletion(body.dump(), chat, {}); }

/// The error about this value; "accepted" without one.
std::string FieldError(const std::string& name, const Json& value, bool chat = false) {
  try {
    Parse(Body(name, value, chat), chat);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    EXPECT_EQ(error.param(), name);
    return error.what();
  }
  return "accepted";
}

TEST(RequestSettings, WhatWouldChangeTheAnswerIsRefusedUnlessItAsksForNothing) {
  const Json odd[] = {"required", 0.5, 7, true, Json::array({1}), {{"type", "json_object"}}};
  int refused = 0;
  for (const SettingRow& row : RequestSettings()) {
    if (row.use != SettingUse::kRefused) continue;
    const std::string name = NameOf(row);
    const Json neutral = Json::parse(row.neutral);
    EXPECT_FALSE(row.why.empty()) << name;
    for (bool chat : {false, true}) {
      for (const Json& value : odd) {
        if (std::find(neutral.begin(), neutral.end(), value) != neutral.end()) continue;
        EXPECT_EQ(FieldError(name, value, chat), fmt::format("{} is not supported: {}", name, row.why)) << value;
      }
      EXPECT_EQ(FieldError(name, nullptr, chat), "accepted");
      for (const Json& value : neutral) EXPECT_EQ(FieldError(name, value, chat), "accepted") << name << " " << value;
    }
    ++refused;
  }
  EXPECT_GT(refused, 40);
}

TEST(RequestSettings, WhatMakesNoDifferenceIsPassedOverWithoutAWord) {
  for (const SettingRow& row : RequestSettings()) {
    if (row.use != SettingUse::kPassedOver) continue;
    for (const Json& value : {Json("any"), Json(3), Json::object(), Json(true)}) {
      EXPECT_EQ(FieldError(NameOf(row), value), "accepted");
      EXPECT_TRUE(Parse(Body(NameOf(row), value)).ignored.empty()) << row.name;
    }
  }
}

TEST(RequestSettings, WhatBelongsElsewhereIsSaid) {
  EXPECT_EQ(FieldError("messages", Json::array()), "messages belongs to /v1/chat/completions");
  EXPECT_EQ(FieldError("prompt", "a", true), "prompt belongs to /v1/completions");
  EXPECT_EQ(FieldError("suffix", "a", true), "suffix belongs to /v1/completions");
  EXPECT_EQ(FieldError("suffix", nullptr, true), "accepted");
  EXPECT_EQ(FieldError("tools", {{{"type", "function"}}}), "tools belongs to /v1/chat/completions");
  EXPECT_EQ(FieldError("tool_choice", "required"), "tool_choice belongs to /v1/chat/completions");
  EXPECT_EQ(FieldError("tools", Json::array()), "accepted");
  EXPECT_EQ(FieldError("tool_choice", "auto"), "accepted");
}

TEST(RequestSettings, NoRowHidesALaterOne) {
  for (const SettingRow& row : RequestSettings()) EXPECT_EQ(FindSetting(NameOf(row)), &row) << row.name;
  EXPECT_EQ(FindSetting("presence_penalties"), nullptr);
}

TEST(RequestSettings, TheBestNOfNAreAllOfThem) {
  EXPECT_NO_THROW(Parse({{"n", 3}, {"best_of", 3}}));
  EXPECT_THROW(Parse({{"n", 2}, {"best_of", 3}}), ApiError);
}

TEST(RequestSettings, UnknownNamesAreToldShort) {
  Json body = {{"chat_id", "x"}, {"session", nullptr}, {std::string(100'000, 'a'), 1}};
  const std::vector<std::string> ignored = Parse(body).ignored;
  ASSERT_EQ(ignored.size(), 2u);
  EXPECT_EQ(ignored[0], std::string(64, 'a') + "...");
  EXPECT_EQ(ignored[1], "chat_id");
  for (int i = 0; i < 1000; ++i) body["key" + std::to_string(i)] = i;
  EXPECT_EQ(Parse(body).ignored.size(), 32u);
}

/// The rows that are refused as docs/serving.md has them: one line for those that share a reason.
std::string RefusedTable() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const SettingRow& row : RequestSettings()) {
    if (row.use != SettingUse::kRefused) continue;
    std::string entry = fmt::format("`{}`", row.name);
    for (const Json& neutral : Json::parse(row.neutral)) entry += fmt::format(" {}", neutral.dump());
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.second == row.why; });
    if (same == lines.end()) {
      lines.emplace_back(entry, row.why);
    } else {
      same->first += ", " + entry;
    }
  }
  std::string table = "| refused, unless | why |\n|---|---|\n";
  for (const auto& [names, why] : lines) table += fmt::format("| {} | {} |\n", names, why);
  return table;
}

TEST(RequestSettings, TheDocumentationHasTheTable) {
  std::ifstream file(PUNT_SOURCE_DIR "/docs/serving.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str().find(RefusedTable()) != std::string::npos) << "docs/serving.md should have\n"
                                                                    << RefusedTable();
}

}  // namespace
}  // namespace punt
