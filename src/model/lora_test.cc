// A golden model with a random adapter against a checkpoint whose weights a plain twin has merged (lora_testing.h), and
// against libllama, which adds adapters in its graph.
#include "weights/lora.h"

#include <gtest/gtest.h>
#include <llama.h>

#include <memory>

#include "model/convert.h"
#include "model/edited_testing.h"
#include "model/lora_testing.h"
#include "model/merged_source.h"
#include "weights/hf_folder.h"

namespace punt {
namespace {

using testing::ExpectError;
using testing::GgufAdapter;
using testing::MakePair;
using testing::MakePeft;
using testing::PeftAdapter;
using testing::Plain;
using testing::RandomPair;
using testing::ReadCheckpoint;
using testing::TempFolder;
using testing::Values;
using testing::WriteAll;
namespace fs = std::filesystem;

std::unique_ptr<Network> OpenWith(const fs::path& model, const std::vector<std::string>& adapters) {
  return std::make_unique<Network>(OpenMergedFiles(model, adapters), NetworkOptions{.device = "cpu"});
}

/// Logits of the golden inputs, all cases in one list.
std::vector<float> AllLogits(const Network& network, const std::string& inputs) {
  NetworkRunner runner(network, {});
  std::vector<float> all;
  for (const GoldenCase& c : GoldenCases(inputs)) {
    const std::vector<float> logits = LogitsOf(runner, network, c);
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

struct Case {
  const char* folder;
  std::vector<std::string> ends;  // of the modules that are changed
  const char* table = "";         // an embedding that is changed
  double bound = kLogitBound;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.folder; }

class Lora : public ::testing::TestWithParam<Case> {};

TEST_P(Lora, MergesWhatPeftSaves) {
  const TempFolder temp;
  const Case& c = GetParam();
  Plain plain = ReadCheckpoint(c.folder);
  PeftAdapter one = MakePeft(plain, c.ends, 1);
  if (*c.table != '\0') {
    std::mt19937 random(7);
    const std::vector<std::int64_t> shape = plain.at(std::string(c.table) + ".weight").shape;
    one.embeddings[c.table] = MakePair(random, shape[0], shape[1], 4);
  }
  PeftAdapter other = MakePeft(plain, {c.ends.front()}, 2, 3);
  other.config["use_rslora"] = true;
  other.suffix = ".default.weight";
  one.Write(temp / "one");
  other.Write(temp / "other");
  one.MergeInto(plain, 1);
  other.MergeInto(plain, -0.5);
  testing::WriteCheckpoint(c.folder, plain, temp / "merged");

  const auto fixture = std::find_if(std::begin(kGoldenFixtures), std::end(kGoldenFixtures),
                                    [&](const auto& row) { return std::string_view(row.folder) == c.folder; });
  const std::string inputs = fixture->inputs;
  const std::vector<float> base = AllLogits(*OpenWith(GoldenFolder(c.folder), {}), inputs);
  const std::vector<float> truth = AllLogits(*OpenWith(temp / "merged", {}), inputs);
  const auto network = OpenWith(GoldenFolder(c.folder),
                                {(temp / "one").string(), (temp / "other/adapter_model.safetensors:-0.5").string()});
  const double difference = LargestDifference(AllLogits(*network, inputs), truth);
  EXPECT_LE(difference, c.bound);
  EXPECT_GT(LargestDifference(base, truth), 20 * c.bound) << "the adapter does nothing";
  RecordProperty("difference", std::to_string(difference));
}

const Case kCases[] = {
    {"llada", {"q_proj", "k_proj", "v_proj", "attn_out", "ff_proj", "up_proj", "ff_out"}, "model.transformer.wte"},
    {"llada_sharded", {"k_proj"}},
    {"llada_bf16", {"q_proj", "up_proj"}, "", 0.1},
    {"dream", {"q_proj", "v_proj", "down_proj", "lm_head"}, "model.embed_tokens"},
    {"llada_moe", {"q_proj", "o_proj", "experts.3.down_proj", "experts.0.up_proj", "mlp.gate"}},
    {"llada2_moe", {"query_key_value", "attention.dense", "shared_experts.gate_proj", "experts.1.up_proj"}},
    {"esm2", {"query", "value", "intermediate.dense", "lm_head.dense"}},
    {"bert", {"self.query", "attention.output.dense"}, "bert.embeddings.word_embeddings"},
    {"distilbert", {"q_lin", "lin2"}},
};

INSTANTIATE_TEST_SUITE_P(Golden, Lora, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.folder); });

TEST(LoraPeft, ModulesHaveRanksAndScalesOfTheirOwn) {
  const TempFolder temp;
  Plain plain = ReadCheckpoint("dream");
  PeftAdapter adapter = MakePeft(plain, {"q_proj", "v_proj"}, 3);
  std::mt19937 random(4);
  for (auto& [module, pair] : adapter.pairs) {
    if (module.ends_with("v_proj")) pair = MakePair(random, pair.rows, pair.columns, 2);
  }
  adapter.config["rank_pattern"] = {{"v_proj", 2}};
  adapter.config["alpha_pattern"] = {{"layers.0.self_attn.q_proj", 1}};
  adapter.prefix = "base_model.model.";
  // Of a model without its head: no "model." in front.
  std::map<std::string, RandomPair> headless;
  for (const auto& [module, pair] : adapter.pairs) headless[module.substr(6)] = pair;
  adapter.MergeInto(plain, 1);
  std::swap(adapter.pairs, headless);
  adapter.Write(temp / "a");
  const auto merged = OpenMergedFiles(GoldenFolder("dream"), std::vector<std::string>{(temp / "a").string()});
  for (const char* name : {"attn_q", "attn_v"}) {
    const std::string source = std::string("model.layers.0.self_attn.") + name[5] + "_proj.weight";
    const auto index = merged->Find(std::string("blk.0.") + name + ".weight");
    EXPECT_LE(LargestDifference(Values(*merged, static_cast<std::size_t>(index)), plain.at(source).values), 1e-6);
  }
}

TEST(LoraPeft, IsConvertedWithTheModel) {
  const TempFolder temp;
  Plain plain = ReadCheckpoint("llada");
  const PeftAdapter adapter = MakePeft(plain, {"q_proj", "up_proj"}, 5);
  adapter.Write(temp / "a");
  adapter.MergeInto(plain, 2);
  testing::WriteCheckpoint("llada", plain, temp / "merged");
  for (const char* type : {"keep", "f32", "q8_0"}) {
    ConvertModel(GoldenFolder("llada"), temp / "a.gguf", {.type = type, .lora = {(temp / "a").string() + ":2"}});
    ConvertModel(temp / "merged", temp / "b.gguf", {.type = type});
    const auto a = OpenGguf(temp / "a.gguf");
    const auto b = OpenGguf(temp / "b.gguf");
    for (std::size_t i = 0; i < a->tensors().size(); ++i) {
      EXPECT_EQ(a->tensors()[i].type, b->tensors()[i].type);
      // Sums that differ in the last bit may fall on either side of a step of q8_0, of 1/127 of weights up to 1.
      EXPECT_LE(LargestDifference(Values(*a, i), Values(*b, i)), type[0] == 'q' ? 0.02 : 1e-6) << a->tensors()[i].name;
    }
  }
}

TEST(LoraPeft, KeepsTheTypesOfWhatItDoesNotChange) {
  const TempFolder temp;
  MakePeft(ReadCheckpoint("llada_bf16"), {"q_proj"}, 6).Write(temp / "a");
  const auto merged = OpenMergedFiles(GoldenFolder("llada_bf16"), std::vector<std::string>{(temp / "a").string()});
  for (const TensorInfo& info : merged->tensors()) {
    const bool is_changed = info.name.ends_with("attn_q.weight");
    if (info.shape[1] == 1) continue;
    EXPECT_EQ(info.type, is_changed ? GGML_TYPE_F16 : GGML_TYPE_BF16) << info.name;
  }
}

struct LlamaDelete {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
};

/// What libllama computes of a model and an adapter in its graph.
std::vector<float> LlamaLogits(const fs::path& file, const fs::path& adapter, float scale, std::vector<Token> tokens) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  const std::unique_ptr<llama_model, LlamaDelete> model(llama_model_load_from_file(file.c_str(), params));
  llama_adapter_lora* lora = llama_adapter_lora_init(model.get(), adapter.c_str());
  EXPECT_NE(lora, nullptr);
  llama_context_params how = llama_context_default_params();
  how.n_ctx = how.n_batch = how.n_ubatch = static_cast<std::uint32_t>(tokens.size());
  how.n_threads = how.n_threads_batch = 1;
  how.attention_type = LLAMA_ATTENTION_TYPE_NON_CAUSAL;
  how.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  const std::unique_ptr<llama_context, LlamaDelete> context(llama_init_from_model(model.get(), how));
  EXPECT_EQ(llama_set_adapters_lora(context.get(), &lora, 1, &scale), 0);
  llama_set_causal_attn(context.get(), false);
  llama_batch batch = llama_batch_get_one(tokens.data(), static_cast<std::int32_t>(tokens.size()));
  std::vector<std::int8_t> wanted(tokens.size(), 1);
  batch.logits = wanted.data();
  EXPECT_EQ(llama_decode(context.get(), batch), 0);
  const auto vocab = static_cast<std::size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model.get())));
  const float* logits = llama_get_logits(context.get());
  return {logits, logits + tokens.size() * vocab};
}

