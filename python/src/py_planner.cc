// A run that is given a planner object names it as the engine names all planners, by a spec: "python:id=7", where 7 is
// its number on a list of objects that runs use at the moment. Classes with a name of their own (register_planner) are
// rows of the registry as those of the engine are, and stay for as long as the program.
//
// What a planner decides is checked here, in its own words, before the engine applies it: the engine takes a bad plan
// for a bug of its own.
#include "py_planner.h"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "convert.h"
#include "held.h"
#include "planner_view.h"
#include "punt/planner.h"

namespace punt::py {
namespace {

nb::object Class(const char* name) { return nb::module_::import_("punt.planner").attr(name); }

std::string NameOfClass(nb::handle object) {
  return nb::cast<std::string>(nb::str(nb::handle(object.type()).attr("__name__")));
}

PlannerNeeds NeedsOf(nb::handle planner) {
  const nb::object needs = planner.attr("needs");
  if (!nb::isinstance(needs, Class("PlannerNeeds"))) {
    BadInput("needs of {} must be a punt.PlannerNeeds, got {}", NameOfClass(planner), KindOf(needs));
  }
  PlannerNeeds result{.revealed_rows = nb::cast<bool>(needs.attr("revealed_rows")),
                      .divergence_history = nb::cast<int>(needs.attr("divergence_history")),
                      .drift_history = nb::cast<int>(needs.attr("drift_history")),
                      .prediction_history = nb::cast<int>(needs.attr("prediction_history")),
                      .shadow_rows = nb::cast<bool>(needs.attr("shadow_rows")),
                      .influence = nb::cast<bool>(needs.attr("influence")),
                      .past_steps = nb::cast<bool>(needs.attr("past_steps")),
                      .tests = nb::cast<bool>(needs.attr("tests"))};
  for (nb::handle range : nb::object(needs.attr("attention"))) {
    result.attention.push_back({nb::cast<double>(range.attr("begin")), nb::cast<double>(range.attr("end"))});
  }
  return result;
}

class PyPlanner : public Planner {
 public:
  explicit PyPlanner(nb::object planner)
      : name_(NameOfClass(planner)),
        needs_(NeedsOf(planner)),
        remasks_(nb::cast<bool>(planner.attr("remasks"))),
        is_scheduled_(nb::cast<bool>(planner.attr("is_scheduled"))),
        planner_(std::move(planner)) {}

  PlannerNeeds needs() const override { return needs_; }
  bool remasks() const { return remasks_; }
  const std::string& name() const { return name_; }

  Plan Decide(const StepView& view) const override {
    nb::gil_scoped_acquire lock;
    const auto shown = std::make_shared<PlannerView>(view);
    struct End {
      PlannerView& view;
      ~End() { view.End(); }
    } end{*shown};
    const nb::object result = planner_.get().attr("decide")(shown);
    return Checked(view, *shown, result);
  }

 private:
  Plan Checked(const StepView& view, const PlannerView& shown, const nb::object& result) const {
    const std::string what = "what decide of " + name_ + " returned";
    Plan plan;
    if (!nb::isinstance(result, Class("Plan"))) {
      if (result.is_none()) BadInput("{} must be positions or a punt.Plan, got None", what);
      plan.commit = Integers(result, what);
    } else {
      plan.commit = Integers(result.attr("commit"), what + " as commit");
      plan.remask = Integers(result.attr("remask"), what + " as remask");
      for (nb::handle round : nb::object(result.attr("rounds"))) plan.rounds.push_back(RoundOf(round, what));
      const nb::object test = result.attr("next_base");
      if (!test.is_none()) plan.next_base = shown.NextBase(nb::cast<PlannerTest&>(test), plan, what);
    }
    CheckPositions(view, plan, what);
    return plan;
  }

  void CheckPositions(const StepView& view, const Plan& plan, const std::string& what) const {
    std::set<Position> offered, taken;
    for (const Proposal& proposal : view.proposals) offered.insert(proposal.position);
    for (Position position : plan.commit) {
      if (!offered.contains(position)) BadInput("{}: position {}, which has no proposal", what, position);
      if (!taken.insert(position).second) BadInput("{}: position {} twice", what, position);
    }
    const std::span<const Position> generated = view.canvas.generated();
    for (Position position : plan.remask) {
      if (!remasks_) BadInput("{}: position {} to be masked again; set remasks = True", what, position);
      const bool is_generated = std::find(generated.begin(), generated.end(), position) != generated.end();
      if (!is_generated || view.canvas.is_masked(position) || !taken.insert(position).second) {
        BadInput("{}: position {} cannot be masked again", what, position);
      }
    }
    if (taken.empty() && !is_scheduled_) {
      BadInput("{}: no position, so that the run would never end; set is_scheduled = True if it does", what);
    }
  }

