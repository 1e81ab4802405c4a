#include "convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "base/suggest.h"

namespace punt::py {
namespace {

/// What str() says.
std::string Told(nb::handle value) {
  const nb::object text = nb::steal(PyObject_Str(value.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

/// Through __index__, which whole numbers of NumPy have as well; booleans are none.
nb::object IndexOf(std::string_view what, nb::handle value) {
  PyObject* number = PyBool_Check(value.ptr()) ? nullptr : PyNumber_Index(value.ptr());
  if (number == nullptr) {
    PyErr_Clear();
    BadInput("{} must be a whole number, got {}", what, KindOf(value));
  }
  return nb::steal(number);
}

std::int64_t WholeOf(std::string_view what, nb::handle value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(IndexOf(what, value).ptr(), &overflow);
  if (overflow != 0) BadInput("{} is out of range: {}", what, Told(value));
  return number;
}

std::uint64_t UnsignedOf(std::string_view what, nb::handle value) {
  const nb::object number = IndexOf(what, value);
  const unsigned long long result = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    BadInput("{} must be from 0 to 2^64 - 1, got {}", what, Told(value));
  }
  return result;
}

double RealOf(std::string_view what, nb::handle value) {
  const bool is_number = PyNumber_Check(value.ptr()) && !PyBool_Check(value.ptr());
  const double number = is_number ? PyFloat_AsDouble(value.ptr()) : -1;
  if (!is_number || (number == -1 && PyErr_Occurred() != nullptr)) {
    PyErr_Clear();
    BadInput("{} must be a number, got {}", what, KindOf(value));
  }
  return number;
}

std::vector<std::string> TextsOf(std::string_view what, nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return {TextOf(what, value)};
  if (!PySequence_Check(value.ptr())) BadInput("{} must be a string or a list of strings, got {}", what, KindOf(value));
  std::vector<std::string> texts;
  for (nb::handle item : value) texts.push_back(TextOf(what, item));
  return texts;
}

void Set(std::string& member, std::string_view what, nb::handle value) { member = TextOf(what, value); }
void Set(double& member, std::string_view what, nb::handle value) { member = RealOf(what, value); }
void Set(std::int64_t& member, std::string_view what, nb::handle value) { member = WholeOf(what, value); }
void Set(std::uint64_t& member, std::string_view what, nb::handle value) { member = UnsignedOf(what, value); }
void Set(std::vector<std::string>& member, std::string_view what, nb::handle value) { member = TextsOf(what, value); }
void Set(bool& member, std::string_view what, nb::handle value) {
  if (!PyBool_Check(value.ptr())) BadInput("{} must be True or False, got {}", what, KindOf(value));
  member = value.is(Py_True);
}

nb::object AsArray(nb::handle value, const char* dtype, std::string_view what) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(value);
  const char* casting = nb::cast<std::size_t>(array.attr("size")) == 0 ? "unsafe" : "same_kind";  // [] is of reals
  try {
    return numpy.attr("ascontiguousarray")(
        array.attr("astype")(dtype, nb::arg("casting") = casting, nb::arg("copy") = false));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    BadInput("{} must hold {}, got {}", what, dtype, Told(nb::object(array.attr("dtype"))));
  }
}

template <typename T>
constexpr const char* kDtype = "int32";
template <>
constexpr const char* kDtype<float> = "float32";
template <>
constexpr const char* kDtype<double> = "float64";

}  // namespace

std::string TextOf(std::string_view what, nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) BadInput("{} must be a string, got {}", what, KindOf(value));
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    BadInput("{} holds half of a surrogate pair, which is no text", what);
  }
  return {bytes, static_cast<std::size_t>(size)};
}

template <typename T>
nb::ndarray<const T, nb::c_contig, nb::device::cpu> ArrayOf(nb::handle value, std::initializer_list<std::size_t> shape,
                                                            std::string_view what) {
  using Result = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
  const Result array = nb::cast<Result>(AsArray(value, kDtype<T>, what));
  bool fits = array.ndim() == shape.size();
  std::vector<std::size_t> got;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    got.push_back(array.shape(i));
    fits = fits && array.shape(i) == shape.begin()[i];
  }
  if (!fits) BadInput("{} must have the shape [{}], got [{}]", what, fmt::join(shape, ", "), fmt::join(got, ", "));
  return array;
}

template nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu> ArrayOf(nb::handle,
                                                                                std::initializer_list<std::size_t>,
                                                                                std::string_view);
