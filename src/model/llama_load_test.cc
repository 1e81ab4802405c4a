// What we write loads in llama.cpp: every tensor under the name and with the shape that its graphs ask for. The
// tokenizer is another matter and left out here ("no_vocab").
#include <gtest/gtest.h>
#include <llama.h>

#include "model/convert.h"
#include "weights/hf_folder.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

struct ModelDelete {
  void operator()(llama_model* model) const { llama_model_free(model); }
};

TEST(LlamaLoad, TakesWhatWeWrite) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  for (const char* folder : {"llada", "llada_bf16", "dream", "llada_moe"}) {
    for (const char* type : {"keep", "f32", "f16", "q8_0", "q4_k_m"}) {
      const testing::TempFolder temp;
      const auto source = OpenHfFolder(testing::kGolden / folder, [](Metadata& metadata) {
        gguf_set_val_str(metadata.raw(), "tokenizer.ggml.model", "no_vocab");
      });
      const ConvertResult result = Convert(*source, temp / "m.gguf", {.type = type});
      llama_model_params params = llama_model_default_params();
      params.n_gpu_layers = 0;
      const std::unique_ptr<llama_model, ModelDelete> model(
          llama_model_load_from_file((temp / "m.gguf").c_str(), params));
      ASSERT_NE(model, nullptr) << folder << " " << type;
      EXPECT_EQ(llama_model_n_params(model.get()), static_cast<std::uint64_t>(result.parameters)) << folder;
      EXPECT_TRUE(llama_model_is_diffusion(model.get())) << folder;
      EXPECT_EQ(llama_model_n_ctx_train(model.get()), 128) << folder;
    }
  }
  llama_log_set(nullptr, nullptr);
}

}  // namespace
}  // namespace punt
