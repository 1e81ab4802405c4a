#include "app/hub_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/interruptible.h"
#include "app/terminal.h"
#include "base/check.h"
#include "base/parse_json.h"
#include "base/trim.h"
#include "weights/hf_folder.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kLongestList = 64 << 20;
constexpr std::size_t kLongestComplaint = 64 << 10;  // of an answer that was to be a file
constexpr std::size_t kLongestHeader = 64 << 10;
constexpr std::size_t kLongestReason = 200;
constexpr int kMostRedirections = 10;
constexpr long kConnectSeconds = 30;
constexpr int kFirstPause = 500;  // milliseconds

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : std::string(Trim(value));
}

/// A token goes into a header: nothing in it may end the line.
std::string CheckedToken(const std::string& token, const std::string& where) {
  const bool is_good = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!is_good) BadInput("{} holds no token: it has blanks or characters that a header cannot hold", where);
  return token;
}

std::string TokenOfUser() {
  if (const std::string token = Variable("HF_TOKEN"); !token.empty()) return CheckedToken(token, "HF_TOKEN");
  const std::string named = Variable("HF_TOKEN_PATH");
  const fs::path file = named.empty() ? HubHome() / "token" : fs::path(named);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return "";
  return CheckedToken(std::string(Trim(ReadText(file))), file.string());
}

bool IsHex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }
bool IsHash(std::string_view text) { return (text.size() == 40 || text.size() == 64) && IsHex(text); }

/// Percent-encoded, but for '/'.
std::string Escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-._~/").find(c) != std::string_view::npos;
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

/// scheme://host:port, in lower case; nothing when it is no URL.
struct Origin {
  std::string scheme;
  std::string host;
  std::string port;

  friend bool operator==(const Origin&, const Origin&) = default;
};

std::optional<Origin> OriginOf(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return std::nullopt;
  }
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), which, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return std::string();
    std::string copy(text);
    curl_free(text);
    std::transform(copy.begin(), copy.end(), copy.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return copy;
  };
  return Origin{part(CURLUPART_SCHEME), part(CURLUPART_HOST), part(CURLUPART_PORT)};
}

/// One line of bounded length: it comes from a server.
std::string Beginning(std::string text) {
  for (char& c : text) c = c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  text = Trim(text);
  return text.size() > kLongestReason ? text.substr(0, kLongestReason) + "..." : text;
}

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  return std::stoll(std::string(text));
}

}  // namespace

HubEndpoint HubEndpointFromEnvironment() {
  HubEndpoint endpoint{.url = Variable("HF_ENDPOINT"), .token = "", .stall_seconds = 30};
  if (endpoint.url.empty()) endpoint.url = "https://huggingface.co";
  while (endpoint.url.ends_with('/')) endpoint.url.pop_back();
  const std::optional<Origin> origin = OriginOf(endpoint.url);
  if (!origin || (origin->scheme != "http" && origin->scheme != "https") || origin->host.empty()) {
    BadInput("HF_ENDPOINT must be an address with http or https, is '{}'", endpoint.url);
  }
  endpoint.token = TokenOfUser();
  if (const std::string seconds = Variable("HF_HUB_DOWNLOAD_TIMEOUT"); !seconds.empty()) {
    const auto number = WholeNumber(seconds);
    if (!number || *number < 1 || *number > 86400) {
      BadInput("HF_HUB_DOWNLOAD_TIMEOUT must be a whole number of seconds, is '{}'", seconds);
    }
    endpoint.stall_seconds = *number;
  }
  return endpoint;
}

struct HubRequest {
  std::string url;
  bool is_head = false;
  std::int64_t offset = 0;
  const HubClient::Sink* sink = nullptr;  // of the body of an answer 200 or 206
};

struct HubReply {
  CURLcode code = CURLE_OK;
  std::string trouble;  // beyond what the code says
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; of the last answer
  std::string body;                            // what the sink did not get
  std::int64_t sent = 0;                       // bytes that it got
  std::exception_ptr failure;                  // of the sink
  bool is_interrupted = false;

  std::string header(const char* name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? "" : it->second;
  }
};

namespace {

/// What curl's callbacks work on.
struct Call {
  const HubRequest& request;
  HubReply& reply;
  CURL* curl;
  std::int64_t at = 0;  // where the next byte belongs
  bool has_begun = false;
};

std::size_t TakeHeader(char* data, std::size_t size, std::size_t count, void* target) {
  auto& call = *static_cast<Call*>(target);
  std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) call.reply.headers.clear();
  std::size_t all = line.size();
  for (const auto& [name, value] : call.reply.headers) all += name.size() + value.size();
  if (all > kLongestHeader) return 0;
  const auto colon = line.find(':');
  if (colon != line.npos) {
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    call.reply.headers[name] = Trim(line.substr(colon + 1));
  }
  return size * count;
}

/// Where the body of this answer begins in the file; an answer 206 that begins elsewhere is refused.
bool BeginBody(Call& call, long status) {
  call.has_begun = true;
  call.at = status == 206 ? call.request.offset : 0;
  if (status != 206) return true;
  const std::string range = call.reply.header("content-range");
  if (range.starts_with(fmt::format("bytes {}-", call.request.offset))) return true;
  call.reply.trouble = fmt::format("asked for bytes from {} on, it sends '{}'", call.request.offset, Beginning(range));
  return false;
}

