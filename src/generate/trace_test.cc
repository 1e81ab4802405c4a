#include "punt/trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "base/error_testing.h"
#include "generate/trace_pieces.h"
#include "generate/trace_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

std::string LineError(const std::string& line) {
  return ErrorOf([&] { FromJsonLine(line); });
}

std::string Lines(const std::vector<TraceEvent>& events) {
  std::string text;
  for (const TraceEvent& event : events) text += ToJsonLine(event) + "\n";
  return text;
}

std::string ReadError(const std::string& text) {
  std::istringstream in(text);
  return ErrorOf([&] { ReadTrace(in, "t.jsonl"); });
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::string kRun =
    ToJsonLine(RunEvent{.model = "m", .planner = "p", .score = "s", .mask_token = 9, .canvas = {9, 1, 9}});
const std::string kRound = ToJsonLine(RoundEvent{
    .step = 4,
    .round = {.level = 1, .anchors = {0}, .tests = {2, 1}, .divergences = {0.5, 0.25}, .kept = {false, true}}});
const std::string kCommit = ToJsonLine(CommitEvent{.step = 4, .positions = {0}, .tokens = {3}, .confidence = {0.5}});
const std::string kEdit = ToJsonLine(
    CommitEvent{.step = 4, .edited = {0}, .edited_tokens = {7}, .edited_confidence = {0.25}, .removed = {2}});
const std::string kReported = ToJsonLine(CommitEvent{
    .step = 4,
    .positions = {0},
    .tokens = {3},
    .confidence = {1},
    .rows = {{.position = 0, .step = 4, .token = 3, .log_prob = -0.5, .entropy = 0.25, .top = {{3, -0.5}}}}});
const std::string kEnd = ToJsonLine(EndEvent{.steps = 1, .tokens = {1, 2}});

TEST(TraceJson, RoundTripsRandomEvents) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomStream random(Mix64(seed));
    const TraceEvent event = RandomEvent(random);
    const std::string line = ToJsonLine(event);
    ASSERT_EQ(line.find('\n'), std::string::npos);
    ASSERT_TRUE(FromJsonLine(line) == event) << line << "\nis read as\n" << ToJsonLine(FromJsonLine(line));
    ASSERT_EQ(ToJsonLine(FromJsonLine(line)), line);
  }
}

TEST(TraceJson, HasTheDocumentedShape) {
  EXPECT_EQ(kRun, R"({"event":"run","version":2,"model":"m","planner":"p","score":"s","seed":0,"sample":0,)"
                  R"("temperature":0.0,"top_p":1.0,"window":0,"cache":"none","mask_token":9,"canvas":[9,1,9]})");
  EXPECT_EQ(kRound, R"({"event":"round","step":4,"level":1,"epsilon":0.0,"anchors":[0],"tests":[2,1],)"
                    R"("divergences":[0.5,0.25],"kept":[false,true]})");
  EXPECT_EQ(kCommit, R"({"event":"commit","step":4,"positions":[0],"tokens":[3],"confidence":[0.5],"remasked":[],)"
                     R"("nfe":{"base":0,"test":0,"total":0},"calls":0,"row_passes":0,"rows_read":0})");
  EXPECT_EQ(ToJsonLine(StepEvent{.step = 2, .base_was_free = true}),
            R"({"event":"step","step":2,"base":"free","positions":[],"tokens":[],"confidence":[]})");
}

TEST(TraceJson, VersionOneIsReadLikeTwo) {
  EXPECT_TRUE(FromJsonLine(Replaced(kRun, "\"version\":2", "\"version\":1")) == FromJsonLine(kRun));
}

TEST(TraceJson, EditsAndLengthsAreWrittenWhereThereAreAny) {
  EXPECT_EQ(kEdit, R"({"event":"commit","step":4,"positions":[],"tokens":[],"confidence":[],"remasked":[],)"
                   R"("edited":[0],"edited_tokens":[7],"edited_confidence":[0.25],"inserted":[],"removed":[2],)"
                   R"("nfe":{"base":0,"test":0,"total":0},"calls":0,"row_passes":0,"rows_read":0})");
}

