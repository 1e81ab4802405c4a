// What is decided about a request before its body is read: which clients may ask, for what, from which page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api_error.h"
#include "serve/request_head.h"

namespace punt {

struct ScreenOptions {
  std::string bind_host = "127.0.0.1";
  std::vector<std::string> own_names;    // of the machine: names that a stranger cannot point at it
  std::vector<std::string> allow_hosts;  // further names; "*": any
  std::string cors_origin;               // the site whose pages may ask; "*": all, empty: only our own
  std::vector<std::string> api_keys;     // none: all clients are served
  std::size_t max_body_bytes = 1 << 20;
};

/// What can be asked for.
struct Route {
  std::string path;  // exact, or up to a ':' or '(' where a parameter begins
  bool is_prefix = false;
  bool is_post = false;  // else GET and HEAD
  bool needs_key = true;
  std::string label;  // for log and metrics
};

/// What the screen decides about a request.
struct Admission {
  const Route* route = nullptr;  // null: refused, or already answered
  std::string label = "other";   // the route's, as far as there is one
  int key = -1;                  // which of the keys was given; -1: none is required
  std::optional<ApiError> refusal;
  bool is_preflight = false;    // answered with only the headers
  std::vector<Header> headers;  // of the answer
};

/// Const and safe to use from any thread once its routes are there.
class RequestScreen {
 public:
  explicit RequestScreen(ScreenOptions options);

  /// `pattern` as httplib understands it; the parameter, if there is one, at its end. GET includes HEAD.
  void AddRoute(const std::string& pattern, bool is_post, bool needs_key);

  /// `on_loopback`: the client has connected to an address that only this machine can reach.
  Admission Admit(const RequestHead& head, bool on_loopback) const;

  /// Of every answer, errors included.
  std::vector<Header> CommonHeaders() const;

  bool is_open() const { return options_.api_keys.empty(); }

 private:
  const Route* FindRoute(std::string_view path, bool is_post) const;
  bool IsKnownHost(const std::string& name, bool on_loopback) const;
  void CheckHost(const RequestHead& head, bool on_loopback) const;
  bool IsForeign(const RequestHead& head) const;
  void CheckPage(const RequestHead& head, const Route* route) const;
  void FindRoute(const RequestHead& head, Admission& admission) const;
  int CheckKey(const RequestHead& head) const;
  void CheckBody(const RequestHead& head, const Route& route) const;

  ScreenOptions options_;
  std::vector<Route> routes_;
};

/// Whether this address or name can be reached only from this machine.
bool IsLoopback(std::string_view host);

}  // namespace punt
