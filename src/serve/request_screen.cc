// A server on the loopback or in a private network can still be reached by every page that someone opens there: a
// browser sends what a page of another site asks for (the page cannot read the answer, but the work is done), and a
// page whose name was pointed at the server's address after it was loaded ("DNS rebinding") reads answers too. Two
// headers that pages cannot forge distinguish them:
//
//   Host     the name in the address; a rebound page has its own name there. What counts is the address of the
//            connection, not the one that the server listens on, since 0.0.0.0 includes the loopback. On the loopback
//            it must be a name of the loopback or of the machine. Elsewhere any address is accepted as well (a page
//            under an address comes from there), and, if there are keys, which a rebound page does not know, anything.
//            --allow-host adds names to both, and is checked even if there are keys.
//   Origin   the page's site. It must be ours (the viewer) or --cors; and with it the body must be declared as JSON,
//            which a browser does not send to another site without asking first (a preflight). Sec-Fetch-Site says the
//            same about requests without Origin; links to the viewer are accepted.
//
// Paths are compared as they were sent: a percent-encoded path is a different one, so no route is reached without its
// key. Keys are checked before lengths and types, and all of it before a byte of the body is read.
//
// Tested by request_screen_test.cc, tests/serve_attacks_test.py and, in a browser, tests/web/strange_pages_test.mjs.
#include "serve/request_screen.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "serve/secrets.h"

