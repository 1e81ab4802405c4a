#include "app/canvas_view.h"

#include <gtest/gtest.h>

#include <sstream>

#include "app/glyphs.h"
#include "generate/trace_testing.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr Token kMask = 9;

/// a..h for 0..7, and a few pieces that are hard to lay out.
PiecesEvent Pieces() {
  PiecesEvent event;
  for (Token token = 0; token < 8; ++token) event.pieces[token] = std::string(1, static_cast<char>('a' + token));
  event.pieces[20] = "\u6f22";            // two columns
  event.pieces[21] = "e\u0301";           // a letter and a combining accent: one column
  event.pieces[22] = "x\ny";              // a line feed inside
  event.pieces[23] = "\x1b[31mEVIL\x07";  // escape codes of the model's own
  event.pieces[24] = "\xf0\x9f";          // half a character
  event.pieces[25] = "";
  event.pieces[26] = " ";
  event.pieces[27] = " bead";
  event.pieces[28] = "<s>";
  event.control = {28};
  return event;
}

CanvasModel Start(std::vector<Token> canvas) {
  CanvasModel model;
  model.On(RunEvent{.model = "toy:x", .planner = "punt", .mask_token = kMask, .canvas = std::move(canvas)});
  model.On(Pieces());
  return model;
}

StepEvent Step(int step, std::vector<Position> positions, std::vector<Token> tokens) {
  StepEvent event{.step = step, .positions = positions, .tokens = tokens};
  event.confidence.assign(positions.size(), 0);
  return event;
}

CommitEvent Commit(int step, std::vector<Position> positions, std::vector<Token> tokens) {
  CommitEvent event{.step = step, .positions = positions, .tokens = tokens};
  event.confidence.assign(positions.size(), 0);
  event.counters = {.base_passes = step + 1, .test_passes = 2};
  return event;
}

RoundEvent Tested(int step, std::vector<Position> anchors, std::vector<Position> tests, std::vector<bool> kept) {
  RoundEvent event{.step = step, .round = {.anchors = anchors, .tests = tests, .kept = kept}};
  event.round.divergences.assign(tests.size(), 0);
  return event;
}

std::vector<std::string> Lines(const std::string& frame) {
  std::vector<std::string> lines;
  std::istringstream in(frame);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Removes SGR sequences; anything else that begins with ESC is a failure.
std::string WithoutColour(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    const std::size_t end = text.find('m', i);
    if (end == std::string::npos) {
      ADD_FAILURE() << "an escape code without end";
      break;
    }
    EXPECT_EQ(text.substr(i, end - i).find_first_not_of("\x1b[;0123456789"), std::string::npos);
    i = end;
  }
  return plain;
}

std::string CanvasLine(const CanvasModel& model) { return Lines(RenderFrame(model, {.show_title = false}))[0]; }

TEST(CanvasModel, FollowsAStep) {
  CanvasModel model = Start({0, kMask, kMask, kMask, kMask});
  EXPECT_EQ(model.generated(), 4);
  model.On(Step(0, {1, 2, 3, 4}, {1, 2, 3, 4}));
  model.On(Tested(0, {1, 2}, {3, 4}, {false, true}));
  EXPECT_EQ(model.cells()[0].state, CellState::kPrompt);
  EXPECT_EQ(model.cells()[1].state, CellState::kAnchor);
  EXPECT_EQ(model.cells()[3].state, CellState::kRejected);
  EXPECT_EQ(model.cells()[3].token, 3);
  EXPECT_EQ(model.cells()[4].state, CellState::kCandidate);
  model.On(Tested(0, {1}, {2}, {true}));
  EXPECT_EQ(model.cells()[2].state, CellState::kCandidate);
  EXPECT_EQ(model.cells()[3].state, CellState::kRejected);
  EXPECT_EQ(model.cells()[4].state, CellState::kMasked);  // not in this round
  model.On(Commit(0, {1, 2, 4}, {1, 2, 4}));
  EXPECT_EQ(model.committed(), 3);
  EXPECT_EQ(model.cells()[1].state, CellState::kAccepted);
  EXPECT_EQ(model.cells()[4].state, CellState::kAccepted);
  EXPECT_EQ(model.cells()[3].state, CellState::kRejected);
  ASSERT_EQ(model.rounds().size(), 2u);
  EXPECT_EQ(model.rounds()[0].rejected, 1);
  model.On(Step(1, {3}, {5}));
  EXPECT_EQ(model.cells()[1].state, CellState::kEarlier);
  EXPECT_EQ(model.cells()[3].state, CellState::kMasked);
  EXPECT_TRUE(model.rounds().empty());
  CommitEvent last = Commit(1, {3}, {5});
  last.remasked = {1};
  model.On(last);
  EXPECT_EQ(model.committed(), 3);
  EXPECT_EQ(model.cells()[1].state, CellState::kMasked);
  model.On(EndEvent{.stop = StopReason::kEos, .steps = 2, .tokens = {0, 7, 2, 5, 4}});
  EXPECT_EQ(CanvasLine(model), "ahcfe");
}