std::size_t TakeBody(char* data, std::size_t size, std::size_t count, void* target) {
  auto& call = *static_cast<Call*>(target);
  const std::string_view bytes(data, size * count);
  long status = 0;
  curl_easy_getinfo(call.curl, CURLINFO_RESPONSE_CODE, &status);
  if (call.request.sink == nullptr || (status != 200 && status != 206)) {
    const std::size_t most = call.request.sink == nullptr ? kLongestList : kLongestComplaint;
    if (call.reply.body.size() + bytes.size() > most) {
      call.reply.trouble = "the answer is too long";
      return 0;
    }
    call.reply.body += bytes;
    return bytes.size();
  }
  if (!call.has_begun && !BeginBody(call, status)) return 0;
  try {
    (*call.request.sink)(call.at, bytes);
  } catch (...) {
    call.reply.failure = std::current_exception();
    return 0;
  }
  call.at += static_cast<std::int64_t>(bytes.size());
  call.reply.sent += static_cast<std::int64_t>(bytes.size());
  return bytes.size();
}

int LookForSignals(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return WasInterrupted() ? 1 : 0; }

bool MayPass(const CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_WRITE_ERROR:
      return false;
    default:
      return true;
  }
}

bool IsBusy(long status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

HubClient::HubClient(HubEndpoint endpoint)
    : endpoint_(std::move(endpoint)), curl_(curl_easy_init(), [](void* curl) { curl_easy_cleanup(curl); }) {
  if (!curl_) throw Error(ErrorCode::kFailed, "libcurl does not start");
  InstallInterruptHandlers();
}

HubClient::~HubClient() = default;

/// One request, and those it is sent on to.
HubReply HubClient::Perform(const HubRequest& request) {
  const std::optional<Origin> own = OriginOf(endpoint_.url);
  std::string url = request.url;
  for (int hop = 0;; ++hop) {
    CURL* curl = curl_.get();
    const std::optional<Origin> origin = OriginOf(url);
    HubReply reply;
    Call call{request, reply, curl};
    curl_easy_reset(curl);
    std::string bearer = "Authorization: Bearer " + endpoint_.token;
    const bool is_own = origin && origin == own && !endpoint_.token.empty();
    const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(
        is_own ? curl_slist_append(nullptr, bearer.c_str()) : nullptr, curl_slist_free_all);
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "punt/" PUNT_VERSION);
    curl_easy_setopt(curl, CURLOPT_NOBODY, request.is_head ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(endpoint_.stall_seconds));
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, TakeHeader);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &call);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, TakeBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &call);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, LookForSignals);
    const std::string range = fmt::format("{}-", request.offset);
    if (request.offset > 0) curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
    reply.code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
    reply.is_interrupted = WasInterrupted();
    if (reply.failure && !reply.is_interrupted) std::rethrow_exception(reply.failure);
    const bool goes_on = reply.code == CURLE_OK && reply.status >= 300 && reply.status < 400 && reply.status != 304;
    if (!goes_on || reply.is_interrupted) return reply;
    // What describes a file is in the first answer; the host that it is sent on to knows nothing of it.
    if (request.is_head && !reply.header("x-linked-etag").empty()) return reply;
    char* next = nullptr;
    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &next);
    const std::string target = next == nullptr ? "" : next;
    const std::optional<Origin> to = OriginOf(target);
    const bool is_web = to && (to->scheme == "https" || (to->scheme == "http" && origin->scheme == "http"));
    if (!is_web || to->host.empty() || hop == kMostRedirections) {
      throw Error(ErrorCode::kFailed, fmt::format("{} sends on to '{}', which is not followed", request.url,
                                                  Beginning(target.empty() ? reply.header("location") : target)));
    }
    url = target;
  }
}

HubReply HubClient::Insist(const HubRequest& request) {
  int pause = kFirstPause;
  for (int attempt = 1;; ++attempt, pause *= 2) {
    HubReply reply = Perform(request);
    if (reply.is_interrupted) throw Interrupted{"while the hub was asked"};
    const bool may_pass = reply.code == CURLE_OK ? IsBusy(reply.status) : MayPass(reply.code) && reply.trouble.empty();
    if (may_pass && attempt < endpoint_.attempts) {
      Pause(pause);
      continue;
    }
    if (reply.code == CURLE_OK) return reply;
    throw Error(ErrorCode::kFailed,
                fmt::format("'{}': {}", request.url,
                            reply.trouble.empty() ? curl_easy_strerror(reply.code) : reply.trouble.c_str()));
  }
}

