// Whatever bytes a trace file holds, reading it gives events or a punt::Error; never a crash, another
// exception, or events that a view could not show.
#include <gtest/gtest.h>

#include <sstream>

#include "generate/trace_testing.h"
#include "punt/error.h"
#include "punt/random.h"
#include "punt/trace.h"

namespace punt {
namespace {

/// One random edit: of bytes, of numbers, of structure.
void Mutate(std::string& text, RandomStream& random) {
  const auto at = [&] { return text.empty() ? 0 : static_cast<std::size_t>(random.Below(text.size())); };
  const char* snippets[] = {"null",     "-1",         "1e999",     "99999999999999999999",
                            "[",        "]",          "{}",        "\"",
                            ",",        "0.5",        "\n",        "\xff",
                            "\xc0\x80", "\\u0000",    "\"step\":", "true",
                            "[[[[[[[[", "2147483648", "\"end\""};
  switch (random.Below(7)) {
    case 0:
      if (!text.empty()) text[at()] = static_cast<char>(random.Below(256));
      break;
    case 1:
      if (!text.empty()) text[at()] ^= static_cast<char>(1u << random.Below(8));
      break;
    case 2:
      text.erase(at(), random.Below(20));
      break;
    case 3:
      text.insert(at(), snippets[random.Below(std::size(snippets))]);
      break;
    case 4:
      text.resize(at());
      break;
    case 5: {
      const std::size_t from = at();
      text.insert(at(), text.substr(from, random.Below(60)));
      break;
    }
    default: {  // a digit becomes another: the JSON stays valid and the content changes
      const std::size_t digit = text.find_first_of("0123456789", at());
      if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random.Below(10));
    }
  }
}

template <typename Read>
int CountRefusals(std::string text, RandomStream& random, int edits, Read read) {
  int refused = 0;
  for (int edit = 0; edit < edits; ++edit) {
    Mutate(text, random);
    try {
      read(text);
    } catch (const Error& error) {
      ++refused;
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_LT(message.size(), 300u) << message;
    }
  }
  return refused;
}

TEST(TraceFuzz, MutatedLinesGiveEventsOrErrors) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    RandomStream random(Mix64(seed + 1));
    refused += CountRefusals(ToJsonLine(RandomEvent(random)), random, 4, [](const std::string& line) {
      // What is accepted can be written, and says the same when read again.
      const std::string once = ToJsonLine(FromJsonLine(line));
      EXPECT_EQ(ToJsonLine(FromJsonLine(once)), once);
    });
  }
  EXPECT_GT(refused, 8000);   // most edits break something
  EXPECT_LT(refused, 16000);  // but not all
}

TEST(TraceFuzz, MutatedFilesGiveTracesOrErrors) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomStream random(Mix64(seed + 77777));
    std::string text;
    for (const TraceEvent& event : RandomRun(random, 6, 4)) text += ToJsonLine(event) + "\n";
    refused += CountRefusals(text, random, 4, [](const std::string& bytes) {
      std::istringstream in(bytes);
      std::size_t length = 0;
      for (const TraceEvent& event : ReadTrace(in, "fuzz.jsonl")) {
        if (const auto* run = std::get_if<RunEvent>(&event)) length = run->canvas.size();
        const auto* commit = std::get_if<CommitEvent>(&event);
        if (commit == nullptr) continue;
        for (Position position : commit->positions) ASSERT_LT(static_cast<std::size_t>(position), length);
      }
    });
  }
  EXPECT_GT(refused, 1500);
  EXPECT_LT(refused, 6000);
}

}  // namespace
}  // namespace punt
