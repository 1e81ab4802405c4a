#include "planner_view.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/check.h"
#include "convert.h"

namespace punt::py {
namespace {

template <typename T, typename Member>
nb::object Column(std::span<const Proposal> proposals, Member member) {
  std::vector<T> values;
  for (const Proposal& proposal : proposals) values.push_back(proposal.*member);
  return NewArray(std::move(values), {proposals.size()});
}

nb::object Square(std::span<const float> values, std::size_t length, const char* what) {
  if (values.empty()) BadInput("{} was not asked for: name it in needs", what);
  return NewArray(std::vector<float>(values.begin(), values.end()), {length, length});
}

nb::dict HistoryOf(const PositionHistory& history) {
  nb::dict result;
  result["commit_step"] = history.commit_step;
  result["commit_confidence"] = history.commit_confidence;
  result["commit_prob"] = history.commit_prob;
  result["divergences"] = nb::cast(history.divergences);
  result["drifts"] = nb::cast(history.drifts);
  nb::list predictions;
  for (const Prediction& prediction : history.predictions) {
    predictions.append(nb::make_tuple(prediction.token, prediction.prob));
  }
  result["predictions"] = predictions;
  return result;
}

Divergence DivergenceNamed(const std::string& kind) {
  for (Divergence divergence : {Divergence::kKlBaseNew, Divergence::kKlNewBase, Divergence::kJs, Divergence::kTv}) {
    if (Name(divergence) == kind) return divergence;
  }
  BadInput("no divergence: '{}'; valid: kl-base-new, kl-new-base, js, tv", kind);
}

template <auto kMember>
nb::object ProposalColumn(const PlannerView& shown) {
  using T = std::remove_cvref_t<decltype(std::declval<Proposal>().*kMember)>;
  return Column<T>(shown.view().proposals, kMember);
}

}  // namespace

nb::dict ColumnsOf(std::span<const Proposal> proposals) {
  nb::dict columns;
  columns["positions"] = Column<Position>(proposals, &Proposal::position);
  columns["tokens"] = Column<Token>(proposals, &Proposal::token);
  columns["top_tokens"] = Column<Token>(proposals, &Proposal::top_token);
  columns["token_probs"] = Column<double>(proposals, &Proposal::token_prob);
  columns["top_probs"] = Column<double>(proposals, &Proposal::top_prob);
  columns["second_probs"] = Column<double>(proposals, &Proposal::second_prob);
  columns["entropies"] = Column<double>(proposals, &Proposal::entropy);
  columns["confidences"] = Column<double>(proposals, &Proposal::confidence);
  return columns;
}

const StepView& PlannerView::view() const {
  if (view_ == nullptr) BadInput("a view is good only until decide returns: copy what is needed later");
  return *view_;
}

void PlannerView::End() {
  view_ = nullptr;
  ran_.clear();
}

std::vector<PlannerTest> PlannerView::Test(nb::handle reveals) {
  const StepView& seen = view();
  std::set<Position> offered;
  for (const Proposal& proposal : seen.proposals) offered.insert(proposal.position);
  std::vector<Ran> runs;
  for (nb::handle reveal : reveals) {
    Ran& run = runs.emplace_back();
    run.anchors = Integers(reveal, "anchors of a test");
    std::sort(run.anchors.begin(), run.anchors.end());
    for (Position anchor : run.anchors) {
      if (!offered.contains(anchor)) BadInput("a test reveals position {}, which has no proposal", anchor);
    }
    std::set_difference(offered.begin(), offered.end(), run.anchors.begin(), run.anchors.end(),
                        std::back_inserter(run.rows));
  }
  std::vector<Probe::Reveal> asked;
  for (const Ran& run : runs) asked.push_back({.anchors = run.anchors, .rows = run.rows, .spare = seen.scope});
  std::vector<PassRef> passes;
  {
    nb::gil_scoped_release release;
    passes = seen.probe.Run(asked);
  }
  std::vector<PlannerTest> tests;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].pass = std::move(passes[i]);
    tests.emplace_back(this, ran_.size());
    ran_.push_back(std::move(runs[i]));
  }
  return tests;
}

const PlannerView::Ran& PlannerView::RanOf(const PlannerTest& test) const {
  view();
  if (test.view() != this || test.number() >= ran_.size()) BadInput("a test of another step");
  return ran_[test.number()];
}

std::vector<Position> PlannerView::RowsOf(const Ran& ran, nb::handle rows) const {
  if (rows.is_none()) return ran.rows;
  std::vector<Position> asked = Integers(rows, "rows");
  for (Position row : asked) {
    if (!std::binary_search(ran.rows.begin(), ran.rows.end(), row)) BadInput("the test has no row {}", row);
  }
  return asked;
}

nb::object PlannerView::Divergences(const PlannerTest& test, nb::handle rows, const std::string& kind,
                                    double temperature, double top_p) const {
  const Ran& ran = RanOf(test);
  const std::vector<Position> asked = RowsOf(ran, rows);
  const DivergenceOptions options{.kind = DivergenceNamed(kind), .temperature = temperature, .top_p = top_p};
  if (!(temperature >= 0 && top_p > 0 && top_p <= 1)) BadInput("a divergence at {}, {}", temperature, top_p);
  std::vector<double> values;
  {
    nb::gil_scoped_release release;
    values = view_->probe.Divergences(ran.pass, asked, options);
  }
  return NewArray(std::move(values), {asked.size()});
}

