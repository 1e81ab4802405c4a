// The measurements of bench/compare (compare_log.h), those of the same thing put together.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compare_log.h"
#include "eval/judges/text_judge.h"

namespace punt {

inline constexpr const char* kRival = "llama.cpp";
inline constexpr const char* kOurs = "punt";

struct Timing {
  double best = 0;
  double median = 0;
};

inline Timing TimingOf(std::vector<double> seconds) {
  Check(!seconds.empty(), "a row without a measurement");
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median = seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {.best = seconds.front(), .median = median};
}

/// Measurements of the same thing, in the order in which things were first measured.
struct Row {
  std::string engine;
  std::string name;   // way to compute, or configuration
  std::string flags;  // of punt generate
  std::string shape;
  std::string type;
  int rows = 0;
  std::vector<double> seconds = {};
  std::vector<double> passes = {};
  std::vector<double> row_passes = {};
  std::vector<Likelihood> judged = {};

  bool is_rival() const { return engine == kRival; }
  bool IsSameWork(const Row& other) const { return shape == other.shape && type == other.type && rows == other.rows; }
};

template <typename T>
T Get(const nlohmann::ordered_json& measurement, const char* name) {
  try {
    return measurement.at(name).get<T>();
  } catch (const nlohmann::ordered_json::exception&) {
    BadInput("a measurement lacks '{}' or it is of the wrong kind: {}", name, measurement.dump().substr(0, 160));
  }
}

inline double Positive(double seconds, const nlohmann::ordered_json& measurement) {
  if (!std::isfinite(seconds) || seconds <= 0) {
    BadInput("a time must be above 0: {}", measurement.dump().substr(0, 160));
  }
  return seconds;
}

inline Row& FindRow(std::vector<Row>& rows, Row wanted) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.engine == wanted.engine && row.name == wanted.name && row.flags == wanted.flags &&
           row.IsSameWork(wanted);
  });
  return found != rows.end() ? *found : rows.emplace_back(std::move(wanted));
}

struct Results {
  std::vector<Row> forward;
  std::vector<Row> generate;
  std::vector<Row> step;
};

inline void AddForward(const nlohmann::ordered_json& measurement, const std::string& engine, Results& results) {
  Row& row = FindRow(results.forward, {.engine = engine,
                                       .name = engine == kRival ? "" : Get<std::string>(measurement, "compute"),
                                       .shape = Get<std::string>(measurement, "shape"),
                                       .type = Get<std::string>(measurement, "type"),
                                       .rows = Get<int>(measurement, "rows")});
  for (double sample : Get<std::vector<double>>(measurement, "samples")) {
    row.seconds.push_back(Positive(sample, measurement));
  }
  if (row.seconds.empty()) BadInput("a measurement has no samples: {}", measurement.dump().substr(0, 160));
}

inline void AddGenerate(const nlohmann::ordered_json& measurement, const std::string& engine, Results& results) {
  Row& row = FindRow(results.generate, {.engine = engine,
                                        .name = Get<std::string>(measurement, "configuration"),
                                        .flags = measurement.value("flags", "")});
  row.seconds.push_back(Positive(Get<double>(measurement, "seconds"), measurement));
  row.passes.push_back(Get<double>(measurement, "nfe"));
  if (measurement.contains("row_passes")) row.row_passes.push_back(Get<double>(measurement, "row_passes"));
  if (measurement.contains("judge_nll")) {
    row.judged.push_back(
        {.nll = Get<double>(measurement, "judge_nll"), .tokens = Get<int>(measurement, "judge_tokens")});
  }
}

inline void AddStep(const nlohmann::ordered_json& measurement, const std::string& engine, Results& results) {
  Row& row = FindRow(results.step, {.engine = engine,
                                    .name = engine == kRival ? "" : Get<std::string>(measurement, "compute"),
                                    .shape = Get<std::string>(measurement, "shape"),
                                    .type = Get<std::string>(measurement, "type")});
  const double seconds = Positive(Get<double>(measurement, "seconds"), measurement);
  row.seconds.push_back(seconds / Positive(Get<double>(measurement, "nfe"), measurement));
}

/// Throws Error on a measurement that makes no sense, and when there is none.
inline Results Collect(const CompareLog& log) {
  Results results;
  for (const nlohmann::ordered_json& measurement : log.measurements) {
    const auto engine = Get<std::string>(measurement, "engine");
    if (engine != kRival && engine != kOurs) BadInput("unknown engine '{}'; valid: {}, {}", engine, kRival, kOurs);
    const auto part = Get<std::string>(measurement, "part");
    if (part == "forward") {
      AddForward(measurement, engine, results);
    } else if (part == "generate") {
      AddGenerate(measurement, engine, results);
    } else if (part == "step") {
      AddStep(measurement, engine, results);
    } else {
      BadInput("unknown part '{}'; valid: forward, generate, step", part);
    }
  }
  if (log.measurements.empty()) BadInput("there are no measurements");
  // What was measured by several runs in any order reads the same: equal work together, the rival first.
  for (std::vector<Row>* rows : {&results.forward, &results.step}) {
    std::stable_sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) {
      return std::tuple(a.shape, a.type, a.rows, !a.is_rival()) < std::tuple(b.shape, b.type, b.rows, !b.is_rival());
    });
  }
  std::stable_sort(results.generate.begin(), results.generate.end(),
                   [](const Row& a, const Row& b) { return a.is_rival() && !b.is_rival(); });
  return results;
}

}  // namespace punt
