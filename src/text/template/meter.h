// What a chat template may use up. A template comes with a model, from anywhere, and is a program: it can loop, recurse
// and build values without end, and the engine that runs it has no bounds of its own.
#pragma once

#include <jinja/runtime.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace punt {

/// Why a template was stopped. No std::exception, because the engine catches and rewraps these.
struct TemplateStop {
  std::string reason;
  bool is_refusal = false;  // the template's own: raise_exception
};

[[noreturn]] void StopTemplate(std::string reason);

/// Counts the work of one rendering and stops it when it is too much. The counts do not depend on the machine: the same
/// template and messages always end the same way. Used by one thread.
class TemplateMeter {
 public:
  /// `messages` and `bytes`: the conversation, whose size what is allowed grows with.
  TemplateMeter(std::size_t messages, std::size_t bytes);
  /// Breaks the cycles that values of the template may have made, which would never be freed.
  ~TemplateMeter();
  TemplateMeter(const TemplateMeter&) = delete;
  TemplateMeter& operator=(const TemplateMeter&) = delete;

  /// A step costs about a microsecond.
  void Step(std::size_t cost = 1);
  /// A scope copies all variables: a template pays for as many as it names.
  void AddVariables(std::size_t count) { variables_ += count; }
  void Scopes(std::size_t count) { Step(count * (1 + variables_ / 4)); }
  /// Bytes that are written or copied.
  void Bytes(std::size_t count);

  struct Size {
    std::size_t bytes = 0;   // written out, shared parts as often as they occur
    bool has_input = false;  // holds words of a message
  };
  /// Walks through a value; stops the template if it is too large or too deeply nested, or contains itself.
  Size Measure(const jinja::value& value);

  /// To be told of every value that is changed after it was made.
  void Changed(const jinja::value& value) { changed_.push_back(value); }

  /// While it lives, execution is one level deeper.
  class Level {
   public:
    explicit Level(TemplateMeter& meter);
    ~Level() { --meter_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TemplateMeter& meter_;
  };

 private:
  void Walk(const jinja::value& value, int depth, Size& size);

  std::size_t steps_;  // left
  std::size_t bytes_;  // left
  std::size_t largest_;
  std::size_t variables_ = 16;
  int level_ = 0;
  std::vector<jinja::value> changed_;
};

}  // namespace punt
