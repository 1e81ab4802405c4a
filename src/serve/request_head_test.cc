#include "serve/request_head.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "serve/api_error.h"

namespace punt {
namespace {

int StatusOf(const std::function<void()>& action) {
  try {
    action();
    return 200;
  } catch (const ApiError& error) {
    return error.status();
  }
}

/// Finds and parses as a connection does, when the bytes come in pieces of this size.
int ReadInPieces(const std::string& bytes, std::size_t size, RequestHead* head = nullptr) {
  return StatusOf([&] {
    HeadScanner scanner;
    for (std::size_t have = std::min(size, bytes.size());; have = std::min(have + size, bytes.size())) {
      if (const std::size_t end = scanner.Find(std::string_view(bytes).substr(0, have)); end > 0) {
        const RequestHead parsed = ParseHead(std::string_view(bytes).substr(0, end));
        if (head != nullptr) *head = parsed;
        return;
      }
      if (have == bytes.size()) throw ApiError(408, "", "unfinished");
    }
  });
}

int Read(const std::string& bytes, RequestHead* head = nullptr) { return ReadInPieces(bytes, bytes.size(), head); }

TEST(RequestHead, ReadsWhatIsThere) {
  RequestHead head;
  ASSERT_EQ(Read("POST /a/b?c=d HTTP/1.1\r\nHost: x:1\r\nX-Y: \t a b \r\nContent-Length: 007\r\n\r\nrest", &head), 200);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/a/b?c=d");
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.host, "x:1");
  EXPECT_EQ(head.Get("x-y"), "a b");
  EXPECT_EQ(head.framing, BodyFraming::kLength);
  EXPECT_EQ(head.length, 7u);
  EXPECT_FALSE(head.wants_close);
}

TEST(RequestHead, AnAbsoluteTargetNamesTheHost) {
  RequestHead head;
  ASSERT_EQ(Read("GET http://a.example:1/b?c HTTP/1.1\r\nHost: other\r\n\r\n", &head), 200);
  EXPECT_EQ(head.host, "a.example:1");
  EXPECT_EQ(head.target, "/b?c");
  ASSERT_EQ(Read("GET HTTP://a.example?c HTTP/1.1\r\nHost: other\r\n\r\n", &head), 200);
  EXPECT_EQ(head.target, "/?c");
}

TEST(RequestHead, TellsWhoWantsToClose) {
  const auto closes = [](const std::string& version, const std::string& connection) {
    RequestHead head;
    EXPECT_EQ(Read("GET / HTTP/" + version + "\r\nHost: a\r\n" + connection + "\r\n", &head), 200);
    return head.wants_close;
  };
  EXPECT_FALSE(closes("1.1", ""));
  EXPECT_TRUE(closes("1.0", ""));
  EXPECT_TRUE(closes("1.1", "Connection: close\r\n"));
  EXPECT_TRUE(closes("1.1", "Connection: keep-alive , Close\r\n"));
  EXPECT_TRUE(closes("1.1", "Connection: a\r\nConnection: close\r\n"));
  EXPECT_FALSE(closes("1.1", "Connection: closed\r\n"));
}

TEST(RequestHead, TheAnswerDoesNotDependOnHowItIsCut) {
  const std::vector<std::string> heads = {
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(70000, 'a') + "\r\n\r\n",
  };
  for (const std::string& bytes : heads) {
    const int whole = Read(bytes);
    for (std::size_t size : {1, 2, 3, 7, 1000}) EXPECT_EQ(ReadInPieces(bytes, size), whole) << bytes.substr(0, 80);
  }
}

TEST(RequestHead, ControlCharactersAreRefusedWhereverTheyStand) {
  const std::string plain = "POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 12\r\n\r\n";
  for (std::size_t at = 0; at < plain.size(); ++at) {
    for (int byte = 0; byte < 0x20; ++byte) {
      if (byte == plain[at] || byte == '\t') continue;  // tabs may stand around values
      std::string bytes = plain;
      bytes[at] = static_cast<char>(byte);
      EXPECT_NE(Read(bytes), 200) << at << " " << byte;
    }
  }
  EXPECT_NE(Read("POST\t/a HTTP/1.1\r\nHost: b\r\n\r\n"), 200);
  EXPECT_NE(Read("POST /a HTTP/1.1\r\nHost\t: b\r\n\r\n"), 200);
}

TEST(ChunkedDecoder, TheBodyDoesNotDependOnHowItIsCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string body, wire;
    for (auto chunks = random() % 5; chunks > 0; --chunks) {
      const std::string piece(1 + random() % 40, static_cast<char>('a' + chunks));
      body += piece;
      wire += fmt::format("{:03x}{}\r\n{}\r\n", piece.size(), random() % 2 ? ";a=b" : "", piece);
    }
    wire += random() % 2 ? "0\r\n\r\n" : "0\r\nX: a\r\n\r\n";
    const std::string next = "GET / HTTP/1.1\r\n";
    ChunkedDecoder decoder(1000);
    std::string decoded;
    std::size_t taken = 0;
    const std::string all = wire + next;
    while (!decoder.is_done() && taken < all.size()) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 20, all.size() - taken);
      taken += decoder.Take(std::string_view(all).substr(taken, size), decoded);
    }
    EXPECT_TRUE(decoder.is_done());
    EXPECT_EQ(decoded, body);
    EXPECT_EQ(taken, wire.size());  // not a byte of what follows
  }
}

TEST(ChunkedDecoder, KeepsWithinItsLimits) {
  const auto status = [](const std::string& wire, std::size_t most) {
    return StatusOf([&] {
      ChunkedDecoder decoder(most);
      std::string body;
      decoder.Take(wire, body);
      if (!decoder.is_done()) throw ApiError(408, "", "unfinished");
    });
  };
  EXPECT_EQ(status("5\r\nabcde\r\n0\r\n\r\n", 5), 200);
  EXPECT_EQ(status("5\r\nabcde\r\n0\r\n\r\n", 4), 413);
  EXPECT_EQ(status("2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n", 4), 413);
  EXPECT_EQ(status("ffffffffffffffff\r\n", 4), 400);
  EXPECT_EQ(status("5 ;a\r\nabcde\r\n0\r\n\r\n", 5), 200);
  EXPECT_EQ(status("5 \r\nabcde\r\n0\r\n\r\n", 5), 400);
  EXPECT_EQ(status(" 5\r\nabcde\r\n0\r\n\r\n", 5), 400);
  EXPECT_EQ(status("5\r\nabcdef\r\n0\r\n\r\n", 9), 400);
  EXPECT_EQ(status("5;" + std::string(300, 'a'), 9), 400);
  EXPECT_EQ(status("0\r\nX: " + std::string(9000, 'a'), 9), 431);
}

}  // namespace
}  // namespace punt
