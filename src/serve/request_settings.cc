#include "serve/request_settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "punt/sampling.h"
#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::json;
using enum SettingUse;

constexpr std::size_t kMostIgnored = 32;

constexpr std::string_view kNoPenalties = "tokens are not drawn in the order that penalties count in";
constexpr std::string_view kNoGrammar = "use response_format, guided_regex, guided_choice or guided_template";
constexpr std::string_view kOldTools = "use tools and tool_choice";
constexpr std::string_view kNoSearches = "the server searches nothing";
constexpr std::string_view kLogprobs = "the setting is called logprobs, for prompts with echo";
constexpr std::string_view kNoFilter = "only temperature, top_p, top_k and min_p are supported";
constexpr std::string_view kNoSearch = "use n and choose";
constexpr std::string_view kTextOnly = "there is only text";
constexpr std::string_view kTheModelsOwn = "what the server was started with is used";
constexpr std::string_view kMaxTokens = "the setting is called max_tokens";
constexpr std::string_view kShape = "answers have one shape";

constexpr SettingRow kOthers[] = {
    {"messages", kReadOfChats},
    {"prompt", kReadOfTexts},
    {"suffix", kReadOfTexts},
    {"max_tokens", kRead},
    {"max_completion_tokens", kRead},
    {"n", kRead},
    {"stream", kRead},
    {"stream_options", kRead},
    {"logprobs", kRead},
    {"top_logprobs", kRead},
    {"echo", kRead},
    {"diffusion", kRead},
    {"diffusing", kRead},
    {"response_format", kRead},
    {"guided_json", kRead},
    {"guided_regex", kRead},
    {"guided_choice", kRead},
    {"guided_template", kRead},
    {"structured_outputs", kRead},
    {"tools", kReadOfChats, "[[]]"},
    {"tool_choice", kReadOfChats, R"(["none", "auto"])"},

    {"model", kPassedOver},
    {"user", kPassedOver},
    {"metadata", kPassedOver},
    {"store", kPassedOver},
    {"service_tier", kPassedOver},
    {"safety_identifier", kPassedOver},
    {"prompt_cache_*", kPassedOver},
    {"parallel_tool_calls", kPassedOver},  // by texts
    {"reasoning_effort", kPassedOver},
    {"verbosity", kPassedOver},
    {"cache_prompt", kPassedOver},
    {"id_slot", kPassedOver},
    {"priority", kPassedOver},
    {"request_id", kPassedOver},
    {"repeat_last_n", kPassedOver},  // these only say how, while others say whether
    {"mirostat_*", kPassedOver},
    {"dynatemp_exponent", kPassedOver},
    {"xtc_threshold", kPassedOver},

    {"presence_penalty", kRefused, "[0]", kNoPenalties},
    {"frequency_penalty", kRefused, "[0]", kNoPenalties},
    {"repetition_penalty", kRefused, "[1]", kNoPenalties},
    {"repeat_penalty", kRefused, "[1]", kNoPenalties},
    {"no_repeat_ngram_size", kRefused, "[0]", kNoPenalties},
    {"dry_multiplier", kRefused, "[0]", kNoPenalties},
    {"dry_*", kPassedOver},
    {"logit_bias", kRefused, "[{}, []]", kNoFilter},
    {"top_a", kRefused, "[0]", kNoFilter},
    {"typical_p", kRefused, "[1]", kNoFilter},
    {"tfs_z", kRefused, "[1]", kNoFilter},
    {"mirostat", kRefused, "[0]", kNoFilter},
    {"dynatemp_range", kRefused, "[0]", kNoFilter},
    {"xtc_probability", kRefused, "[0]", kNoFilter},
    {"xtc_*", kRefused, "[]", kNoFilter},
    {"samplers", kRefused, "[]", kNoFilter},
    {"allowed_token_ids", kRefused, "[[]]", kNoFilter},
    {"bad_words", kRefused, "[[]]", kNoFilter},

    {"functions", kRefused, "[[]]", kOldTools},
    {"function_call", kRefused, R"(["none", "auto"])", kOldTools},
    {"web_search_options", kRefused, "[]", kNoSearches},

    {"guided_decoding_backend", kPassedOver},
    {"grammar", kRefused, R"([""])", kNoGrammar},
    {"guided_*", kRefused, "[]", kNoGrammar},
    {"structural_tag", kRefused, "[]", kNoGrammar},
    {"json_schema", kRefused, "[]", kNoGrammar},
    {"regex", kRefused, "[]", kNoGrammar},
    {"ebnf", kRefused, "[]", kNoGrammar},

    {"prompt_logprobs", kRefused, "[false]", kLogprobs},
    {"n_probs", kRefused, "[0]", kLogprobs},
    {"best_of", kRefused, "[1]", kNoSearch},
    {"use_beam_search", kRefused, "[false]", kNoSearch},
    {"num_beams", kRefused, "[1]", kNoSearch},

    {"ignore_eos", kRefused, "[false]", "use diffusion.eos: forbid"},
    {"min_tokens", kRefused, "[0]", "use diffusion.eos: forbid"},
    {"stop_token_ids", kRefused, "[[]]", "use stop"},
    {"stop_sequences", kRefused, "[[]]", "the setting is called stop"},
    {"include_stop_str_in_output", kRefused, "[false]", "texts end before a stop string"},
    {"skip_special_tokens", kRefused, "[true]", "texts have no special tokens"},
    {"n_predict", kRefused, "[]", kMaxTokens},
    {"num_predict", kRefused, "[]", kMaxTokens},
    {"max_new_tokens", kRefused, "[]", kMaxTokens},
    {"truncate_prompt_tokens", kRefused, "[]", "prompts are used whole"},
    {"options", kRefused, "[{}]", "settings belong at the top level"},

    {"modalities", kRefused, R"([["text"]])", kTextOnly},
    {"audio", kRefused, "[]", kTextOnly},
    {"image_data", kRefused, "[[]]", kTextOnly},
    {"prediction", kRefused, "[]", "starting from a given text is not supported"},
    {"add_generation_prompt", kRefused, "[true]", kTheModelsOwn},
    {"continue_final_message", kRefused, "[false]", "use /v1/completions"},
    {"add_special_tokens", kRefused, "[true]", "a list of tokens is taken as it is"},
    {"chat_template", kRefused, "[]", kTheModelsOwn},
    {"chat_template_kwargs", kReadOfChats},
    {"documents", kRefused, "[[]]", kTheModelsOwn},
    {"lora", kRefused, "[[]]", kTheModelsOwn},
    {"return_tokens", kRefused, "[false]", kShape},
    {"return_tokens_as_token_ids", kRefused, "[false]", kShape},
    {"timings_per_token", kPassedOver},
};