TEST(CanvasModel, StartsAfreshWithEachRun) {
  CanvasModel model = Start({kMask, kMask});
  model.On(Step(0, {0}, {1}));
  model.On(Tested(0, {0}, {1}, {true}));
  model.On(Commit(0, {0}, {1}));
  model.On(EndEvent{.tokens = {1, kMask}});
  model.On(RunEvent{.mask_token = kMask, .canvas = {kMask}});
  EXPECT_EQ(model.cells().size(), 1u);
  EXPECT_EQ(model.committed(), 0);
  EXPECT_EQ(model.step(), -1);
  EXPECT_FALSE(model.end().has_value());
  EXPECT_FALSE(model.has_had_rounds());
}

TEST(RenderFrame, ShowsTheColoursOfThePaper) {
  CanvasModel model = Start({0, kMask, kMask, kMask, kMask});
  model.On(Step(0, {1, 2, 3}, {1, 2, 3}));
  model.On(Tested(0, {1}, {2, 3}, {true, false}));
  model.On(Commit(0, {1, 2}, {1, 2}));
  const std::string line = Lines(RenderFrame(model, {.colour = true, .show_title = false}))[0];
  EXPECT_EQ(line,
            "\x1b[1ma\x1b[0m"         // prompt, bold
            "\x1b[1;32mbc\x1b[0m"     // accepted, green
            "\x1b[31md\x1b[0m"        // rejected: its proposal, red
            "\x1b[2m\u00b7\x1b[0m");  // masked, dim
  model.On(Step(1, {3, 4}, {3, 4}));
  EXPECT_EQ(Lines(RenderFrame(model, {.colour = true, .show_title = false}))[0],
            "\x1b[1ma\x1b[0mbc\x1b[2m\u00b7\u00b7\x1b[0m");  // earlier ones plain
}

TEST(RenderFrame, WithoutColourShowsOnlyWhatIsCommitted) {
  CanvasModel model = Start({0, kMask, kMask, kMask, kMask});
  model.On(Step(0, {1, 2, 3}, {1, 2, 3}));
  model.On(Tested(0, {1}, {2, 3}, {true, false}));
  EXPECT_EQ(CanvasLine(model), "a____");
  model.On(Commit(0, {1, 2}, {1, 2}));
  EXPECT_EQ(CanvasLine(model), "abc__");
  EXPECT_EQ(RenderFrame(model, {}).find('\x1b'), std::string::npos);
}

