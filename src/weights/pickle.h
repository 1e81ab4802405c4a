// Python's pickle format, read as data. A pickle is a program for a small stack machine that may name any Python
// function and have it called; loading one with Python means running it. This machine has no functions: it knows the
// opcodes with which tensors are written (protocols 2 to 5), keeps a call as a record of what would be called with
// which arguments, and accepts no name that its caller has not listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// Values refer to each other by number, so that a value may contain itself.
using PickleIndex = std::uint32_t;

enum class PickleKind { kNone, kBoolean, kInteger, kReal, kText, kTuple, kList, kDict, kGlobal, kCall, kPersistent };

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  std::int64_t integer = 0;  // kInteger; 0 or 1 for kBoolean
  double real = 0;           // kReal
  std::string_view text;     // kText; kGlobal and kCall: the name, "module name" as the pickle spells it
  std::vector<PickleIndex>
      items;  // kTuple, kList; kDict: key, value, key, value; kCall: arguments; kPersistent: its id
};

/// What a refusal calls a kind: "an integer", "a tuple".
std::string_view PickleKindName(PickleKind kind);

struct PickleLimits {
  std::size_t bytes = std::size_t{16} << 20;
  std::size_t values = std::size_t{1} << 20;
};

/// Immutable. Texts point into the bytes that it was read from.
class Pickle {
 public:
  /// Reads the pickle at the beginning of `bytes`; others may follow. `globals` are the names that may occur,
  /// "module name"; collections.OrderedDict, which is read as a dict, is always accepted. Throws Error naming `origin`
  /// and the offending opcode or name. Memory is bounded by the limits.
  Pickle(std::span<const std::byte> bytes, std::span<const std::string_view> globals, std::string_view origin,
         const PickleLimits& limits = {});

  const PickleValue& root() const { return at(root_); }
  const PickleValue& at(PickleIndex index) const { return values_[index]; }
  /// All values, including those that the root does not reach.
  std::span<const PickleValue> values() const { return values_; }
  /// The first value that `dict` has under this text; null when there is none.
  const PickleValue* Find(const PickleValue& dict, std::string_view key) const;
  /// Bytes up to and including the end mark.
  std::size_t size() const { return size_; }

 private:
  std::vector<PickleValue> values_;
  PickleIndex root_ = 0;
  std::size_t size_ = 0;
};

/// Text of a file for an error message: quoted, on one line, valid UTF-8, short.
std::string ShowText(std::string_view text);

}  // namespace punt