TEST(TraceJson, WritesInfiniteDivergencesAsNull) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string line =
      ToJsonLine(RoundEvent{.round = {.tests = {1, 2}, .divergences = {infinity, 1}, .kept = {false, false}}});
  EXPECT_NE(line.find(R"("divergences":[null,1.0])"), std::string::npos) << line;
  EXPECT_EQ(std::get<RoundEvent>(FromJsonLine(line)).round.divergences[0], infinity);
}

TEST(TraceJson, RefusesToWriteWhatCannotBeReadBack) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(ToJsonLine(StepEvent{.positions = {0}, .tokens = {0}, .confidence = {nan}}), std::logic_error);
  EXPECT_THROW(ToJsonLine(RoundEvent{.round = {.tests = {1}, .divergences = {nan}, .kept = {true}}}), std::logic_error);
}

TEST(TraceJson, ReplacesBytesThatAreNoUtf8) {
  const TraceEvent event = FromJsonLine(ToJsonLine(PiecesEvent{{{1, "a\xff"}, {2, "\xf0\x9f"}}}));
  EXPECT_EQ(std::get<PiecesEvent>(event).pieces.at(1), "a\ufffd");
}

TEST(TraceJson, IgnoresFieldsItDoesNotKnow) {
  EXPECT_EQ(LineError(Replaced(kRun, R"("model")", R"("colour":[1,{}],"model")")), "accepted");
}