template nb::ndarray<const float, nb::c_contig, nb::device::cpu> ArrayOf(nb::handle, std::initializer_list<std::size_t>,
                                                                         std::string_view);
template nb::ndarray<const double, nb::c_contig, nb::device::cpu> ArrayOf(nb::handle,
                                                                          std::initializer_list<std::size_t>,
                                                                          std::string_view);

std::vector<std::int32_t> Integers(nb::handle value, std::string_view what) {
  const nb::object wide = AsArray(value, "int64", what);
  const auto array = nb::cast<nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>>(wide);
  if (array.ndim() != 1) BadInput("{} must be a list, got an array of {} dimensions", what, array.ndim());
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const std::int64_t number = array.data()[i];
    if (number != static_cast<std::int32_t>(number)) BadInput("{} holds {}, which is out of range", what, number);
    numbers.push_back(static_cast<std::int32_t>(number));
  }
  return numbers;
}

nb::object NewText(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

Settings SettingsOf(nb::dict fields) {
  Settings settings;
  Sampling& sampling = settings.sampling;
  for (auto [key, value] : fields) {
    const std::string name = TextOf("a sampling option", key);
    if (name == "logprobs") {
      if (!value.is_none())
        settings.logprobs = static_cast<int>(std::clamp<std::int64_t>(WholeOf(name, value), -1, INT32_MAX));
      continue;
    }
    const SamplingField* found = nullptr;
    std::vector<std::string_view> names;
    for (const SamplingField& field : SamplingFields()) {
      names.push_back(field.name());
      if (name == field.name() || name == field.key) found = &field;
    }
    if (found == nullptr) {
      BadInput("unknown sampling option '{}'{}; valid: {}", name, DidYouMean(name, names), fmt::join(names, ", "));
    }
    if (name == "planner" && !PyUnicode_Check(value.ptr())) {
      settings.planner = std::make_shared<const PlannerObject>(nb::borrow(value));
      sampling.planner = settings.planner->spec();
      continue;
    }
    std::visit([&, value = value](auto member) { Set(sampling.*member, name, value); }, found->member);
  }
  return settings;
}

Ask AskOf(nb::dict fields) {
  Ask ask;
  for (auto [key, value] : fields) {
    const std::string name = TextOf("a name", key);
    if (value.is_none()) continue;
    if (name == "prompt") ask.prompt = TextOf(name, value);
    if (name == "tokens") ask.tokens = Integers(value, name);
    if (name == "infill") ask.infill = ParseHoles(TextOf(name, value));
    if (name == "suffix") ask.suffix = TextOf(name, value);
    if (name == "length") ask.length = WholeOf(name, value);
    if (name == "cut_to_fit") Set(ask.cut_to_fit, name, value);
    if (name == "thinking") Set(ask.chat_options.thinking.emplace(), name, value);
    if (name == "sample") ask.sample = UnsignedOf(name, value);
    if (name != "chat") continue;
    for (nb::handle message : value) {
      ask.chat.push_back({TextOf("a role", message[0]), TextOf("the content of a message", message[1])});
    }
  }
  return ask;
}

nb::dict CountersOf(const Counters& counters) {
  nb::dict result;
  result["base_passes"] = counters.base_passes;
  result["test_passes"] = counters.test_passes;
  result["nfe"] = counters.nfe();
  result["calls"] = counters.calls;
  result["row_passes"] = counters.row_passes;
  result["rows_read"] = counters.rows_read;
  return result;
}

nb::dict ParamOf(const ParamRow& row) {
  nb::dict result;
  const auto text = [](std::string_view value) { return nb::str(value.data(), value.size()); };
  result["key"] = text(row.key);
  result["kind"] = text(Name(row.kind));
  result["default"] = text(row.default_value);
  result["help"] = text(row.help);
  const bool is_number = row.kind == ParamKind::kReal || row.kind == ParamKind::kInteger;
  if (is_number) result["min"] = row.min;
  if (is_number) result["max"] = row.max;
  nb::list choices;
  for (std::string_view choice : row.choices) choices.append(text(choice));
  if (!row.choices.empty()) result["choices"] = choices;
  return result;
}

std::string KindOf(nb::handle value) {
  const std::string name = Told(nb::object(nb::handle(value.type()).attr("__name__")));
  return fmt::format("{} {}", std::string_view("aeiou").find(name.front()) == std::string_view::npos ? "a" : "an",
                     name);
}

}  // namespace punt::py
