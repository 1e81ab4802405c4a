#include "serve/request_screen.h"

#include <gtest/gtest.h>

#include "serve/connection_slots.h"

namespace punt {
namespace {

RequestScreen NewScreen(ScreenOptions options) {
  RequestScreen screen(std::move(options));
  screen.AddRoute("/health", false, false);
  screen.AddRoute("/metrics", false, true);
  screen.AddRoute("/v1/models/:id", false, true);
  screen.AddRoute("/v1/completions", true, true);
  return screen;
}

int Status(const RequestScreen& screen, const std::string& line, const std::string& headers = "",
           const std::string& host = "localhost", bool on_loopback = true) {
  const std::string head = line + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "\r\n";
  const Admission admission = screen.Admit(ParseHead(head), on_loopback);
  return admission.refusal ? admission.refusal->status() : admission.is_preflight ? 204 : 200;
}

TEST(RequestScreen, OnTheLoopbackTheHostIsOneOfItsNames) {
  for (const char* bind : {"127.0.0.1", "localhost", "::1", "127.1.2.3", "0.0.0.0", "::"}) {
    const RequestScreen screen = NewScreen({.bind_host = bind, .own_names = {"Box"}, .allow_hosts = {"Punt.Example"}});
    for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]", "[::1]:80",
                             "punt.example", "localhost.", "box:80"}) {
      EXPECT_EQ(Status(screen, "GET /health", "", host), 200) << bind << " " << host;
    }
    for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:80:80",
                             "localhost:x", "10.0.0.1", "[::2]", "[::1", "0.0.0.1", ""}) {
      EXPECT_EQ(Status(screen, "GET /health", "", host), 403) << bind << " " << host;
    }
  }
  EXPECT_EQ(Status(NewScreen({.allow_hosts = {"*"}}), "GET /health", "", "b"), 200);
  EXPECT_EQ(Status(NewScreen({.bind_host = "0.0.0.0", .api_keys = {"k"}}), "GET /health", "", "b"), 403);
}

TEST(RequestScreen, InANetworkTheHostIsAnAddressOrANameOfTheMachine) {
  const auto status = [](ScreenOptions options, const char* host) {
    options.own_names = {"Box", "box.local"};
    return Status(NewScreen(std::move(options)), "GET /health", "", host, false);
  };
  for (const char* bind : {"0.0.0.0", "::", "10.0.0.5"}) {
    for (const char* host :
         {"10.0.0.5:8080", "[fd00::5]:8080", "box", "BOX.local.:8080", "localhost:8080", "192.0.2.1"}) {
      EXPECT_EQ(status({.bind_host = bind}, host), 200) << bind << " " << host;
    }
    for (const char* host :
         {"evil.example", "10.0.0.5.evil.example", "box.evil.example", "10.0.0", "[fd00::5", "[a]", ""}) {
      EXPECT_EQ(status({.bind_host = bind}, host), 403) << bind << " " << host;
    }
  }
  EXPECT_EQ(status({.bind_host = "lan.example"}, "lan.example:80"), 200);
  EXPECT_EQ(status({.bind_host = "0.0.0.0", .allow_hosts = {"a"}}, "A"), 200);
  EXPECT_EQ(status({.bind_host = "0.0.0.0", .allow_hosts = {"a"}}, "b"), 403);
  EXPECT_EQ(status({.bind_host = "0.0.0.0", .allow_hosts = {"*"}}, "b"), 200);
  EXPECT_EQ(status({.bind_host = "0.0.0.0", .api_keys = {"k"}}, "evil.example"), 200) << "its page has no key";
  EXPECT_EQ(status({.bind_host = "0.0.0.0", .allow_hosts = {"a"}, .api_keys = {"k"}}, "b"), 403);
}

TEST(RequestScreen, WhereTheParameterBeginsIsTheOnlyPlaceThatMayDiffer) {
  const RequestScreen screen = NewScreen({});
  EXPECT_EQ(Status(screen, "GET /v1/models/a/b%20c"), 200);
  EXPECT_EQ(Status(screen, "GET /v1/models/"), 404);
  EXPECT_EQ(Status(screen, "GET /v1/%6dodels/a"), 404);
  EXPECT_EQ(Status(screen, "POST /v1/models/a", "Content-Length: 1\r\n"), 405);
  EXPECT_EQ(Status(screen, "GET /metrics?a=/b"), 200);
}

TEST(RequestScreen, TheKeyComesBeforeTheBody) {
  const RequestScreen screen = NewScreen({.api_keys = {"one", "two"}, .max_body_bytes = 10});
  EXPECT_EQ(Status(screen, "POST /v1/completions"), 401);
  EXPECT_EQ(Status(screen, "POST /v1/completions", "Content-Length: 11\r\n"), 401);
  EXPECT_EQ(Status(screen, "POST /v1/completions", "API-Key: two\r\nContent-Length: 11\r\n"), 413);
  EXPECT_EQ(Status(screen, "POST /v1/completions", "API-Key: two\r\n"), 411);
  EXPECT_EQ(Status(screen, "POST /v1/completions", "API-Key: two\r\nContent-Length: 10\r\n"), 200);
  const RequestHead head =
      ParseHead("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAPI-Key: two\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(screen.Admit(head, true).key, 1);
}

TEST(RequestScreen, OneOriginMayBeAllowed) {
  const RequestScreen screen = NewScreen({.cors_origin = "https://app.example"});
  const std::string body = "Content-Type: application/json\r\nContent-Length: 1\r\n";
  EXPECT_EQ(Status(screen, "POST /v1/completions", "Origin: https://app.example\r\n" + body), 200);
  EXPECT_EQ(Status(screen, "POST /v1/completions", "Origin: https://app.example:1\r\n" + body), 403);
  EXPECT_EQ(Status(screen, "POST /v1/completions", "Origin: http://app.example\r\n" + body), 403);
  EXPECT_EQ(Status(screen, "POST /v1/completions", "Origin: http://localhost\r\n" + body), 200);
  EXPECT_EQ(Status(screen, "OPTIONS /v1/completions", "Origin: https://app.example\r\n"), 204);
  EXPECT_EQ(Status(screen, "OPTIONS /v1/completions", "Origin: https://evil.example\r\n"), 403);
}

TEST(ConnectionSlots, OneAddressDoesNotShutOutOthers) {
  using Place = ConnectionSlots::Place;
  ConnectionSlots slots(10, 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(slots.Take("a"), Place::kOrdinary);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(slots.Take("a"), Place::kSpare);
  EXPECT_EQ(slots.Take("a"), Place::kNone);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(slots.Take("b"), Place::kOrdinary);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(slots.Take("c"), Place::kOrdinary);
  EXPECT_EQ(slots.Take("d"), Place::kSpare);  // all are taken
  slots.Leave("a", Place::kOrdinary);
  EXPECT_EQ(slots.Take("d"), Place::kOrdinary);
  slots.Leave("a", Place::kSpare);
  EXPECT_EQ(slots.Take("a"), Place::kSpare);
}

}  // namespace
}  // namespace punt