TEST(RenderFrame, CountsInTheStatusLine) {
  CanvasModel model = Start({0, kMask, kMask, kMask, kMask});
  model.On(Step(0, {1, 2, 3}, {1, 2, 3}));
  model.On(Tested(0, {1}, {2, 3}, {true, false}));
  model.On(Commit(0, {1, 2, 3}, {1, 2, 3}));
  const std::vector<std::string> lines = Lines(RenderFrame(model, {}));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "punt | toy:x");
  EXPECT_EQ(lines[2], "step 0 | 3/4 | NFE 3 = 1 base + 2 test | 1.00 tokens/forward");
  EXPECT_EQ(lines[3], "rounds (anchors>tests-rejected): 1>2-1");
  model.On(EndEvent{.stop = StopReason::kStepLimit,
                    .steps = 1,
                    .counters = {.base_passes = 1, .test_passes = 2},
                    .tokens = {0, 1, 2, 3, kMask}});
  EXPECT_EQ(Lines(RenderFrame(model, {}))[2],
            "step-limit: 1 steps | 3/4 | NFE 3 = 1 base + 2 test | 1.00 tokens/forward");
}

TEST(RenderFrame, WrapsAtTheWidthAndKeepsIt) {
  CanvasModel model = Start({0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, kMask, kMask});
  const std::vector<std::string> lines = Lines(RenderFrame(model, {.width = 10, .show_title = false}));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0], "abcdefghab");
  EXPECT_EQ(lines[1], "cdefghabcd");
  EXPECT_EQ(lines[2], "ef__");
  EXPECT_EQ(lines[3], "start | 0~");
}

TEST(RenderFrame, LaysOutPiecesOfAnyKind) {
  // The wide character does not fit into the tenth column; the accent takes none of its own.
  CanvasModel model = Start({0, 1, 2, 3, 4, 5, 6, 7, 21, 20, 22, 23, 24, 25});
  const std::vector<std::string> lines = Lines(RenderFrame(model, {.width = 10, .show_title = false}));
  EXPECT_EQ(lines[0], "abcdefghe\u0301");
  EXPECT_EQ(lines[1], "\u6f22x\u21b5");
  EXPECT_EQ(lines[2], "y\ufffd[31mEVIL");
  EXPECT_EQ(lines[3], "\ufffd\ufffd\ufffd");
}

TEST(RenderFrame, BreaksLinesBetweenWords) {
  const auto canvas_lines = [](std::vector<Token> canvas) {
    std::vector<std::string> lines = Lines(RenderFrame(Start(std::move(canvas)), {.width = 10, .show_title = false}));
    lines.pop_back();  // status
    return lines;
  };
  using Expected = std::vector<std::string>;
  EXPECT_EQ(canvas_lines({0, 27, 27, 27}), (Expected{"a bead", "bead bead"}));
  EXPECT_EQ(canvas_lines({27, 27, 27}), (Expected{" bead bead", "bead"}));  // the space that did not fit is the break
  EXPECT_EQ(canvas_lines({0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3}), (Expected{"abcdefghab", "cd"}));  // one long word
  EXPECT_EQ(canvas_lines({0, 26, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0}),
            (Expected{"a", "bcdefghabc", "defgha"}));
  // Masks may be parted anywhere, words beside them stay whole.
  EXPECT_EQ(canvas_lines({kMask, kMask, kMask, kMask, kMask, kMask, kMask, 0, 1, 2, 3}), (Expected{"_______", "abcd"}));
  EXPECT_EQ(canvas_lines({0, 1, 2, kMask, kMask, kMask, kMask, kMask, kMask, kMask, kMask}),
            (Expected{"abc_______", "_"}));
}

// Joined again with a space at every break between words, the lines are the text.
TEST(RenderFrame, LosesNothingButSpacesAtBreaks) {
  RandomStream random(11);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Token> canvas(1 + random.Below(80));
    const Token tokens[] = {0, 1, 2, 3, 26, 27, kMask, 28};
    std::string text;
    for (Token& token : canvas) {
      token = tokens[random.Below(std::size(tokens))];
      if (token != 28) text += token == kMask ? "_" : Pieces().pieces.at(token);
    }
    const int width = 10 + static_cast<int>(random.Below(40));
    std::vector<std::string> lines = Lines(RenderFrame(Start(canvas), {.width = width, .show_title = false}));
    lines.pop_back();
    std::size_t at = 0;
    for (const std::string& line : lines) {
      if (text.compare(at, line.size(), line) != 0) ++at;  // the space that the break took
      ASSERT_EQ(text.substr(at, line.size()), line) << text;
      at += line.size();
    }
    while (at < text.size() && text[at] == ' ') ++at;
    EXPECT_EQ(at, text.size()) << text;
  }
}

