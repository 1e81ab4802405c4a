// Between Python's values and the engine's. All of it with the interpreter's lock held.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "punt/writer.h"
#include "py_planner.h"

namespace punt::py {

namespace nb = nanobind;

/// A NumPy array that owns `values`; the shape's product is their number.
template <typename T>
nb::object NewArray(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.begin(), owner));
}

template <typename T>
nb::object NewArray(std::span<const T> values) {
  return NewArray<T>(std::vector<T>(values.begin(), values.end()), {values.size()});
}

/// What numpy.asarray makes of `value`, as a contiguous array of T of these dimensions, alive while the result is.
/// Kinds are not mixed: real numbers are no whole ones. Throws Error that begins with `what` on another kind or shape.
template <typename T>
nb::ndarray<const T, nb::c_contig, nb::device::cpu> ArrayOf(nb::handle value, std::initializer_list<std::size_t> shape,
                                                            std::string_view what);

/// A list of tokens or positions, or an array of them.
std::vector<std::int32_t> Integers(nb::handle value, std::string_view what);

/// Throws Error that begins with `what` on what is no string, or not expressible in UTF-8.
std::string TextOf(std::string_view what, nb::handle value);

/// Bytes that are no UTF-8 become the replacement character.
nb::object NewText(std::string_view text);

/// A Sampling, and what it names.
struct Settings {
  Sampling sampling;
  std::shared_ptr<const PlannerObject> planner;  // or null; to be kept while a run uses it
  std::optional<int> logprobs = {};              // Ask::logprobs: no sampling option, but a keyword like them
};

/// Of keyword arguments by the names of SamplingFields(), and logprobs; the planner may be an object. Throws Error
/// naming what is unknown or of the wrong type.
Settings SettingsOf(nb::dict fields);

/// Keys as the members of Ask; `infill` as ParseHoles reads it, `chat` of pairs.
Ask AskOf(nb::dict fields);

nb::dict CountersOf(const Counters& counters);

nb::dict ParamOf(const ParamRow& row);

/// "a float", "a list": for messages.
std::string KindOf(nb::handle value);

}  // namespace punt::py
