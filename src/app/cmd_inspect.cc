// punt inspect: what a model's files say about it, without loading it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/hub_pull.h"
#include "app/options.h"
#include "app/terminal.h"
#include "base/json_text.h"
#include "model/bundled_models.h"
#include "model/model_files.h"
#include "model/weight_check.h"
#include "text/utf8.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownItems = 6;     // of an array
constexpr std::size_t kShownString = 120;  // bytes of a string

struct InspectFlags {
  std::string model;
  bool json = false;
  bool tensors = false;
  bool check = false;
};

Json Scalar(gguf_type type, const void* data, std::size_t i) {
  switch (type) {
    case GGUF_TYPE_UINT8:
      return static_cast<const std::uint8_t*>(data)[i];
    case GGUF_TYPE_INT8:
      return static_cast<const std::int8_t*>(data)[i];
    case GGUF_TYPE_UINT16:
      return static_cast<const std::uint16_t*>(data)[i];
    case GGUF_TYPE_INT16:
      return static_cast<const std::int16_t*>(data)[i];
    case GGUF_TYPE_UINT32:
      return static_cast<const std::uint32_t*>(data)[i];
    case GGUF_TYPE_INT32:
      return static_cast<const std::int32_t*>(data)[i];
    case GGUF_TYPE_UINT64:
      return static_cast<const std::uint64_t*>(data)[i];
    case GGUF_TYPE_INT64:
      return static_cast<const std::int64_t*>(data)[i];
    case GGUF_TYPE_FLOAT64:
      return static_cast<const double*>(data)[i];
    case GGUF_TYPE_BOOL:
      return static_cast<const std::int8_t*>(data)[i] != 0;
    // The shortest decimal that gives this float again: 1e-05, not 9.99999974737875e-06.
    case GGUF_TYPE_FLOAT32: {
      const std::string text = fmt::format("{}", static_cast<const float*>(data)[i]);
      const Json number = Json::parse(text, nullptr, false);
      return number.is_discarded() ? Json(text) : number;  // nan and inf are not JSON
    }
    default:
      return nullptr;
  }
}

/// Cut between characters, and valid UTF-8 whatever the file holds.
std::string Shorten(const std::string& text) {
  const std::size_t end = WholeCharacters(text, kShownString);
  return end < text.size() ? fmt::format("{}... ({} bytes)", text.substr(0, end), text.size()) : text;
}

Json Value(const gguf_context* keys, std::int64_t id) {
  const gguf_type type = gguf_get_kv_type(keys, id);
  if (type == GGUF_TYPE_STRING) return Shorten(gguf_get_val_str(keys, id));
  if (type != GGUF_TYPE_ARRAY) return Scalar(type, gguf_get_val_data(keys, id), 0);
  const gguf_type item = gguf_get_arr_type(keys, id);
  const std::size_t count = gguf_get_arr_n(keys, id);
  Json first = Json::array();
  for (std::size_t i = 0; i < std::min(count, kShownItems); ++i) {
    first.push_back(item == GGUF_TYPE_STRING ? Json(Shorten(gguf_get_arr_str(keys, id, i)))
                                             : Scalar(item, gguf_get_arr_data(keys, id), i));
  }
  return {{"type", gguf_type_name(item)}, {"count", count}, {"first", first}};
}

Json TensorsJson(const WeightSource& source) {
  Json list = Json::array();
  for (const TensorInfo& info : source.tensors()) {
    Json shape = Json::array();
    std::size_t dims = info.shape.size();
    while (dims > 1 && info.shape[dims - 1] == 1) --dims;
    for (std::size_t i = 0; i < dims; ++i) shape.push_back(info.shape[i]);
    list.push_back(
        {{"name", info.name}, {"type", ggml_type_name(info.type)}, {"shape", shape}, {"bytes", info.bytes()}});
  }
  return list;
}

Json TypesJson(const WeightSource& source) {
  std::map<std::string, std::pair<std::int64_t, std::uint64_t>> types;
  for (const TensorInfo& info : source.tensors()) {
    auto& [tensors, bytes] = types[ggml_type_name(info.type)];
    ++tensors;
    bytes += info.bytes();
  }
  Json json = Json::object();
  for (const auto& [type, count] : types) json[type] = {{"tensors", count.first}, {"bytes", count.second}};
  return json;
}

/// Keys of this architecture, by the names that all architectures share; absent ones are left out.
Json SizesJson(const Metadata& metadata, const std::string& architecture) {
  constexpr std::pair<const char*, const char*> kSizes[] = {
      {"context", "context_length"},  {"width", "embedding_length"},     {"layers", "block_count"},
      {"ffn", "feed_forward_length"}, {"heads", "attention.head_count"}, {"kv_heads", "attention.head_count_kv"},
      {"vocabulary", "vocab_size"},   {"experts", "expert_count"},       {"experts_used", "expert_used_count"}};
  Json json = Json::object();
  for (const auto& [name, key] : kSizes) {
    const std::int64_t id = gguf_find_key(metadata.raw(), fmt::format("{}.{}", architecture, key).c_str());
    if (id >= 0) json[name] = Value(metadata.raw(), id);
  }
  return json;
}

