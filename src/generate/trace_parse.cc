// Reading one line of a trace, strictly. See trace.cc for what is checked where.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "punt/trace.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr StopReason kStopReasons[] = {StopReason::kFull,     StopReason::kEos,       StopReason::kStepLimit,
                                       StopReason::kNfeLimit, StopReason::kCancelled, StopReason::kStopString};

/// Text from outside, fit for a one-line message: ASCII, escaped, not too long.
std::string Quote(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string quoted = Quoted(text);
  if (quoted.size() > kLongest) quoted = quoted.substr(0, kLongest) + "...";
  return quoted;
}

/// The fields of one event; every getter throws an Error that names event and field.
class Fields {
 public:
  Fields(const Json& object, std::string event) : object_(object), event_(std::move(event)) {}

  template <typename Int>
  Int Integer(const char* name, Int min = 0, Int max = std::numeric_limits<Int>::max()) const {
    return IntegerOf<Int>(At(name), name, min, max);
  }

  double Real(const char* name, double min = std::numeric_limits<double>::lowest()) const {
    return RealOf(At(name), name, min);
  }

  bool Has(const char* name) const { return object_.contains(name); }

  const std::string& Text(const char* name) const {
    const Json& value = At(name);
    if (!value.is_string()) Mistyped(name, "a string", value);
    return value.get_ref<const std::string&>();
  }

  const Json& Object(const char* name) const {
    const Json& value = At(name);
    if (!value.is_object()) Mistyped(name, "an object", value);
    return value;
  }

  template <typename Int>
  std::vector<Int> Integers(const char* name) const {
    return List<Int>(
        name, [&](const Json& value) { return IntegerOf<Int>(value, name, 0, std::numeric_limits<Int>::max()); });
  }

  std::vector<double> Reals(const char* name) const {
    return List<double>(name,
                        [&](const Json& value) { return RealOf(value, name, std::numeric_limits<double>::lowest()); });
  }

  std::vector<double> NullableReals(const char* name) const {
    return List<double>(name, [&](const Json& value) {
      return value.is_null() ? std::numeric_limits<double>::infinity() : RealOf(value, name, 0);
    });
  }

  /// Null stands for an impossible one.
  std::vector<double> LogProbs(const char* name) const {
    return List<double>(name, [&](const Json& value) {
      constexpr double kLowest = std::numeric_limits<double>::lowest();
      return value.is_null() ? -std::numeric_limits<double>::infinity() : RealOf(value, name, kLowest);
    });
  }

  /// Lists of [token, log-probability].
  std::vector<std::vector<RankedToken>> Rankings(const char* name) const {
    return List<std::vector<RankedToken>>(name, [&](const Json& value) {
      if (!value.is_array()) Mistyped(name, "a list of lists", value);
      std::vector<RankedToken> ranking;
      for (const Json& entry : value) {
        if (!entry.is_array() || entry.size() != 2) Mistyped(name, "pairs of a token and a number", entry);
        ranking.push_back({IntegerOf<Token>(entry[0], name, 0, std::numeric_limits<Token>::max()),
                           RealOf(entry[1], name, std::numeric_limits<double>::lowest())});
      }
      return ranking;
    });
  }

  std::vector<bool> Booleans(const char* name) const {
    return List<bool>(name, [&](const Json& value) {
      if (!value.is_boolean()) Mistyped(name, "a list of true and false", value);
      return value.get<bool>();
    });
  }

  void RequireSameLength(const char* name, std::size_t size, const char* other, std::size_t other_size) const {
    if (size != other_size) {
      BadInput("{}: '{}' has {} entries, '{}' has {}", event_, name, size, other, other_size);
    }
  }

