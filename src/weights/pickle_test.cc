// What the machine makes of each opcode, and what it refuses.
#include "weights/pickle.h"

#include <gtest/gtest.h>

#include "weights/pytorch_testing.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::Bytes;
using testing::ExpectError;
using testing::PickleBytes;

constexpr std::string_view kGlobals[] = {"torch Thing"};

/// As Python would print it.
std::string Show(const Pickle& pickle, const PickleValue& value, int depth = 0) {
  if (depth > 5) return "...";
  std::string items;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const bool is_value = value.kind == PickleKind::kDict && i % 2 == 1;
    items += (i == 0 ? "" : is_value ? ":" : ",") + Show(pickle, pickle.at(value.items[i]), depth + 1);
  }
  switch (value.kind) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBoolean:
      return value.integer == 1 ? "True" : "False";
    case PickleKind::kInteger:
      return std::to_string(value.integer);
    case PickleKind::kReal:
      return std::to_string(value.real);
    case PickleKind::kText:
      return "'" + std::string(value.text) + "'";
    case PickleKind::kTuple:
      return "(" + items + ")";
    case PickleKind::kList:
      return "[" + items + "]";
    case PickleKind::kDict:
      return "{" + items + "}";
    case PickleKind::kGlobal:
      return "<" + std::string(value.text) + ">";
    case PickleKind::kCall:
      return "call " + std::string(value.text) + items;
    case PickleKind::kPersistent:
      return "persistent " + items;
  }
  return "";
}

std::string Shown(const std::string& body) {
  const std::string bytes = PickleBytes().Raw(body).Done();
  const Pickle pickle(Bytes(bytes), kGlobals, "f");
  EXPECT_EQ(pickle.size(), bytes.size());
  return Show(pickle, pickle.root());
}

std::string Literal(const char* text, std::size_t size) { return {text, size}; }
#define LITERAL(text) Literal(text, sizeof(text) - 1)

void Refuses(const std::string& body, const std::string& fault) {
  const std::string bytes = PickleBytes().Raw(body).Done();
  ExpectError([&] { Pickle(Bytes(bytes), kGlobals, "f.bin"); }, {"f.bin", fault});
}

TEST(Pickle, ReadsWhatTensorsAreWrittenWith) {
  EXPECT_EQ(Shown("N"), "None");
  EXPECT_EQ(Shown("\x88"), "True");
  EXPECT_EQ(Shown("\x89"), "False");
  EXPECT_EQ(Shown("K\xff"), "255");
  EXPECT_EQ(Shown("M\xff\xff"), "65535");
  EXPECT_EQ(Shown("J\xfe\xff\xff\xff"), "-2");
  EXPECT_EQ(Shown(LITERAL("\x8a\0")), "0");
  EXPECT_EQ(Shown("\x8a\x01\xff"), "-1");
  EXPECT_EQ(Shown(LITERAL("\x8a\x05\0\0\0\0\1")), "4294967296");
  EXPECT_EQ(Shown(LITERAL("G\x3f\xe0\0\0\0\0\0\0")), "0.500000");
  EXPECT_EQ(Shown(LITERAL("X\2\0\0\0ab")), "'ab'");
  EXPECT_EQ(Shown("\x8c\x02"
                  "ab"),
            "'ab'");
  EXPECT_EQ(Shown("U\1a"), "'a'");
  EXPECT_EQ(Shown("(K\1K\2t"), "(1,2)");
  EXPECT_EQ(Shown("K\1K\2K\3\x87"), "(1,2,3)");
  EXPECT_EQ(Shown("K\1\x85"), "(1)");
  EXPECT_EQ(Shown("](K\1(K\2K\3te"), "[1,(2,3)]");
  EXPECT_EQ(Shown("]K\1a"), "[1]");
  EXPECT_EQ(Shown("}(K\1K\2K\3K\4u"), "{1:2,3:4}");
  EXPECT_EQ(Shown("}K\1K\2s"), "{1:2}");
  EXPECT_EQ(Shown("ctorch\nThing\n"), "<torch Thing>");
  EXPECT_EQ(Shown("\x8c\x05torch\x8c\x05Thing\x93"), "<torch Thing>");
  EXPECT_EQ(Shown("ctorch\nThing\n(K\1tR"), "call torch Thing(1)");
  EXPECT_EQ(Shown("ccollections\nOrderedDict\n)RK\1K\2s"), "{1:2}");
  EXPECT_EQ(Shown("}K\1K\2s}b"), "{1:2}");  // attributes are dropped
  EXPECT_EQ(Shown("K\1\x85Q"), "persistent (1)");
  EXPECT_EQ(Shown("K\7q\1h\1\x86"), "(7,7)");
  EXPECT_EQ(Shown(LITERAL("K\7r\0\1\0\0j\0\1\0\0\x86")), "(7,7)");
  EXPECT_EQ(Shown(LITERAL("K\7\x94h\0\x86")), "(7,7)");
  EXPECT_EQ(Shown(LITERAL("\x95\1\0\0\0\0\0\0\0N")), "None");
}