Json SpecialTokensJson(const Metadata& metadata) {
  constexpr std::pair<const char*, const char*> kTokens[] = {
      {"mask", "mask"}, {"bos", "bos"}, {"eos", "eos"}, {"eot", "eot"}, {"pad", "padding"}, {"unknown", "unknown"}};
  Json json = Json::object();
  for (const auto& [name, key] : kTokens) {
    const std::int64_t id = gguf_find_key(metadata.raw(), fmt::format("tokenizer.ggml.{}_token_id", key).c_str());
    if (id >= 0) json[name] = Value(metadata.raw(), id);
  }
  return json;
}

/// Tensors with weights that are not numbers, and how many; reads everything.
Json BadWeightsJson(const WeightSource& source) {
  ThreadPool pool(ThreadCount(0));
  Json json = Json::object();
  for (std::size_t i = 0; i < source.tensors().size(); ++i) {
    if (const std::int64_t count = CountNotFinite(source, i, pool); count > 0) json[source.tensors()[i].name] = count;
  }
  return json;
}

Json Describe(const InspectFlags& flags, const WeightSource& source) {
  const Metadata& metadata = source.metadata();
  const std::string architecture = metadata.StringOr("general.architecture", "");
  std::int64_t parameters = 0;
  std::uint64_t bytes = 0;
  for (const TensorInfo& info : source.tensors()) {
    parameters += info.elements();
    bytes += info.bytes();
  }
  Json keys = Json::object();
  for (std::int64_t i = 0; i < gguf_get_n_kv(metadata.raw()); ++i) {
    keys[gguf_get_key(metadata.raw(), i)] = Value(metadata.raw(), i);
  }
  Json json = {{"model", flags.model},
               {"architecture", architecture},
               {"name", metadata.StringOr("general.name", "")},
               {"parameters", parameters},
               {"bytes", bytes},
               {"tensor_count", source.tensors().size()},
               {"types", TypesJson(source)},
               {"sizes", SizesJson(metadata, architecture)},
               {"special_tokens", SpecialTokensJson(metadata)},
               {"keys", keys}};
  if (flags.tensors) json["tensors"] = TensorsJson(source);
  if (flags.check) json["not_finite"] = BadWeightsJson(source);
  return json;
}

/// Names come from the file: their control characters must not reach the terminal.
std::string Clean(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return name;
}

std::string Plain(const Json& value) { return value.is_string() ? value.get<std::string>() : Dump(value); }

/// On one line; strings are quoted, so their control characters are escaped.
std::string Printable(const Json& value) {
  if (value.is_string()) return Dump(value);
  if (!value.is_object()) return Plain(value);
  std::vector<std::string> items;
  for (const Json& item : value["first"]) items.push_back(Dump(item));
  const bool is_cut = items.size() < value["count"].get<std::size_t>();
  return fmt::format("[{}{}] ({} x {})", fmt::join(items, ", "), is_cut ? ", ..." : "",
                     value["count"].get<std::size_t>(), Plain(value["type"]));
}

void PrintPairs(const char* title, const Json& object) {
  if (object.empty()) return;
  fmt::print("{}", title);
  for (const auto& [key, value] : object.items()) fmt::print("  {} {}", key, Printable(value));
  fmt::print("\n");
}

void Print(const Json& json) {
  fmt::print("architecture    {}\nname            {}\nparameters      {}\nbytes           {}\n",
             Dump(json["architecture"]), Dump(json["name"]), Plain(json["parameters"]), Plain(json["bytes"]));
  PrintPairs("sizes         ", json["sizes"]);
  PrintPairs("special tokens", json["special_tokens"]);
  fmt::print("tensors         {}\n", Plain(json["tensor_count"]));
  for (const auto& [type, count] : json["types"].items()) {
    fmt::print("  {:<8} {:5} tensors {:14} bytes\n", type, Plain(count["tensors"]), Plain(count["bytes"]));
  }
  fmt::print("keys            {}\n", json["keys"].size());
  for (const auto& [key, value] : json["keys"].items()) fmt::print("  {:<44} {}\n", Clean(key), Printable(value));
  if (json.contains("not_finite")) {
    fmt::print("not finite      {} tensors\n", json["not_finite"].size());
    for (const auto& [name, count] : json["not_finite"].items()) fmt::print("  {:<40} {}\n", Clean(name), Plain(count));
  }
  if (!json.contains("tensors")) return;
  fmt::print("tensor                                    type     shape\n");
  for (const Json& tensor : json["tensors"]) {
    fmt::print("  {:<40}{:<9}{}\n", Clean(Plain(tensor["name"])), Plain(tensor["type"]), Dump(tensor["shape"]));
  }
}

int Run(const InspectFlags& flags) {
  PullIfMissing(flags.model);
  const std::unique_ptr<const WeightSource> source = OpenModelFiles(LocateModel(flags.model));
  PrintWarnings(source->warnings());
  const Json json = Describe(flags, *source);
  if (flags.json) {
    fmt::print("{}\n", Dump(json, 2));
  } else {
    Print(json);
  }
  return 0;
}

}  // namespace

Runner AddInspect(CLI::App& command) {
  const auto flags = std::make_shared<InspectFlags>();
  command.footer(
      "Examples:\n  punt inspect llada.gguf\n  punt inspect LLaDA-8B-Instruct --tensors\n"
      "  punt inspect llada.gguf --check --json");
  command.add_option("model,-m,--model", flags->model, "A GGUF file or a Hugging Face folder")->required();
  command.add_flag("--tensors", flags->tensors, "List every tensor");
  command.add_flag("--check", flags->check, "Read every weight and name the tensors that hold NaN or infinity");
  command.add_flag("--json", flags->json, "Print a JSON object");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
