// The public benchmarks that are tasks: one row each. What their prompts look like is the published protocols' (gsm8k
// and math as in lm-evaluation-harness); docs/evaluation.md says where they come from.
#include "eval/benchmark.h"
#include "eval/task_rows.h"

namespace punt {
namespace {

constexpr std::string_view kGsm8kStops[] = {"Question:", "</s>", "<|im_end|>"};
constexpr std::string_view kMathStops[] = {"Problem:"};

constexpr BenchmarkRow kGsm8k = {.scorer = "gsm8k",
                                 .before = "Question: ",
                                 .between = "\nAnswer:",
                                 .space = " ",
                                 .stops = kGsm8kStops,
                                 .shot_question = "question",
                                 .shot_answer = "answer",
                                 .draws_shots = true};

constexpr BenchmarkRow kMath = {.scorer = "math",
                                .before = "Problem:\n",
                                .between = "\n\nSolution:",
                                .space = " ",
                                .stops = kMathStops,
                                .shot_question = "problem",
                                .shot_answer = "solution",
                                .usual_length = 512};

constexpr BenchmarkRow kCountdown = {
    .scorer = "countdown",
    .before = "Use every number exactly once, with + - * / and parentheses, to reach the target.\n",
    .between = "\nWrite the expression between <answer> and </answer>.\n",
    .space = "",
    .stops = {},
    .shot_question = "question",
    .shot_answer = "answer"};

ParamRow ShotsParam(std::string_view count) {
  return {.key = "shots",
          .kind = ParamKind::kInteger,
          .default_value = count,
          .help = "worked examples in the prompt, from --shots",
          .min = 0,
          .max = 64};
}

ParamRow ChatParam(std::string_view is_chat) {
  return {.key = "chat",
          .kind = ParamKind::kBoolean,
          .default_value = is_chat,
          .help = "the prompt is a user's message in the model's chat template"};
}

const ParamRow kFourShots[] = {ShotsParam("4"), ChatParam("false")};
const ParamRow kChatAlone[] = {ShotsParam("0"), ChatParam("true")};

template <const BenchmarkRow& kRow>
std::unique_ptr<Task> Make(const Params& params, const TaskSetup& setup) {
  return MakeBenchmark(kRow, params, setup);
}

}  // namespace

const TaskRow kGsm8kRow = {.name = "gsm8k",
                           .summary = "grade school mathematics, four worked examples",
                           .data_help = "test.jsonl of openai/grade-school-math; --shots: its train.jsonl",
                           .params = kFourShots,
                           .takes_data = true,
                           .takes_shots = true,
                           .quality = kAccuracy,
                           .make = Make<kGsm8k>};

const TaskRow kMathRow = {
    .name = "math",
    .summary = "competition mathematics, four worked examples",
    .data_help =
        "test files of hendrycks/math, or MATH-500; --shots: JSON lines with problem and solution; the "
        "first ones are used",
    .params = kFourShots,
    .takes_data = true,
    .takes_shots = true,
    .quality = kAccuracy,
    .make = Make<kMath>};

const TaskRow kCountdownRow = {.name = "countdown",
                               .summary = "reach a number with given numbers, each used once",
                               .data_help = "JSON lines as countdown_cd3_test.jsonl of dllm-reasoning/d1",
                               .params = kChatAlone,
                               .takes_data = true,
                               .takes_shots = true,
                               .quality = kAccuracy,
                               .make = Make<kCountdown>};

}  // namespace punt