bool Fits(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool AsksForNothing(const SettingRow& row, const Json& value, const Json& body) {
  if (value.is_null()) return true;
  for (const Json& neutral : Json::parse(row.neutral)) {
    if (value == neutral) return true;
  }
  const Json* choices = FindField(body, "n");  // the best n of n are all of them
  return row.name == "best_of" && choices != nullptr && value == *choices;
}

void Check(const SettingRow& row, const std::string& name, const Json& body, bool chat) {
  const Json& value = body[name];
  const bool is_misplaced = (row.use == kReadOfChats && !chat) || (row.use == kReadOfTexts && chat);
  if (is_misplaced && !AsksForNothing(row, value, body)) {
    RefuseField(name, fmt::format("belongs to {}", chat ? "/v1/completions" : "/v1/chat/completions"));
  }
  if (row.use == kRefused && !AsksForNothing(row, value, body)) {
    RefuseField(Shown(name), fmt::format("is not supported: {}", row.why));
  }
}

}  // namespace

std::span<const SettingRow> RequestSettings() {
  static const std::vector<SettingRow> rows = [] {
    std::vector<SettingRow> all;
    for (const SamplingField& field : SamplingFields()) {
      if (field.place == ApiPlace::kTop || field.place == ApiPlace::kBoth) all.push_back({field.name(), kRead});
    }
    all.insert(all.end(), std::begin(kOthers), std::end(kOthers));
    return all;
  }();
  return rows;
}

const SettingRow* FindSetting(std::string_view name) {
  for (const SettingRow& row : RequestSettings()) {
    if (Fits(row.name, name)) return &row;
  }
  return nullptr;
}

std::vector<std::string> CheckSettings(const Json& body, bool chat) {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : body.items()) {
    const SettingRow* row = FindSetting(name);
    if (row != nullptr) Check(*row, name, body, chat);
    const bool is_told = row == nullptr && !value.is_null() && unknown.size() < kMostIgnored;
    if (is_told) unknown.push_back(Shown(name));
  }
  return unknown;
}

}  // namespace punt