TEST(RenderFrame, ShowsNoControlTokens) {
  EXPECT_EQ(Lines(RenderFrame(Start({28, 0, 1, kMask, 28}), {.show_title = false}))[0], "ab_");
  EXPECT_EQ(Lines(RenderFrame(Start({28, 0, 1, kMask, 28}), {.colour = true, .show_title = false}))[0],
            "\x1b[1mab\x1b[0m\x1b[2m\u00b7\x1b[0m");
}

TEST(RenderFrame, NamesPlannersByWhatDiffersFromTheirDefaults) {
  const auto title = [](const std::string& planner) {
    CanvasModel model;
    model.On(RunEvent{.model = "toy:x", .planner = planner, .mask_token = kMask, .canvas = {kMask}});
    return Lines(RenderFrame(model, {}))[0];
  };
  EXPECT_EQ(title("punt:epsilon=0.04,divergence=kl-base-new"), "punt | toy:x");
  EXPECT_EQ(title("top-k:k=4"), "top-k:k=4 | toy:x");
  EXPECT_EQ(title("nobody:knows=1"), "nobody:knows=1 | toy:x");  // a trace of another program
}

TEST(RenderFrame, NoLineIsEverWiderThanTheTerminal) {
  RandomStream random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Token> canvas(1 + random.Below(60));
    const Token tokens[] = {0, 1, 2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 77, kMask, kMask};
    for (Token& token : canvas) token = tokens[random.Below(std::size(tokens))];
    const CanvasModel model = Start(canvas);
    const int width = 1 + static_cast<int>(random.Below(90));
    const int max_lines = static_cast<int>(random.Below(12));
    const std::string frame = RenderFrame(model, {.width = width, .max_lines = max_lines, .colour = trial % 2 == 0});
    ASSERT_EQ(frame.back(), '\n');
    const std::vector<std::string> lines = Lines(frame);
    if (max_lines > 3) {
      EXPECT_LE(static_cast<int>(lines.size()), max_lines);
    }
    for (const std::string& line : lines) {
      const std::string plain = WithoutColour(line);
      EXPECT_LE(TextWidth(plain), std::max(width, kNarrowest));
      EXPECT_EQ(InvalidUtf8(plain), std::string::npos);
      for (char c : plain) EXPECT_FALSE(c >= 0 && c < 0x20) << "a control character in: " << plain;
    }
  }
}

TEST(RenderFrame, ShowsThePartThatIsOpenWhenTheScreenIsLow) {
  std::vector<Token> canvas(100, 0);
  for (std::size_t i = 60; i < 100; ++i) canvas[i] = kMask;
  CanvasModel model = Start(canvas);
  std::vector<std::string> lines = Lines(RenderFrame(model, {.width = 10, .max_lines = 5, .show_title = false}));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "__________");
  EXPECT_EQ(lines[4], "lines 7-1~");
  // A full canvas shows its end.
  model = Start(std::vector<Token>(100, 1));
  lines = Lines(RenderFrame(model, {.width = 10, .max_lines = 4}));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], "bbbbbbbbbb");
}

TEST(RenderFrame, ReplaysAnyValidRun) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(Mix64(seed));
    CanvasModel model;
    for (const TraceEvent& event : RandomRun(random, 1 + static_cast<int>(random.Below(40)), 4)) {
      model.On(event);
      EXPECT_EQ(WithoutColour(RenderFrame(model, {.colour = true})).find('\x1b'), std::string::npos);
    }
    EXPECT_EQ(model.committed(), model.generated());
  }
}

// ---- views on a file: nothing but text

