// The devices that this build of ggml can compute on.
#pragma once

#include <ggml-backend.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct DeviceInfo {
  std::string name;  // what --device takes: cpu, blas, cuda0, vulkan0, ...
  std::string description;
  std::string kind;  // cpu, accelerator, gpu
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

std::vector<DeviceInfo> ListDevices();

/// "auto" is the first GPU, or else the CPU. Throws Error listing the devices that exist.
ggml_backend_dev_t FindDevice(std::string_view name);
ggml_backend_dev_t CpuDevice();

/// Whether tensors for this device live in ordinary memory.
bool UsesHostMemory(ggml_backend_dev_t device);

}  // namespace punt
