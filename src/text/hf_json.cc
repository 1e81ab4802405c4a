#include "text/hf_json.h"

#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/parse_json.h"

namespace punt {
namespace {

const HfJson::Json kNull;

}  // namespace

std::string ReadWholeFile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) BadInput("{}: cannot be opened", file.string());
  std::stringstream text;
  text << in.rdbuf();
  if (in.bad()) throw Error(ErrorCode::kFailed, fmt::format("{}: cannot be read", file.string()));
  return std::move(text).str();
}

HfJson HfJson::Parse(std::string_view bytes, std::string origin) {
  Json value = Json::parse(bytes.begin(), bytes.end(), IsShallow<Json>, false);
  if (value.is_discarded()) BadInput("{}: not valid JSON", origin);
  if (!value.is_object()) BadInput("{}: must be a JSON object", origin);
  return HfJson(std::move(value), std::move(origin), "");
}

HfJson HfJson::ReadOptional(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return HfJson(Json::object(), file.string(), "");
  return Parse(ReadWholeFile(file), file.string());
}

HfJson::HfJson(Json value, std::string origin, std::string path)
    : root_(std::make_shared<const Json>(std::move(value))),
      value_(root_.get()),
      origin_(std::move(origin)),
      path_(std::move(path)) {}

HfJson::HfJson(std::shared_ptr<const Json> root, const Json* value, std::string origin, std::string path)
    : root_(std::move(root)), value_(value), origin_(std::move(origin)), path_(std::move(path)) {}

void HfJson::Refuse(std::string_view what) const {
  BadInput("{}: {}{}{}", origin_, path_, path_.empty() ? "" : ": ", what);
}

HfJson HfJson::operator[](std::string_view field) const {
  if (!value_->is_object()) Refuse("must be an object");
  const auto found = value_->find(field);
  const Json* value = found == value_->end() ? &kNull : &*found;
  return {root_, value, origin_, path_.empty() ? std::string(field) : path_ + "." + std::string(field)};
}

HfJson HfJson::At(std::size_t index) const {
  Check(index < Size(), "an index past the end of a JSON array");
  return {root_, &(*value_)[index], origin_, fmt::format("{}[{}]", path_, index)};
}

std::string HfJson::String() const {
  if (!value_->is_string()) Refuse(IsNull() ? "is missing" : "must be a string");
  return value_->get<std::string>();
}

std::int64_t HfJson::Integer() const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() || value_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits) Refuse(IsNull() ? "is missing" : "must be a whole number");
  return value_->get<std::int64_t>();
}

bool HfJson::Boolean() const {
  if (!value_->is_boolean()) Refuse(IsNull() ? "is missing" : "must be true or false");
  return value_->get<bool>();
}

std::size_t HfJson::Size() const {
  if (!value_->is_array()) Refuse(IsNull() ? "is missing" : "must be an array");
  return value_->size();
}

const HfJson::Json& HfJson::Object() const {
  if (!value_->is_object()) Refuse(IsNull() ? "is missing" : "must be an object");
  return *value_;
}

}  // namespace punt
