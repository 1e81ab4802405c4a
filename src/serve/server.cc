#include "serve/server.h"

#include <fmt/format.h>

#include <atomic>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/check.h"
#include "serve/answer_stream.h"
#include "serve/api_error.h"
#include "serve/completion.h"
#include "serve/completion_json.h"
#include "serve/json_body.h"
#include "serve/metrics.h"
#include "serve/model_json.h"
#include "serve/secrets.h"
#include "serve/socket_server.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using httplib::Request;
using httplib::Response;

constexpr const char* kJson = "application/json";
constexpr std::chrono::milliseconds kLook{50};
// For completions that were cancelled to tell their clients.
constexpr std::chrono::seconds kFarewell{5};

std::string Dump(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03}Z", text, millis);
}

void Answer(Response& response, const ApiError& error) {
  response.status = error.status();
  if (error.status() == 429 || error.status() == 503) response.set_header("Retry-After", "1");
  response.set_content(error.Json(), kJson);
}

/// The error that a request ends with.
ApiError ErrorOf(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    return error;
  } catch (const Error& error) {
    const bool is_theirs = error.code() == ErrorCode::kBadInput;
    return ApiError(is_theirs ? 400 : 500, is_theirs ? "invalid_value" : "failed", error.what());
  } catch (const std::exception& error) {
    return ApiError(500, "internal_error", error.what());
  }
}

}  // namespace

class Server::Routes {
 public:
  Routes(ServerOptions options, LogSink log)
      : options_(std::move(options)), log_(std::move(log)), http_({.max_connections = options_.max_connections}) {
    http_.set_payload_max_length(options_.max_body_bytes);
    http_.set_pre_routing_handler([](const Request& request, Response& response) { return Screen(request, response); });
    http_.set_error_handler([](const Request& request, Response& response) { FillError(request, response); });
    AddRoutes();
  }

