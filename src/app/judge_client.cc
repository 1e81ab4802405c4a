#include "app/judge_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/terminal.h"
#include "base/parse_json.h"
#include "punt/error.h"

namespace punt {
namespace {

constexpr std::size_t kLongestAnswer = 8 << 20;
constexpr int kFirstPause = 500;  // milliseconds

struct Reply {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string text;
};

std::size_t Append(char* data, std::size_t size, std::size_t count, void* target) {
  auto& text = *static_cast<std::string*>(target);
  if (text.size() + size * count > kLongestAnswer) return 0;  // ends the transfer
  text.append(data, size * count);
  return size * count;
}

Reply Post(const JudgeEndpoint& endpoint, const std::string& body) {
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) throw Error(ErrorCode::kFailed, "libcurl does not start");
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  if (!endpoint.key.empty()) list = curl_slist_append(list, ("Authorization: Bearer " + endpoint.key).c_str());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(list, curl_slist_free_all);
  Reply reply;
  CURL* curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, (endpoint.url + "/chat/completions").c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(endpoint.seconds * 1000));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.text);
  reply.code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
}

bool IsWorthAnotherTry(const Reply& reply) {
  if (reply.code != CURLE_OK) return reply.code != CURLE_URL_MALFORMAT && reply.code != CURLE_UNSUPPORTED_PROTOCOL;
  return reply.status == 408 || reply.status == 429 || reply.status >= 500;
}

std::string Beginning(std::string text) {
  for (char& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
  return text.size() > 200 ? text.substr(0, 200) + "..." : text;
}

}  // namespace

std::string AskJudge(const JudgeEndpoint& endpoint, const std::string& body) {
  Reply reply;
  int pause = kFirstPause;
  for (int attempt = 1;; ++attempt, pause *= 2) {
    reply = Post(endpoint, body);
    if (attempt >= endpoint.attempts || !IsWorthAnotherTry(reply) || WasInterrupted()) break;
    Pause(pause);
  }
  if (reply.code != CURLE_OK) {
    throw Error(ErrorCode::kFailed, fmt::format("'{}': {}", endpoint.url, curl_easy_strerror(reply.code)));
  }
  const auto answer = nlohmann::json::parse(reply.text, IsShallow<nlohmann::json>, false);
  const nlohmann::json::json_pointer place("/choices/0/message/content");
  if (reply.status != 200 || !answer.contains(place) || !answer.at(place).is_string()) {
    throw Error(ErrorCode::kFailed,
                fmt::format("'{}' answers with status {}: {}", endpoint.url, reply.status, Beginning(reply.text)));
  }
  return answer.at(place).get<std::string>();
}

}  // namespace punt
