// What revealing tokens does to the rows of the others, measured along runs: the training data of an influence head
// (model/influence_head.h, `training/train influence`), and how good a head is.
//
// Measured at some steps of a run: the base pass, its hidden states and proposals, and passes with some of the
// proposals revealed, a single one or the anchors of a test that PUNT made in that step. Their divergences are PUNT's
// own, KL(base || new) of every row that is still masked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/denoiser.h"
#include "punt/generator.h"
#include "punt/trace.h"

namespace punt {

/// A canvas with m masked positions, D numbers in a state, T tests of it. Everything by ascending position.
struct InfluenceCanvas {
  int step = 0;
  std::vector<float> states;       // [m x D]
  std::vector<float> positions;    // m
  std::vector<float> token_probs;  // m
  std::vector<float> entropies;    // m
  std::vector<float> revealed;     // [T x m], 1 or 0
  std::vector<float> divergences;  // [T x m], in nats; 0 where the position itself is revealed
};

/// What two planners commit on the same canvas, given the same proposals.
struct SetAgreement {
  int step = 0;
  int masked = 0;
  int own = 0;    // of the run's planner
  int other = 0;  // of the one it is compared with
  int both = 0;

  double jaccard() const { return static_cast<double>(both) / static_cast<double>(own + other - both); }
  double precision() const { return static_cast<double>(both) / static_cast<double>(other); }
};

struct InfluenceStudyOptions {
  SessionOptions session;  // must ban what the run's session banned
  Recipe recipe;           // of the run
  int canvases = 8;        // steps of a run, evenly spread, at most
  int singles = 6;         // tests that reveal one position, per canvas
  int sets = 2;            // tests that reveal the anchors of one of the run's own tests, per canvas
};

/// Throws Error unless the denoiser is a network.
std::vector<InfluenceCanvas> MeasureInfluence(const Denoiser& denoiser, std::span<const TraceEvent> events,
                                              const InfluenceStudyOptions& options);

/// On the canvases of the steps in which the run's planner made tests.
std::vector<SetAgreement> CompareSets(const Denoiser& denoiser, std::span<const TraceEvent> events,
                                      const InfluenceStudyOptions& options, const Planner& other);

/// One run's record as a line of JSON, and back. ParseInfluenceRun throws Error on a line that is not such a record.
struct InfluenceRun {
  std::string id;
  std::string planner;
  std::uint64_t sample = 0;
  std::int64_t nfe = 0;
  int canvases = 0;
  std::vector<SetAgreement> agreements;
};
std::string InfluenceRunLine(const InfluenceRun& run);
InfluenceRun ParseInfluenceRun(std::string_view line);

/// Means over all canvases; nothing when there are none.
struct AgreementSummary {
  std::size_t canvases = 0;
  double jaccard = 0;
  double precision = 0;
  double own = 0;  // tokens per step
  double other = 0;
};
std::optional<AgreementSummary> SummariseAgreement(std::span<const InfluenceRun> runs);

}  // namespace punt
