// The machine has a stack, marks on it, and a memo of values that are used again. Opcodes push values, gather those
// above the last mark into a tuple, list or dict, or fetch from the memo. Each opcode makes at most one value, so a
// pickle of n bytes makes at most n of them; only the numbers of values are copied, and nothing is recursive.
//
// Three opcodes could run code in Python. GLOBAL names a function: only listed names pass. REDUCE calls it: here the
// call becomes a value, except OrderedDict(), which is an empty dict. BUILD sets attributes of an object: it is allowed
// only on dicts, where PyTorch keeps version numbers that are not needed, and ignored. INST, OBJ, NEWOBJ, extension
// codes and out-of-band buffers are refused like any opcode not in the table.
//
// Reference: the comments in CPython's Lib/pickletools.py, which specify the format. Tested by: pickle_test.cc,
// pytorch_test.cc (files of PyTorch), fuzz/pytorch_fuzz.cc.
#include "weights/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/check.h"
#include "base/json_text.h"
#include "weights/pickle_opcodes.h"

namespace punt {
namespace {

constexpr std::string_view kOrderedDict = "collections OrderedDict";
constexpr int kNewestProtocol = 5;

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::span<const std::string_view> globals, std::string_view origin,
          const PickleLimits& limits)
      : bytes_(bytes.first(std::min(bytes.size(), limits.bytes))),
        is_cut_(bytes.size() > limits.bytes),
        globals_(globals),
        origin_(origin),
        limits_(limits) {}

  void Run() {
    while (!is_done_) {
      opcode_at_ = at_;
      Step(static_cast<std::uint8_t>(Take(1)[0]));
    }
  }

  std::vector<PickleValue>& values() { return values_; }
  PickleIndex root() const { return root_; }
  std::size_t size() const { return at_; }

