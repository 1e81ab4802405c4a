// Traces on disk: one JSON object per line, read strictly. A trace may come from another program, another
// version or a damaged disk, and everything after the reader (view, replay, analysis) indexes canvases with the
// numbers in it. So the reader is the only place that checks, in two stages:
//
//   FromJsonLine   a single line (trace_parse.cc): it is JSON and UTF-8, the event and the version are known,
//                  every field is there with the right type and range, lists that belong together match
//   ReadTrace      a line in its place (trace_order.h): the run comes first, rounds and commits belong to the
//                  step that is open, positions lie on the canvas, a commit fills masks and nothing else
//
// Fields that this version does not know are ignored: a later writer may add some without breaking a reader.
// Writing keeps the key order documented in punt/trace.h, and writes the shortest decimals that read back to
// the same double. A piece that is not UTF-8 alone (byte-level vocabularies cut characters in two) is
// written with U+FFFD in place of the offending bytes.
//
// Tested by trace_test.cc (round trips of random events, each refusal) and tests/trace_fuzz_test.cc (mutated
// lines give an event or an Error, never anything else).
#include "punt/trace.h"

#include <fmt/format.h>

#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/check.h"
#include "base/json_text.h"
#include "generate/trace_order.h"

namespace punt {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson Number(double value) {
  Check(std::isfinite(value), "a trace event holds a number that is not finite");
  return value;
}

OrderedJson Numbers(const std::vector<double>& values) {
  OrderedJson list = OrderedJson::array();
  for (double value : values) list.push_back(Number(value));
  return list;
}

OrderedJson Divergences(const std::vector<double>& values) {
  OrderedJson list = OrderedJson::array();
  for (double value : values) list.push_back(std::isinf(value) && value > 0 ? OrderedJson(nullptr) : Number(value));
  return list;
}

void PutCounters(const Counters& counters, OrderedJson& object) {
  object["nfe"] = {{"base", counters.base_passes}, {"test", counters.test_passes}, {"total", counters.nfe()}};
  object["calls"] = counters.calls;
  object["row_passes"] = counters.row_passes;
  object["rows_read"] = counters.rows_read;
}

OrderedJson ToJson(const RunEvent& run) {
  return {{"event", "run"},
          {"version", kTraceVersion},
          {"model", run.model},
          {"planner", run.planner},
          {"score", run.score},
          {"seed", run.seed},
          {"sample", run.sample},
          {"temperature", Number(run.temperature)},
          {"top_p", Number(run.top_p)},
          {"window", run.window},
          {"cache", run.cache},
          {"mask_token", run.mask_token},
          {"canvas", run.canvas}};
}

OrderedJson ToJson(const PiecesEvent& pieces) {
  OrderedJson texts = OrderedJson::object();
  for (const auto& [token, piece] : pieces.pieces) texts[std::to_string(token)] = piece;
  OrderedJson object = {{"event", "pieces"}, {"pieces", std::move(texts)}};
  if (!pieces.control.empty()) object["control"] = pieces.control;
  return object;
}

OrderedJson ToJson(const StepEvent& step) {
  return {{"event", "step"},
          {"step", step.step},
          {"base", step.base_was_free ? "free" : "forward"},
          {"positions", step.positions},
          {"tokens", step.tokens},
          {"confidence", Numbers(step.confidence)}};
}

OrderedJson ToJson(const RoundEvent& event) {
  const Round& round = event.round;
  return {{"event", "round"},
          {"step", event.step},
          {"level", round.level},
          {"epsilon", Number(round.epsilon)},
          {"anchors", round.anchors},
          {"tests", round.tests},
          {"divergences", Divergences(round.divergences)},
          {"kept", round.kept}};
}

void PutRows(const std::vector<CommitRow>& rows, OrderedJson& object) {
  OrderedJson log_probs = OrderedJson::array(), entropies = OrderedJson::array(), tops = OrderedJson::array();
  for (const CommitRow& row : rows) {
    log_probs.push_back(std::isinf(row.log_prob) ? OrderedJson(nullptr) : Number(row.log_prob));
    entropies.push_back(Number(row.entropy));
    OrderedJson& top = tops.emplace_back(OrderedJson::array());
    for (const RankedToken& ranked : row.top) top.push_back({ranked.token, Number(ranked.log_prob)});
  }
  object["logprobs"] = std::move(log_probs);
  object["entropies"] = std::move(entropies);
  object["top"] = std::move(tops);
}

OrderedJson ToJson(const CommitEvent& commit) {
  OrderedJson object = {{"event", "commit"},
                        {"step", commit.step},
                        {"positions", commit.positions},
                        {"tokens", commit.tokens},
                        {"confidence", Numbers(commit.confidence)},
                        {"remasked", commit.remasked}};
  if (!commit.edited.empty()) {
    object["edited"] = commit.edited;
    object["edited_tokens"] = commit.edited_tokens;
    object["edited_confidence"] = Numbers(commit.edited_confidence);
  }
  if (!commit.inserted.empty() || !commit.removed.empty()) {
    object["inserted"] = commit.inserted;
    object["removed"] = commit.removed;
  }
  PutCounters(commit.counters, object);
  if (!commit.rows.empty()) PutRows(commit.rows, object);
  return object;
}

OrderedJson ToJson(const EndEvent& end) {
  OrderedJson object = {{"event", "end"}, {"stop", Name(end.stop)}, {"steps", end.steps}};
  PutCounters(end.counters, object);
  object["tokens"] = end.tokens;
  object["seconds"] = Number(end.seconds);
  return object;
}

}  // namespace

std::string_view Name(StopReason reason) {
  switch (reason) {
    case StopReason::kFull:
      return "full";
    case StopReason::kEos:
      return "eos";
    case StopReason::kStepLimit:
      return "step-limit";
    case StopReason::kNfeLimit:
      return "nfe-limit";
    case StopReason::kCancelled:
      return "cancelled";
    case StopReason::kStopString:
      return "stop-string";
  }
  throw std::logic_error("StopReason");
}

std::string ToJsonLine(const TraceEvent& event) {
  const OrderedJson object = std::visit([](const auto& e) { return ToJson(e); }, event);
  return Dump(object);
}

void TraceWriter::On(const TraceEvent& event) {
  out_ << ToJsonLine(event) << '\n' << std::flush;
  if (!out_) throw Error(ErrorCode::kFailed, "cannot write the trace");
}

std::vector<TraceEvent> ReadTrace(std::istream& in, std::string_view name) {
  std::vector<TraceEvent> events;
  TraceOrder order;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    try {
      events.push_back(FromJsonLine(line));
      order.Check(events.back());
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}:{}: {}", name, number, error.what()));
    }
  }
  if (in.bad()) throw Error(ErrorCode::kFailed, fmt::format("{}: cannot read the trace", name));
  return events;
}

}  // namespace punt
