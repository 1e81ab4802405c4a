// Every call goes through Call: arguments are measured first, so that no function gets a value that is too large, too
// deep or contains itself; what could outgrow its arguments, or fail in ways that no exception tells, is bounded by the
// name of the function; and texts that the engine puts together from words of messages without saying so are marked.
//
// The engine's own functions for cutting and joining texts are replaced (marked_text.h says why), and tojson
// (json_value.h). Its sort() would hand
// std::sort an order that is none when numbers and texts are mixed, and its divisibleby divides by zero.
#include "text/template/builtins.h"

#include <cctype>
#include <cmath>
#include <ctime>
#include <map>
#include <set>
#include <utility>

#include "text/template/json_value.h"
#include "text/template/marked_text.h"

namespace punt {
namespace {

using jinja::func_args;
using jinja::func_handler;
using jinja::is_val;
using jinja::mk_val;
using jinja::value;

constexpr std::int64_t kLargestNumber = 1'000'000'000'000;
constexpr std::size_t kStepsPerValue = 4;  // each takes some hundred bytes
constexpr std::size_t kLongestRange = 100'000;

void RequireSmall(std::int64_t number) {
  if (number > kLargestNumber || number < -kLargestNumber) StopTemplate("a number is too large");
}

value Text(const MarkedText& text) { return mk_val<jinja::value_string>(text.Parts()); }

MarkedText Marked(const value& text) { return MarkedText(text->as_string()); }

std::optional<std::string> OptionalText(const func_args& args, const char* name, std::size_t place) {
  const value found = args.get_kwarg_or_pos(name, place);
  if (found->is_undefined() || found->is_none()) return std::nullopt;
  return found->as_string().str();
}

std::int64_t IntegerOr(const func_args& args, const char* name, std::size_t place, std::int64_t otherwise) {
  const value found = args.get_kwarg_or_pos(name, place);
  return found->is_undefined() || found->is_none() ? otherwise : found->as_int();
}

// ---- texts: args[0] is the text

template <bool kFromEnd>
value Split(const func_args& args, TemplateMeter& meter) {
  const std::optional<std::string> separator = OptionalText(args, "sep", 1);
  if (separator && separator->empty()) StopTemplate("it splits a text at nothing");
  const std::string text = args.get_pos(0)->as_string().str();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_space = std::isspace(static_cast<unsigned char>(text[i])) != 0;
    if (separator ? text.compare(i, separator->size(), *separator) == 0 : is_space) meter.Step(kStepsPerValue);
  }
  auto pieces = mk_val<jinja::value_array>();
  const std::int64_t count = IntegerOr(args, "maxsplit", 2, -1);
  for (const MarkedText& piece : Marked(args.get_pos(0)).Split(separator, count, kFromEnd)) {
    pieces->push_back(Text(piece));
  }
  return pieces;
}

value Replace(const func_args& args, TemplateMeter&) {
  const std::string old_text = args.get_pos(1)->as_string().str();
  const MarkedText new_text = Marked(args.get_pos(2));
  return Text(Marked(args.get_pos(0)).Replaced(old_text, new_text, IntegerOr(args, "count", 3, -1)));
}

template <bool kLeft, bool kRight>
value Strip(const func_args& args, TemplateMeter&) {
  return Text(Marked(args.get_pos(0)).Stripped(kLeft, kRight, OptionalText(args, "chars", 1)));
}

value Length(const func_args& args, TemplateMeter&) {
  return mk_val<jinja::value_int>(static_cast<std::int64_t>(Marked(args.get_pos(0)).Characters().size()) - 1);
}

// ---- lists: args[0] is the list

value Join(const func_args& args, TemplateMeter&) {
  const value separator = args.get_kwarg_or_pos("d", 1);
  const value attribute = args.get_kwarg_or_pos("attribute", 2);
  const MarkedText between = separator->is_undefined() ? MarkedText() : Marked(separator);
  MarkedText all;
  bool is_first = true;
  for (value item : args.get_pos(0)->as_array()) {
    value missing = mk_val<jinja::value_undefined>();
    if (is_val<jinja::value_string>(attribute)) item = item->at(attribute, missing);
    if (is_val<jinja::value_int>(attribute)) item = item->at(attribute->as_int(), missing);
    if (!is_first) all.Append(between);
    is_first = false;
    if (is_val<jinja::value_array>(item) || is_val<jinja::value_object>(item)) {
      StopTemplate("it joins what is no list of texts and numbers");
    }
    if (!item->is_undefined()) all.Append(Marked(item));
  }
  return Text(all);
}

void RequireOrder(const std::vector<value>& keys) {
  bool numbers = true;
  bool texts = true;
  for (const value& key : keys) {
    texts = texts && is_val<jinja::value_string>(key);
    numbers = numbers && (is_val<jinja::value_int>(key) || is_val<jinja::value_float>(key));
  }
  if (!numbers && !texts) StopTemplate("it sorts what is neither all texts nor all numbers");
}

void RequireSortable(const func_args& args) {
  const value attribute = args.get_kwarg_or_pos("attribute", 3);
  value missing = mk_val<jinja::value_undefined>();
  std::vector<value> keys;
  for (const value& item : args.get_pos(0)->as_array()) {
    if (is_val<jinja::value_string>(attribute)) {
      keys.push_back(item->at(attribute, missing));
    } else {
      keys.push_back(is_val<jinja::value_int>(attribute) ? item->at(attribute->as_int(), missing) : item);
    }
  }
  RequireOrder(keys);
}

void RequireSortableDictionary(const func_args& args) {
  std::vector<value> keys;
  std::vector<value> values;
  for (const auto& [key, item] : args.get_pos(0)->as_ordered_object()) {
    keys.push_back(key);
    values.push_back(item);
  }
  const value by = args.get_kwarg_or_pos("by", 2);
  RequireOrder(is_val<jinja::value_string>(by) && by->as_string().str() == "value" ? values : keys);
}

using OwnHandler = value (*)(const func_args&, TemplateMeter&);

OwnHandler OwnMethod(const std::string& name, const value& object) {
  static const std::map<std::string, OwnHandler> kOfTexts = {
      {"split", Split<false>},      {"rsplit", Split<true>},        {"replace", Replace},
      {"strip", Strip<true, true>}, {"lstrip", Strip<true, false>}, {"rstrip", Strip<false, true>},
      {"length", Length},
  };
  static const std::map<std::string, OwnHandler> kOfLists = {{"join", Join}};
  if (name == "tojson") return [](const func_args& args, TemplateMeter&) { return ToJson(args); };
  const bool is_text = is_val<jinja::value_string>(object);
  if (!is_text && !is_val<jinja::value_array>(object)) return nullptr;
  const auto& own = is_text ? kOfTexts : kOfLists;
  const auto found = own.find(name);
  return found == own.end() ? nullptr : found->second;
}

/// The engine's functions that put a text together anew, without the marks of its parts.
bool LosesMarks(const std::string& name, const value& object) {
  static const std::set<std::string> kNames = {"tojson", "indent", "format", "string", "safe"};
  return kNames.contains(name) && !(is_val<jinja::value_string>(object) && (name == "string" || name == "safe"));
}

/// How many times the size of its arguments the result may have at most, roughly.
std::size_t Growth(const std::string& name, const func_args& args) {
  std::size_t other = 0;
  for (std::size_t i = 1; i < args.count(); ++i) {
    value argument = args.get_pos(i);
    if (const auto* named = jinja::cast_val<jinja::value_kwarg>(std::as_const(argument))) argument = named->val;
    if (is_val<jinja::value_int>(argument)) other += static_cast<std::size_t>(std::abs(argument->as_int()));
    if (is_val<jinja::value_string>(argument)) other += argument->val_str.length();
    for (const value& item : argument->val_arr) other += is_val<jinja::value_string>(item) ? item->val_str.length() : 0;
  }
  if (name == "replace" && args.count() > 2) {
    return 1 + args.get_pos(2)->val_str.length() / std::max<std::size_t>(1, args.get_pos(1)->val_str.length());
  }
  if (name == "join") return 1 + other / 32;    // each item counts for as much
  if (name == "indent") return 1 + other;       // once per line
  if (name == "tojson") return 8 + 64 * other;  // indentation, once per level
  return 8;
}

void RequireHarmless(const std::string& name, const func_args& args) {
  for (const value& argument : args.get_args()) {
    value plain = argument;
    if (const auto* named = jinja::cast_val<jinja::value_kwarg>(std::as_const(plain))) plain = named->val;
    if (is_val<jinja::value_int>(plain)) RequireSmall(plain->as_int());
    const bool names_test = name.starts_with("select") || name.starts_with("reject");
    if (names_test && is_val<jinja::value_string>(plain) && plain->as_string().str() == "divisibleby") {
      StopTemplate("it selects by divisibleby");
    }
  }
  if (name == "sort") RequireSortable(args);
  if (name == "dictsort") RequireSortableDictionary(args);
  if (name == "int" && is_val<jinja::value_float>(args.get_pos(0))) {
    if (!(std::abs(args.get_pos(0)->as_float()) <= static_cast<double>(kLargestNumber))) {
      StopTemplate("a number is too large");
    }
  }
}

/// Calls with the object in front of the arguments.
value Call(const std::string& name, const func_handler& handler, const func_args& args, TemplateMeter& meter) {
  TemplateMeter::Size size;
  for (const value& argument : args.get_args()) {
    const TemplateMeter::Size more = meter.Measure(argument);
    size.bytes += more.bytes;
    size.has_input |= more.has_input;
  }
  const value object = args.get_pos(0);
  RequireHarmless(name, args);
  const std::size_t growth = Growth(name, args);
  if (growth > 16) meter.Bytes(size.bytes * std::min<std::size_t>(growth, 1 << 20));
  meter.Bytes(size.bytes);
  const OwnHandler own = OwnMethod(name, object);
  value result = own != nullptr ? own(args, meter) : handler(args);
  if (name == "append" || name == "pop") {
    meter.Changed(object);
    meter.Measure(object);
    if (name == "append") result = mk_val<jinja::value_none>();
  }
  meter.Measure(result);
  if (is_val<jinja::value_float>(result) && !std::isfinite(result->as_float())) StopTemplate("a number is too large");
  if (size.has_input && is_val<jinja::value_string>(result) && LosesMarks(name, object)) {
    result->val_str.mark_input();
  }
  return result;
}

value Number(double number, bool is_float) {
  if (!(std::abs(number) <= static_cast<double>(kLargestNumber))) StopTemplate("a number is too large");
  if (is_float) return mk_val<jinja::value_float>(number);
  return mk_val<jinja::value_int>(static_cast<std::int64_t>(number));
}

value ComputedNumber(const std::string& op, const value& left, const value& right) {
  const double a = left->as_float();
  const double b = right->as_float();
  const bool is_float = is_val<jinja::value_float>(left) || is_val<jinja::value_float>(right);
  if ((op == "/" || op == "%") && b == 0) StopTemplate("it divides by zero");
  if (op == "+") return Number(a + b, is_float);
  if (op == "-") return Number(a - b, is_float);
  if (op == "*") return Number(a * b, is_float);
  if (op == "/") return Number(a / b, true);
  return Number(a - b * std::floor(a / b), is_float);  // Python's: the sign of the divisor
}

bool IsNumber(const value& v) { return is_val<jinja::value_int>(v) || is_val<jinja::value_float>(v); }

/// A value within a text.
MarkedText Written(const value& v, TemplateMeter& meter) {
  if (v->is_undefined()) return {};
  const TemplateMeter::Size size = meter.Measure(v);
  meter.Bytes(size.bytes);
  jinja::string text = v->as_string();
  if (size.has_input && !is_val<jinja::value_string>(v)) text.mark_input();
  return MarkedText(text);
}

}  // namespace

