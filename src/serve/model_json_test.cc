// What clients are told of the model.
#include "serve/model_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "punt/error.h"
#include "serve/api_error.h"

namespace punt {
namespace {

TEST(ModelJson, ClientsDoNotLearnWhereItLies) {
  EXPECT_EQ(PublicName("stories"), "stories");
  EXPECT_EQ(PublicName("/some/where/stories.gguf"), "stories");
  EXPECT_EQ(PublicName("tests/golden/llada"), "llada");
  EXPECT_EQ(PublicName("tests/golden/llada//"), "llada");
  EXPECT_EQ(PublicName("./llada-8b.Q4_K_M.gguf"), "llada-8b.Q4_K_M");
  EXPECT_EQ(PublicName(".gguf"), ".gguf");
  EXPECT_EQ(PublicName("toy:markov,length=12"), "toy:markov,length=12");
}

TEST(ModelJson, OneModelIsServed) {
  Model model = OpenModel("toy:markov,length=12,vocab=4,seed=1,coupling=0.9");
  model.name = "mine";
  const ServedModel served{.model = model, .created = 1700000000};
  const auto list = nlohmann::json::parse(ModelsJson(served));
  ASSERT_EQ(list["data"].size(), 1u);
  EXPECT_EQ(list["data"][0], nlohmann::json::parse(ModelJson(served, "mine")));
  EXPECT_EQ(list["data"][0]["created"], 1700000000);
  EXPECT_EQ(list["data"][0]["max_model_len"], 12);
  try {
    ModelJson(served, std::string(10'000, 'x'));
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 404);
    EXPECT_EQ(error.code(), "model_not_found");
    EXPECT_LT(std::string(error.what()).size(), 200u);
  }
}

TEST(ModelJson, PropsSayHowChatsAreWritten) {
  Model model = OpenModel("toy:markov,length=12,vocab=4,seed=1,coupling=0.9");
  const auto form = [&](const char* setting) {
    const ServedModel served{.model = model, .chat_form = ChooseChatForm(setting, model)};
    return nlohmann::json::parse(PropsJson(served, {}))["chat_template"].get<std::string>();
  };
  EXPECT_EQ(form("auto"), "plain");
  EXPECT_EQ(form("none"), "none");
  model.has_chat_template = true;
  EXPECT_EQ(form("auto"), "model");
  EXPECT_EQ(form("plain"), "plain");
  EXPECT_THROW(form("other"), Error);
}

}  // namespace
}  // namespace punt
