// config.json of a Hugging Face folder, read field by field with errors that name the file and the field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// A field that is null counts as absent, as it does in Python's `config.get`. Immutable.
class HfConfig {
 public:
  /// `text` is the file, `origin` what errors call it. Throws Error when it is not a JSON object.
  HfConfig(std::string_view text, std::string origin);

  bool Has(const char* field) const;
  /// A whole number from 1 to `most`: a size or a count. The limits keep what is made from it within memory.
  std::int64_t Size(const char* field, std::int64_t most = kMostSize) const;
  std::int64_t SizeOr(const char* field, std::int64_t fallback, std::int64_t most = kMostSize) const;
  /// As Size, but 0 is allowed.
  std::int64_t CountOr(const char* field, std::int64_t fallback, std::int64_t most = kMostSize) const;
  /// A finite number.
  double Real(const char* field) const;
  double RealOr(const char* field, double fallback) const;
  bool BooleanOr(const char* field, bool fallback) const;
  std::string StringOr(const char* field, std::string_view fallback) const;
  /// An array of strings, or a single string; empty when absent.
  std::vector<std::string> Strings(const char* field) const;
  /// A token: a number from 0 to 2^31 - 1, or an array of them, of which the first counts; -1 when absent.
  std::int64_t TokenOrNone(const char* field) const;
  /// An array of `count` numbers from 0 to `most`.
  std::vector<std::int64_t> Integers(const char* field, std::size_t count, std::int64_t most) const;

  /// These throw Error when the field is present and has another value: what the engine does not compute is refused.
  void Demand(const char* field, std::string_view value) const;
  void Demand(const char* field, const char* value) const { Demand(field, std::string_view(value)); }
  void Demand(const char* field, bool value) const;
  void Demand(const char* field, double value) const;
  /// Throws Error when the field is present (and not null, false or empty).
  void DemandAbsent(const char* field) const;

  /// The base of RoPE: rope_theta, in the object rope_parameters in newer files. Throws Error for scaled rotations.
  double RopeBase(double fallback) const;
  /// An object within the file, as a config of its own; without any field if it is absent.
  HfConfig Part(const char* field) const;
  /// An activation that must be a GELU: "gelu", or "gelu_new" for all names of the approximation by tanh.
  std::string Gelu(const char* field) const;

  const std::string& origin() const { return origin_; }

  static constexpr std::int64_t kMostSize = std::int64_t{1} << 31;
  static constexpr std::int64_t kMostLayers = 4096;
  static constexpr std::int64_t kMostExperts = 65'536;

 private:
  const nlohmann::json* Find(const char* field) const;  // null when absent
  HfConfig() = default;
  std::int64_t Whole(const char* field, std::int64_t least, std::int64_t most) const;
  [[noreturn]] void Wrong(const char* field, std::string_view wanted) const;

  nlohmann::json json_;
  std::string origin_;
};

}  // namespace punt