TEST(TraceJson, NamesWhatIsWrong) {
  const struct {
    std::string line;
    std::string message;
  } cases[] = {
      {"", "the line is empty"},
      {"  \t", "the line is empty"},
      {"{", "not JSON: the line is cut short"},
      {kRun.substr(0, kRun.size() - 3), "not JSON: the line is cut short"},
      {"{\"event\":}", "not JSON (or not UTF-8) at column 10"},
      {"{\"event\":\"r\xff\"}", "not JSON (or not UTF-8) at column 12"},
      {"[1]", "not an event: expected a JSON object, got array"},
      {"7", "not an event: expected a JSON object, got number"},
      {"{}", "event: 'event' is missing"},
      {R"({"event":3})", "event: 'event' must be a string, got number"},
      {R"({"event":"jump"})", "unknown event \"jump\""},
      {R"({"event":"a\nb"})", "unknown event \"a\\nb\""},
      {Replaced(kRun, "\"version\":2", "\"version\":3"), "run: version 3 is not supported, only 1 to 2 are"},
      {Replaced(kRun, "\"version\":2", "\"version\":0"), "run: version 0 is not supported, only 1 to 2 are"},
      {Replaced(kRun, "\"version\":2,", ""), "run: 'version' is missing"},
      {Replaced(kRun, "\"seed\":0", "\"seed\":-1"), "run: 'seed' must be between 0 and 18446744073709551615, got -1"},
      {Replaced(kRun, "\"seed\":0", "\"seed\":18446744073709551616"), "run: 'seed' must be a whole number, got number"},
      {Replaced(kRun, "\"window\":0", "\"window\":0.5"), "run: 'window' must be a whole number, got number"},
      {Replaced(kRun, "\"window\":0", "\"window\":2147483648"),
       "run: 'window' must be between 0 and 2147483647, got 2147483648"},
      {Replaced(kRun, "\"temperature\":0.0", "\"temperature\":-1"), "run: 'temperature' must be at least 0, got -1"},
      {Replaced(kRun, "\"temperature\":0.0", "\"temperature\":1e999"), "a number is too large"},
      {Replaced(kRun, "\"temperature\":0.0", "\"temperature\":null"), "run: 'temperature' must be a number, got null"},
      {Replaced(kRun, "[9,1,9]", "[]"), "run: 'canvas' is empty"},
      {Replaced(kRun, "[9,1,9]", "[9,-1,9]"), "run: 'canvas' must be between 0 and 2147483647, got -1"},
      {Replaced(kRun, "[9,1,9]", "[9,\"1\",9]"), "run: 'canvas' must be a whole number, got string"},
      {Replaced(kRun, "[9,1,9]", "{\"a\":1}"), "run: 'canvas' must be a list, got object"},
      {Replaced(kRound, "[false,true]", "[false]"), "round: 'kept' has 1 entries, 'tests' has 2"},
      {Replaced(kRound, "[0.5,0.25]", "[0.5,0.25,1]"), "round: 'divergences' has 3 entries, 'tests' has 2"},
      {Replaced(kRound, "[0.5,0.25]", "[0.5,-0.25]"), "round: 'divergences' must be at least 0, got -0.25"},
      {Replaced(kRound, "[false,true]", "[false,1]"), "round: 'kept' must be a list of true and false, got number"},
      {Replaced(kCommit, "\"tokens\":[3]", "\"tokens\":[]"), "commit: 'tokens' has 0 entries, 'positions' has 1"},
      {Replaced(kCommit, "\"calls\"", "\"edited\":[1],\"calls\""), "commit: 'edited_tokens' is missing"},
      {Replaced(kEdit, "\"edited_tokens\":[7]", "\"edited_tokens\":[]"),
       "commit: 'edited_tokens' has 0 entries, 'edited' has 1"},
      {Replaced(kCommit, "[0.5]", "[null]"), "commit: 'confidence' must be a number, got null"},
      {Replaced(kReported, "[-0.5]", "[]"), "commit: 'logprobs' has 0 entries, 'positions' has 1"},
      {Replaced(kReported, "[0.25]", "[]"), "commit: 'entropies' has 0 entries, 'positions' has 1"},
      {Replaced(kReported, "[[[3,-0.5]]]", "[]"), "commit: 'top' has 0 entries, 'positions' has 1"},
      {Replaced(kReported, "[[[3,-0.5]]]", "[[[3]]]"),
       "commit: 'top' must be pairs of a token and a number, got array"},
      {Replaced(kCommit, "\"total\":0", "\"total\":1"), "nfe: 'total' is not the sum of 'base' and 'test'"},
      {Replaced(kCommit, "\"base\":0", "\"base\":9223372036854775807"),
       "nfe: 'base' must be between 0 and 4611686018427387903, got 9223372036854775807"},
      {Replaced(kEnd, "\"full\"", "\"tired\""), "end: unknown reason \"tired\" in 'stop'"},
      {R"({"event":"pieces","pieces":{"01":"a"}})", "pieces: \"01\" is not a token"},
      {R"({"event":"pieces","pieces":{"-1":"a"}})", "pieces: \"-1\" is not a token"},
      {R"({"event":"pieces","pieces":{"1":2}})", "pieces: the piece of token 1 must be a string"},
      {R"({"event":"pieces","pieces":{"1":"<s>"},"control":[2]})", "pieces: control token 2 has no piece"},
      {R"({"event":"pieces","pieces":{"1":"<s>"},"control":1})", "pieces: 'control' must be a list, got number"},
      {R"({"event":"pieces","pieces":[]})", "pieces: 'pieces' must be an object, got array"},
      {R"({"event":"step","step":0,"base":"stolen","positions":[],"tokens":[],"confidence":[]})",
       R"(step: 'base' must be "forward" or "free", got "stolen")"},
  };
  for (const auto& c : cases) EXPECT_EQ(LineError(c.line), c.message) << c.line;
}

TEST(TraceJson, StopReasonsHaveTheirNames) {
  EXPECT_EQ(Name(StopReason::kFull), "full");
  EXPECT_EQ(Name(StopReason::kEos), "eos");
  EXPECT_EQ(Name(StopReason::kStepLimit), "step-limit");
  EXPECT_EQ(Name(StopReason::kNfeLimit), "nfe-limit");
  EXPECT_EQ(Name(StopReason::kStopString), "stop-string");
  EXPECT_EQ(Name(StopReason::kCancelled), "cancelled");
}

