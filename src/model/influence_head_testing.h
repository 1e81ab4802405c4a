// Files of influence heads, made for tests.
#pragma once

#include <ggml.h>
#include <gguf.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/influence_head.h"
#include "punt/random.h"

namespace punt {

/// A small head, in a file as long as this lives, with weights in -1..1 that depend on their place alone.
class HeadFile {
 public:
  static constexpr std::int64_t kHeads = 2, kSize = 3, kUnits = 4, kReach = 2;
  static constexpr std::int64_t kProjected = 2 * (kHeads * kSize + kUnits);
  using Change = std::function<void(gguf_context*)>;

  static double Number(std::uint64_t stream, std::uint64_t index) {
    return 2 * RandomStream({stream, index, 0}, 0, Purpose::kToyModel).Uniform() - 1;
  }

  /// `change` may spoil the metadata; one tensor may be left out.
  explicit HeadFile(const HeadOwner& owner, const Change& change = nullptr, const std::string& left_out = "")
      : path(::testing::TempDir() + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
             ".influence.gguf") {
    std::unique_ptr<gguf_context, decltype(&gguf_free)> file(gguf_init_empty(), gguf_free);
    std::unique_ptr<ggml_context, decltype(&ggml_free)> memory(ggml_init({1 << 20, nullptr, false}), ggml_free);
    gguf_set_val_str(file.get(), "general.architecture", "influence");
    gguf_set_val_str(file.get(), "influence.model.name", owner.name.c_str());
    gguf_set_val_str(file.get(), "influence.model.architecture", owner.architecture.c_str());
    const auto set = [&](const char* key, std::int64_t value) {
      gguf_set_val_u32(file.get(), key, static_cast<std::uint32_t>(value));
    };
    set("influence.model.embedding_length", owner.width);
    set("influence.model.block_count", owner.layers);
    set("influence.model.vocab_size", owner.vocab_size);
    set("influence.heads", kHeads);
    set("influence.head_size", kSize);
    set("influence.units", kUnits);
    set("influence.reach", kReach);
    if (change) change(file.get());
    struct Shape {
      const char* name;
      std::int64_t inner, outer;
    };
    std::uint64_t stream = 0;
    for (const auto& [name, inner, outer] : {Shape{"project.weight", owner.width, kProjected},
                                             {"project.bias", kProjected, 1},
                                             {"surprise.weight", kUnits, 1},
                                             {"entropy.weight", kUnits, 1},
                                             {"offset.weight", kHeads, 2 * kReach + 1},
                                             {"mix.weight", kHeads, kUnits},
                                             {"score.weight", kUnits, 1},
                                             {"score.bias", 1, 1}}) {
      ggml_tensor* tensor = ggml_new_tensor_2d(memory.get(), GGML_TYPE_F32, inner, outer);
      ggml_set_name(tensor, name);
      auto* numbers = static_cast<float*>(tensor->data);
      for (std::int64_t i = 0; i < ggml_nelements(tensor); ++i) {
        numbers[i] = static_cast<float>(Number(stream, static_cast<std::uint64_t>(i)));
        values[name].push_back(static_cast<double>(numbers[i]));
      }
      ++stream;
      if (name != left_out) gguf_add_tensor(file.get(), tensor);
    }
    EXPECT_TRUE(gguf_write_to_file(file.get(), path.c_str(), false));
  }
  ~HeadFile() { std::filesystem::remove(path); }
  HeadFile(const HeadFile&) = delete;
  HeadFile& operator=(const HeadFile&) = delete;

  const std::string path;
  std::map<std::string, std::vector<double>> values;
};

}  // namespace punt
