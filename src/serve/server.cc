#include "serve/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/json_text.h"
#include "model/bundled_models.h"
#include "serve/answer_stream.h"
#include "serve/api_error.h"
#include "serve/completion.h"
#include "serve/completion_json.h"
#include "serve/metrics.h"
#include "serve/model_json.h"
#include "serve/request_screen.h"
#include "serve/responses_request.h"
#include "serve/socket_server.h"
#include "serve/tokenizer_json.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using httplib::Request;
using httplib::Response;

constexpr const char* kJson = "application/json";
// Time for cancelled completions to tell their clients.
constexpr std::chrono::seconds kFarewell{5};
constexpr std::size_t kMostLoggedPath = 200;

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

void Refuse(Response& response, const ApiError& error) {
  response.status = error.status();
  if (error.status() == 429 || error.status() == 503) response.set_header("Retry-After", "1");
  response.set_content(error.Json(), kJson);
}

/// The machine's name, as it is and as neighbours find it without a name server.
std::vector<std::string> OwnNames() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return {};
  const std::string own = name;
  return {own, own.substr(0, own.find('.')) + ".local"};
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

class Routes : public Server {
 public:
  Routes(ServerOptions options, LogSink log)
      : options_(std::move(options)),
        log_(std::move(log)),
        screen_({.bind_host = options_.host,
                 .own_names = OwnNames(),
                 .allow_hosts = options_.allow_hosts,
                 .cors_origin = options_.cors_origin,
                 .api_keys = options_.api_keys,
                 .max_body_bytes = options_.max_body_bytes}),
        http_(
            LimitsOf(options_), screen_, [this](const Exchange& exchange) { LogRefused(exchange); },
            [this](const std::string& address) { LogNoPlace(address); }) {
    http_.set_error_handler([](const Request& request, Response& response) { FillError(request, response); });
    AddRoutes();
  }

  int Bind() override {
    const int port = http_.Bind(options_.host, options_.port);
    if (port < 0) {
      BadInput("cannot listen on {}:{}: the port is taken, or the address none of this machine's", options_.host,
               options_.port);
    }
    return port;
  }

  void Run() override { http_.Serve(); }

  void SetModel(Model model) override {
    model_ = std::move(model);
    model_path_ = LocateModel(model_->name).string();
    model_->name = options_.alias.empty() ? PublicName(model_->name) : options_.alias;
    served_.emplace(ServedModel{
        .model = *model_, .created = std::time(nullptr), .chat_form = ChooseChatForm(options_.chat_template, *model_)});
    scheduler_.emplace(*model_->denoiser, options_.scheduler, &metrics_);
    is_ready_ = true;
  }

  void Stop(std::chrono::seconds patience) override {
    const Clock::time_point deadline = Clock::now() + patience;
    is_closing_ = true;
    if (is_ready_) scheduler_->Close();
    WaitForCompletions(deadline);
    must_end_ = true;
    WaitForCompletions(Clock::now() + kFarewell);  // streams are cut when it stops
    http_.Stop();
  }