TEST(Pickle, AListMayHoldItself) { EXPECT_EQ(Shown("]q\1h\1a"), "[[[[[[...]]]]]]"); }

TEST(Pickle, StopsBehindItsEndMark) {
  const std::string bytes = PickleBytes().Raw("K\1").Done() + "more";
  EXPECT_EQ(Pickle(Bytes(bytes), {}, "f").size(), bytes.size() - 4);
}

TEST(Pickle, FindsByText) {
  const std::string bytes = PickleBytes().Raw("}(").Text("a").Raw("K\1").Text("b").Raw("K\2u").Done();
  const Pickle pickle(Bytes(bytes), {}, "f");
  ASSERT_NE(pickle.Find(pickle.root(), "b"), nullptr);
  EXPECT_EQ(pickle.Find(pickle.root(), "b")->integer, 2);
  EXPECT_EQ(pickle.Find(pickle.root(), "c"), nullptr);
}

TEST(Pickle, RefusesEveryNameThatIsNotListed) {
  Refuses("cos\nsystem\n(X\4\0\0\0echotR", "os.system");
  Refuses("cposix\nsystem\n", "posix.system");
  Refuses("cbuiltins\neval\n", "builtins.eval");
  Refuses("c__builtin__\ngetattr\n", "__builtin__.getattr");
  Refuses("ctorch\nThing.load\n", "torch.Thing.load");
  Refuses("ctorch Thing\n\n", "torch Thing.");
  Refuses("c\ntorch Thing\n", ".torch Thing");
  Refuses("\x8c\x02os\x8c\x06system\x93", "os.system");
  Refuses("c\x1b[31m\n\xff\n", "u001b");  // as the terminal may see it
  Refuses("c" + std::string(5000, 'a') + "\nb\n", "...");
  Refuses("K\1K\2\x93", "not a text");
}

TEST(Pickle, RefusesEveryOtherOpcodeByName) {
  const std::string known = "(.NJKMGTUX]ae)t}sucRbQhjqr\x80\x85\x86\x87\x88\x89\x8a\x8c\x93\x94\x95";
  for (int code = 0; code < 256; ++code) {
    if (known.find(static_cast<char>(code)) != std::string::npos) continue;
    Refuses(std::string(1, static_cast<char>(code)) + "N", "opcode");
  }
  Refuses("(cos\nsystem\no", "os.system");
  Refuses("(i__main__\nf\n", "INST");
  Refuses(")\x81", "NEWOBJ");
  Refuses("N\x92", "NEWOBJ_EX");
  Refuses("\x82\x01", "EXT1");
  Refuses("Sos\n", "STRING");
  Refuses("\xfe", "0xfe is not an opcode");
}

TEST(Pickle, RefusesWhatDoesNotFit) {
  Refuses("", "too few");
  Refuses("(", "too few");
  Refuses("NN", "left over");
  Refuses("(N.", "left over");
  Refuses("K\1\x86", "too few");
  Refuses("K\1(\x85", "too few");  // what lies below a mark is out of reach
  Refuses("t", "no mark");
  Refuses("]NNs", "a list");
  Refuses("}Na", "a dict");
  Refuses("Na", "too few");
  Refuses("}(Nu", "without a value");
  Refuses("h\5", "no entry 5");
  Refuses("q\5", "too few");
  Refuses("NN\x85R", "a call of None");
  Refuses("ctorch\nThing\nNR", "not a tuple");
  Refuses("ccollections\nOrderedDict\n(]tR", "with arguments");
  Refuses("N}b", "BUILD on None");
  Refuses("ctorch\nThing\n)R}b", "BUILD");
  Refuses("\x80\x01N", "protocol 1");
  Refuses("\x80\x06N", "protocol 6");
  const std::string bytes = PickleBytes().Text("abc").Raw("]").Done();
  for (std::size_t size = 0; size + 1 < bytes.size(); ++size) {
    ExpectError([&] { Pickle(Bytes(bytes).first(size), {}, "f"); }, {"f", "ends within"});
  }
}

TEST(Pickle, KeepsItsLimits) {
  const auto values = [](int count) { return PickleBytes().Raw("(" + std::string(count, 'N') + "t").Done(); };
  EXPECT_EQ(Pickle(Bytes(values(9)), {}, "f", {.values = 10}).root().items.size(), 9U);
  ExpectError([&] { Pickle(Bytes(values(10)), {}, "f", {.values = 10}); }, {"more than 10 values"});
  EXPECT_NO_THROW(Pickle(Bytes(values(9)), {}, "f", {.bytes = 14}));
  ExpectError([&] { Pickle(Bytes(values(9)), {}, "f", {.bytes = 13}); }, {"longer than the 13 bytes"});
  // A text that claims four gigabytes costs nothing.
  Refuses("X\xff\xff\xff\xff", "ends within");
}

}  // namespace
}  // namespace punt