TEST(ReadTrace, ReadsWhatTheWriterWrites) {
  RandomStream random(7);
  std::vector<TraceEvent> events = RandomRun(random, 9, 4);
  for (const TraceEvent& event : RandomRun(random, 2, 4)) events.push_back(event);
  std::stringstream stream;
  TraceWriter writer(stream);
  for (const TraceEvent& event : events) writer.On(event);
  const std::vector<TraceEvent> read = ReadTrace(stream, "t.jsonl");
  ASSERT_EQ(read.size(), events.size());
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_TRUE(read[i] == events[i]) << ToJsonLine(events[i]);
}

TEST(ReadTrace, AcceptsInterruptedRunsAndMissingFinalNewline) {
  RandomStream random(7);
  const std::vector<TraceEvent> events = RandomRun(random, 9, 4);
  for (std::size_t n = 0; n <= events.size(); ++n) {
    std::string text = Lines({events.begin(), events.begin() + static_cast<std::ptrdiff_t>(n)});
    std::istringstream in(text);
    EXPECT_EQ(ReadTrace(in, "t").size(), n);
    if (!text.empty()) text.pop_back();
    EXPECT_EQ(ReadError(text), "accepted");
  }
}

TEST(ReadTrace, NamesTheLineOfACutLastLine) {
  RandomStream random(7);
  const std::string text = Lines(RandomRun(random, 3, 4));
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_EQ(ReadError(text.substr(0, text.size() - 5)),
            fmt::format("t.jsonl:{}: not JSON: the line is cut short", lines));
}

TEST(ReadTrace, NamesLineAndFieldOfABadList) {
  EXPECT_EQ(ReadError(kRun + "\n" + Replaced(kRound, "[false,true]", "[false]") + "\n"),
            "t.jsonl:2: round: 'kept' has 1 entries, 'tests' has 2");
}