void HubClient::Refuse(const HubName& name, const std::string& what, const HubReply& reply) const {
  const std::string reason = Beginning(reply.header("x-error-message"));
  const std::string said = reason.empty() ? "" : fmt::format(" ({})", reason);
  const bool has_token = !endpoint_.token.empty();
  if (reply.status == 401 || (reply.status == 403 && !has_token)) {
    BadInput("{}: the hub refuses{}{}: there is no such model, or it is private or gated; {}", name.repo, what, said,
             has_token ? "the token was not accepted" : "a token goes into HF_TOKEN");
  }
  if (reply.status == 403) {
    BadInput(
        "{}: the hub refuses{}{}: this token may not have it; if the model is gated, its terms are accepted at {}/{}",
        name.repo, what, said, endpoint_.url, name.repo);
  }
  if (reply.status == 404) {
    BadInput("{}: the hub has no {}{}, at revision '{}'{}", name.repo, what.empty() ? "such model" : "file", what,
             name.revision, said);
  }
  throw Error(ErrorCode::kFailed, fmt::format("{}: {} answers with status {}{}{}", name.repo, endpoint_.url,
                                              reply.status, said, said.empty() ? ": " + Beginning(reply.body) : ""));
}

HubListing HubClient::List(const HubName& name) {
  const std::string url =
      fmt::format("{}/api/models/{}/revision/{}?blobs=true", endpoint_.url, name.repo, name.revision);
  const HubReply reply = Insist({.url = url});
  if (reply.status != 200) Refuse(name, "", reply);
  const auto nonsense = [&](std::string_view why) {
    throw Error(ErrorCode::kFailed, fmt::format("'{}' is not answered as the hub does: {}", url, why));
  };
  Json json;
  try {
    json = ParseJson<Json>(reply.body);
  } catch (const Error& error) {
    nonsense(error.what());
  }
  HubListing listing;
  if (!json.is_object() || !json.contains("sha") || !json["sha"].is_string()) nonsense("there is no sha");
  listing.commit = json["sha"].get<std::string>();
  if (listing.commit.size() != 40 || !IsHex(listing.commit)) nonsense("sha is no commit");
  if (!json.contains("siblings") || !json["siblings"].is_array()) nonsense("there are no siblings");
  for (const Json& entry : json["siblings"]) {
    if (!entry.is_object() || !entry.contains("rfilename") || !entry["rfilename"].is_string()) {
      nonsense("an entry has no rfilename");
    }
    HubFile file{.name = entry["rfilename"].get<std::string>()};
    RequireInside(file.name);
    const Json lfs = entry.value("lfs", Json());
    const Json& hash = lfs.is_object() && lfs.contains("sha256") ? lfs["sha256"] : entry.value("blobId", Json());
    const Json size = lfs.is_object() && lfs.contains("size") ? lfs["size"] : entry.value("size", Json());
    if (hash.is_string() && IsHash(hash.get<std::string>())) file.hash = hash.get<std::string>();
    if (size.is_number_unsigned() && size.get<std::uint64_t>() < (std::uint64_t{1} << 62)) file.size = size;
    listing.files.push_back(std::move(file));
  }
  return listing;
}

std::string HubClient::FileUrl(const HubName& name, const std::string& commit, const std::string& file) const {
  return fmt::format("{}/{}/resolve/{}/{}", endpoint_.url, name.repo, commit, Escaped(file));
}

void HubClient::Describe(const HubName& name, const std::string& commit, HubFile& file) {
  const HubReply reply = Insist({.url = FileUrl(name, commit, file.name), .is_head = true});
  if (reply.status >= 400) Refuse(name, fmt::format(" '{}'", file.name), reply);
  const bool is_linked = !reply.header("x-linked-etag").empty();
  std::string tag = is_linked ? reply.header("x-linked-etag") : reply.header("etag");
  if (tag.starts_with("W/")) tag.erase(0, 2);
  tag = Trim(tag, "\"");
  if (!IsHash(tag)) {
    throw Error(ErrorCode::kFailed, fmt::format("{}: {} gives no hash of '{}', which is needed to check it", name.repo,
                                                endpoint_.url, file.name));
  }
  file.hash = tag;
  file.size = WholeNumber(reply.header(is_linked ? "x-linked-size" : "content-length")).value_or(-1);
}

HubClient::Transfer HubClient::Fetch(const HubName& name, const std::string& commit, const HubFile& file,
                                     std::int64_t offset, const Sink& sink) {
  const HubReply reply = Perform({.url = FileUrl(name, commit, file.name), .offset = offset, .sink = &sink});
  if (reply.is_interrupted) return {.problem = "interrupted"};
  if (reply.code != CURLE_OK) {
    if (!reply.trouble.empty() || !MayPass(reply.code)) {
      throw Error(ErrorCode::kFailed,
                  fmt::format("'{}' of {}: {}", file.name, name.repo,
                              reply.trouble.empty() ? curl_easy_strerror(reply.code) : reply.trouble.c_str()));
    }
    return {.problem = curl_easy_strerror(reply.code)};
  }
  if (reply.status == 200 || reply.status == 206) return {.is_complete = true, .problem = ""};
  if (reply.status == 416) return {.is_unsatisfied = true, .problem = "the server has no such range"};
  if (IsBusy(reply.status)) return {.problem = fmt::format("status {}", reply.status)};
  Refuse(name, fmt::format(" '{}'", file.name), reply);
}

}  // namespace punt
