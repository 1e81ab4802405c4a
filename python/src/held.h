// A Python object that the engine's threads may drop at any time.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <utility>

namespace punt::py {

namespace nb = nanobind;

/// Throws it, as often as it is asked to: an exception of Python's can be raised once, so a copy is. With the lock.
[[noreturn]] inline void Rethrow(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const nb::python_error& error) {
    throw nb::python_error(error);
  }
}

/// Made and copied with the interpreter's lock held; destroyed with or without it. At the end of the interpreter the
/// object is left alone.
class Held {
 public:
  Held() = default;
  explicit Held(nb::object object) : object_(std::move(object)) {}
  Held(Held&&) = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (!object_.is_valid()) return;
    if (!nb::is_alive() || !Py_IsInitialized()) {
      object_.release();
      return;
    }
    nb::gil_scoped_acquire lock;
    object_.reset();
  }

  const nb::object& get() const { return object_; }

 private:
  nb::object object_;
};

}  // namespace punt::py
