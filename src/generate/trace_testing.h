// Random traces, for tests: valid ones, of any shape.
#pragma once

#include <string>
#include <vector>

#include "punt/random.h"
#include "punt/trace.h"

namespace punt {

/// An event of each kind with anything in it that the format can hold, the extremes included.
inline TraceEvent RandomEvent(RandomStream& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random.Below(n)); };
  const auto real = [&] {
    const double values[] = {0.0, -1e30, 1e-300, 0.1, 123456789.125, random.Uniform(), -random.Gumbel()};
    return values[below(7)];
  };
  const auto token = [&] { return below(10) == 0 ? 2147483647 : static_cast<Token>(below(100)); };
  const auto big = [&] { return static_cast<std::int64_t>(random.Next() >> (2 + below(60))); };
  const auto text = [&] {
    const char* texts[] = {"", "a", "\"\\\n\t\x01", "punt:epsilon=0.04", "\u00e4\u6f22\U0001f600", "</script>"};
    return std::string(texts[below(6)]) + texts[below(6)];
  };
  const auto tokens = [&](std::size_t n) {
    std::vector<Token> list(n);
    for (Token& t : list) t = token();
    return list;
  };
  const auto reals = [&](std::size_t n) {
    std::vector<double> list(n);
    for (double& r : list) r = real();
    return list;
  };
  const auto counters = [&] { return Counters{big() / 2, big() / 2, big(), big(), big()}; };
  const auto size = static_cast<std::size_t>(below(6));

  switch (below(6)) {
    case 0:
      return RunEvent{text(),           text(),     text(), random.Next(), random.Next(),   random.Uniform(),
                      random.Uniform(), below(100), text(), token(),       tokens(size + 1)};
    case 1: {
      PiecesEvent event;
      for (std::size_t i = 0; i < size; ++i) event.pieces[token()] = text();
      for (const auto& [known, piece] : event.pieces) {
        if (below(3) == 0) event.control.push_back(known);
      }
      return event;
    }
    case 2:
      return StepEvent{below(1000), below(2) == 0, tokens(size), tokens(size), reals(size)};
    case 3: {
      RoundEvent event{below(1000), {.level = below(20), .anchors = tokens(size), .tests = tokens(size + 2)}};
      event.round.epsilon = random.Uniform();
      for (std::size_t i = 0; i < size + 2; ++i) {
        event.round.divergences.push_back(below(4) == 0 ? 1.0 / 0.0 : random.Uniform());
        event.round.kept.push_back(below(2) == 0);
      }
      return event;
    }
    case 4: {
      CommitEvent event{.step = below(1000),
                        .positions = tokens(size),
                        .tokens = tokens(size),
                        .confidence = reals(size),
                        .remasked = tokens(size),
                        .counters = counters(),
                        .edited = tokens(5 - size),
                        .edited_tokens = tokens(5 - size),
                        .edited_confidence = reals(5 - size),
                        .inserted = tokens(size / 2),
                        .removed = tokens(size / 3)};
      for (std::size_t i = 0; i < size && below(2) + event.rows.size() > 0; ++i) {
        CommitRow row{.position = event.positions[i], .step = event.step, .token = event.tokens[i]};
        row.log_prob = below(4) == 0 ? -1.0 / 0.0 : real();
        row.entropy = random.Uniform();
        for (int k = below(3); k > 0; --k) row.top.push_back({token(), real()});
        event.rows.push_back(row);
      }
      if (event.rows.size() < size) event.rows.clear();
      return event;
    }
    default:
      return EndEvent{static_cast<StopReason>(below(6)), below(1000), counters(), tokens(size), random.Uniform()};
  }
}

/// A run as a planner with tests would leave it: steps with rounds and commits until the canvas is full.
inline std::vector<TraceEvent> RandomRun(RandomStream& random, int length, Token mask) {
  std::vector<TraceEvent> events;
  RunEvent run{.model = "toy", .planner = "punt", .score = "margin", .mask_token = mask};
  run.canvas.assign(static_cast<std::size_t>(length), mask);
  run.canvas[0] = 0;  // a prompt of one
  events.emplace_back(run);
  std::vector<Position> masked;
  for (Position i = 1; i < length; ++i) masked.push_back(i);
  Counters spent;
  std::vector<Token> canvas = run.canvas;
  int step = 0;
  for (; !masked.empty(); ++step) {
    StepEvent begin{.step = step, .positions = masked};
    begin.tokens.resize(masked.size());
    for (Token& token : begin.tokens) token = static_cast<Token>(random.Below(static_cast<std::uint64_t>(mask)));
    begin.confidence.assign(masked.size(), 0.5);
    events.emplace_back(begin);
    spent.base_passes += 1;
    std::size_t kept = masked.size();
    if (masked.size() > 1) {
      const std::size_t half = (masked.size() + 1) / 2;
      RoundEvent event{.step = step, .round = {.level = 0, .epsilon = 0.1}};
      event.round.anchors.assign(masked.begin(), masked.begin() + static_cast<std::ptrdiff_t>(half));
      event.round.tests.assign(masked.begin() + static_cast<std::ptrdiff_t>(half), masked.end());
      event.round.divergences.assign(event.round.tests.size(), 0.5);
      event.round.kept.assign(event.round.tests.size(), false);
      events.emplace_back(event);
      spent.test_passes += 1;
      kept = half;
    }
    CommitEvent commit{.step = step, .counters = spent};
    for (std::size_t i = 0; i < kept; ++i) {
      commit.positions.push_back(begin.positions[i]);
      commit.tokens.push_back(begin.tokens[i]);
      commit.confidence.push_back(begin.confidence[i]);
      canvas[static_cast<std::size_t>(begin.positions[i])] = begin.tokens[i];
    }
    events.emplace_back(commit);
    masked.erase(masked.begin(), masked.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  events.emplace_back(EndEvent{StopReason::kFull, step, spent, canvas, 0.25});
  return events;
}

}  // namespace punt
