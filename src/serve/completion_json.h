// Answers to requests for completions, in OpenAI's formats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serve/completion.h"
#include "serve/tool_calls.h"

namespace punt {

/// What all messages of an answer share.
struct AnswerHead {
  std::string id;  // "chatcmpl-..." or "cmpl-..."
  std::int64_t created = 0;
  std::string model;
  bool chat = false;
  std::vector<std::string> ignored;  // unknown settings, listed at the end
  CallReading calls = {};            // of a chat
};

/// The finish_reason of an answer that has calls, whatever its text ended with.
inline constexpr const char* kCalls = "tool_calls";

AnswerHead NewAnswer(bool chat, const std::string& model);

/// The whole answer of a request that is not streamed.
std::string AnswerJson(const AnswerHead& head, const Completion& completion, double seconds);

/// Messages of a stream, without "data: ".
std::string RoleChunk(const AnswerHead& head, int choice);
/// `part` has a text or thoughts; of a chat.
std::string TextChunk(const AnswerHead& head, const StreamPart& part);
/// Calls, of which the first has this index; of a chat.
std::string CallsChunk(const AnswerHead& head, int choice, const std::vector<ToolCall>& calls, int first_index);
std::string SnapshotChunk(const AnswerHead& head, const StreamPart& part);
std::string EventChunk(const AnswerHead& head, const StreamPart& part);
std::string EndChunk(const AnswerHead& head, int choice, const std::string& finish_reason);
std::string UsageChunk(const AnswerHead& head, const Completion& completion, double seconds);

}  // namespace punt
