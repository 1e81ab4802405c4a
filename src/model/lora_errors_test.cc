// Adapters that are refused, each in one line that names what is wrong.
#include <gtest/gtest.h>

#include "model/lora_testing.h"
#include "model/merged_source.h"
#include "weights/lora.h"

namespace punt {
namespace {

using testing::ExpectError;
using testing::GgufAdapter;
using testing::MakePair;
using testing::MakePeft;
using testing::PeftAdapter;
using testing::ReadCheckpoint;
using testing::TempFolder;
using testing::WriteAll;
namespace fs = std::filesystem;
using Json = nlohmann::json;

void ExpectRefused(const fs::path& model, const std::string& adapter, const std::vector<std::string>& parts) {
  ExpectError([&] { OpenMergedFiles(model, std::vector<std::string>{adapter}); }, parts);
}

TEST(LoraName, IsAPathAndAScale) {
  EXPECT_EQ(ParseLoraName("a.gguf").scale, 1);
  EXPECT_EQ(ParseLoraName("a.gguf:0.5").path, "a.gguf");
  EXPECT_EQ(ParseLoraName("a.gguf:0.5").scale, 0.5);
  EXPECT_EQ(ParseLoraName("a.gguf:-2e-1").scale, -0.2);
  EXPECT_EQ(ParseLoraName("hf:user/repo:q8_0:3").path, "hf:user/repo:q8_0");
  EXPECT_EQ(ParseLoraName("hf:user/repo:q8_0").path, "hf:user/repo:q8_0");
  EXPECT_EQ(ParseLoraName("a:b:").path, "a:b:");
  const TempFolder temp;
  WriteAll(temp / "a:2", "");
  EXPECT_EQ(ParseLoraName((temp / "a:2").string()).path, (temp / "a:2").string());  // it is there
  for (const char* wrong : {"", ":0.5", "a:inf", "a:nan"}) {
    ExpectError([&] { ParseLoraName(wrong); }, {"adapter", wrong});
  }
}

class PeftErrors : public ::testing::Test {
 protected:
  void Write() { adapter_.Write(folder()); }
  fs::path folder() const { return temp_ / "a"; }
  /// With this in its configuration.
  void RefusedWith(const char* field, const Json& value, const std::vector<std::string>& parts) {
    PeftAdapter changed = adapter_;
    changed.config[field] = value;
    if (value.is_null()) changed.config.erase(field);
    changed.Write(folder());
    std::vector<std::string> all = {"adapter_config.json", field};
    all.insert(all.end(), parts.begin(), parts.end());
    ExpectRefused(GoldenFolder("dream"), folder().string(), all);
  }

  TempFolder temp_;
  PeftAdapter adapter_ = MakePeft(ReadCheckpoint("dream"), {"q_proj"}, 1);
};

TEST_F(PeftErrors, Files) {
  const fs::path model = GoldenFolder("dream");
  ExpectRefused(model, (temp_ / "none").string(), {"none", "no such adapter"});
  fs::create_directory(folder());
  ExpectRefused(model, folder().string(), {"adapter_config.json", "no adapter"});
  Write();
  fs::remove(folder() / "adapter_model.safetensors");
  ExpectRefused(model, folder().string(), {"adapter_model.safetensors", "no adapter"});
  Write();
  WriteAll(folder() / "adapter_config.json", "{\"r\": ");
  ExpectRefused(model, folder().string(), {"adapter_config.json", "too early"});
  WriteAll(folder() / "adapter_config.json", "[]");
  ExpectRefused(model, folder().string(), {"adapter_config.json"});
  Write();
  fs::rename(folder() / "adapter_config.json", temp_ / "elsewhere.json");
  ExpectRefused(model, (folder() / "adapter_model.safetensors").string(), {"adapter_config.json", "rank and scale"});
  Write();
  WriteAll(folder() / "adapter_model.safetensors", "no");
  ExpectRefused(model, folder().string(), {"adapter_model.safetensors"});
}

TEST_F(PeftErrors, Configurations) {
  RefusedWith("peft_type", "IA3", {"IA3"});
  RefusedWith("fan_in_fan_out", true, {});
  RefusedWith("use_dora", true, {});
  RefusedWith("lora_bias", true, {});
  RefusedWith("bias", "all", {"all"});
  RefusedWith("modules_to_save", {"lm_head"}, {});
  RefusedWith("trainable_token_indices", {1, 2}, {});
  RefusedWith("target_parameters", {"experts"}, {});
  RefusedWith("init_lora_weights", "pissa", {"pissa", "base model"});
  RefusedWith("r", 0, {});
  RefusedWith("r", "four", {});
  RefusedWith("r", nullptr, {});
  RefusedWith("lora_alpha", nullptr, {});
  RefusedWith("rank_pattern", {{"q_proj", 0}}, {"0"});
  RefusedWith("rank_pattern", {{".*q_proj", 4}}, {".*q_proj", "regular expression"});
  RefusedWith("alpha_pattern", {{"q_proj", "4"}}, {"q_proj", "number"});
  RefusedWith("alpha_pattern", {4}, {"object"});
}

TEST_F(PeftErrors, Tensors) {
  const fs::path model = GoldenFolder("dream");
  std::mt19937 random(2);
  const std::string module = adapter_.pairs.begin()->first;
  adapter_.pairs[module] = MakePair(random, 64, 48, 4);
  Write();
  ExpectRefused(model, folder().string(), {"[64, 48]", "[64, 64]", "attn_q"});
  adapter_.pairs[module] = MakePair(random, 64, 64, 5);
  Write();
  ExpectRefused(model, folder().string(), {module, "rank 4"});
  adapter_.pairs[module] = MakePair(random, 64, 64, 4);
  adapter_.pairs[module].up[3] = NAN;
  Write();
  ExpectRefused(model, folder().string(), {"attn_q", "nan"});
  adapter_.pairs[module].up[3] = 0;
  adapter_.pairs["model.layers.0.self_attn.w_proj"] = MakePair(random, 64, 64, 4);
  Write();
  ExpectRefused(model, folder().string(), {"model.layers.0.self_attn.w_proj", "another model"});
  adapter_.pairs.erase("model.layers.0.self_attn.w_proj");
  adapter_.pairs["model.layers.0.input_layernorm"] = MakePair(random, 64, 1, 4);
  Write();
  ExpectRefused(model, folder().string(), {"attn_norm", "no matrix"});
  adapter_.pairs.erase("model.layers.0.input_layernorm");
  Write();
  ExpectRefused(GoldenFolder("llada"), folder().string(), {module, "another model"});  // other names
  adapter_.pairs.clear();
  adapter_.pairs["model.layers.0.self_attn.k_proj"] = MakePair(random, 64, 64, 4);  // which has fewer heads here
  Write();
  ExpectRefused(model, folder().string(), {"attn_k", "[64, 64]", "[32, 64]", "another model"});
  EXPECT_NO_THROW(OpenMergedFiles(GoldenFolder("llada_moe"), std::vector<std::string>{folder().string()}));
}

TEST_F(PeftErrors, PartsOfPairs) {
  fs::create_directory(folder());
  WriteAll(folder() / "adapter_config.json", adapter_.config.dump());
  const std::vector<float> zeros(4 * 64);
  const std::string module = "base_model.model.model.layers.0.self_attn.q_proj";
  const auto refused = [&](std::vector<SafetensorsTensor> tensors, const std::vector<std::string>& parts) {
    WriteSafetensors(folder() / "adapter_model.safetensors", tensors);
    ExpectRefused(GoldenFolder("dream"), folder().string(), parts);
  };
  refused({{module + ".lora_A.weight", {4, 64}, zeros}}, {"q_proj", "only one"});
  refused({{module + ".bias", {64}, std::span(zeros).first(64)}}, {"q_proj.bias", "no part"});
  refused({{module + ".lora_A.weight", {256}, zeros}, {module + ".lora_B.weight", {64, 4}, zeros}}, {"no matrix"});
  refused({{module + ".lora_A.weight", {4, 64}, zeros}, {module + ".lora_A.default.weight", {4, 64}, zeros}},
          {"same part"});
  refused({}, {"adapter"});
}

TEST_F(PeftErrors, AFileAsTheModel) {
  Write();
  ExpectRefused(fs::path(PUNT_SOURCE_DIR) / "models/stories.gguf", folder().string(),
                {"stories.gguf", "is a file", "adapter as GGUF"});
}

class GgufErrors : public ::testing::Test {
 protected:
  void Refused(GgufAdapter& adapter, const std::vector<std::string>& parts) {
    adapter.Write(temp_ / "a.gguf");
    ExpectRefused(GoldenFolder("llada"), (temp_ / "a.gguf").string(), parts);
  }
  testing::RandomPair Pair(std::int64_t rows, std::int64_t columns) { return MakePair(random_, rows, columns, 4); }

