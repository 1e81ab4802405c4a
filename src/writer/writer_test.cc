#include "punt/writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error_testing.h"

namespace punt {
namespace {

class WriterTest : public ::testing::Test {
 protected:
  const Writer writer_ = Writer::Open("toy:markov,length=24,vocab=4,seed=3");
  const std::string stories_ = PUNT_SOURCE_DIR "/models/stories.gguf";
};

TEST_F(WriterTest, AnAnswerIsWhatStandsBehindThePrompt) {
  const Answer answer = writer_.Write({.prompt = "abc"});
  EXPECT_EQ(answer.text.size(), 21u);
  EXPECT_EQ(answer.tokens, 21);
  EXPECT_EQ(answer.finish_reason, "length");
  EXPECT_EQ(answer.run.tokens.size(), 24u);
  const std::string whole = writer_.model().tokenizer->Decode(answer.run.tokens);
  EXPECT_EQ(whole, "abc" + answer.text);
  EXPECT_EQ(writer_.Write({.prompt = "abc", .length = 5}).text.size(), 5u);
  EXPECT_EQ(writer_.Write({.infill = ParseHoles("a[MASK:2]c[MASK]")}).text.size(), 5u);
}

// The recipe, the session and the loop are those of Generate: the same tokens and passes.
TEST_F(WriterTest, WritesWhatGenerateDoes) {
  const Model& model = writer_.model();
  const DenoiserInfo& info = model.denoiser->info();
  for (const Sampling& sampling :
       {Sampling{.seed = 3}, Sampling{.planner = "top-k:k=4", .temperature = 0.5, .window = 8},
        Sampling{.planner = "punt:epsilon=0.1", .top_k = 2, .max_nfe = 9}}) {
    const Answer answer = writer_.Write({.sample = 5}, sampling);
    Recipe recipe = MakeRecipe(sampling, info);
    recipe.sample = 5;
    const auto session = model.denoiser->NewSession({});
    const std::vector<Token> masks(24, info.mask_token);
    const GenerateResult run = Generate(*session, Canvas(masks, info.mask_token, info.vocab_size), recipe);
    EXPECT_EQ(answer.run.tokens, run.tokens);
    EXPECT_EQ(answer.run.counters.nfe(), run.counters.nfe());
    EXPECT_EQ(answer.run.stop, run.stop);
  }
}

TEST_F(WriterTest, SettledTextAddsUpToTheAnswer) {
  const Writer writer = Writer::Open(stories_, {}, 1);
  for (const char* planner : {"left-to-right", "top-k:k=8", "remdm"}) {
    for (const std::vector<std::string>& stops : {std::vector<std::string>{}, {"the", "."}}) {
      std::string told;
      const Sampling sampling{.planner = planner, .temperature = 0.7, .stop = stops};
      const Ask ask{.prompt = "Once upon a time", .length = 32};
      const Answer answer = writer.Write(ask, sampling, {.on_text = [&](std::string_view more) { told += more; }});
      EXPECT_EQ(told, answer.text) << planner;
      for (const std::string& stop : stops) EXPECT_EQ(answer.text.find(stop), std::string::npos) << answer.text;
    }
  }
}

TEST_F(WriterTest, ManyThreadsMayAskTheSameWriter) {
  const Sampling sampling{.planner = "top-k:k=3"};
  std::vector<std::string> alone(8);
  for (std::size_t i = 0; i < alone.size(); ++i) alone[i] = writer_.Write({.prompt = "a", .sample = i}, sampling).text;
  EXPECT_NE(alone[0], alone[1]);
  std::vector<std::string> together(alone.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    threads.emplace_back([&, i] { together[i] = writer_.Write({.prompt = "a", .sample = i}, sampling).text; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
}

TEST_F(WriterTest, ABatchGivesWhatEachGivesAlone) {
  const Writer writer = Writer::Open(stories_, {}, 1);
  const Sampling sampling{.planner = "punt:epsilon=0.2", .temperature = 0.7, .stop = {"!"}, .seed = 1};
  const std::vector<Ask> asks = {{.prompt = "Once", .length = 16},
                                 {.infill = ParseHoles("Tom saw a [MASK:3]. He ran.")},
                                 {.prompt = "Once", .length = 24, .sample = 1},
                                 {.suffix = " The end.", .length = 8}};
  std::vector<std::string> told(asks.size());
  std::vector<Watch> watches;
  for (std::string& text : told) watches.push_back({.on_text = [&text](std::string_view more) { text += more; }});
  const std::vector<Answer> answers = writer.WriteBatch(asks, sampling, watches);
  ASSERT_EQ(answers.size(), asks.size());
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const Answer alone = writer.Write(asks[i], sampling);
    EXPECT_EQ(answers[i].text, alone.text);
    EXPECT_EQ(answers[i].run.tokens, alone.run.tokens);
    EXPECT_EQ(answers[i].run.counters.nfe(), alone.run.counters.nfe());
    EXPECT_EQ(told[i], answers[i].text);
  }
  EXPECT_TRUE(writer.WriteBatch({}, sampling).empty());
}

TEST_F(WriterTest, AStopTokenEndsARun) {
  std::stop_source source;
  std::string told;
  const Answer answer = writer_.Write({}, {.planner = "left-to-right"},
                                      {.on_text =
                                           [&](std::string_view more) {
                                             told += more;
                                             if (told.size() == 4) source.request_stop();
                                           },
                                       .stop = source.get_token()});
  EXPECT_EQ(answer.run.stop, StopReason::kCancelled);
  EXPECT_EQ(answer.run.counters.nfe(), 4);
  EXPECT_EQ(answer.text, told);
  EXPECT_EQ(writer_.Write({}, {}, {.stop = source.get_token()}).run.counters.nfe(), 0) << "stopped before it began";
}

TEST_F(WriterTest, ErrorsNameThePart) {
  const auto part = [&](const Ask& ask) -> std::string {
    try {
      writer_.Write(ask);
    } catch (const AskError& error) {
      constexpr const char* kNames[] = {"prompt", "chat", "infill", "suffix"};
      return kNames[static_cast<int>(error.part())];
    }
    return "none";
  };
  EXPECT_EQ(part({.prompt = "xyz"}), "prompt");
  EXPECT_EQ(part({.prompt = std::string(25, 'a')}), "prompt");
  EXPECT_EQ(part({.prompt = "a", .length = 24}), "prompt");
  EXPECT_EQ(part({.prompt = "a", .length = 24, .cut_to_fit = true}), "none");
  EXPECT_EQ(part({.tokens = std::vector<Token>{-1}}), "prompt");
  EXPECT_EQ(part({.suffix = "xyz"}), "suffix");
  EXPECT_EQ(part({.chat = {{"user", "a"}}}), "chat");
  EXPECT_EQ(part({.prompt = "a", .chat = {{"user", "a"}}}), "chat");
  EXPECT_EQ(part({.infill = {{.masks = 25}}}), "infill");
  EXPECT_EQ(part({.prompt = "a", .infill = {{.masks = 2}}}), "infill");
  EXPECT_EQ(part({.infill = {{.masks = 2}}, .length = 2}), "infill");
  EXPECT_THROW(writer_.Write({.prompt = "a", .length = -5}), Error);
  EXPECT_NE(ErrorOf([&] { writer_.Write({}, {.planner = "pant"}); }).find("unknown planner"), std::string::npos);
}

}  // namespace
}  // namespace punt