CheckedMethod::CheckedMethod(const std::string& method, const func_handler& handler, const value& object,
                             TemplateMeter& meter)
    : value_func_t(
          method, [method, handler, &meter](const func_args& args) { return Call(method, handler, args, meter); },
          object) {}

value Checked(const value& method, TemplateMeter& meter) {
  const auto* found = jinja::cast_val<jinja::value_func>(method);
  if (found == nullptr || !found->arg0 || dynamic_cast<const CheckedMethod*>(found) != nullptr) return method;
  return std::make_shared<CheckedMethod>(found->name, found->val_func, found->arg0, meter);
}

value CallFilter(const func_args& arguments, std::string name, value operand, TemplateMeter& meter) {
  static const std::map<std::string, std::string> kOtherNames = {
      {"count", "length"}, {"d", "default"}, {"e", "escape"}, {"trim", "strip"}};
  static const std::set<std::string> kOfTexts = {"capitalize", "lower", "replace",  "strip",
                                                 "title",      "upper", "wordcount"};
  if (const auto other = kOtherNames.find(name); other != kOtherNames.end()) name = other->second;
  if (kOfTexts.contains(name) && !is_val<jinja::value_string>(operand) && !operand->is_undefined()) {
    operand = Text(Written(operand, meter));
  }
  if (name == "default") {
    const bool missing =
        operand->is_undefined() || (arguments.get_kwarg_or_pos("boolean", 1)->as_bool() && !operand->as_bool());
    return missing ? arguments.get_kwarg_or_pos("default_value", 0) : operand;
  }
  const jinja::func_builtins& methods = operand->get_builtins();
  const auto found = methods.find(name);
  if (found == methods.end()) StopTemplate("there is no filter '" + name + "' for a value of type " + operand->type());
  return CheckedMethod(name, found->second, operand, meter).invoke(arguments);
}

