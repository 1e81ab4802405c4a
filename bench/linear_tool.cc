// The kernels of linear layers alone, and OpenBLAS's sgemm beside them: one thread, random numbers.
//
//   linear_tool [CHANNELS [DEPTH [ROWS[,ROWS...] [REPEATS]]]]          PUNT_ISA names an instruction set
//
// Prints billions of operations a second (two per product), by the processor time of the best of the repeats, which
// take turns; then, for how many of the numbers of rows 1..64 sgemm gives the first row other bits than for 64.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/instruction_set.h"
#include "kernels/linear_kernels.h"
#include "punt/random.h"
#include "tool.h"

namespace punt {
namespace {

std::vector<float> Numbers(std::int64_t count, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .sample = 0}, 0, Purpose::kPlan);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(stream.Uniform() - 0.5);
  return numbers;
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Contender {
  const char* name;
  std::function<void()> run;
  double best = 1e9;
};

PackedMatrix Pack(PackedForm form, ggml_type type, std::int64_t depth, std::int64_t channels,
                  const std::vector<float>& weights) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(channels) * ggml_row_size(type, depth));
  if (type == GGML_TYPE_F32) {
    std::memcpy(bytes.data(), weights.data(), bytes.size());
  } else {
    ggml_quantize_chunk(type, weights.data(), bytes.data(), 0, channels, depth, nullptr);
  }
  PackedMatrix packed(form, depth, channels);
  for (std::int64_t i = 0; i < packed.panels(); ++i) packed.Pack(i, type, bytes.data());
  return packed;
}

void Sgemm(std::int64_t rows, std::int64_t channels, std::int64_t depth, const float* x, const float* w, float* y) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), static_cast<int>(channels),
              static_cast<int>(depth), 1, x, static_cast<int>(depth), w, static_cast<int>(depth), 0, y,
              static_cast<int>(channels));
}

int Main(int argc, char** argv) {
  const std::int64_t channels = argc > 1 ? std::stoll(argv[1]) : 1024;
  const std::int64_t depth = argc > 2 ? std::stoll(argv[2]) : 2048;
  const std::vector<std::string> row_counts = Split(argc > 3 ? argv[3] : "32,64,256,512");
  const int repeats = argc > 4 ? std::stoi(argv[4]) : 10;
  if (channels < 1 || depth < 1 || depth % kStretch != 0) BadInput("the depth must be a multiple of {}", kStretch);
  openblas_set_num_threads(1);
  UseInstructionSet();
  const std::vector<float> w = Numbers(channels * depth, 1);
  struct Kernel {
    const char* name;
    PackedForm form;
    ggml_type type;
  };
  constexpr Kernel kKernels[] = {
      {"f32", PackedForm::kF32, GGML_TYPE_F32},       {"f16", PackedForm::kF16, GGML_TYPE_F16},
      {"int16", PackedForm::kInt16, GGML_TYPE_F16},   {"int8", PackedForm::kInt8, GGML_TYPE_Q8_0},
      {"int4", PackedForm::kInt4, GGML_TYPE_Q4_0},    {"int4 of q4_K", PackedForm::kInt4Min, GGML_TYPE_Q4_K},
      {"q6_K", PackedForm::kScaled8, GGML_TYPE_Q6_K}, {"q5_K", PackedForm::kScaled8Min, GGML_TYPE_Q5_K},
      {"q3_K", PackedForm::kScaled4, GGML_TYPE_Q3_K}, {"iq4_xs", PackedForm::kScaledIq4, GGML_TYPE_IQ4_XS}};
  std::vector<PackedMatrix> matrices;
  std::string ruler = "|---:|---:|";
  fmt::print("{}\n\n| rows | sgemm |", InstructionSetInUse());
  for (const Kernel& kernel : kKernels) {
    matrices.push_back(Pack(kernel.form, kernel.type, depth, channels, w));
    fmt::print(" {} |", kernel.name);
    ruler += "---:|";
  }
  fmt::print("\n{}\n", ruler);
  for (const std::string& item : row_counts) {
    const RowsShape shape{.depth = depth, .rows = std::stoll(item)};
    const std::vector<float> x = Numbers(shape.rows * depth, 2);
    std::vector<float> y(static_cast<std::size_t>(shape.rows * channels));
    std::vector<std::byte> laid_out(shape.Bytes(RowsForm::kFloat));
    const auto multiply = [&](const PackedMatrix& matrix) {
      const RowsShare rows{.x = x.data(), .stride = depth, .first = 0, .last = shape.rows};
      LayOutRows(matrix.rows_form(), shape, rows, laid_out.data());
      Multiply(matrix, shape, laid_out.data(), {.first = 0, .last = matrix.panels(), .y = y.data()});
    };
    std::vector<Contender> contenders = {
        {"sgemm", [&] { Sgemm(shape.rows, channels, depth, x.data(), w.data(), y.data()); }}};
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      contenders.push_back({kKernels[i].name, [&, i] { multiply(matrices[i]); }});
    }
    for (int i = 0; i < repeats; ++i) {
      for (Contender& contender : contenders) {
        const double begin = CpuSeconds();
        contender.run();
        contender.best = std::min(contender.best, CpuSeconds() - begin);
      }
    }
    fmt::print("| {} |", shape.rows);
    for (const Contender& contender : contenders) {
      fmt::print(" {:.1f} |", 2e-9 * static_cast<double>(shape.rows * channels * depth) / contender.best);
    }
    fmt::print("\n");
  }

  constexpr std::int64_t kRows = 64;
  const std::vector<float> x = Numbers(kRows * depth, 3);
  std::vector<float> y(static_cast<std::size_t>(kRows * channels));
  Sgemm(kRows, channels, depth, x.data(), w.data(), y.data());
  const std::vector<float> first(y.begin(), y.begin() + channels);
  int others = 0;
  for (std::int64_t rows = 1; rows <= kRows; ++rows) {
    Sgemm(rows, channels, depth, x.data(), w.data(), y.data());
    others += std::memcmp(y.data(), first.data(), first.size() * sizeof(float)) != 0;
  }
  fmt::print("\nsgemm: other bits for {} of {} numbers of rows\n", others, kRows);
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("linear_tool", [&] { return punt::Main(argc, argv); });
}