nb::object PlannerView::Entropies(const PlannerTest& test, nb::handle rows) const {
  const Ran& ran = RanOf(test);
  const std::vector<Position> asked = RowsOf(ran, rows);
  std::vector<double> values;
  {
    nb::gil_scoped_release release;
    values = view_->probe.Entropies(ran.pass, asked);
  }
  return NewArray(std::move(values), {asked.size()});
}

nb::dict PlannerView::Foresee(const PlannerTest& test, nb::handle rows) const {
  const Ran& ran = RanOf(test);
  const std::vector<Position> asked = RowsOf(ran, rows);
  std::vector<Proposal> proposals;
  {
    nb::gil_scoped_release release;
    proposals = view_->probe.Foresee(ran.pass, asked);
  }
  return ColumnsOf(proposals);
}

PassRef PlannerView::NextBase(const PlannerTest& test, const Plan& plan, const std::string& what) const {
  const Ran& ran = RanOf(test);
  std::vector<Position> commit = plan.commit;
  std::sort(commit.begin(), commit.end());
  if (commit != ran.anchors || !plan.remask.empty()) {
    BadInput("{}: next_base is a test of other positions than are committed", what);
  }
  return ran.pass;
}

void BindPlannerView(nb::module_& module) {
  nb::class_<PlannerTest>(module, "Test");
  nb::class_<PlannerView>(module, "View")
      .def_prop_ro("canvas", [](const PlannerView& v) { return NewArray<Token>(v.view().canvas.tokens()); })
      .def_prop_ro("mask_token", [](const PlannerView& v) { return v.view().canvas.mask_token(); })
      .def_prop_ro("generated", [](const PlannerView& v) { return NewArray<Position>(v.view().canvas.generated()); })
      .def_prop_ro("scope", [](const PlannerView& v) { return NewArray<Position>(v.view().scope); })
      .def_prop_ro("scope_step", [](const PlannerView& v) { return v.view().scope_step; })
      .def_prop_ro("fraction", [](const PlannerView& v) { return v.view().fraction(); })
      .def_prop_ro("key",
                   [](const PlannerView& v) {
                     const StreamKey& key = v.view().key;
                     return nb::module_::import_("punt.denoiser").attr("StreamKey")(key.seed, key.sample, key.step);
                   })
      .def_prop_ro("positions", &ProposalColumn<&Proposal::position>)
      .def_prop_ro("tokens", &ProposalColumn<&Proposal::token>)
      .def_prop_ro("top_tokens", &ProposalColumn<&Proposal::top_token>)
      .def_prop_ro("token_probs", &ProposalColumn<&Proposal::token_prob>)
      .def_prop_ro("top_probs", &ProposalColumn<&Proposal::top_prob>)
      .def_prop_ro("second_probs", &ProposalColumn<&Proposal::second_prob>)
      .def_prop_ro("entropies", &ProposalColumn<&Proposal::entropy>)
      .def_prop_ro("confidences", &ProposalColumn<&Proposal::confidence>)
      .def_prop_ro("revealed", [](const PlannerView& v) { return ColumnsOf(v.view().revealed); })
      .def_prop_ro("shadow_probs",
                   [](const PlannerView& v) {
                     nb::dict probs;
                     for (const ShadowProb& shadow : v.view().shadows) probs[nb::cast(shadow.position)] = shadow.prob;
                     return probs;
                   })
      .def_prop_ro("influence",
                   [](const PlannerView& v) {
                     return Square(v.view().influence, static_cast<std::size_t>(v.view().canvas.length()), "influence");
                   })
      .def_prop_ro("past",
                   [](const PlannerView& v) {
                     nb::list past;
                     for (const PastStep& step : v.view().past) {
                       past.append(nb::make_tuple(step.committed, step.tests, step.serves_next_step));
                     }
                     return past;
                   })
      .def(
          "attention",
          [](const PlannerView& v, double begin, double end) {
            for (const AttentionMap& map : v.view().attention) {
              if (map.layers.begin != begin || map.layers.end != end) continue;
              return Square(map.weights, static_cast<std::size_t>(v.view().canvas.length()), "attention");
            }
            BadInput("attention of the layers {} to {} was not asked for: name it in needs", begin, end);
          },
          nb::arg("begin") = 0.0, nb::arg("end") = 1.0)
      .def("history",
           [](const PlannerView& v, int position) {
             if (position < 0 || position >= v.view().canvas.length()) BadInput("no position {}", position);
             return HistoryOf(v.view().canvas.history(position));
           })
      .def("test", &PlannerView::Test)
      .def("divergences", &PlannerView::Divergences, nb::arg("test"), nb::arg("rows") = nb::none(),
           nb::arg("kind") = "kl-base-new", nb::arg("temperature") = 1.0, nb::arg("top_p") = 1.0)
      .def("entropies_of", &PlannerView::Entropies, nb::arg("test"), nb::arg("rows") = nb::none())
      .def("foresee", &PlannerView::Foresee, nb::arg("test"), nb::arg("rows") = nb::none());
}

}  // namespace punt::py
