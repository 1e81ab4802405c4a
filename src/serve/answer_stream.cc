#include "serve/answer_stream.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "punt/error.h"
#include "serve/api_error.h"

namespace punt {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::seconds kSign{10};  // a comment shows clients and proxies that the server is alive

std::string Data(const std::string& json) { return "data: " + json + "\n\n"; }

ApiError ShuttingDown() { return ApiError(503, "shutting_down", "the server shut down before the answer was whole"); }

}  // namespace

AnswerStream::AnswerStream(std::unique_ptr<Completion> completion, AnswerHead head, const CompletionRequest& request,
                           Metrics& metrics, const Ending& ending)
    : completion_(std::move(completion)),
      head_(std::move(head)),
      include_usage_(request.include_usage),
      kind_(request.stream_kind),
      metrics_(metrics),
      ending_(ending) {
  head_.ignored = request.ignored;
  head_.calls = CallReading(request.tools);
  if (request.responses_echo.empty()) return;
  head_.id = "resp_" + head_.id.substr(head_.id.find('-') + 1);
  responses_.emplace(head_, request.responses_echo);
}

bool AnswerStream::IsCut(const ChoiceResult& result) const {
  return is_shut_down_ && result.run.stop == StopReason::kCancelled && result.text.finish_reason != "stop";
}

double AnswerStream::Seconds() const { return std::chrono::duration<double>(Clock::now() - ending_.start).count(); }

void AnswerStream::CheckEnding(const std::function<bool()>& is_gone) {
  if (!is_out_of_time_ && (Clock::now() >= ending_.deadline || *ending_.must_end)) {
    is_out_of_time_ = true;
    is_shut_down_ = *ending_.must_end;
    completion_->Cancel();
  }
  if (is_gone() || completion_->is_overfull()) {
    is_given_up_ = true;
    completion_->Cancel();
  }
}

void AnswerStream::Finish(const std::function<bool()>& is_gone) {
  while (!completion_->is_done()) {
    completion_->Next(kLook);
    CheckEnding(is_gone);
  }
  is_done_ = true;
}

std::string AnswerStream::Whole() const {
  if (is_given_up_) throw ApiError(499, "client_gone", "the client has gone");
  for (const auto& result : completion_->results()) {
    if (!result) throw ApiError(503, "out_of_time", "the request ended before its turn came");
    if (IsCut(*result)) throw ShuttingDown();
  }
  metrics_.request_seconds.Add(Seconds());
  if (!responses_) return AnswerJson(head_, *completion_, Seconds());
  const ChoiceResult& result = *completion_->results().front();
  ResponsesForm form = *responses_;
  form.Add(result.text.reasoning, SplitCalls(head_.calls, result.text.text));
  form.End(result, *completion_);
  return form.Whole();
}

std::string AnswerStream::Next(const std::function<bool()>& is_gone) {
  std::string bytes;
  try {
    const std::optional<StreamPart> part = completion_->Next(kLook);
    CheckEnding(is_gone);
    if (part) bytes = part->is_end ? End(*part) : Show(*part);
    if (completion_->is_done()) bytes += Tail();
  } catch (const std::exception& error) {
    // The status has already been sent.
    bytes = Data(ApiError(500, "failed", error.what()).Json());
    is_done_ = true;
  }
  const Clock::time_point now = Clock::now();
  if (bytes.empty() && now - last_sign_ > kSign) bytes = ": still here\n\n";
  if (!bytes.empty()) last_sign_ = now;
  return bytes;
}

std::string AnswerStream::Show(const StreamPart& part) {
  std::string bytes;
  if (head_.chat && !responses_ && kind_ != StreamKind::kEvents && begun_.insert(part.choice).second) {
    bytes += Data(RoleChunk(head_, part.choice));
  }
  const bool is_text = !part.text.empty() || !part.reasoning.empty();
  if (!has_text_ && is_text) metrics_.first_text_seconds.Add(Seconds());
  has_text_ = has_text_ || is_text;
  if (kind_ == StreamKind::kEvents) return bytes + Data(EventChunk(head_, part));
  if (kind_ == StreamKind::kSnapshots) return bytes + Data(SnapshotChunk(head_, part));
  return bytes + ShowParts(part, false);
}

std::string AnswerStream::ShowParts(const StreamPart& part, bool is_last) {
  if (!head_.calls.is_on && !responses_) return is_last ? "" : Data(TextChunk(head_, part));
  Calls& calls = calls_.try_emplace(part.choice, Calls{CallSplit(head_.calls)}).first->second;
  CallParts parts = calls.split.Add(part.text, is_last);
  if (responses_) return responses_->Add(part.reasoning, parts);
  const StreamPart text{.choice = part.choice, .text = std::move(parts.content), .reasoning = part.reasoning};
  std::string bytes;
  if (!text.text.empty() || !text.reasoning.empty()) bytes += Data(TextChunk(head_, text));
  if (!parts.calls.empty()) bytes += Data(CallsChunk(head_, part.choice, parts.calls, calls.count));
  calls.count += static_cast<int>(parts.calls.size());
  return bytes;
}

std::string AnswerStream::End(const StreamPart& part) {
  std::string bytes;
  if (head_.chat && !responses_ && begun_.insert(part.choice).second) bytes += Data(RoleChunk(head_, part.choice));
  const std::optional<ChoiceResult>& result = completion_->results()[static_cast<std::size_t>(part.choice)];
  if (!result) return bytes + Data(ApiError(503, "out_of_time", "the request ended before its turn came").Json());
  if (IsCut(*result)) return bytes + Data(ShuttingDown().Json());
  if (kind_ == StreamKind::kSettled) {
    bytes += ShowParts(part, true);
    if (responses_) return bytes + responses_->End(*result, *completion_);
    const bool has_calls = head_.calls.is_on && calls_.at(part.choice).count > 0;
    return bytes + Data(EndChunk(head_, part.choice, has_calls ? kCalls : result->text.finish_reason));
  }
  CallParts parts = SplitCalls(head_.calls, result->text.text);
  if (kind_ == StreamKind::kSnapshots) {
    bytes += Data(SnapshotChunk(
        head_,
        {.choice = part.choice, .text = std::move(parts.content), .reasoning = result->text.reasoning, .progress = 1}));
  }
  if (!parts.calls.empty()) bytes += Data(CallsChunk(head_, part.choice, parts.calls, 0));
  return bytes + Data(EndChunk(head_, part.choice, parts.calls.empty() ? result->text.finish_reason : kCalls));
}

std::string AnswerStream::Tail() {
  is_done_ = true;
  metrics_.request_seconds.Add(Seconds());
  if (responses_) return "";
  return (include_usage_ ? Data(UsageChunk(head_, *completion_, Seconds())) : "") + "data: [DONE]\n\n";
}

nlohmann::ordered_json AnswerStream::LogFields() const {
  const Usage usage = completion_->usage();
  nlohmann::ordered_json fields = {{"id", head_.id},
                                   {"nfe", usage.nfe()},
                                   {"steps", usage.steps},
                                   {"tokens", usage.completion_tokens},
                                   {"complete", is_done_ && !is_given_up_ && !is_out_of_time_}};
  if (!head_.ignored.empty()) fields["ignored"] = head_.ignored;
  return fields;
}

}  // namespace punt
