// Metadata of a model in GGUF's terms: named values, from a file or made by a converter.
#pragma once

#include <gguf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct GgufDelete {
  void operator()(gguf_context* context) const { gguf_free(context); }
};
using GgufPtr = std::unique_ptr<gguf_context, GgufDelete>;

/// Reads are const and may be shared. A value of the wrong type or a missing required one throws Error that
/// names the origin (the file) and the key. Integers are read from any integer type, reals from any number.
class Metadata {
 public:
  /// Takes `context`, which must not be null; `origin` is what errors call it.
  Metadata(GgufPtr context, std::string origin);

  bool Has(std::string_view key) const;
  std::int64_t Integer(std::string_view key) const;
  double Real(std::string_view key) const;
  bool Boolean(std::string_view key) const;
  std::string String(std::string_view key) const;
  std::vector<std::string> Strings(std::string_view key) const;
  std::vector<std::int64_t> Integers(std::string_view key) const;
  std::vector<float> Reals(std::string_view key) const;

  std::int64_t IntegerOr(std::string_view key, std::int64_t fallback) const;
  double RealOr(std::string_view key, double fallback) const;
  bool BooleanOr(std::string_view key, bool fallback) const;
  std::string StringOr(std::string_view key, std::string_view fallback) const;

  const std::string& origin() const { return origin_; }
  /// For the libraries' own functions, and for writers; reading through it checks nothing.
  const gguf_context* raw() const { return context_.get(); }
  gguf_context* raw() { return context_.get(); }

 private:
  std::int64_t Find(std::string_view key) const;       // throws when absent
  std::int64_t FindArray(std::string_view key) const;  // throws when absent or not an array
  [[noreturn]] void WrongType(std::int64_t id, std::string_view wanted) const;

  GgufPtr context_;
  std::string origin_;
};

}  // namespace punt