value Shown(const value& v, TemplateMeter& meter) {
  return is_val<jinja::value_string>(v) || v->is_undefined() ? v : Text(Written(v, meter));
}

value Computed(const std::string& op, const value& left, const value& right, TemplateMeter& meter) {
  const bool left_is_text = is_val<jinja::value_string>(left);
  const bool right_is_text = is_val<jinja::value_string>(right);
  if (op == "~" || (op == "+" && (left_is_text || right_is_text))) {
    const auto part = [&](const value& v) { return op == "+" && v->is_none() ? MarkedText() : Written(v, meter); };
    MarkedText text = part(left);
    text.Append(part(right));
    return Text(text);
  }
  if (op == "*" && left_is_text != right_is_text) {
    const MarkedText one = Written(left_is_text ? left : right, meter);
    const value& times = left_is_text ? right : left;
    const std::int64_t count = is_val<jinja::value_int>(times) ? times->as_int() : 0;
    MarkedText all;
    for (std::int64_t i = 0; i < count; ++i) {
      meter.Step();
      meter.Bytes(one.text().size());
      all.Append(one);
    }
    return Text(all);
  }
  const bool computes = op == "+" || op == "-" || op == "*" || op == "/" || op == "%";
  if (computes && IsNumber(left) && IsNumber(right)) return ComputedNumber(op, left, right);
  if (op == "+" && is_val<jinja::value_array>(left) && is_val<jinja::value_array>(right)) {
    auto both = mk_val<jinja::value_array>(left->as_array());
    for (const value& item : right->as_array()) both->push_back(item);
    meter.Measure(both);
    return both;
  }
  return nullptr;
}