std::string Shown(const ViewOptions& wanted, const std::vector<TraceEvent>& events) {
  std::FILE* file = std::tmpfile();
  ViewOptions options = wanted;
  options.out = file;
  {
    CanvasView view(options);
    for (const TraceEvent& event : events) view.On(event);
  }
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

TEST(CanvasView, PlainShowsEveryStepWithoutEscapes) {
  RandomStream random(5);
  const std::vector<TraceEvent> events = RandomRun(random, 8, 4);
  const std::string text = Shown({.kind = ViewKind::kPlain}, events);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (const TraceEvent& event : events) {
    if (const auto* step = std::get_if<StepEvent>(&event)) {
      EXPECT_NE(text.find("step " + std::to_string(step->step) + " |"), std::string::npos);
    }
  }
  EXPECT_NE(text.find("full: "), std::string::npos);
  EXPECT_EQ(Shown({.kind = ViewKind::kNone}, events), "");
}

TEST(CanvasView, LiveHidesTheCursorAndBringsItBack) {
  RandomStream random(5);
  std::vector<TraceEvent> events = RandomRun(random, 8, 4);
  events.pop_back();  // an interrupted run: no end event
  const std::string text = Shown({.kind = ViewKind::kLive, .delay_ms = 0}, events);
  const std::size_t hidden = text.find("\x1b[?25l");
  const std::size_t shown = text.rfind("\x1b[?25h");
  ASSERT_NE(hidden, std::string::npos);
  ASSERT_NE(shown, std::string::npos);
  EXPECT_LT(hidden, shown);
  EXPECT_EQ(text.find("\x1b[?25l", shown), std::string::npos);
  EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);  // no clearing, no flicker
}

// On a file a terminal has 24 lines: 23 of a long canvas are drawn over and over, and at the end all of them.
TEST(CanvasView, LiveEndsWithTheWholeCanvas) {
  RandomStream random(7);
  const std::vector<TraceEvent> events = RandomRun(random, 4000, 4);
  CanvasModel model;
  for (const TraceEvent& event : events) model.On(event);
  const std::string whole = RenderFrame(model, {});
  ASSERT_GT(Lines(whole).size(), 40u);
  std::string text = Shown({.kind = ViewKind::kLive, .delay_ms = 0}, events);
  for (std::size_t at = 0; (at = text.find("\x1b[K", at)) != std::string::npos;) text.erase(at, 3);
  EXPECT_NE(text.find(whole), std::string::npos);
  // Where somebody else prints the text, it is not there twice.
  text = Shown({.kind = ViewKind::kLive, .delay_ms = 0, .ends_with_canvas = false}, events);
  for (std::size_t at = 0; (at = text.find("\x1b[K", at)) != std::string::npos;) text.erase(at, 3);
  EXPECT_EQ(text.find(whole), std::string::npos);
  EXPECT_NE(text.find(RenderFrame(model, {.show_canvas = false})), std::string::npos);
}

TEST(CanvasView, LiveDrawsEachFrameOverTheLast) {
  RandomStream random(5);
  const std::vector<TraceEvent> events = RandomRun(random, 8, 4);
  // A terminal of one column of lines: apply cursor movement, keep what is left on the screen.
  std::vector<std::string> screen(1);
  std::size_t row = 0;
  const std::string text = Shown({.kind = ViewKind::kLive, .delay_ms = 0}, events);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      if (++row == screen.size()) screen.emplace_back();
    } else if (text[i] == '\x1b') {
      const std::size_t end = text.find_first_of("AKJmhl", i);
      const std::string argument = text.substr(i + 2, end - i - 2);
      if (text[end] == 'A') row -= std::stoul(argument);
      if (text[end] == 'K') screen[row].clear();
      if (text[end] == 'J') screen.resize(row + 1);
      i = end;
    } else if (text[i] != '\r') {
      screen[row] += text[i];
    }
  }
  CanvasModel model;
  for (const TraceEvent& event : events) model.On(event);
  std::string left;
  for (const std::string& line : screen) left += line + "\n";
  EXPECT_EQ(left, RenderFrame(model, {}) + "\n");
}

}  // namespace
}  // namespace punt