  std::string LoadReport() const override {
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

  void WaitForCompletions(Clock::time_point deadline) {
    std::unique_lock lock(open_mutex_);
    open_changed_.wait_until(lock, deadline, [this] { return open_completions_ == 0; });
  }

  static double Seconds(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

  static ConnectionLimits LimitsOf(const ServerOptions& options) {
    const int quarter = std::max(1, options.max_connections / 4);
    return {.max_connections = options.max_connections,
            .max_connections_per_address =
                options.max_connections_per_address > 0 ? options.max_connections_per_address : quarter,
            .max_body_bytes = options.max_body_bytes};
  }

  /// For what httplib answers without a handler.
  static void FillError(const Request& request, Response& response) {
    if (!response.body.empty()) return;
    const int status = response.status;
    const bool is_missing = status == 404;
    const std::string message = is_missing ? fmt::format("there is no {} {}", request.method, request.path)
                                           : fmt::format("the request cannot be answered ({})", status);
    Refuse(response, ApiError(status, is_missing ? "not_found" : "bad_request", message));
  }

  void RequireReady() const {
    if (!is_ready_) throw ApiError(503, "loading", "the model is being loaded");
  }

  /// Clients must not learn where the model is.
  ApiError WithoutPath(const ApiError& error) const {
    if (!is_ready_ || model_path_.empty() || model_path_ == model_->name) return error;
    std::string message = error.what();
    for (std::size_t at = 0; (at = message.find(model_path_, at)) != std::string::npos; at += model_->name.size()) {
      message.replace(at, model_path_.size(), model_->name);
    }
    return ApiError(error.status(), error.code(), message, error.param());
  }

  /// What the log says of a request. A stream keeps it until its end, when the request itself is gone.
  struct LogEntry {
    std::string method;
    std::string path;
    std::string client;
    std::string id;
    std::string body;  // only if prompts are logged
    Clock::time_point start = Clock::now();
    Json more = Json::object();
  };

  void Log(const LogEntry& entry, int status) {
    metrics_.CountRequest(entry.path, status);
    Json line = {
        {"time", Now()},    {"event", "request"},     {"method", entry.method}, {"path", entry.path},
        {"status", status}, {"client", entry.client}, {"request_id", entry.id}, {"seconds", Seconds(entry.start)}};
    line.update(entry.more);
    if (!entry.body.empty()) line["body"] = entry.body;
    log_(Dump(line));
  }

  /// What no handler has answered. Unknown paths are counted as one.
  void LogRefused(const Exchange& exchange) {
    metrics_.CountRequest(exchange.admission.label, exchange.status);
    const RequestHead& head = exchange.head;
    Json line = {{"time", Now()},
                 {"event", "request"},
                 {"method", head.method.empty() ? "-" : head.method},
                 {"path", head.path.empty() ? "-" : head.path.substr(0, kMostLoggedPath)},
                 {"status", exchange.status},
                 {"client", exchange.address},
                 {"request_id", exchange.id},
                 {"seconds", Seconds(exchange.start)}};
    if (exchange.admission.refusal) line["error"] = exchange.admission.refusal->code();
    log_(Dump(line));
  }

  /// At most one line per second: a flood of connections should not flood the log.
  void LogNoPlace(const std::string& address) {
    ++metrics_.refused_connections;
    const Clock::time_point now = Clock::now();
    if (now - last_no_place_ < std::chrono::seconds(1)) return;
    last_no_place_ = now;
    log_(Dump({{"time", Now()},
               {"event", "connection_refused"},
               {"client", address},
               {"refused", metrics_.refused_connections.load()}}));
  }

  /// A handler with formatted errors and a line in the log. The screen has checked the key.
  httplib::Server::Handler Guarded(std::string path, Handler handler) {
    return [this, path = std::move(path), handler = std::move(handler)](const Request& request, Response& response) {
      Exchange& exchange = SocketServer::Current();
      LogEntry entry{.method = request.method,
                     .path = path,
                     .client = exchange.address,
                     .id = exchange.id,
                     .body = options_.log_prompts ? request.body : "",
                     .start = exchange.start};
      exchange.is_logged = true;
      response.status = 200;
      try {
        // What was decoded and what was sent must be the same route, or its key was not checked.
        Check(exchange.admission.label == path, "a request went to another route than it was screened for");
        handler(request, response, entry);
      } catch (...) {
        Refuse(response, WithoutPath(ErrorOf(std::current_exception())));
      }
      if (!response.content_provider_) Log(entry, response.status);
    };
  }

  void Get(const std::string& path, bool needs_key, Handler handler) {
    screen_.AddRoute(path, false, needs_key);
    http_.Get(path, Guarded(path, std::move(handler)));
  }
  void Post(const std::string& path, Handler handler) {
    screen_.AddRoute(path, true, true);
    http_.Post(path, Guarded(path, std::move(handler)));
  }

  void AddRoutes() {
    const Handler health = [this](const Request&, Response& response, LogEntry&) {
      RequireReady();
      if (is_closing_) throw ApiError(503, "shutting_down", "the server is shutting down");
      response.set_content(R"({"status":"ok"})", kJson);
    };
    Get("/health", false, health);
    Get("/v1/health", false, health);
    Get("/metrics", true, [this](const Request&, Response& response, LogEntry&) {
      const Metrics::Load load =
          is_ready_ ? Metrics::Load{scheduler_->running(), scheduler_->waiting(), model_->denoiser->block_cache()}
                    : Metrics::Load{};
      response.set_content(metrics_.Text(load), "text/plain; version=0.0.4; charset=utf-8");
    });
    Get("/v1/models", true, [this](const Request&, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(ModelsJson(*served_), kJson);
    });
    Get("/v1/models/(.+)", true, [this](const Request& request, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(ModelJson(*served_, request.matches[1].str()), kJson);
    });
    Get("/props", true, [this](const Request&, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(PropsJson(*served_, options_), kJson);
    });
    Post("/tokenize", [this](const Request& request, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(TokenizeJson(*model_, request.body), kJson);
    });
    Post("/detokenize", [this](const Request& request, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(DetokenizeJson(*model_, request.body), kJson);
    });
    Get("/tokenizer_info", true, [this](const Request&, Response& response, LogEntry&) {
      RequireReady();
      response.set_content(TokenizerInfoJson(*model_), kJson);
    });
    for (const bool chat : {false, true}) {
      Post(chat ? "/v1/chat/completions" : "/v1/completions", [this, chat](const Request& request, Response& response,
                                                                           LogEntry& entry) {
        RequireReady();
        Complete(request, response, entry, ParseCompletion(request.body, chat, options_.limits, options_.sampling));
      });
    }
    Post("/v1/responses", [this](const Request& request, Response& response, LogEntry& entry) {
      RequireReady();
      Complete(request, response, entry, ParseResponses(request.body, options_.limits, options_.sampling));
    });
    for (const WebFile& file : options_.web) {
      Get(std::string(file.path), false, [&file](const Request&, Response& response, LogEntry&) {
        response.set_header("Content-Security-Policy",
                            "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'");
        response.set_content(file.bytes.data(), file.bytes.size(), std::string(file.type).c_str());
      });
    }
    // Browsers ask for one with every page; the viewer has none.
    Get("/favicon.ico", false, [](const Request&, Response& response, LogEntry&) { response.status = 204; });
  }

  /// Identifies a client for taking turns: by key if there are keys, else by address.
  static std::string ClientName(const Exchange& exchange) {
    return exchange.admission.key >= 0 ? fmt::format("key {}", exchange.admission.key) : exchange.address;
  }

  void Complete(const Request& request, Response& response, LogEntry& entry, CompletionRequest parsed) {
    parsed.chat_form = served_->chat_form;
    if (!parsed.thinking) parsed.thinking = options_.thinking;
    if (parsed.chat_form == ChatForm::kModel) parsed.tools.form = model_->tokenizer->tool_form();
    const auto open = std::make_shared<OpenCount>(*this);
    auto answer = std::make_shared<AnswerStream>(
        std::make_unique<Completion>(*model_, *scheduler_, metrics_, parsed, ClientName(SocketServer::Current())),
        NewAnswer(parsed.chat, model_->name), parsed, metrics_,
        AnswerStream::Ending{
            .start = entry.start, .deadline = entry.start + options_.max_seconds, .must_end = &must_end_});
    if (!parsed.stream) {
      answer->Finish(SocketServer::ClientIsGone);
      entry.more = answer->LogFields();
      response.set_content(answer->Whole(), kJson);
      return;
    }
    response.set_header("Cache-Control", "no-cache");
    const auto next = [answer, open](std::size_t, httplib::DataSink& sink) {
      std::string text = answer->Next(SocketServer::ClientIsGone);
      if (text.empty() && SocketServer::WantsSign()) text = ": still there?\n\n";
      const bool is_sent = text.empty() || sink.write(text.data(), text.size());
      if (!is_sent) answer->Cancel();
      if (is_sent && answer->is_done()) sink.done();
      return is_sent && !answer->is_given_up();
    };
    const auto end = [this, answer, entry](bool is_whole) mutable {
      if (!is_whole) answer->Finish([] { return true; });  // the passes until it notices count too
      entry.more = answer->LogFields();
      Log(entry, is_whole ? 200 : 499);
    };
    // HTTP/1.0 has no chunks: there the end of the connection is the end of the answer.
    if (request.version == "HTTP/1.0") {
      response.set_content_provider("text/event-stream", next, end);
    } else {
      response.set_chunked_content_provider("text/event-stream", next, end);
    }
  }

  /// Counts completions that are being answered.
  struct OpenCount {
    explicit OpenCount(Routes& owner) : routes(owner) {
      std::lock_guard lock(routes.open_mutex_);
      ++routes.open_completions_;
    }
    ~OpenCount() {
      std::lock_guard lock(routes.open_mutex_);  // held while notifying: the server may be gone right after
      --routes.open_completions_;
      routes.open_changed_.notify_all();
    }
    OpenCount(const OpenCount&) = delete;
    OpenCount& operator=(const OpenCount&) = delete;
    Routes& routes;
  };

  const ServerOptions options_;
  const LogSink log_;
  const Clock::time_point start_ = Clock::now();
  Metrics metrics_;
  std::optional<Model> model_;
  std::optional<ServedModel> served_;
  std::optional<Scheduler> scheduler_;
  std::atomic<bool> is_ready_ = false;
  std::string model_path_;  // written before is_ready_
  std::atomic<bool> must_end_ = false;
  std::atomic<bool> is_closing_ = false;
  std::mutex open_mutex_;
  std::condition_variable open_changed_;
  int open_completions_ = 0;
  Clock::time_point last_no_place_;  // of the thread that takes connections
  RequestScreen screen_;
  SocketServer http_;  // last: its threads use the rest
};

}  // namespace

std::unique_ptr<Server> Server::Make(ServerOptions options, LogSink log) {
  return std::make_unique<Routes>(std::move(options), std::move(log));
}

}  // namespace punt
