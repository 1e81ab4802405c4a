// Answers of /v1/responses: a list of items (thoughts, a message, calls), and the events that tell how it grows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "serve/completion_json.h"

namespace punt {

/// Follows one answer. Each part of a stream is given to Add, then End is called; what they return are server-sent
/// events. Used by one thread.
class ResponsesForm {
 public:
  using Json = nlohmann::ordered_json;

  /// `echo`: CompletionRequest::responses_echo.
  ResponsesForm(AnswerHead head, std::string_view echo);

  std::string Add(std::string_view reasoning, const CallParts& parts);
  std::string End(const ChoiceResult& result, const Completion& completion);

  /// The answer in one piece, after End.
  std::string Whole() const { return whole_; }

 private:
  std::string Event(const char* type, Json fields);
  std::string Begin();
  /// Text of an item of this kind, "reasoning" or "message", which is opened if it is not open.
  std::string Grow(const char* kind, std::string_view more);
  std::string Close();
  std::string Call(const ToolCall& call);
  Json Part(const std::string& text) const;
  Json Response(const char* status) const;
  std::string NewId(const char* kind) const;

  const AnswerHead head_;
  const Json echo_;
  Json output_ = Json::array();
  std::string open_;  // kind of the last item, while it grows
  std::string text_;  // of it
  int events_ = 0;
  bool has_calls_ = false;
  std::string whole_;
};

}  // namespace punt