  template <typename... Args>
  [[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) const {
    BadInput("{}: {}", event_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const Json& At(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) Fail("'{}' is missing", name);
    return *found;
  }

  [[noreturn]] void Mistyped(const char* name, std::string_view wanted, const Json& got) const {
    Fail("'{}' must be {}, got {}", name, wanted, got.is_null() ? "null" : got.type_name());
  }

  template <typename Int>
  Int IntegerOf(const Json& value, const char* name, Int min, Int max) const {
    if (!value.is_number_integer()) Mistyped(name, "a whole number", value);
    const bool is_unsigned = value.is_number_unsigned();
    // JSON numbers are stored as uint64 when not negative, as int64 otherwise.
    const bool fits = is_unsigned ? value.get<std::uint64_t>() >= static_cast<std::uint64_t>(min) &&
                                        value.get<std::uint64_t>() <= static_cast<std::uint64_t>(max)
                                  : false;
    if (!fits) Fail("'{}' must be between {} and {}, got {}", name, min, max, Dump(value));
    return static_cast<Int>(value.get<std::uint64_t>());
  }

  double RealOf(const Json& value, const char* name, double min) const {
    if (!value.is_number()) Mistyped(name, "a number", value);
    const double number = value.get<double>();
    if (!(number >= min)) Fail("'{}' must be at least {}, got {}", name, min, number);
    return number;
  }

  template <typename T, typename Convert>
  std::vector<T> List(const char* name, Convert convert) const {
    const Json& value = At(name);
    if (!value.is_array()) Mistyped(name, "a list", value);
    std::vector<T> list;
    list.reserve(value.size());
    for (const Json& entry : value) list.push_back(convert(entry));
    return list;
  }

  const Json& object_;
  std::string event_;
};

Counters GetCounters(const Fields& fields) {
  const Fields nfe(fields.Object("nfe"), "nfe");
  Counters counters;
  // Half the range each, so that the sum fits.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  counters.base_passes = nfe.Integer<std::int64_t>("base", 0, kMost);
  counters.test_passes = nfe.Integer<std::int64_t>("test", 0, kMost);
  if (nfe.Integer<std::int64_t>("total") != counters.nfe()) {
    nfe.Fail("'total' is not the sum of 'base' and 'test'");
  }
  counters.calls = fields.Integer<std::int64_t>("calls");
  counters.row_passes = fields.Integer<std::int64_t>("row_passes");
  counters.rows_read = fields.Integer<std::int64_t>("rows_read");
  return counters;
}

TraceEvent GetRun(const Fields& fields) {
  const auto version = fields.Integer<std::int64_t>("version");
  if (version < kOldestTraceVersion || version > kTraceVersion) {
    fields.Fail("version {} is not supported, only {} to {} are", version, kOldestTraceVersion, kTraceVersion);
  }
  RunEvent run;
  run.model = fields.Text("model");
  run.planner = fields.Text("planner");
  run.score = fields.Text("score");
  run.seed = fields.Integer<std::uint64_t>("seed");
  run.sample = fields.Integer<std::uint64_t>("sample");
  run.temperature = fields.Real("temperature", 0);
  run.top_p = fields.Real("top_p", 0);
  run.window = fields.Integer<int>("window");
  run.cache = fields.Has("cache") ? fields.Text("cache") : "none";  // older files have none
  run.mask_token = fields.Integer<Token>("mask_token");
  run.canvas = fields.Integers<Token>("canvas");
  if (run.canvas.empty()) fields.Fail("'canvas' is empty");
  return run;
}

TraceEvent GetPieces(const Fields& fields) {
  PiecesEvent event;
  for (const auto& [key, piece] : fields.Object("pieces").items()) {
    Token token = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    // Only the one spelling that the writer uses: no sign, no leading zeros.
    if (error != std::errc() || end != key.data() + key.size() || token < 0 || std::to_string(token) != key) {
      fields.Fail("{} is not a token", Quote(key));
    }
    if (!piece.is_string()) fields.Fail("the piece of token {} must be a string", token);
    event.pieces[token] = piece.get<std::string>();
  }
  if (fields.Has("control")) event.control = fields.Integers<Token>("control");
  for (Token token : event.control) {
    if (!event.pieces.contains(token)) fields.Fail("control token {} has no piece", token);
  }
  return event;
}

TraceEvent GetStep(const Fields& fields) {
  StepEvent step;
  step.step = fields.Integer<int>("step");
  const std::string& base = fields.Text("base");
  if (base != "forward" && base != "free") fields.Fail("'base' must be \"forward\" or \"free\", got {}", Quote(base));
  step.base_was_free = base == "free";
  step.positions = fields.Integers<Position>("positions");
  step.tokens = fields.Integers<Token>("tokens");
  step.confidence = fields.Reals("confidence");
  fields.RequireSameLength("tokens", step.tokens.size(), "positions", step.positions.size());
  fields.RequireSameLength("confidence", step.confidence.size(), "positions", step.positions.size());
  return step;
}

TraceEvent GetRound(const Fields& fields) {
  RoundEvent event;
  event.step = fields.Integer<int>("step");
  Round& round = event.round;
  round.level = fields.Integer<int>("level");
  round.epsilon = fields.Real("epsilon", 0);
  round.anchors = fields.Integers<Position>("anchors");
  round.tests = fields.Integers<Position>("tests");
  round.divergences = fields.NullableReals("divergences");
  round.kept = fields.Booleans("kept");
  fields.RequireSameLength("divergences", round.divergences.size(), "tests", round.tests.size());
  fields.RequireSameLength("kept", round.kept.size(), "tests", round.tests.size());
  return event;
}

/// What a run that reports rows says of its commits.
std::vector<CommitRow> GetRows(const Fields& fields, const CommitEvent& commit) {
  const std::vector<double> log_probs = fields.LogProbs("logprobs");
  const std::vector<double> entropies = fields.Reals("entropies");
  const std::vector<std::vector<RankedToken>> tops = fields.Rankings("top");
  fields.RequireSameLength("logprobs", log_probs.size(), "positions", commit.positions.size());
  fields.RequireSameLength("entropies", entropies.size(), "positions", commit.positions.size());
  fields.RequireSameLength("top", tops.size(), "positions", commit.positions.size());
  std::vector<CommitRow> rows;
  for (std::size_t i = 0; i < log_probs.size(); ++i) {
    rows.push_back({.position = commit.positions[i],
                    .step = commit.step,
                    .token = commit.tokens[i],
                    .log_prob = log_probs[i],
                    .entropy = entropies[i],
                    .top = tops[i]});
  }
  return rows;
}

TraceEvent GetCommit(const Fields& fields) {
  CommitEvent commit;
  commit.step = fields.Integer<int>("step");
  commit.positions = fields.Integers<Position>("positions");
  commit.tokens = fields.Integers<Token>("tokens");
  commit.confidence = fields.Reals("confidence");
  commit.remasked = fields.Integers<Position>("remasked");
  if (fields.Has("edited")) {
    commit.edited = fields.Integers<Position>("edited");
    commit.edited_tokens = fields.Integers<Token>("edited_tokens");
    commit.edited_confidence = fields.Reals("edited_confidence");
    fields.RequireSameLength("edited_tokens", commit.edited_tokens.size(), "edited", commit.edited.size());
    fields.RequireSameLength("edited_confidence", commit.edited_confidence.size(), "edited", commit.edited.size());
  }
  if (fields.Has("inserted")) commit.inserted = fields.Integers<Position>("inserted");
  if (fields.Has("removed")) commit.removed = fields.Integers<Position>("removed");
  commit.counters = GetCounters(fields);
  fields.RequireSameLength("tokens", commit.tokens.size(), "positions", commit.positions.size());
  fields.RequireSameLength("confidence", commit.confidence.size(), "positions", commit.positions.size());
  if (fields.Has("logprobs")) commit.rows = GetRows(fields, commit);
  return commit;
}

TraceEvent GetEnd(const Fields& fields) {
  EndEvent end;
  const std::string& stop = fields.Text("stop");
  bool known = false;
  for (StopReason reason : kStopReasons) {
    if (stop == Name(reason)) {
      end.stop = reason;
      known = true;
    }
  }
  if (!known) fields.Fail("unknown reason {} in 'stop'", Quote(stop));
  end.steps = fields.Integer<int>("steps");
  end.counters = GetCounters(fields);
  end.tokens = fields.Integers<Token>("tokens");
  end.seconds = fields.Real("seconds", 0);
  return end;
}

struct EventRow {
  std::string_view name;
  TraceEvent (*get)(const Fields& fields);
};

constexpr EventRow kEvents[] = {{"run", GetRun},     {"pieces", GetPieces}, {"step", GetStep},
                                {"round", GetRound}, {"commit", GetCommit}, {"end", GetEnd}};

Json ParseLine(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) BadInput("the line is empty");
  return ParseJson<Json>(line, "the line is cut short");
}

}  // namespace

TraceEvent FromJsonLine(std::string_view line) {
  const Json object = ParseLine(line);
  if (!object.is_object()) BadInput("not an event: expected a JSON object, got {}", object.type_name());
  const std::string name = Fields(object, "event").Text("event");
  for (const EventRow& row : kEvents) {
    if (row.name == name) return row.get(Fields(object, name));
  }
  BadInput("unknown event {}", Quote(name));
}

}  // namespace punt
