#include "text/template/meter.h"

namespace punt {
namespace {

constexpr std::size_t kSteps = 1'000'000;
constexpr std::size_t kStepsPerMessage = 1000;
constexpr std::size_t kStepsPerByte = 4;
constexpr std::size_t kBytes = std::size_t{1} << 26;
constexpr std::size_t kBytesPerByte = 64;
constexpr std::size_t kLargest = std::size_t{1} << 23;
constexpr std::size_t kLargestPerByte = 4;
constexpr int kDeepestValue = 64;
constexpr int kDeepestLevel = 300;  // each takes up to a few kilobytes of the stack

}  // namespace

void StopTemplate(std::string reason) { throw TemplateStop{std::move(reason)}; }

TemplateMeter::TemplateMeter(std::size_t messages, std::size_t bytes)
    : steps_(kSteps + kStepsPerMessage * messages + kStepsPerByte * bytes),
      bytes_(kBytes + kBytesPerByte * bytes),
      largest_(kLargest + kLargestPerByte * bytes + 256 * messages) {}

TemplateMeter::~TemplateMeter() {
  // All of them stay until each is empty, so that none frees a long chain of others.
  for (const jinja::value& value : changed_) {
    value->val_arr.clear();
    value->val_obj.clear();
    if (auto* object = dynamic_cast<jinja::value_object_t*>(value.get())) object->unordered.clear();
  }
}

void TemplateMeter::Step(std::size_t cost) {
  if (cost > steps_) StopTemplate("it takes too many steps");
  steps_ -= cost;
}

void TemplateMeter::Bytes(std::size_t count) {
  if (count > bytes_) StopTemplate("it writes too much");
  bytes_ -= count;
  Step(count / 256);
}

void TemplateMeter::Walk(const jinja::value& value, int depth, Size& size) {
  if (depth > kDeepestValue) StopTemplate("it nests values too deeply");
  Step();
  size.bytes += 32;
  if (const auto* text = jinja::cast_val<jinja::value_string>(value)) {
    for (const jinja::string_part& part : text->val_str.parts) {
      size.bytes += part.val.size() + 32;
      size.has_input |= part.is_input;
    }
  } else if (jinja::is_val<jinja::value_float>(value)) {
    size.bytes += 350;  // as many digits
  } else if (const auto* missing = jinja::cast_val<jinja::value_undefined>(value)) {
    size.bytes += missing->hint.size();
  } else if (const auto* function = jinja::cast_val<jinja::value_func>(value)) {
    size.bytes += function->name.size();
    if (function->arg0) Walk(function->arg0, depth + 1, size);
  } else if (const auto* named = jinja::cast_val<jinja::value_kwarg>(value)) {
    Walk(named->val, depth + 1, size);
  }
  for (const jinja::value& item : value->val_arr) Walk(item, depth + 1, size);
  for (const auto& [key, item] : value->val_obj) {
    Walk(key, depth + 1, size);
    Walk(item, depth + 1, size);
  }
  if (size.bytes > largest_) StopTemplate("it makes too large a value");
}

TemplateMeter::Size TemplateMeter::Measure(const jinja::value& value) {
  Size size;
  Walk(value, 0, size);
  return size;
}

TemplateMeter::Level::Level(TemplateMeter& meter) : meter_(meter) {
  if (meter.level_ >= kDeepestLevel) StopTemplate("it recurses too deeply");
  ++meter.level_;
}

}  // namespace punt
