// JSON files of a Hugging Face folder, read with errors that name file and field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace punt {

/// A value of a JSON file with where it stands: `origin` names the file, `path` the field ("model.vocab").
class HfJson {
 public:
  using Json = nlohmann::json;

  /// Throws Error naming `origin` when `bytes` are not JSON or their top is not an object.
  static HfJson Parse(std::string_view bytes, std::string origin);
  /// An empty object when there is no such file.
  static HfJson ReadOptional(const std::filesystem::path& file);
  HfJson(Json value, std::string origin, std::string path);

  /// Null when absent. Throws Error when this is not an object.
  HfJson operator[](std::string_view field) const;
  HfJson At(std::size_t index) const;  // of an array

  bool IsNull() const { return value_->is_null(); }
  bool IsObject() const { return value_->is_object(); }
  bool IsArray() const { return value_->is_array(); }
  bool IsString() const { return value_->is_string(); }

  /// Throw Error naming the field when it is missing or of another type.
  std::string String() const;
  std::int64_t Integer() const;
  bool Boolean() const;
  std::size_t Size() const;  // of an array
  const Json& Object() const;

  std::string StringOr(std::string_view fallback) const { return IsNull() ? std::string(fallback) : String(); }
  bool BooleanOr(bool fallback) const { return IsNull() ? fallback : Boolean(); }

  /// Throws Error "origin: path: what".
  [[noreturn]] void Refuse(std::string_view what) const;

  const std::string& origin() const { return origin_; }

 private:
  HfJson(std::shared_ptr<const Json> root, const Json* value, std::string origin, std::string path);

  std::shared_ptr<const Json> root_;  // keeps value_ alive
  const Json* value_;
  std::string origin_;
  std::string path_;
};

/// The whole file. Throws Error when it cannot be read.
std::string ReadWholeFile(const std::filesystem::path& file);

}  // namespace punt