  static Round RoundOf(nb::handle round, const std::string& what) {
    Round result{.level = nb::cast<int>(round.attr("level")),
                 .anchors = Integers(round.attr("anchors"), what + " as anchors"),
                 .tests = Integers(round.attr("tests"), what + " as tests"),
                 .epsilon = nb::cast<double>(round.attr("epsilon"))};
    const auto values = ArrayOf<double>(round.attr("divergences"), {result.tests.size()}, what + " as divergences");
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.divergences.push_back(values.data()[i]);
      result.kept.push_back(values.data()[i] <= result.epsilon);
    }
    return result;
  }

  std::string name_;
  PlannerNeeds needs_;
  bool remasks_;
  bool is_scheduled_;
  Held planner_;
};

/// The objects that runs use.
struct Objects {
  std::mutex mutex;
  std::map<int, std::shared_ptr<const PyPlanner>> planners;
  int next = 0;

  static Objects& Instance() {
    static Objects* objects = new Objects;
    return *objects;
  }
  std::shared_ptr<const PyPlanner> Find(int number) {
    std::lock_guard lock(mutex);
    const auto found = planners.find(number);
    if (found == planners.end()) BadInput("no planner object has the number {}: give the object itself", number);
    return found->second;
  }
};

constexpr int kMost = 2147483647;
const std::vector<ParamRow>& ObjectParams() {
  static const std::vector<ParamRow> kRows = {{.key = "id",
                                               .kind = ParamKind::kInteger,
                                               .default_value = "0",
                                               .help = "of the object, while a run uses it",
                                               .min = 0,
                                               .max = kMost}};
  return kRows;
}

void RegisterObjects() {
  for (bool remasks : {false, true}) {
    RegisterPlanner({.name = remasks ? "python-remasking" : "python",
                     .summary = "an object of Python's",
                     .params = ObjectParams(),
                     .make = [](const Params& params) { return Objects::Instance().Find(params.Integer("id")); },
                     .is_scheduled = true,
                     .remasks = remasks});
  }
}

/// What rows of the registry refer to: it stays for as long as the program.
std::string_view Kept(std::string text) {
  static auto* texts = new std::deque<std::string>;
  return texts->emplace_back(std::move(text));
}

nb::object ValueOf(const Params& params, const ParamRow& row) {
  if (row.kind == ParamKind::kInteger) return nb::cast(params.Integer(row.key));
  if (row.kind == ParamKind::kBoolean) return nb::cast(params.Boolean(row.key));
  return nb::cast(params.Real(row.key));
}

/// `params`: pairs of a name and its default, a bool, an int or a float. `make` takes them as keywords.
void Register(const std::string& name, const std::string& summary, nb::list params, bool remasks, bool is_scheduled,
              nb::object make) {
  auto* rows = new std::vector<ParamRow>;
  for (nb::handle param : params) {
    const nb::handle value = param[1];
    const bool is_bool = PyBool_Check(value.ptr()), is_int = PyLong_Check(value.ptr());
    const std::string text = is_bool ? (value.is(Py_True) ? "true" : "false") : nb::cast<std::string>(nb::str(value));
    rows->push_back({.key = Kept(nb::cast<std::string>(nb::object(param[0]))),
                     .kind = is_bool  ? ParamKind::kBoolean
                             : is_int ? ParamKind::kInteger
                                      : ParamKind::kReal,
                     .default_value = Kept(text),
                     .help = "",
                     .min = is_int ? -kMost : -1e300,
                     .max = is_int ? kMost : 1e300});
  }
  PyObject* kept = make.release().ptr();
  RegisterPlanner({.name = Kept(name),
                   .summary = Kept(summary),
                   .params = *rows,
                   .make = [kept, rows](const Params& values) -> std::shared_ptr<const Planner> {
                     nb::gil_scoped_acquire lock;
                     nb::dict keywords;
                     for (const ParamRow& row : *rows) {
                       keywords[nb::str(row.key.data(), row.key.size())] = ValueOf(values, row);
                     }
                     return std::make_shared<const PyPlanner>(nb::handle(kept)(**keywords));
                   },
                   .is_scheduled = is_scheduled,
                   .remasks = remasks});
}

}  // namespace

PlannerObject::PlannerObject(nb::object planner) {
  if (!nb::isinstance(planner, Class("Planner"))) {
    BadInput("planner must be a string or a punt.Planner, got {}", KindOf(planner));
  }
  auto made = std::make_shared<const PyPlanner>(std::move(planner));
  label_ = made->name();
  Objects& objects = Objects::Instance();
  std::lock_guard lock(objects.mutex);
  do {
    number_ = objects.next = objects.next == kMost ? 0 : objects.next + 1;
  } while (objects.planners.contains(number_));
  spec_ = fmt::format("{}:id={}", made->remasks() ? "python-remasking" : "python", number_);
  objects.planners.emplace(number_, std::move(made));
}

PlannerObject::~PlannerObject() {
  Objects& objects = Objects::Instance();
  std::shared_ptr<const PyPlanner> last;  // goes after the lock
  std::lock_guard lock(objects.mutex);
  const auto found = objects.planners.find(number_);
  last = std::move(found->second);
  objects.planners.erase(found);
}

void BindPlanners(nb::module_& module) {
  BindPlannerView(module);
  RegisterObjects();
  module.def("register_planner", &Register);
}

}  // namespace punt::py