value Sliced(const value& object, const value& start, const value& stop, const value& step, TemplateMeter& meter) {
  const auto index = [](const value& v) -> std::optional<std::int64_t> {
    if (!v || v->is_none() || v->is_undefined()) return std::nullopt;
    return v->as_int();
  };
  const std::int64_t stride = index(step).value_or(1);
  if (stride == 0) StopTemplate("it slices with a step of 0");
  if (is_val<jinja::value_array>(object)) {
    auto items = mk_val<jinja::value_array>();
    for (std::size_t i : SliceIndices(object->as_array().size(), index(start), index(stop), stride)) {
      meter.Step();
      items->push_back(object->as_array()[i]);
    }
    return items;
  }
  if (!is_val<jinja::value_string>(object)) StopTemplate("it slices a value of type " + object->type());
  const MarkedText text = Marked(object);
  const std::vector<std::size_t> begins = text.Characters();
  MarkedText result;
  for (std::size_t i : SliceIndices(begins.size() - 1, index(start), index(stop), stride)) {
    result.Append(text.Part(begins[i], begins[i + 1]));
  }
  meter.Bytes(text.text().size());
  return Text(result);
}

value CharacterAt(const value& object, std::int64_t index) {
  const MarkedText text = Marked(object);
  const std::vector<std::size_t> begins = text.Characters();
  const auto size = static_cast<std::int64_t>(begins.size()) - 1;
  if (index < 0) index += size;
  if (index < 0 || index >= size) return mk_val<jinja::value_undefined>();
  const auto at = static_cast<std::size_t>(index);
  return Text(text.Part(begins[at], begins[at + 1]));
}