namespace punt {
namespace {

constexpr std::size_t kMostAllowedHeaders = 4096;

/// Without the port, in lower case; empty when it is malformed.
std::string HostName(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') + 1 : std::min(host.find(':'), host.size());
  if (end == 0) return "";
  const std::string_view port = host.substr(end);
  const bool is_port = port.empty() || (port[0] == ':' && std::all_of(port.begin() + 1, port.end(),
                                                                      [](char c) { return c >= '0' && c <= '9'; }));
  if (!is_port) return "";
  std::string name = LowerCase(host.substr(0, end));
  if (name.ends_with('.')) name.pop_back();
  return name;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A numeric address as in a URL, and not a name that would have to be looked up.
bool IsAddress(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (!host.starts_with('[')) return inet_pton(AF_INET, host.c_str(), &v4) == 1;
  return host.ends_with(']') && inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1;
}

std::string_view MediaType(const RequestHead& head) {
  const std::string_view type = head.Get("content-type");
  return Trimmed(type.substr(0, type.find(';')));
}

/// The list in lower case if it is one of header names, else what clients want at least.
std::string AllowedHeaders(std::string_view asked) {
  std::string list;
  const std::string_view fallback = "authorization, content-type";
  if (asked.size() > kMostAllowedHeaders) return std::string(fallback);
  while (!asked.empty()) {
    const std::size_t comma = std::min(asked.find(','), asked.size());
    const std::string_view name = Trimmed(asked.substr(0, comma));
    if (!name.empty() && !IsToken(name)) return std::string(fallback);
    if (!name.empty()) list += (list.empty() ? "" : ", ") + LowerCase(name);
    asked.remove_prefix(std::min(comma + 1, asked.size()));
  }
  return list.empty() ? std::string(fallback) : list;
}

}  // namespace

bool IsLoopback(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost" || host == "::1") return true;
  in_addr address{};
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

RequestScreen::RequestScreen(ScreenOptions options) : options_(std::move(options)) {
  for (std::string& host : options_.allow_hosts) host = LowerCase(host);
  for (std::string& host : options_.own_names) host = LowerCase(host);
}

void RequestScreen::AddRoute(const std::string& pattern, bool is_post, bool needs_key) {
  const std::size_t end = pattern.find_first_of(":(");
  routes_.push_back({.path = pattern.substr(0, end),
                     .is_prefix = end != std::string::npos,
                     .is_post = is_post,
                     .needs_key = needs_key,
                     .label = pattern});
}

const Route* RequestScreen::FindRoute(std::string_view path, bool is_post) const {
  for (const Route& route : routes_) {
    const bool matches =
        route.is_prefix ? path.starts_with(route.path) && path.size() > route.path.size() : path == route.path;
    if (matches && route.is_post == is_post) return &route;
  }
  return nullptr;
}

bool RequestScreen::IsKnownHost(const std::string& name, bool on_loopback) const {
  if (Contains(options_.allow_hosts, "*")) return true;
  if (!on_loopback && !is_open() && options_.allow_hosts.empty()) return true;
  if (name.empty()) return false;
  if (IsLoopback(name) || name == HostName(options_.bind_host) || Contains(options_.allow_hosts, name)) return true;
  return Contains(options_.own_names, name) || (!on_loopback && IsAddress(name));
}

void RequestScreen::CheckHost(const RequestHead& head, bool on_loopback) const {
  // HTTP/1.0, which no browser speaks, may leave it out.
  if (head.host.empty() && head.is_http10) return;
  if (IsKnownHost(HostName(head.host), on_loopback)) return;
  throw ApiError(403, "unknown_host",
                 fmt::format("'{}' is not served here; punt serve --allow-host adds names", head.host.substr(0, 100)));
}

bool RequestScreen::IsForeign(const RequestHead& head) const {
  if (options_.cors_origin == "*") return false;
  if (!head.Has("origin")) return LowerCase(head.Get("sec-fetch-site")) == "cross-site";
  if (head.Count("origin") > 1) return true;
  const std::string origin = LowerCase(head.Get("origin"));
  if (!options_.cors_origin.empty() && origin == LowerCase(options_.cors_origin)) return false;
  const std::string host = LowerCase(head.host);
  return host.empty() || (origin != "http://" + host && origin != "https://" + host);
}

void RequestScreen::CheckPage(const RequestHead& head, const Route* route) const {
  if (!IsForeign(head)) return;
  const bool is_link = route != nullptr && !route->needs_key && !route->is_post && !head.Has("origin") &&
                       LowerCase(head.Get("sec-fetch-mode")) == "navigate" &&
                       LowerCase(head.Get("sec-fetch-dest")) == "document";
  if (is_link) return;
  throw ApiError(403, "foreign_origin", "pages of other sites are not answered; punt serve --cors allows one");
}

void RequestScreen::FindRoute(const RequestHead& head, Admission& admission) const {
  const Route* get = FindRoute(head.path, false);
  const Route* post = FindRoute(head.path, true);
  if (get != nullptr || post != nullptr) admission.label = (get != nullptr ? get : post)->label;
  if (head.method == "GET" || head.method == "HEAD") admission.route = get;
  if (head.method == "POST") admission.route = post;
  if (admission.route != nullptr || (head.method == "OPTIONS" && !options_.cors_origin.empty())) return;
  if (get == nullptr && post == nullptr) {
    admission.refusal.emplace(404, "not_found",
                              fmt::format("there is no {} {}", head.method, head.path.substr(0, 200)));
    return;
  }
  const std::string allowed = get == nullptr ? "POST" : post == nullptr ? "GET, HEAD" : "GET, HEAD, POST";
  admission.headers.emplace_back("Allow", allowed);
  admission.refusal.emplace(405, "method_not_allowed", fmt::format("{} takes {}", admission.label, allowed));
}

int RequestScreen::CheckKey(const RequestHead& head) const {
  std::string_view given = head.Get("x-api-key");
  if (given.empty()) given = head.Get("api-key");
  if (head.Has("authorization")) {
    const std::string_view value = head.Get("authorization");
    const bool is_bearer = value.size() > 7 && LowerCase(value.substr(0, 7)) == "bearer ";
    given = is_bearer ? Trimmed(value.substr(7)) : std::string_view();
  }
  if (head.Count("authorization") > 1 || head.Count("x-api-key") > 1 || head.Count("api-key") > 1) given = {};
  int found = -1;
  for (std::size_t i = 0; i < options_.api_keys.size(); ++i) {
    if (SameSecret(given, options_.api_keys[i])) found = static_cast<int>(i);
  }
  if (found < 0) throw ApiError(401, "invalid_api_key", "the API key is missing or wrong");
  return found;
}

void RequestScreen::CheckBody(const RequestHead& head, const Route& route) const {
  if (head.Has("expect") && (head.Count("expect") > 1 || LowerCase(head.Get("expect")) != "100-continue")) {
    throw ApiError(417, "unknown_expectation", "Expect must be 100-continue");
  }
  if (head.framing == BodyFraming::kLength && head.length > options_.max_body_bytes) {
    throw ApiError(413, "too_large", fmt::format("the body is too large: more than {} bytes", options_.max_body_bytes));
  }
  if (!route.is_post) return;
  if (head.framing == BodyFraming::kNone) {
    throw ApiError(411, "length_required", "the body must come with its length, or in chunks");
  }
  if (head.Has("content-encoding") && LowerCase(head.Get("content-encoding")) != "identity") {
    throw ApiError(415, "unsupported_encoding", "the body must not be compressed");
  }
  const std::string type = LowerCase(MediaType(head));
  if (type.starts_with("multipart/")) throw ApiError(415, "unsupported_type", "the body must be JSON");
  if (head.Has("origin") && (type != "application/json" || head.Count("content-type") > 1)) {
    throw ApiError(415, "unsupported_type", "pages must send application/json");
  }
}

Admission RequestScreen::Admit(const RequestHead& head, bool on_loopback) const {
  Admission admission;
  try {
    CheckHost(head, on_loopback);
    FindRoute(head, admission);
    CheckPage(head, admission.route);
    if (admission.refusal) return admission;
    if (admission.route == nullptr) {
      admission.is_preflight = true;
      admission.headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                           {"Access-Control-Allow-Headers", AllowedHeaders(head.Get("access-control-request-headers"))},
                           {"Access-Control-Max-Age", "3600"}};
      return admission;
    }
    if (admission.route->needs_key && !options_.api_keys.empty()) admission.key = CheckKey(head);
    CheckBody(head, *admission.route);
  } catch (const ApiError& error) {
    admission.route = nullptr;
    admission.refusal = error;
    if (error.status() == 401) admission.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return admission;
}

std::vector<Header> RequestScreen::CommonHeaders() const {
  std::vector<Header> headers = {{"X-Content-Type-Options", "nosniff"}};
  if (!options_.cors_origin.empty()) {
    headers.emplace_back("Access-Control-Allow-Origin", options_.cors_origin);
    headers.emplace_back("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, WWW-Authenticate");
  }
  return headers;
}

}  // namespace punt
