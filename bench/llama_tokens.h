// How fast libllama, as punt links it, reads a beginning and goes on behind it, token by token.
#pragma once

#include <llama.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"

namespace punt {

/// Seconds, of a clock on the wall or of the processor's time that the program has used: with one thread the latter
/// does not depend on what else is running.
inline double Seconds(bool of_processor) {
  if (of_processor) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class LlamaTokens {
 public:
  LlamaTokens(const std::string& file, int longest, int threads, bool of_processor) : of_processor_(of_processor) {
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    llama_backend_init();
    llama_model_params model = llama_model_default_params();
    model.n_gpu_layers = 0;
    model_.reset(llama_model_load_from_file(file.c_str(), model));
    if (model_ == nullptr) BadInput("{}: llama.cpp cannot read it", file);
    llama_context_params context = llama_context_default_params();
    context.n_ctx = static_cast<std::uint32_t>(longest);
    context.n_batch = context.n_ctx;
    context.n_threads = context.n_threads_batch = threads;
    context_.reset(llama_init_from_model(model_.get(), context));
    if (context_ == nullptr) BadInput("{}: llama.cpp has no room for {} tokens", file, longest);
  }

  struct Took {
    double prefix = 0;
    double per_token = 0;
  };

  Took Measure(int prefix, int behind) {
    llama_memory_clear(llama_get_memory(context_.get()), true);
    std::vector<llama_token> tokens(static_cast<std::size_t>(prefix));
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<llama_token>(i * 7 % 200);
    Took seconds{.prefix = Decode(tokens)};
    tokens.resize(1);
    for (int i = 0; i < behind; ++i) seconds.per_token += Decode(tokens) / behind;
    return seconds;
  }

 private:
  double Decode(std::vector<llama_token>& tokens) {
    const double start = Seconds(of_processor_);
    const int failed =
        llama_decode(context_.get(), llama_batch_get_one(tokens.data(), static_cast<std::int32_t>(tokens.size())));
    Check(failed == 0, "llama.cpp's pass failed");
    llama_synchronize(context_.get());
    return Seconds(of_processor_) - start;
  }

  struct Delete {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  const bool of_processor_;
  std::unique_ptr<llama_model, Delete> model_;
  std::unique_ptr<llama_context, Delete> context_;
};

}  // namespace punt