TEST(ReadTrace, ReportsAStreamThatGoesBad) {
  struct Broken : std::streambuf {
    int_type underflow() override { throw 1; }
  } buffer;
  std::istream in(&buffer);
  try {
    ReadTrace(in, "t.jsonl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFailed);
  }
}

TEST(TraceWriter, ReportsAStreamThatGoesBad) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  TraceWriter writer(out);
  try {
    writer.On(EndEvent{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFailed);
  }
}

// ---- order

const RunEvent kOpen{.mask_token = 9, .canvas = {9, 1, 9}};
const StepEvent kFirst{.step = 0, .positions = {2, 0}, .tokens = {5, 6}, .confidence = {1, 0}};

CommitEvent Commit(int step, std::vector<Position> positions, std::vector<Position> remasked = {}) {
  CommitEvent commit{.step = step, .positions = positions, .remasked = remasked};
  commit.tokens.assign(positions.size(), 5);
  commit.confidence.assign(positions.size(), 0);
  return commit;
}

RoundEvent Tested(std::vector<Position> anchors, std::vector<Position> tests, int step = 0) {
  RoundEvent event{.step = step, .round = {.anchors = anchors, .tests = tests}};
  event.round.divergences.assign(tests.size(), 0);
  event.round.kept.assign(tests.size(), true);
  return event;
}

TEST(ReadTrace, RefusesEventsOutOfOrder) {
  const StepEvent second{.step = 1, .positions = {0}, .tokens = {6}, .confidence = {0}};
  CommitEvent masks = Commit(0, {0});
  masks.tokens = {9};
  const struct {
    std::vector<TraceEvent> events;
    std::string message;
  } cases[] = {
      {{PiecesEvent{}}, "t.jsonl:1: pieces: no run is open; a trace begins with its run event"},
      {{kFirst}, "t.jsonl:1: step: no run is open; a trace begins with its run event"},
      {{kOpen, Commit(0, {0})}, "t.jsonl:2: commit: step 0 is not open"},
      {{kOpen, Tested({0}, {2})}, "t.jsonl:2: round: step 0 is not open"},
      {{kOpen, kFirst, second}, "t.jsonl:3: step: step 1 begins before the commit of step 0"},
      {{kOpen, kFirst, Commit(0, {2}), kFirst}, "t.jsonl:4: step: step 0 comes after step 0"},
      {{kOpen, kFirst, Commit(1, {0})}, "t.jsonl:3: commit: 'step' is 1, the open step is 0"},
      {{kOpen, kFirst, Tested({0}, {2}, 3)}, "t.jsonl:3: round: 'step' is 3, the open step is 0"},
      {{kOpen, kFirst, Tested({0}, {1})}, "t.jsonl:3: round: position 1 has no proposal in step 0"},
      {{kOpen, kFirst, Tested({0}, {3})}, "t.jsonl:3: round: position 3 in 'tests' lies outside the canvas of 3"},
      {{kOpen, kFirst, Tested({0, 0}, {2})}, "t.jsonl:3: round: position 0 is named twice in 'anchors'"},
      {{kOpen, kFirst, Commit(0, {1})}, "t.jsonl:3: commit: position 1 in 'positions' is not masked"},
      {{kOpen, kFirst, Commit(0, {0, 0})}, "t.jsonl:3: commit: position 0 is named twice in 'positions'"},
      {{kOpen, kFirst, Commit(0, {2147483647})},
       "t.jsonl:3: commit: position 2147483647 in 'positions' lies outside the canvas of 3"},
      {{kOpen, kFirst, masks}, "t.jsonl:3: commit: 'tokens' holds the mask token 9"},
      {{kOpen, kFirst, Commit(0, {}, {1})}, "t.jsonl:3: commit: position 1 in 'remasked' belongs to the prompt"},
      {{kOpen, kFirst, Commit(0, {2}, {0})}, "t.jsonl:3: commit: position 0 in 'remasked' is masked already"},
      {{kOpen, kFirst, Commit(0, {0}), second}, "t.jsonl:4: step: position 0 in 'positions' is not masked"},
      {{kOpen, EndEvent{.tokens = {1}}}, "t.jsonl:2: end: 'tokens' has 1 entries, the canvas has 3"},
      {{kOpen, EndEvent{.tokens = {1, 1, 1}}, kFirst},
       "t.jsonl:3: step: no run is open; a trace begins with its run event"},
  };
  for (const auto& c : cases) EXPECT_EQ(ReadError(Lines(c.events)), c.message);
}

TEST(ReadTrace, ChecksEditsAndChangesOfTheLength) {
  const StepEvent second{.step = 1, .positions = {0}, .tokens = {6}, .confidence = {0}};
  const auto edit = [](int step, Position position, Token token) {
    return CommitEvent{.step = step, .edited = {position}, .edited_tokens = {token}, .edited_confidence = {0}};
  };
  const EndEvent longer{.tokens = {9, 9, 1, 5}};
  const EndEvent shorter{.tokens = {1, 5}};
  const struct {
    std::vector<TraceEvent> events;
    std::string message;
  } cases[] = {
      {{kOpen, kFirst, Commit(0, {2}), second, edit(1, 2, 7)}, "accepted"},
      {{kOpen, kFirst, Commit(0, {2}), second, edit(1, 1, 7)},
       "t.jsonl:5: commit: position 1 in 'edited' belongs to the prompt"},
      {{kOpen, kFirst, Commit(0, {2}), second, edit(1, 0, 7)},
       "t.jsonl:5: commit: position 0 in 'edited' is masked already"},
      {{kOpen, kFirst, Commit(0, {2}), second, edit(1, 2, 9)},
       "t.jsonl:5: commit: 'edited_tokens' holds the mask token 9"},
      {{kOpen, kFirst, Commit(0, {2}), second, CommitEvent{.step = 1, .inserted = {0}}, longer}, "accepted"},
      {{kOpen, kFirst, Commit(0, {2}), second, CommitEvent{.step = 1, .removed = {0}}, shorter}, "accepted"},
      {{kOpen, kFirst, Commit(0, {2}), second, CommitEvent{.step = 1, .removed = {0}}, longer},
       "t.jsonl:6: end: 'tokens' has 4 entries, the canvas has 2"},
      {{kOpen, kFirst, Commit(0, {2}), second, CommitEvent{.step = 1, .removed = {2}}},
       "t.jsonl:5: commit: position 2 in 'removed' is not masked"},
      {{kOpen, kFirst, CommitEvent{.step = 0, .inserted = {2, 0}}}, "t.jsonl:3: commit: 'inserted' is not in order"},
      {{kOpen, kFirst, CommitEvent{.step = 0, .removed = {0, 0}}},
       "t.jsonl:3: commit: position 0 is named twice in 'removed'"},
      {{kOpen, kFirst, CommitEvent{.step = 0, .inserted = {3}}},
       "t.jsonl:3: commit: position 3 in 'inserted' lies outside the canvas of 3"},
      {{kOpen, StepEvent{.step = 0}, CommitEvent{.step = 0, .removed = {0}}},
       "t.jsonl:3: commit: position 0 in 'removed' has no proposal in step 0"},
  };
  for (const auto& c : cases) EXPECT_EQ(ReadError(Lines(c.events)), c.message);
}

TEST(ReadTrace, AcceptsRemaskingAndStepsThatEndWithoutCommit) {
  const StepEvent second{.step = 1, .positions = {0}, .tokens = {6}, .confidence = {0}};
  const StepEvent third{.step = 2, .positions = {2}, .tokens = {6}, .confidence = {0}};
  EXPECT_EQ(ReadError(Lines({kOpen, kFirst, Tested({2}, {0}), Commit(0, {2}), second, Commit(1, {0}, {2}), third,
                             EndEvent{.stop = StopReason::kCancelled, .steps = 2, .tokens = {5, 1, 9}}, kOpen, kOpen})),
            "accepted");
}

// ---- pieces

class NumberTokenizer : public Tokenizer {
 public:
  std::vector<Token> Encode(std::string_view, const EncodeOptions&) const override { return {}; }
  std::string Decode(std::span<const Token>) const override { return ""; }
  std::string Piece(Token token) const override { return fmt::format("#{}", token); }
  bool IsControl(Token token) const override { return token % 2 == 1; }
};

TEST(PieceAnnotator, AnnouncesEveryTokenOnceBeforeItsUse) {
  struct Recorder : Observer {
    std::vector<TraceEvent> events;
    void On(const TraceEvent& event) override { events.push_back(event); }
  } recorder;
  const NumberTokenizer tokenizer;
  PieceAnnotator annotator(tokenizer, recorder);
  for (int run = 0; run < 2; ++run) {
    annotator.On(kOpen);
    annotator.On(kFirst);
    annotator.On(Commit(0, {2}));
    annotator.On(EndEvent{.tokens = {7, 1, 5}});
  }
  std::set<Token> known;
  std::size_t announced = 0;
  for (const TraceEvent& event : recorder.events) {
    if (std::holds_alternative<RunEvent>(event)) known.clear();
    if (const auto* pieces = std::get_if<PiecesEvent>(&event)) {
      for (const auto& [token, piece] : pieces->pieces) {
        EXPECT_TRUE(known.insert(token).second) << token << " twice";
        EXPECT_EQ(piece, tokenizer.Piece(token));
        const bool is_control = std::count(pieces->control.begin(), pieces->control.end(), token) == 1;
        EXPECT_EQ(is_control, tokenizer.IsControl(token)) << token;
        ++announced;
      }
    }
    const auto* step = std::get_if<StepEvent>(&event);
    const auto* end = std::get_if<EndEvent>(&event);
    if (step != nullptr) {
      for (Token token : step->tokens) EXPECT_TRUE(known.count(token)) << token;
    }
    if (end != nullptr) {
      for (Token token : end->tokens) EXPECT_TRUE(known.count(token)) << token;
    }
  }
  EXPECT_EQ(announced, 2u * 5u);  // 9 and 1 of the canvas, 5 and 6 proposed, 7 at the end; each run by itself
  EXPECT_EQ(ReadError(Lines(recorder.events)), "accepted");
}

}  // namespace
}  // namespace punt
