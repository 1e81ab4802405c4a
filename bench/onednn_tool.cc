// oneDNN's own rate for 8-bit products, to compare with linear_tool's: u8 rows times s8 weights to f32, weights in the
// layout that oneDNN prefers, a scale for each channel. Built where libdnnl-dev is installed; punt does not use it.
//
//   OMP_NUM_THREADS=1 onednn_tool [CHANNELS [DEPTH [ROWS[,ROWS...] [REPEATS]]]]
//
// Prints billions of operations a second (two per product), by elapsed time, the best of the repeats.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "tool.h"

namespace {

double BestRate(std::int64_t rows, std::int64_t channels, std::int64_t depth, int repeats) {
  using Tag = dnnl::memory::format_tag;
  using Type = dnnl::memory::data_type;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc x({rows, depth}, Type::u8, Tag::ab);
  const dnnl::memory::desc any({channels, depth}, Type::s8, Tag::any);
  const dnnl::memory::desc y({rows, channels}, Type::f32, Tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(1 << 1, std::vector<float>(static_cast<std::size_t>(channels), 0.01f));
  const dnnl::inner_product_forward::desc product(dnnl::prop_kind::forward_inference, x, any, y);
  const dnnl::inner_product_forward::primitive_desc primitive(product, attributes, engine);
  dnnl::memory rows_memory(x, engine);
  dnnl::memory weights_memory(primitive.weights_desc(), engine);
  dnnl::memory result_memory(y, engine);
  std::fill_n(static_cast<std::uint8_t*>(rows_memory.get_data_handle()), x.get_size(), std::uint8_t{3});
  std::fill_n(static_cast<std::int8_t*>(weights_memory.get_data_handle()), primitive.weights_desc().get_size(),
              std::int8_t{2});
  const dnnl::inner_product_forward forward(primitive);
  double best = 1e9;
  for (int i = 0; i <= repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    forward.execute(stream,
                    {{DNNL_ARG_SRC, rows_memory}, {DNNL_ARG_WEIGHTS, weights_memory}, {DNNL_ARG_DST, result_memory}});
    stream.wait();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return 2e-9 * static_cast<double>(rows * channels * depth) / best;
}

}  // namespace

int main(int argc, char** argv) {
  return punt::RunTool("onednn_tool", [&] {
    const std::int64_t channels = argc > 1 ? std::stoll(argv[1]) : 1024;
    const std::int64_t depth = argc > 2 ? std::stoll(argv[2]) : 2048;
    const std::vector<std::string> row_counts = punt::Split(argc > 3 ? argv[3] : "32,64,256,512");
    const int repeats = argc > 4 ? std::stoi(argv[4]) : 10;
    fmt::print("| rows | oneDNN {}.{}.{} u8 s8 |\n|---:|---:|\n", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
               DNNL_VERSION_PATCH);
    for (const std::string& item : row_counts) {
      fmt::print("| {} | {:.1f} |\n", item, BestRate(std::stoll(item), channels, depth, repeats));
    }
    return 0;
  });
}