 private:
  template <typename... Args>
  [[noreturn]] void Refuse(fmt::format_string<Args...> format, Args&&... args) const {
    BadInput("{}: pickle, byte {}: {}", origin_, opcode_at_, fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void RefuseOpcode(std::uint8_t code) const {
    const std::string_view name = RefusedOpcode(code);
    if (!name.empty()) Refuse("opcode {} is not allowed: tensors do not need it", name);
    Refuse("0x{:02x} is not an opcode", code);
  }

  void Step(std::uint8_t code) {
    switch (code) {
      case kProto:
        return CheckProtocol();
      case kFrame:
        return static_cast<void>(Take(8));  // a hint for readers that prefetch
      case kStop:
        return Finish();
      case kMark:
        return marks_.push_back(stack_.size());
      case kNone:
        return Push({});
      case kNewTrue:
        return Push({.kind = PickleKind::kBoolean, .integer = 1});
      case kNewFalse:
        return Push({.kind = PickleKind::kBoolean});
      case kBinInt:
        return PushInteger(static_cast<std::int32_t>(TakeNumber<std::uint32_t>()));
      case kBinInt1:
        return PushInteger(TakeNumber<std::uint8_t>());
      case kBinInt2:
        return PushInteger(TakeNumber<std::uint16_t>());
      case kLong1:
        return PushLong(Take(TakeNumber<std::uint8_t>()));
      case kBinFloat:
        return PushReal();
      case kBinString:
      case kBinUnicode:
        return PushText(Take(TakeNumber<std::uint32_t>()));
      case kShortBinString:
      case kShortBinUnicode:
        return PushText(Take(TakeNumber<std::uint8_t>()));
      case kEmptyTuple:
        return Push({.kind = PickleKind::kTuple});
      case kEmptyList:
        return Push({.kind = PickleKind::kList});
      case kEmptyDict:
        return Push({.kind = PickleKind::kDict});
      case kTuple1:
        return PushTuple(1);
      case kTuple2:
        return PushTuple(2);
      case kTuple3:
        return PushTuple(3);
      case kTuple:
        return PushTuple(AboveMark());
      case kAppend:
        return AddItems(PickleKind::kList, 1);
      case kAppends:
        return AddItems(PickleKind::kList, AboveMark());
      case kSetItem:
        return AddItems(PickleKind::kDict, 2);
      case kSetItems:
        return AddItems(PickleKind::kDict, AboveMark());
      case kGlobal:
        return TakeGlobal();
      case kStackGlobal:
        return StackGlobal();
      case kReduce:
        return Reduce();
      case kBuild:
        return Build();
      case kBinPersId:
        return Push({.kind = PickleKind::kPersistent, .items = {Pop()}});
      case kBinPut:
        return Remember(TakeNumber<std::uint8_t>());
      case kLongBinPut:
        return Remember(TakeNumber<std::uint32_t>());
      case kMemoize:
        return Remember(memo_.size());
      case kBinGet:
        return Recall(TakeNumber<std::uint8_t>());
      case kLongBinGet:
        return Recall(TakeNumber<std::uint32_t>());
      default:
        RefuseOpcode(code);
    }
  }

  std::span<const std::byte> Take(std::size_t count) {
    if (count > bytes_.size() - at_) {
      if (is_cut_) Refuse("the pickle is longer than the {} bytes that are read", limits_.bytes);
      Refuse("the file ends within the pickle");
    }
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  template <typename T>
  T TakeNumber() {
    T number = 0;
    std::memcpy(&number, Take(sizeof(T)).data(), sizeof(T));
    return number;
  }

  static std::string_view Text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// Up to a line feed, which is skipped.
  std::string_view TakeLine() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
    const auto line = Take(static_cast<std::size_t>(end - rest.begin()));
    Take(1);
    return Text(line);
  }

  void Push(PickleValue value) {
    if (values_.size() == limits_.values) Refuse("more than {} values", limits_.values);
    stack_.push_back(static_cast<PickleIndex>(values_.size()));
    values_.push_back(std::move(value));
  }

  void PushInteger(std::int64_t integer) { Push({.kind = PickleKind::kInteger, .integer = integer}); }

  /// Two's complement of any length; numbers of tensors have 64 bits, and only the magic number of old files has more.
  void PushLong(std::span<const std::byte> bytes) {
    if (bytes.size() > sizeof(std::int64_t)) return PushText(bytes);
    const bool is_negative = !bytes.empty() && (bytes.back() & std::byte{0x80}) != std::byte{0};
    std::int64_t integer = is_negative ? -1 : 0;
    if (!bytes.empty()) std::memcpy(&integer, bytes.data(), bytes.size());
    PushInteger(integer);
  }

  void PushReal() {
    const auto bytes = Take(sizeof(double));  // big-endian, unlike everything else in the format
    std::uint64_t bits = 0;
    for (const std::byte byte : bytes) bits = bits << 8 | static_cast<std::uint64_t>(byte);
    Push({.kind = PickleKind::kReal, .real = std::bit_cast<double>(bits)});
  }

  void PushText(std::span<const std::byte> bytes) { Push({.kind = PickleKind::kText, .text = Text(bytes)}); }

  /// Values above the last mark, which is dropped.
  std::size_t AboveMark() {
    if (marks_.empty()) Refuse("no mark was set");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  /// Takes off the topmost `count` values and returns them in order. Values below a mark are out of reach.
  std::vector<PickleIndex> PopItems(std::size_t count) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) Refuse("the stack holds too few values");
    const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleIndex> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return items;
  }

  PickleIndex Pop() { return PopItems(1)[0]; }

  PickleIndex Top() const {
    if (stack_.size() == (marks_.empty() ? 0 : marks_.back())) Refuse("the stack holds too few values");
    return stack_.back();
  }

  void PushTuple(std::size_t count) { Push({.kind = PickleKind::kTuple, .items = PopItems(count)}); }

  void AddItems(PickleKind kind, std::size_t count) {
    const std::vector<PickleIndex> items = PopItems(count);
    PickleValue& target = values_[Top()];
    if (target.kind != kind) Refuse("items for {}, found {}", PickleKindName(kind), PickleKindName(target.kind));
    if (kind == PickleKind::kDict && count % 2 != 0) Refuse("a key without a value");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  void PushGlobal(std::string_view module, std::string_view name) {
    const auto is_it = [&](std::string_view known) {
      const auto space = known.find(' ');
      return known.substr(0, space) == module && known.substr(space + 1) == name;
    };
    const auto known = std::find_if(globals_.begin(), globals_.end(), is_it);
    if (known == globals_.end() && !is_it(kOrderedDict)) {
      Refuse("the global {} is not allowed: tensors do not need it",
             ShowText(std::string(module) + "." + std::string(name)));
    }
    Push({.kind = PickleKind::kGlobal, .text = known == globals_.end() ? kOrderedDict : *known});
  }

  void TakeGlobal() {
    const std::string_view module = TakeLine();
    PushGlobal(module, TakeLine());
  }

  void StackGlobal() {
    const std::vector<PickleIndex> names = PopItems(2);
    const PickleValue& module = values_[names[0]];
    const PickleValue& name = values_[names[1]];
    if (module.kind != PickleKind::kText || name.kind != PickleKind::kText) Refuse("a global whose name is not a text");
    PushGlobal(module.text, name.text);
  }

  void Reduce() {
    const std::vector<PickleIndex> call = PopItems(2);
    const PickleValue& callee = values_[call[0]];
    const PickleValue& arguments = values_[call[1]];
    if (callee.kind != PickleKind::kGlobal) Refuse("a call of {}", PickleKindName(callee.kind));
    if (arguments.kind != PickleKind::kTuple) Refuse("a call whose arguments are not a tuple");
    if (callee.text == kOrderedDict) {
      if (!arguments.items.empty()) Refuse("collections.OrderedDict with arguments is not allowed");
      return Push({.kind = PickleKind::kDict});
    }
    Push({.kind = PickleKind::kCall, .text = callee.text, .items = {call[1]}});
  }

  void Build() {
    Pop();
    if (values_[Top()].kind != PickleKind::kDict) Refuse("opcode BUILD on {}", PickleKindName(values_[Top()].kind));
  }

  void Remember(std::size_t number) { memo_[number] = Top(); }

  void Recall(std::size_t number) {
    const auto it = memo_.find(number);
    if (it == memo_.end()) Refuse("the memo has no entry {}", number);
    stack_.push_back(it->second);
  }

  void CheckProtocol() {
    const int protocol = TakeNumber<std::uint8_t>();
    if (protocol < 2 || protocol > kNewestProtocol) Refuse("protocol {}, known are 2 to {}", protocol, kNewestProtocol);
  }

  void Finish() {
    root_ = Pop();
    if (!stack_.empty() || !marks_.empty()) Refuse("{} values are left over at the end", stack_.size());
    is_done_ = true;
  }

  std::span<const std::byte> bytes_;
  bool is_cut_;
  std::span<const std::string_view> globals_;
  std::string_view origin_;
  PickleLimits limits_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  bool is_done_ = false;
  PickleIndex root_ = 0;
  std::vector<PickleValue> values_;
  std::vector<PickleIndex> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::unordered_map<std::size_t, PickleIndex> memo_;
};

}  // namespace

std::string_view PickleKindName(PickleKind kind) {
  switch (kind) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBoolean:
      return "a truth value";
    case PickleKind::kInteger:
      return "an integer";
    case PickleKind::kReal:
      return "a number";
    case PickleKind::kText:
      return "a text";
    case PickleKind::kTuple:
      return "a tuple";
    case PickleKind::kList:
      return "a list";
    case PickleKind::kDict:
      return "a dict";
    case PickleKind::kGlobal:
      return "a global";
    case PickleKind::kCall:
      return "the result of a call";
    case PickleKind::kPersistent:
      return "a storage";
  }
  return "";
}

std::string ShowText(std::string_view text) {
  constexpr std::size_t kMost = 100;
  const std::string_view shown = text.substr(0, kMost);
  std::string quoted = Quoted(shown);
  if (shown.size() < text.size()) quoted.insert(quoted.size() - 1, "...");
  return quoted;
}

Pickle::Pickle(std::span<const std::byte> bytes, std::span<const std::string_view> globals, std::string_view origin,
               const PickleLimits& limits) {
  Machine machine(bytes, globals, origin, limits);
  machine.Run();
  values_ = std::move(machine.values());
  root_ = machine.root();
  size_ = machine.size();
}

const PickleValue* Pickle::Find(const PickleValue& dict, std::string_view key) const {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& name = at(dict.items[i]);
    if (name.kind == PickleKind::kText && name.text == key) return &at(dict.items[i + 1]);
  }
  return nullptr;
}

}  // namespace punt