  int Bind() {
    // Without SO_REUSEPORT, which httplib sets: a second server on a taken port must be told.
    http_.set_socket_options([](socket_t sock) {
      const int yes = 1;
      setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    const int port = options_.port == 0 ? http_.bind_to_any_port(options_.host)
                                        : (http_.bind_to_port(options_.host, options_.port) ? options_.port : -1);
    if (port < 0) BadInput("cannot listen on {}:{}; is the port taken?", options_.host, options_.port);
    http_.WidenQueue();
    return port;
  }

  void Run() { http_.listen_after_bind(); }

  void SetModel(Model model) {
    model_ = std::move(model);
    model_->name = options_.alias.empty() ? PublicName(model_->name) : options_.alias;
    served_.emplace(ServedModel{
        .model = *model_, .created = std::time(nullptr), .chat_form = ChooseChatForm(options_.chat_template, *model_)});
    scheduler_.emplace(*model_->denoiser, options_.scheduler, &metrics_);
    is_ready_ = true;
  }

  void Stop(std::chrono::seconds patience) {
    const Clock::time_point deadline = Clock::now() + patience;
    if (is_ready_) scheduler_->Close();
    WaitForCompletions(deadline);
    must_end_ = true;
    WaitForCompletions(Clock::now() + kFarewell);  // httplib cuts streams when it stops
    // Run may not have got as far as to notice a stop.
    while (!http_.is_running() && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
    http_.stop();
  }

  std::string LoadReport() const {
    const std::int64_t nfe = metrics_.base_passes + metrics_.test_passes;
    return Dump({{"time", Now()},
                 {"event", "load"},
                 {"requests", metrics_.requests()},
                 {"nfe_base", metrics_.base_passes.load()},
                 {"nfe_test", metrics_.test_passes.load()},
                 {"steps", metrics_.steps.load()},
                 {"tokens", metrics_.committed_tokens.load()},
                 {"tokens_per_forward",
                  nfe == 0 ? 0.0 : static_cast<double>(metrics_.committed_tokens) / static_cast<double>(nfe)},
                 {"cancelled", metrics_.cancelled.load()},
                 {"seconds", Seconds(start_)}});
  }

 private:
  struct LogEntry;
  using Handler = std::function<void(const Request&, Response&, LogEntry&)>;

  void WaitForCompletions(Clock::time_point deadline) const {
    while (open_completions_ > 0 && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
  }

  static double Seconds(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

  /// Bodies whose size is not known before they are read are not read.
  static httplib::Server::HandlerResponse Screen(const Request& request, Response& response) {
    std::optional<ApiError> error;
    if (request.has_header("Transfer-Encoding")) {
      error.emplace(411, "length_required", "the body must come with its length");
    } else if (request.has_header("Content-Encoding")) {
      error.emplace(415, "unsupported_encoding", "the body must not be compressed");
    } else if (request.get_header_value("Content-Type").starts_with("multipart/")) {
      error.emplace(415, "unsupported_type", "the body must be JSON");
    }
    if (!error) return httplib::Server::HandlerResponse::Unhandled;
    SocketServer::CloseAfterAnswer();
    Answer(response, *error);
    return httplib::Server::HandlerResponse::Handled;
  }

  /// Of what httplib answers by itself.
  static void FillError(const Request& request, Response& response) {
    if (!response.body.empty()) return;
    const int status = response.status;
    const std::string message = status == 404   ? fmt::format("there is no {} {}", request.method, request.path)
                                : status == 413 ? "the body is too large"
                                                : fmt::format("the request cannot be answered ({})", status);
    response.set_content(ApiError(status,
                                  status == 404   ? "not_found"
                                  : status == 413 ? "too_large"
                                                  : "bad_request",
                                  message)
                             .Json(),
                         kJson);
  }

  void Authorise(const Request& request) const {
    if (options_.api_keys.empty()) return;
    const std::string header = request.get_header_value("Authorization");
    const std::string_view given =
        header.starts_with("Bearer ") ? std::string_view(header).substr(7) : std::string_view();
    bool is_known = false;
    for (const std::string& key : options_.api_keys) is_known = SameSecret(given, key) || is_known;
    if (!is_known) throw ApiError(401, "invalid_api_key", "the API key is missing or wrong");
  }

  void RequireReady() const {
    if (!is_ready_) throw ApiError(503, "loading", "the model is being loaded");
  }

  /// What the log says of a request. A stream keeps it until its end, when the request itself is gone.
  struct LogEntry {
    std::string method;
    std::string path;
    std::string client;
    std::string body;  // only if prompts are logged
    Clock::time_point start = Clock::now();
    Json more = Json::object();
  };

  void Log(const LogEntry& entry, int status) {
    metrics_.CountRequest(entry.path, status);
    Json line = {{"time", Now()},    {"event", "request"},     {"method", entry.method},         {"path", entry.path},
                 {"status", status}, {"client", entry.client}, {"seconds", Seconds(entry.start)}};
    line.update(entry.more);
    if (!entry.body.empty()) line["body"] = entry.body;
    log_(Dump(line));
  }

  /// A handler with keys checked, errors shaped, and a line in the log.
  httplib::Server::Handler Guarded(std::string path, bool needs_key, Handler handler) {
    return [this, path = std::move(path), needs_key, handler = std::move(handler)](const Request& request,
                                                                                   Response& response) {
      LogEntry entry{.method = request.method,
                     .path = path,
                     .client = request.remote_addr,
                     .body = options_.log_prompts ? request.body : ""};
      AddCommonHeaders(response);
      response.status = 200;
      try {
        if (needs_key) Authorise(request);
        handler(request, response, entry);
      } catch (...) {
        Answer(response, ErrorOf(std::current_exception()));
      }
      if (!response.content_provider_) Log(entry, response.status);
    };
  }

  void AddCommonHeaders(Response& response) const {
    response.set_header("X-Content-Type-Options", "nosniff");
    if (!options_.cors_origin.empty()) response.set_header("Access-Control-Allow-Origin", options_.cors_origin);
  }

  void Get(const std::string& path, bool needs_key, Handler handler) {
    http_.Get(path, Guarded(path, needs_key, std::move(handler)));
  }
  void Post(const std::string& path, Handler handler) { http_.Post(path, Guarded(path, true, std::move(handler))); }

  void AddRoutes() {
    const Handler health = [this](const Request&, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(R"({"status":"ok"})", kJson);
    };
    Get("/health", false, health);
    Get("/v1/health", false, health);
    Get("/metrics", true, [this](const Request&, Response& response, LogEntry&) {
      const Metrics::Load load =
          is_ready_ ? Metrics::Load{scheduler_->running(), scheduler_->waiting()} : Metrics::Load{};
      response.set_content(metrics_.Text(load), "text/plain; version=0.0.4; charset=utf-8");
    });
    Get("/v1/models", true, [this](const Request&, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(ModelsJson(*served_), kJson);
    });
    http_.Get("/v1/models/(.+)",
              Guarded("/v1/models/{id}", true, [this](const Request& request, Response& response, LogEntry&) {
                RequireReady();
                response.set_content(ModelJson(*served_, request.matches[1].str()), kJson);
              }));
    Get("/props", true, [this](const Request&, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(PropsJson(*served_, options_), kJson);
    });
    Post("/tokenize", [this](const Request& request, Response& response, LogEntry&) { Tokenize(request, response); });
    Post("/detokenize",
         [this](const Request& request, Response& response, LogEntry&) { Detokenize(request, response); });
    for (const bool chat : {false, true}) {
      Post(chat ? "/v1/chat/completions" : "/v1/completions",
           [this, chat](const Request& request, Response& response, LogEntry& entry) {
             Complete(request, response, entry, chat);
           });
    }
    for (const WebFile& file : options_.web) {
      Get(std::string(file.path), false, [&file](const Request&, Response& response, LogEntry&) {
        response.set_header("Content-Security-Policy",
                            "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'");
        response.set_content(file.bytes.data(), file.bytes.size(), std::string(file.type).c_str());
      });
    }
    if (options_.cors_origin.empty()) return;
    http_.Options(".*", [this](const Request&, Response& response) {
      AddCommonHeaders(response);
      response.set_header("Access-Control-Allow-Methods", "GET, POST");
      response.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type");
      response.status = 204;
    });
  }

  void Tokenize(const Request& request, Response& response) const {
    RequireReady();
    const nlohmann::json body = ParseBody(request.body);
    if (!body.is_object() || !body.contains("content") || !body["content"].is_string()) {
      throw ApiError(400, "invalid_value", "content must be a string", "content");
    }
    response.set_content(Dump({{"tokens", model_->tokenizer->Encode(body["content"].get<std::string>())}}), kJson);
  }

  void Detokenize(const Request& request, Response& response) const {
    RequireReady();
    const nlohmann::json body = ParseBody(request.body);
    const bool is_list = body.is_object() && body.contains("tokens") && body["tokens"].is_array();
    std::vector<Token> tokens;
    if (!is_list) throw ApiError(400, "invalid_value", "tokens must be a list", "tokens");
    for (const nlohmann::json& token : body["tokens"]) {
      const bool is_token = token.is_number_integer() && token.get<std::int64_t>() >= 0 &&
                            token.get<std::int64_t>() < model_->denoiser->info().vocab_size;
      if (!is_token) throw ApiError(400, "invalid_value", "tokens must hold tokens of the vocabulary", "tokens");
      tokens.push_back(token.get<Token>());
    }
    response.set_content(Dump({{"content", model_->tokenizer->Decode(tokens)}}), kJson);
  }

  void Complete(const Request& request, Response& response, LogEntry& entry, bool chat) {
    RequireReady();
    CompletionRequest parsed = ParseCompletion(request.body, chat, options_.limits, options_.default_planner);
    parsed.chat_form = served_->chat_form;
    const std::string key = request.get_header_value("Authorization");
    const auto open = std::make_shared<OpenCount>(open_completions_);
    auto answer = std::make_shared<AnswerStream>(
        std::make_unique<Completion>(*model_, *scheduler_, metrics_, parsed, key + "@" + request.remote_addr),
        NewAnswer(chat, model_->name), parsed, metrics_,
        AnswerStream::Ending{.deadline = entry.start + options_.max_seconds, .must_end = &must_end_});
    if (!parsed.stream) {
      answer->Finish(SocketServer::ClientIsGone);
      entry.more = answer->LogFields();
      response.set_content(answer->Whole(), kJson);
      return;
    }
    response.set_header("Cache-Control", "no-cache");
    response.set_chunked_content_provider(
        "text/event-stream",
        [answer, open](std::size_t, httplib::DataSink& sink) {
          const std::string text = answer->Next(SocketServer::ClientIsGone);
          const bool is_sent = text.empty() || sink.write(text.data(), text.size());
          if (!is_sent) answer->Cancel();
          if (is_sent && answer->is_done()) sink.done();
          return is_sent && !answer->is_given_up();
        },
        [this, answer, entry](bool is_whole) mutable {
          entry.more = answer->LogFields();
          Log(entry, is_whole ? 200 : 499);
        });
  }

  /// Counts completions that are being answered.
  struct OpenCount {
    explicit OpenCount(std::atomic<int>& all) : count(all) { ++count; }
    ~OpenCount() { --count; }
    OpenCount(const OpenCount&) = delete;
    OpenCount& operator=(const OpenCount&) = delete;
    std::atomic<int>& count;
  };

  const ServerOptions options_;
  const LogSink log_;
  const Clock::time_point start_ = Clock::now();
  Metrics metrics_;
  std::optional<Model> model_;
  std::optional<ServedModel> served_;
  std::optional<Scheduler> scheduler_;
  std::atomic<bool> is_ready_ = false;
  std::atomic<bool> must_end_ = false;
  std::atomic<int> open_completions_ = 0;
  SocketServer http_;  // last: its threads use the rest
};

Server::Server(ServerOptions options, LogSink log)
    : routes_(std::make_unique<Routes>(std::move(options), std::move(log))) {}
Server::~Server() = default;
int Server::Bind() { return routes_->Bind(); }
void Server::Run() { routes_->Run(); }
void Server::SetModel(Model model) { routes_->SetModel(std::move(model)); }
void Server::Stop(std::chrono::seconds patience) { routes_->Stop(patience); }
std::string Server::LoadReport() const { return routes_->LoadReport(); }

}  // namespace punt
