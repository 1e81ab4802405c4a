// Texts that make tokenizers slow: four times as much takes about four times as long, whatever it is. Times are
// compared with each other within one run, the best of several each.
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "punt/error.h"
#include "text/tokenizers_testing.h"
#include "text/utf8.h"

namespace punt {
namespace {

using testing::NamedTokenizer;

struct Hard {
  const char* name;
  const char* unit;
  const char* later = "";  // for the second half, where that is another
};

constexpr Hard kHard[] = {
    {"characters without a token", "\U0001D54F"},
    {"Chinese", "\u6f22"},
    {"a word", "a"},
    {"accents", "\u0301"},
    {"accents in the wrong order", "\u0301", "\u0316"},
    {"accents taking turns", "\u0301\u0316"},
    {"spaces", " "},
    {"lines", "\n"},
    {"spaces and lines", " \n"},
    {"digits", "7"},
    {"brackets", "["},
    {"half a special token", "<|"},
    {"contractions", "'s"},
    {"families", "\U0001F469\u200D"},
    {"punctuation", "...!"},
    {"letters and spaces", "ab "},
};

std::string Text(const Hard& hard, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes / 2) text += hard.unit;
  const std::string later = *hard.later != 0 ? hard.later : hard.unit;
  while (text.size() < bytes) text += later;
  return text;
}

double Seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Act>
double SecondsOf(const Act& act) {
  const double begin = Seconds();
  act();
  return Seconds() - begin;
}

/// Up to three tries each; below a millisecond clocks and caches are all there is. Linear time is 4 times as much, and
/// 8 where the larger text no longer fits a cache that others use as well; quadratic time is 16.
template <typename Act>
void ExpectLinear(const Act& act, const std::string& what) {
  constexpr std::size_t kBytes = 1 << 16;
  double little = 1e9;
  double much = 1e9;
  for (int i = 0; i < 3; ++i) {
    little = std::min(little, SecondsOf([&] { act(kBytes); }));
    much = std::min(much, SecondsOf([&] { act(4 * kBytes); }));
    if (much < 12 * std::max(little, 1e-3)) return;
  }
  ADD_FAILURE() << what << ": " << little << " s, four times as much " << much << " s";
}

TEST(LinearTimeTest, Encode) {
  for (const NamedTokenizer& tokenizer : testing::ShippedTokenizers()) {
    if (tokenizer.kind == "esm") continue;
    for (const Hard& hard : kHard) {
      for (const EncodeOptions& options :
           {EncodeOptions{.specials = true}, EncodeOptions{.behind_hole = true, .before_hole = true}}) {
        ExpectLinear([&](std::size_t bytes) { tokenizer->Encode(Text(hard, bytes), options); },
                     tokenizer.name + ", " + hard.name);
      }
    }
  }
}

TEST(LinearTimeTest, Proteins) {
  for (const NamedTokenizer& tokenizer : testing::ShippedTokenizers()) {
    if (tokenizer.kind != "esm") continue;
    for (const char* unit : {"A", "a", "MKV \n", "a a"}) {
      ExpectLinear([&](std::size_t bytes) { tokenizer->Encode(Text({unit, unit}, bytes)); }, unit);
    }
    const auto refused = [&](std::size_t bytes) {
      EXPECT_THROW(tokenizer->Encode(Text({"A", "A"}, bytes) + "1"), Error);
    };
    ExpectLinear(refused, "a letter that is none at the end");
  }
}

TEST(LinearTimeTest, Chats) {
  Metadata metadata = testing::FolderTokenizer(std::filesystem::path(PUNT_SOURCE_DIR) / "tests/golden/llada");
  const NamedTokenizer llada = testing::OpenNamed("llada", metadata);
  for (const Hard& hard : kHard) {
    const auto chat = [&](std::size_t bytes) {
      const ChatMessage message{"user", Text(hard, bytes)};
      llada->EncodeChat({&message, 1});
    };
    ExpectLinear(chat, hard.name);
  }
  const auto many = [&](std::size_t bytes) {
    llada->EncodeChat(std::vector<ChatMessage>(bytes / 64, ChatMessage{"user", "x"}));
  };
  ExpectLinear(many, "many messages");
}

/// Normal forms as utf8proc's own, which is slow where accents are many.
TEST(LinearTimeTest, NormalFormsAreThoseOfUtf8proc) {
  const char* const parts[] = {"e",      "\u0301", "\u0316", "\u0323", "\u1100", "\u1161", "\u11a8", "\uac00", "\u0344",
                               "\u00e9", "\u1ed9", "x",      "\u0f73", "\u212b", "\u0958", "\u3099", "\u304b"};
  std::uint64_t state = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 8; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += parts[(state >> 33) % std::size(parts)];
    }
    const auto bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.c_str());
    utf8proc_uint8_t* composed = utf8proc_NFC(bytes);
    utf8proc_uint8_t* decomposed = utf8proc_NFD(bytes);
    EXPECT_EQ(Nfc(text), reinterpret_cast<const char*>(composed));
    EXPECT_EQ(Nfd(text), CodePoints(reinterpret_cast<const char*>(decomposed)));
    std::free(composed);
    std::free(decomposed);
  }
}

}  // namespace
}  // namespace punt