void AddFunctions(jinja::context& context, TemplateMeter& meter) {
  const auto add = [&](const char* name, const func_handler& handler) {
    context.set_val(name, mk_val<jinja::value_func>(name, handler));
  };
  add("raise_exception", [](const func_args& args) -> value {
    throw TemplateStop{.reason = args.get_pos(0)->as_string().str(), .is_refusal = true};
  });
  add("strftime_now", [&meter](const func_args& args) -> value {
    const std::string format = args.get_pos(0)->as_string().str();
    meter.Bytes(format.size());
    std::tm day{};
    day.tm_year = 2024 - 1900;
    day.tm_mon = 6;
    day.tm_mday = 26;
    day.tm_wday = 5;
    day.tm_yday = 207;
    char text[200];
    const std::size_t size = std::strftime(text, sizeof text, format.c_str(), &day);
    auto result = mk_val<jinja::value_string>(std::string(text, size));
    if (meter.Measure(args.get_pos(0)).has_input) result->mark_input();
    return result;
  });
  add("range", [&meter](const func_args& args) -> value {
    const bool has_start = args.count() > 1;
    const std::int64_t start = has_start ? args.get_pos(0)->as_int() : 0;
    const std::int64_t stop = args.get_pos(has_start ? 1 : 0)->as_int();
    const std::int64_t step = args.count() > 2 ? args.get_pos(2)->as_int() : 1;
    if (step == 0) StopTemplate("it asks for a range with a step of 0");
    for (const std::int64_t number : {start, stop, step}) RequireSmall(number);
    auto numbers = mk_val<jinja::value_array>();
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
      meter.Step(kStepsPerValue);
      if (numbers->val_arr.size() == kLongestRange) StopTemplate("it asks for too long a range");
      numbers->push_back(mk_val<jinja::value_int>(i));
    }
    return numbers;
  });
  add("namespace", [&meter](const func_args& args) -> value {
    auto space = mk_val<jinja::value_object>();
    for (const value& argument : args.get_args()) {
      const auto* named = jinja::cast_val<jinja::value_kwarg>(argument);
      if (named == nullptr) StopTemplate("a namespace is made of names and values");
      space->insert(named->key, named->val);
    }
    meter.Measure(space);
    return space;
  });
  const func_handler& tojson = jinja::global_builtins().at("tojson");
  add("tojson", [&meter, &tojson](const func_args& args) { return Call("tojson", tojson, args, meter); });
}

}  // namespace punt
