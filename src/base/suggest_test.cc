#include "base/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace punt {
namespace {

TEST(EditDistance, OfWordsThatAreKnown) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("putn", "punt"), 1);
  EXPECT_EQ(EditDistance("--temprature", "--temperature"), 1);
  EXPECT_EQ(EditDistance("abcd", "badc"), 2);
  EXPECT_EQ(EditDistance("ca", "abc"), 3);  // no letter is touched twice, so no swap with an insertion in its middle
}

/// By the definition alone: try every edit of the last letters.
int NaiveDistance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  const std::string_view a1 = a.substr(0, a.size() - 1);
  const std::string_view b1 = b.substr(0, b.size() - 1);
  int best = std::min(
      {NaiveDistance(a1, b) + 1, NaiveDistance(a, b1) + 1, NaiveDistance(a1, b1) + (a.back() == b.back() ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back()) {
    best = std::min(best, NaiveDistance(a.substr(0, a.size() - 2), b.substr(0, b.size() - 2)) + 1);
  }
  return best;
}

TEST(EditDistance, AgreesWithItsDefinitionOnAllShortTexts) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() == 4) continue;
    for (char c : {'a', 'b', 'c'}) texts.push_back(texts[i] + c);
  }
  ASSERT_EQ(texts.size(), 121u);
  for (const std::string& a : texts) {
    for (const std::string& b : texts) {
      ASSERT_EQ(EditDistance(a, b), NaiveDistance(a, b)) << a << " " << b;
      ASSERT_EQ(EditDistance(a, b), EditDistance(b, a)) << a << " " << b;
    }
  }
}

constexpr std::string_view kNames[] = {"generate", "replay", "compare", "list", "top-k", "p2", "remdm"};

TEST(Nearest, FindsWhatWasMeant) {
  for (const auto& [typed, name] : std::map<std::string_view, std::string_view>{{"genrate", "generate"},
                                                                                {"GENERATE", "generate"},
                                                                                {"gnerate", "generate"},
                                                                                {"repaly", "replay"},
                                                                                {"lsit", "list"},
                                                                                {"topk", "top-k"},
                                                                                {"p3", "p2"},
                                                                                {"gen", "generate"},
                                                                                {"comp", "compare"}}) {
    EXPECT_EQ(Nearest(typed, kNames), name) << typed;
  }
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  for (std::string_view typed : {"", "x", "xy", "nonsense", "ge", "serve", "generategenerate"}) {
    EXPECT_EQ(Nearest(typed, kNames), "") << typed;
  }
  EXPECT_EQ(Nearest(std::string(100'000, 'g'), kNames), "");
  EXPECT_EQ(Nearest("list", {}), "");
}

// Whatever single slip is made in a long name, it is the one that is suggested.
TEST(Nearest, ForgivesEverySingleSlip) {
  for (std::string_view name : kNames) {
    if (name.size() < 5) continue;
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::string dropped(name), doubled(name), other(name), swapped(name);
      dropped.erase(i, 1);
      doubled.insert(i, 1, name[i]);
      other[i] = '#';
      if (i > 0) std::swap(swapped[i], swapped[i - 1]);
      for (const std::string& typed : {dropped, doubled, other, swapped}) EXPECT_EQ(Nearest(typed, kNames), name);
    }
  }
}

TEST(DidYouMean, IsPutIntoWords) {
  EXPECT_EQ(DidYouMean("genrate", kNames), " (did you mean generate?)");
  EXPECT_EQ(DidYouMean("nonsense", kNames), "");
}

}  // namespace
}  // namespace punt
