#include "tasks/sweep_records.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "eval/eval_json.h"
#include "eval/law_reference.h"
#include "generate/misfit_list.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr rlim_t kOtherFiles = 64;

/// Every folder of a sweep is locked by an open file.
void AllowOpenFiles(std::size_t count) {
  rlimit limit{};
  const rlim_t needed = static_cast<rlim_t>(count) + kOtherFiles;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    BadInput("{} runs need {} open files, {} are allowed (ulimit -n); give shorter lists", count, needed,
             limit.rlim_max);
  }
  limit.rlim_cur = needed;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Throws Error naming the planners that the model cannot run.
void RequireFit(const SweepPlan& plan, const EvalSetup& setup) {
  const DenoiserInfo& info = setup.model->denoiser->info();
  const Canvas canvas(setup.task->Item(0).canvas, info.mask_token, info.vocab_size);
  MisfitList misfits;
  for (const SweepPoint& point : plan.points) {
    const Evaluation evaluation = plan.EvaluationOf(point);
    const Recipe recipe = MakeEvalRecipe(evaluation, *setup.model, point.entry.planner, point.entry.score);
    misfits.Look(point.entry.planner, recipe, canvas, *setup.model);
  }
  misfits.RequireNone();
}

}  // namespace

Evaluation SweepPlan::EvaluationOf(const SweepPoint& point) const {
  Evaluation evaluation = eval;
  evaluation.sampling.temperature = point.temperature;
  evaluation.sampling.seed = point.seed;
  return evaluation;
}

void SweepPlan::ChooseScore(const Model& model) {
  if (eval.sampling.score.empty() && preset != nullptr) eval.sampling.score = preset->score(model.architecture);
}

void SweepPlan::TakeOver(const GridRow& row, const std::function<bool(std::string_view setting)>& is_given) {
  const GridSampling sampling = row.sampling();
  preset = &row;
  const bool has_temperatures = !is_given("temperature") && !sampling.temperatures.empty();
  if (has_temperatures) {
    axes.temperatures = sampling.temperatures;
    axes.names_temperature = true;
  }
  if (sampling.top_p && !is_given("top_p")) eval.sampling.top_p = *sampling.top_p;
  if (!sampling.eos.empty() && !is_given("eos")) eval.sampling.eos = sampling.eos;
  for (const GridTask& task : sampling.tasks) {
    if (eval.task.empty() || task.name != FindTask(eval.task).name) continue;
    if (task.length > 0 && !is_given("length")) eval.length = task.length;
    if (!task.all_items && !is_given("limit")) eval.limit = static_cast<std::int64_t>(task.items);
    if (task.only_hot && has_temperatures) axes.temperatures = {sampling.temperatures.back()};
  }
}

std::optional<EvalRecord> JobRunner::Run(const SweepJob& job) {
  if (point_ != job.point) Prepare(job.point);
  return runner_->Run(job.item);
}

void JobRunner::Prepare(std::size_t index) {
  const SweepPoint& point = plan_.points[index];
  const Evaluation evaluation = plan_.EvaluationOf(point);
  runner_.reset();
  if (seed_ != point.seed) {
    task_.reset();  // before the next: a judge is large
    task_ = MakeEvalTask(evaluation, setup_);
    seed_ = point.seed;
  }
  job_ = MakeEvalJob(evaluation, setup_, point.entry.planner, point.entry.score);
  job_.task = task_.get();
  job_.cancel = cancel_;
  runner_ = std::make_unique<ItemRunner>(job_);
  point_ = index;
}

SweepRecords::SweepRecords(const SweepPlan& plan, const EvalSetup& setup) : plan_(plan), setup_(setup) {
  if (!plan.out.empty()) AllowOpenFiles(plan.points.size());
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < setup.count; ++i) ids.push_back(setup.task->Item(i).id);
  RequireFit(plan, setup);
  for (const SweepPoint& point : plan.points) {
    const Evaluation evaluation = plan.EvaluationOf(point);
    PointRecords& records = points_.emplace_back();
    records.configuration = EvalConfiguration(evaluation, setup, point.entry.planner, point.entry.score);
    if (!evaluation.reference.empty()) CheckLawReference(evaluation.reference, records.configuration);
    records.records.resize(setup.count);
    records.missing = setup.count;
  }
  if (plan.out.empty()) return;
  for (std::size_t p = 0; p < points_.size(); ++p) {  // folders are made once all points have been checked
    PointRecords& records = points_[p];
    records.log =
        std::make_unique<EvalLog>(fs::path(plan.out) / FolderName(plan.points[p], plan.axes), records.configuration);
    for (std::size_t i = 0; i < setup.count; ++i) {
      const auto found = records.log->resumed().find(ids[i]);
      if (found == records.log->resumed().end()) continue;
      records.records[i] = found->second;
      --records.missing;
    }
  }
}

std::vector<SweepJob> SweepRecords::Missing() const {
  std::vector<SweepJob> jobs;
  for (std::size_t point = 0; point < points_.size(); ++point) {
    for (std::size_t item = 0; item < setup_.count; ++item) {
      if (!points_[point].records[item]) jobs.push_back({point, item});
    }
  }
  return jobs;
}

void SweepRecords::Add(const SweepJob& job, EvalRecord record) {
  PointRecords& point = points_[job.point];
  if (point.log) point.log->Add(RecordLine(record));
  point.records[job.item] = std::move(record);
  if (--point.missing == 0 && point.log) WriteSummary(job.point);
}

bool SweepRecords::IsComplete(std::size_t row) const {
  const std::size_t seeds = plan_.axes.seeds.size();
  const auto first = points_.begin() + static_cast<std::ptrdiff_t>(row * seeds);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(seeds),
                     [](const PointRecords& point) { return point.missing == 0; });
}

BenchRow SweepRecords::Row(std::size_t row) const {
  const std::size_t seeds = plan_.axes.seeds.size();
  const SweepPoint& first = plan_.points[row * seeds];
  BenchRow result{.entry = first.entry, .temperature = first.temperature};
  result.entry.score = ScoreOf(plan_.eval, *setup_.model, first.entry.score);
  std::vector<EvalRecord> all;
  for (std::size_t i = row * seeds; i < (row + 1) * seeds; ++i) {
    const std::vector<EvalRecord> records = RecordsOf(i);
    result.runs.push_back({.seed = plan_.points[i].seed, .summary = Summarise(*setup_.task, records)});
    all.insert(all.end(), records.begin(), records.end());
  }
  result.summary = Summarise(*setup_.task, all);
  return result;
}

std::vector<EvalRecord> SweepRecords::RecordsOf(std::size_t point) const {
  std::vector<EvalRecord> records;
  for (const std::optional<EvalRecord>& record : points_[point].records) records.push_back(*record);
  return records;
}

void SweepRecords::WriteSummary(std::size_t point) const {
  const EvalReport report{.task = std::string(FindTask(plan_.eval.task).name),
                          .model = setup_.model->name,
                          .planner = plan_.points[point].entry.planner,
                          .configuration = points_[point].configuration,
                          .summary = Summarise(*setup_.task, RecordsOf(point))};
  points_[point].log->WriteSummary(EvalJson(report, 2) + "\n");
}

}  // namespace punt
