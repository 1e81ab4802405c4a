#include "model/devices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace punt {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::string Kind(ggml_backend_dev_t device) {
  switch (ggml_backend_dev_type(device)) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
      return "cpu";
    case GGML_BACKEND_DEVICE_TYPE_ACCEL:
      return "accelerator";
    default:
      return "gpu";
  }
}

}  // namespace

std::vector<DeviceInfo> ListDevices() {
  std::vector<DeviceInfo> devices;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    DeviceInfo info{.name = Lower(ggml_backend_dev_name(device)),
                    .description = ggml_backend_dev_description(device),
                    .kind = Kind(device)};
    ggml_backend_dev_memory(device, &info.free_bytes, &info.total_bytes);
    devices.push_back(std::move(info));
  }
  return devices;
}

ggml_backend_dev_t CpuDevice() {
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  Check(device != nullptr, "this build of ggml has no CPU backend");
  return device;
}

bool UsesHostMemory(ggml_backend_dev_t device) {
  return ggml_backend_buft_is_host(ggml_backend_dev_buffer_type(device));
}

ggml_backend_dev_t FindDevice(std::string_view name) {
  const std::string wanted = Lower(name);
  std::vector<std::string> names = {"auto"};
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    names.push_back(Lower(ggml_backend_dev_name(device)));
    if (wanted == names.back() || (wanted == "auto" && Kind(device) == "gpu")) return device;
  }
  if (wanted == "auto") return CpuDevice();
  BadInput("unknown device '{}'; valid: {}", name, fmt::join(names, ", "));
}

}  // namespace punt
