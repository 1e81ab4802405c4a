// The HTTP server: OpenAI's completions from one model, and what operators need.
//
//   POST /v1/chat/completions, /v1/completions     completions, streamed or not (completion_request.h)
//   POST /v1/responses                             the same in OpenAI's newer form (responses_request.h)
//   POST /tokenize, /detokenize                    between text and tokens
//   GET  /v1/models, /v1/models/ID, /props         what is served, and what can be asked of it
//   GET  /health, /v1/health, /metrics             for operators
//   GET  /                                         the viewer
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/model.h"
#include "punt/planner.h"
#include "serve/completion_request.h"
#include "serve/scheduler.h"
#include "serve/web_files.h"

namespace punt {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                       // 0: any
  std::vector<std::string> api_keys;     // none: all clients are served
  std::vector<std::string> allow_hosts;  // names that clients may use for it, besides its own; "*": any
  std::string cors_origin;               // empty: other sites' pages are refused
  RequestLimits limits;
  std::size_t max_body_bytes = 1 << 20;
  int max_connections = 2048;
  int max_connections_per_address = 0;    // 0: a quarter of them
  std::chrono::seconds max_seconds{600};  // of a completion, waiting included; then it ends with what it has
  bool log_prompts = false;
  Sampling sampling;                   // for what requests leave out
  std::string alias;                   // what clients call the model; empty: see PublicName
  std::string chat_template = "auto";  // see ChooseChatForm
  std::optional<bool> thinking = {};   // of chats that do not say
  SchedulerOptions scheduler;
  std::span<const WebFile> web = ViewerFiles();
};

/// Lines of JSON, one per request and event.
using LogSink = std::function<void(const std::string& line)>;

class Server {
 public:
  static std::unique_ptr<Server> Make(ServerOptions options, LogSink log);
  virtual ~Server() = default;

  /// Opens the port and returns it. Throws Error when it cannot.
  virtual int Bind() = 0;

  /// Answers requests until Stop; before SetModel, with 503 what needs the model.
  virtual void Run() = 0;

  /// Once.
  virtual void SetModel(Model model) = 0;

  /// Refuses further completions, waits for those that run, cancels them after `patience`, and ends Run.
  virtual void Stop(std::chrono::seconds patience) = 0;

  /// What was done since the start, one JSON object.
  virtual std::string LoadReport() const = 0;
};

}  // namespace punt