TEST(LoraGguf, GivesWhatLibllamaComputes) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  for (const char* folder : {"llada", "dream", "llada_moe"}) {
    const TempFolder temp;
    const auto source = OpenHfFolder(GoldenFolder(folder), [](Metadata& metadata) {
      gguf_set_val_str(metadata.raw(), "tokenizer.ggml.model", "no_vocab");
    });
    Convert(*source, temp / "m.gguf", {.type = "f32"});
    GgufAdapter adapter(source->metadata().String("general.architecture"));
    std::mt19937 random(8);
    for (const TensorInfo& info : source->tensors()) {
      const bool is_stack = info.shape[2] > 1;
      if (is_stack || info.name.ends_with("attn_q.weight") || info.name.ends_with("ffn_down.weight") ||
          info.name == "output.weight") {
        const std::vector<std::int64_t> a = {info.shape[0], 4, info.shape[2]};
        const std::vector<std::int64_t> b = {4, info.shape[1], info.shape[2]};
        adapter.Add(info.name + ".lora_a", a, testing::RandomValues(random, a[0] * a[1] * a[2], 0.3));
        adapter.Add(info.name + ".lora_b", b, testing::RandomValues(random, b[0] * b[1] * b[2], 0.3));
      } else if (info.name == "token_embd.weight") {
        adapter.Add(info.name + ".lora_a", {4, info.shape[1]}, testing::RandomValues(random, 4 * info.shape[1], 0.3));
        adapter.Add(info.name + ".lora_b", {4, info.shape[0]}, testing::RandomValues(random, 4 * info.shape[0], 0.3));
      }
    }
    adapter.Write(temp / "a.gguf");
    const auto network = OpenWith(temp / "m.gguf", {(temp / "a.gguf").string() + ":0.75"});
    NetworkRunner runner(*network, {});
    const GoldenCase c{.name = "", .kind = "", .tokens = {3, 17, 200, 5, 5, 90, 42, 1, 300, 11}};
    const std::vector<float> truth = LlamaLogits(temp / "m.gguf", temp / "a.gguf", 0.75F, c.tokens);
    const double difference = LargestDifference(LogitsOf(runner, *network, c), truth);
    EXPECT_LE(difference, kLogitBound) << folder;
    const auto base = OpenWith(temp / "m.gguf", {});
    NetworkRunner base_runner(*base, {});
    EXPECT_GT(LargestDifference(LogitsOf(base_runner, *base, c), truth), 0.1) << folder;
  }
  llama_log_set(nullptr, nullptr);
}

