#include "text/template/json_value.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "punt/error.h"

namespace punt {
namespace {

using jinja::is_val;
using jinja::mk_val;
using Json = nlohmann::ordered_json;

jinja::value Text(const std::string& text, bool& has_zero) {
  has_zero = has_zero || text.find('\0') != std::string::npos;
  auto value = mk_val<jinja::value_string>(text);
  value->mark_input();
  return value;
}

/// As deep as ParseJson lets it be.
jinja::value ValueOf(const Json& json, bool& has_zero) {
  if (json.is_object()) {
    auto object = mk_val<jinja::value_object>();
    for (const auto& [name, member] : json.items()) object->insert(Text(name, has_zero), ValueOf(member, has_zero));
    return object;
  }
  if (json.is_array()) {
    auto list = mk_val<jinja::value_array>();
    for (const Json& item : json) list->push_back(ValueOf(item, has_zero));
    return list;
  }
  if (json.is_string()) return Text(json.get<std::string>(), has_zero);
  if (json.is_boolean()) return mk_val<jinja::value_bool>(json.get<bool>());
  const bool fits = !json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX;
  if (json.is_number_integer() && fits) return mk_val<jinja::value_int>(json.get<std::int64_t>());
  if (!json.is_number()) return mk_val<jinja::value_none>();
  const double number = json.get<double>();
  if (std::abs(number) < 0x1p63) return mk_val<jinja::value_float>(number);
  auto large = mk_val<jinja::value_float>(0.0);  // its constructor converts to an integer
  large->val_flt = number;
  return large;
}

class JsonWriter {
 public:
  explicit JsonWriter(const jinja::func_args& args) {
    const jinja::value indent = args.get_kwarg_or_pos("indent", 2);
    const jinja::value separators = args.get_kwarg_or_pos("separators", 3);
    is_ascii_ = args.get_kwarg_or_pos("ensure_ascii", 1)->as_bool();
    is_sorted_ = args.get_kwarg_or_pos("sort_keys", 4)->as_bool();
    if (is_val<jinja::value_int>(indent)) indent_ = std::max<std::int64_t>(0, indent->as_int());
    if (indent_ >= 0) between_ = ",";
    if (!is_val<jinja::value_array>(separators)) return;
    const std::vector<jinja::value>& given = separators->as_array();
    if (!given.empty()) between_ = given[0]->as_string().str();
    if (given.size() > 1) colon_ = given[1]->as_string().str();
  }

  void Write(const jinja::value& value, std::int64_t level) {
    if (is_val<jinja::value_bool>(value)) {
      text_ += value->as_bool() ? "true" : "false";
    } else if (is_val<jinja::value_int>(value)) {
      text_ += std::to_string(value->as_int());
    } else if (is_val<jinja::value_float>(value)) {
      text_ += Dump(Json(value->as_float()));
    } else if (is_val<jinja::value_string>(value)) {
      WriteText(value->as_string().str());
    } else if (is_val<jinja::value_array>(value)) {
      WriteAll('[', ']', value->as_array(), level, [&](const jinja::value& item) { Write(item, level + 1); });
    } else if (is_val<jinja::value_object>(value)) {
      auto members = value->as_ordered_object();
      const auto name = [](const auto& member) { return member.first->as_string().str(); };
      if (is_sorted_) {
        std::stable_sort(members.begin(), members.end(),
                         [&](const auto& a, const auto& b) { return name(a) < name(b); });
      }
      WriteAll('{', '}', members, level, [&](const auto& member) {
        WriteText(name(member));
        text_ += colon_;
        Write(member.second, level + 1);
      });
    } else {
      text_ += "null";
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  void WriteText(const std::string& text) { text_ += is_ascii_ ? Quoted(text) : Dump(Json(text)); }

  void Break(std::int64_t level) {
    if (indent_ >= 0) text_.append(1, '\n').append(static_cast<std::size_t>(indent_ * level), ' ');
  }

  template <typename Items, typename WriteItem>
  void WriteAll(char open, char close, const Items& items, std::int64_t level, const WriteItem& write) {
    text_ += open;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += between_;
      Break(level + 1);
      write(items[i]);
    }
    if (!items.empty()) Break(level);
    text_ += close;
  }

  std::string text_;
  std::string between_ = ", ";
  std::string colon_ = ": ";
  std::int64_t indent_ = -1;
  bool is_ascii_ = false;
  bool is_sorted_ = false;
};

}  // namespace

jinja::value ObjectOfJson(std::string_view text) {
  try {
    const Json json = ParseJson(text);
    bool has_zero = false;
    jinja::value object = json.is_object() ? ValueOf(json, has_zero) : nullptr;
    return has_zero ? nullptr : object;
  } catch (const Error&) {
    return nullptr;
  }
}

jinja::value ToJson(const jinja::func_args& args) {
  JsonWriter writer(args);
  writer.Write(args.get_pos(0), 0);
  return mk_val<jinja::value_string>(writer.Take());
}

}  // namespace punt