  TempFolder temp_;
  std::mt19937 random_{1};
};

TEST_F(GgufErrors, Kinds) {
  ExpectRefused(GoldenFolder("llada"), std::string(PUNT_SOURCE_DIR) + "/models/stories.gguf",
                {"stories.gguf", "no adapter"});
  WriteAll(temp_ / "b.gguf", "GGUF");
  ExpectRefused(GoldenFolder("llada"), (temp_ / "b.gguf").string(), {"b.gguf"});
  GgufAdapter other("dream");
  Refused(other, {"'dream'", "'llada'"});
  GgufAdapter control("llada");
  gguf_set_val_str(control.keys(), "adapter.type", "control_vector");
  Refused(control, {"control_vector"});
  GgufAdapter switched("llada");
  const std::uint32_t tokens[] = {1, 2};
  gguf_set_arr_data(switched.keys(), "adapter.alora.invocation_tokens", GGUF_TYPE_UINT32, tokens, 2);
  Refused(switched, {"aLoRA"});
  GgufAdapter empty("llada");
  Refused(empty, {"empty"});
}

TEST_F(GgufErrors, Tensors) {
  GgufAdapter shape("llada");
  shape.Add("blk.0.attn_q.weight", Pair(64, 32));
  Refused(shape, {"blk.0.attn_q.weight", "[64, 32]", "[64, 64]"});
  GgufAdapter name("llada");
  name.Add("blk.99.attn_q.weight", Pair(64, 64));
  Refused(name, {"blk.99.attn_q.weight", "another model"});
  GgufAdapter half("llada");
  half.Add("blk.0.attn_q.weight.lora_a", {64, 4}, Pair(64, 64).down);
  Refused(half, {"blk.0.attn_q.weight", "only one"});
  GgufAdapter norm("llada");
  norm.Add("blk.0.attn_norm.weight", {64}, std::vector<float>(64));
  Refused(norm, {"blk.0.attn_norm.weight", "low-rank"});
  GgufAdapter ranks("llada");
  ranks.Add("blk.0.attn_q.weight.lora_a", {64, 4}, Pair(64, 64).down);
  ranks.Add("blk.0.attn_q.weight.lora_b", {2, 64}, std::vector<float>(128));
  Refused(ranks, {"do not fit"});
  GgufAdapter stack("llada");
  stack.Add("blk.0.attn_q.weight.lora_a", {64, 4, 2}, std::vector<float>(512));
  stack.Add("blk.0.attn_q.weight.lora_b", {4, 64, 2}, std::vector<float>(512));
  Refused(stack, {"expert 1", "the model has 1"});
}

}  // namespace
}  // namespace punt