/// How much of what an adapter does to the logits survives rounding: the error of the difference that it makes,
/// relative to it, where the base's weights are of `from` and the merged ones of `to`.
double LostBy(const char* from, const char* to, double size) {
  const TempFolder temp;
  Plain plain = ReadCheckpoint("llada");
  PeftAdapter adapter = MakePeft(plain, {"q_proj", "k_proj", "v_proj", "attn_out", "ff_proj", "up_proj"}, 9, 8);
  for (auto& [module, pair] : adapter.pairs) {
    for (float& value : pair.up) value *= static_cast<float>(size);
  }
  adapter.Write(temp / "a");
  const std::vector<std::string> adapters = {(temp / "a").string()};
  // The base as it is after rounding, in f32 and as a folder, so that PEFT's names apply.
  ConvertModel(GoldenFolder("llada"), temp / "q.gguf", {.type = from});
  const auto quantised = OpenGguf(temp / "q.gguf");
  auto edited = std::make_unique<EditedSource>(OpenModelFiles(GoldenFolder("llada")));
  for (std::size_t i = 0; i < quantised->tensors().size(); ++i) {
    const std::vector<float> values = Values(*quantised, i);
    const std::string& name = quantised->tensors()[i].name;
    edited->Change(name, [values](std::span<float> out) { std::copy(values.begin(), values.end(), out.begin()); });
  }
  std::vector<LoraTerm> terms = ReadLora({.path = adapters[0]}, GoldenFolder("llada"), *edited);
  ConvertOptions f32{.type = "f32"};
  Convert(*edited, temp / "base.gguf", f32);
  const auto merged = MergeLora(std::move(edited), std::move(terms), MergedType::kF32);
  Convert(*merged, temp / "merged.gguf", f32);
  Convert(*merged, temp / "rounded.gguf", {.type = to});
  const auto logits = [&](const char* file) { return AllLogits(*OpenWith(temp / file, {}), "llada"); };
  const std::vector<float> base = logits("base.gguf");
  const std::vector<float> exact = logits("merged.gguf");
  const std::vector<float> rounded = logits("rounded.gguf");
  double error = 0;
  double change = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    error += std::pow(static_cast<double>(rounded[i]) - static_cast<double>(exact[i]), 2);
    change += std::pow(static_cast<double>(exact[i]) - static_cast<double>(base[i]), 2);
  }
  return std::sqrt(error / change);
}

// The figures behind MergedType and the table of docs/models.md.
TEST(LoraRounding, SixteenBitsKeepWhatStepsOfQuantisedTypesLose) {
  EXPECT_LT(LostBy("q4_0", "f16", 0.03), 0.2);
  EXPECT_GT(LostBy("q4_0", "q4_0", 0.03), 0.5);
}

}  // namespace
}  // namespace punt
