#include "denoise/model_choice.h"

#include "base/processors.h"

namespace punt {

ModelOptions ModelChoice::Options() const {
  return {.compute = compute,
          .influence = influence,
          .lora = lora,
          .device = device,
          .gpu_layers = static_cast<int>(gpu_layers),
          .repack = !no_repack};
}

int ModelChoice::ThreadsFor(const Model& model) const {
  return model.is_toy && threads == 0 ? 1 : ThreadCount(threads);
}

}  // namespace punt
