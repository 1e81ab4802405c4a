// punt serve: a model behind OpenAI's API.
#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/command.h"
#include "app/help.h"
#include "app/hub_pull.h"
#include "app/interruptible.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "app/request.h"
#include "app/sampling_flags.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "generate/misfit.h"
#include "model/bundled_models.h"
#include "punt/generator.h"
#include "punt/planner.h"
#include "report/data_file.h"
#include "serve/request_head.h"
#include "serve/request_screen.h"
#include "serve/server.h"

namespace punt {
namespace {

constexpr const char* kKeyVariable = "PUNT_API_KEY";
constexpr int kPollMilliseconds = 100;
// How to sample what requests leave out; without the options that sequences which run together share, and those that
// belong to a single request. --max-nfe is the server's limit.
constexpr std::string_view kNotServed[] = {"guidance", "freeze_mask_ratio", "grow_to", "max_nfe", "seed"};

struct ServeFlags {
  ModelFlags model;
  std::string host = "127.0.0.1";
  std::int64_t port = 8080;
  std::optional<std::string> api_key;
  std::string api_key_file;
  std::vector<std::string> allow_hosts;
  std::string cors;
  Sampling sampling;
  std::string alias;
  std::string chat_template = "auto";
  std::string thinking = "auto";
  std::int64_t max_tokens = 4096;
  std::int64_t max_n = 16;
  std::int64_t max_prompts = 64;
  std::int64_t max_nfe = 0;
  std::int64_t score_alone = 64;
  std::int64_t max_body = 1 << 20;
  std::int64_t max_seconds = 600;
  std::int64_t max_connections = 2048;
  std::int64_t max_per_address = 0;
  std::int64_t max_running = 32;
  std::int64_t max_waiting = 256;
  std::int64_t max_rows = 8192;
  std::int64_t block_cache = static_cast<std::int64_t>(kUsualBlockCacheBytes);
  std::int64_t grace = 30;
  std::string ready_file;
  bool log_prompts = false;
  bool quiet = false;
};

/// A key as clients can send it: a header's value has no space around it. An empty one would let everyone in, and
/// comes from a variable that should have been set.
std::string KeyOf(std::string_view text, std::string_view source) {
  const std::string_view key = Trimmed(text);
  if (key.empty()) BadInput("{} is empty", source);
  return std::string(key);
}

std::vector<std::string> Keys(const ServeFlags& flags) {
  std::vector<std::string> keys;
  if (flags.api_key) keys.push_back(KeyOf(*flags.api_key, "--api-key"));
  if (const char* variable = std::getenv(kKeyVariable))
    keys.push_back(KeyOf(variable, std::string("$") + kKeyVariable));
  if (flags.api_key_file.empty()) return keys;
  const std::string text = ReadDataFile(flags.api_key_file);
  const std::size_t before = keys.size();
  for (std::string_view line : SplitLines(text)) {
    const std::string_view key = Trimmed(line);
    if (!key.empty() && !line.starts_with('#')) keys.emplace_back(key);
  }
  if (keys.size() == before) BadInput("{}: there are no keys", flags.api_key_file);
  return keys;
}

/// What browsers send as Origin: a scheme, a host and perhaps a port. Anything else would never match.
void RequireOrigin(const std::string& origin) {
  if (origin.empty() || origin == "*") return;
  const std::size_t host = origin.find("://");
  const bool is_one = host != std::string::npos && host > 0 && host + 3 < origin.size() &&
                      origin.find_first_of("/ \t,*", host + 3) == std::string::npos;
  if (!is_one) BadInput("--cors must be * or an origin like https://example.org, got '{}'", origin);
}

ServerOptions OptionsOf(const ServeFlags& flags) {
  Validate(flags.sampling);
  RequireOrigin(flags.cors);
  return {.host = flags.host,
          .port = static_cast<int>(flags.port),
          .api_keys = Keys(flags),
          .allow_hosts = flags.allow_hosts,
          .cors_origin = flags.cors,
          .limits = {.max_tokens = flags.max_tokens,
                     .max_choices = flags.max_n,
                     .max_prompts = flags.max_prompts,
                     .max_sequences = flags.max_waiting,
                     .max_nfe = flags.max_nfe,
                     .score_alone = flags.score_alone},
          .max_body_bytes = static_cast<std::size_t>(flags.max_body),
          .max_connections = static_cast<int>(flags.max_connections),
          .max_connections_per_address = static_cast<int>(flags.max_per_address),
          .max_seconds = std::chrono::seconds(flags.max_seconds),
          .log_prompts = flags.log_prompts,
          .sampling = flags.sampling,
          .alias = flags.alias,
          .chat_template = flags.chat_template,
          .thinking = ParseThinking(flags.thinking),
          .scheduler = {.threads = ThreadCount(flags.model.threads),
                        .max_running = static_cast<int>(flags.max_running),
                        .max_waiting = static_cast<int>(flags.max_waiting),
                        .max_rows = flags.max_rows}};
}

/// The first pass allocates and reads what later ones use.
void WarmUp(const Model& model, int threads) {
  const DenoiserInfo& info = model.denoiser->info();
  const auto session = model.denoiser->NewSession({.threads = threads});
  const std::vector<Token> canvas(static_cast<std::size_t>(std::min(info.max_length, 32)), info.mask_token);
  const Query query{.canvas = canvas};
  session->Forward({&query, 1});
}

Model OpenWarm(const ServeFlags& flags, int threads) {
  const std::string name = flags.model.name.empty() ? DefaultModel() : flags.model.name;
  ModelOptions options = flags.model.Options();
  options.block_cache_bytes = static_cast<std::size_t>(flags.block_cache);
  PullIfMissing(name, options.lora);
  return Interruptibly("while the model was opened", [name, options, threads] {
    Model model = OpenModel(name, options);
    WarmUp(model, threads);
    return model;
  });
}

/// Defaults that the model cannot serve would be refused with every request.
void RequireServable(const Model& model, const Sampling& sampling) {
  const DenoiserInfo& info = model.denoiser->info();
  const Recipe recipe = MakeRecipe(sampling, info);
  const std::vector<Token> masks(static_cast<std::size_t>(std::clamp(recipe.window, 1, info.max_length)),
                                 info.mask_token);
  if (const auto misfit = FindMisfit(recipe, Canvas(masks, info.mask_token, info.vocab_size), info)) {
    const bool is_window = misfit->setting == "window";
    const bool is_cache = misfit->setting == "cache";
    ThrowMisfit(*misfit, is_window  ? fmt::format("--window {}: ", sampling.window)
                         : is_cache ? fmt::format("--cache {}: ", sampling.cache)
                                    : fmt::format("--planner {}: ", sampling.planner));
  }
  PrintWarnings(FindOddities(recipe, masks, info));
}

/// Every connection has its own thread, and glibc would keep the logits of a past request in that thread's heap
/// for ever: the memory of a server under load doubled in minutes. Large blocks go back to the system instead.
void ReturnLargeBlocks() {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
}

int Run(const ServeFlags& flags) {
  ReturnLargeBlocks();
  const std::atomic<bool>& interrupted = InstallInterruptHandlers();
  std::mutex log_mutex;
  const auto log = [&](const std::string& line) {
    if (flags.quiet) return;
    std::lock_guard lock(log_mutex);
    PrintMessage(line + "\n");  // a full disk under the log must not end the server
  };
  const ServerOptions options = OptionsOf(flags);
  const std::unique_ptr<Server> server = Server::Make(options, log);
  const int port = server->Bind();
  if (!IsLoopback(flags.host) && options.api_keys.empty()) {
    const std::string warning = fmt::format("anyone who can reach {} is served: no --api-key is set", flags.host);
    PrintWarnings({&warning, 1});
  }
  std::thread listener([&] { server->Run(); });
  const std::string url = fmt::format(
      "http://{}:{}", flags.host.find(':') == std::string::npos ? flags.host : "[" + flags.host + "]", port);
  try {
    Model model = OpenWarm(flags, options.scheduler.threads);
    RequireServable(model, flags.sampling);
    WarnOf(flags.model, model);
    const std::string name = model.name;
    server->SetModel(std::move(model));
    fmt::print("punt: {} at {}\n", name, url);
    std::fflush(stdout);
    if (!flags.ready_file.empty()) WriteFileAtomically(flags.ready_file, url + "\n");
    while (!interrupted) Pause(kPollMilliseconds);
  } catch (...) {
    server->Stop(std::chrono::seconds(1));
    listener.join();
    throw;
  }
  if (!flags.ready_file.empty()) std::filesystem::remove(flags.ready_file);
  server->Stop(std::chrono::seconds(flags.grace));
  listener.join();
  log(server->LoadReport());
  return 0;
}

constexpr const char* kExamples = R"(Examples:
  punt serve
  punt serve --model llada-8b.gguf --port 9000 --planner punt:epsilon=0.04
  curl -N localhost:8080/v1/completions -d '{"prompt": "Once upon a time", "max_tokens": 64, "stream": true}'
)";

constexpr const char* kDetails =
    R"(Answers POST /v1/chat/completions and /v1/completions as OpenAI's API does, streamed or not; a request may have an object
"diffusion" with planner, score, window, cache, eos, max_nfe, infill, stream and others; what it does not say is as the
options under Sampling have it. GET / is a page that shows the canvas being filled. Keys: --api-key, --api-key-file (one
a line) or $PUNT_API_KEY; without any everybody who reaches the port is served. SIGTERM and Ctrl-C finish what runs, at
most --grace seconds. The log is JSON lines on the standard error. docs/serving.md has the details.)";

}  // namespace

Runner AddServe(CLI::App& command) {
  const auto flags = std::make_shared<ServeFlags>();
  constexpr std::int64_t kMillion = 1'000'000;
  command.footer(std::string(kExamples) + kRestOfFooter + kDetails);
  command.add_option("--host", flags->host, "Address to listen on")->capture_default_str();
  AddInteger(command, "--port", flags->port, 0, 65535, "Port; 0: any free port")->default_str("8080");
  command.add_option("--alias", flags->alias, "What clients call the model; default: the name of its file");
  command
      .add_option("--chat-template", flags->chat_template,
                  "auto: the model's own, or plain if it has none; plain: only the messages' texts, one per line; "
                  "none: no chats")
      ->check(CLI::IsMember({"auto", "plain", "none"}))
      ->capture_default_str();
  command.add_option("--thinking", flags->thinking, kThinkingHelp)->capture_default_str();
  command.add_option("--api-key", flags->api_key, "Key that clients must send");
  command.add_option("--api-key-file", flags->api_key_file,
                     "File of keys, one per line; lines that begin with # are ignored");
  command
      .add_option(
          "--allow-host", flags->allow_hosts,
          "Name that clients may use, besides localhost, addresses and the machine's own (repeatable; * for any)")
      ->allow_extra_args(false);
  command.add_option("--cors", flags->cors, "Origin whose pages may send requests (* for all); default: none");
  AddInteger(command, "--max-tokens", flags->max_tokens, 1, kMillion,
             "Most positions of a completion; larger requests are reduced to this")
      ->default_str("4096");
  AddInteger(command, "--max-n", flags->max_n, 1, 1024, "Most choices of a prompt")->default_str("16");
  AddInteger(command, "--max-prompts", flags->max_prompts, 1, 1024, "Most prompts of a request")->default_str("64");
  AddInteger(command, "--max-nfe", flags->max_nfe, 0, 1000 * kMillion, "Most forward passes of a choice (0: no limit)");
  AddInteger(command, "--score-alone", flags->score_alone, 0, kMillion,
             "Tokens at the end of an echoed prompt that get a pass of their own (0: all)")
      ->default_str("64");
  AddInteger(command, "--max-body", flags->max_body, 1, 1 << 30, "Most bytes of a request")->default_str("1048576");
  AddInteger(command, "--max-seconds", flags->max_seconds, 1, kMillion,
             "Most seconds of a completion, waiting included")
      ->default_str("600");
  AddInteger(command, "--max-connections", flags->max_connections, 1, 100'000, "Most open connections")
      ->default_str("2048");
  AddInteger(command, "--max-per-address", flags->max_per_address, 0, 100'000,
             "Most open connections of one address (0: a quarter of all)");
  AddInteger(command, "--max-running", flags->max_running, 1, 1024, "Most sequences at once")->default_str("32");
  AddInteger(command, "--max-waiting", flags->max_waiting, 1, 100'000, "Most sequences in the queue; then 429")
      ->default_str("256");
  AddInteger(command, "--max-rows", flags->max_rows, 1, 1000 * kMillion, "Most rows of sequences that run together")
      ->default_str("8192");
  AddInteger(command, "--block-cache", flags->block_cache, 0, std::int64_t{1} << 50,
             "Bytes of keys and values kept for texts that begin alike, of models in blocks")
      ->default_str("1073741824");
  AddInteger(command, "--grace", flags->grace, 0, kMillion, "Seconds to finish after a signal to stop")
      ->default_str("30");
  AddModel(command, flags->model)->default_str("stories");
  AddSampling(command, flags->sampling, kNotServed);
  command.add_option("--ready-file", flags->ready_file,
                     "File that exists while requests are answered; holds the address");
  command.add_flag("--log-prompts", flags->log_prompts, "Write requests into the log, texts included");
  command.add_flag("--quiet", flags->quiet, "No log");
  SetGroup(command, "Server", {"--host", "--port", "--api-key", "--api-key-file"});
  SetGroup(command, "Server",
           {"--alias", "--chat-template", "--thinking", "--allow-host", "--cors", "--grace", "--ready-file",
            "--log-prompts", "--quiet"},
           kInFullHelp);
  SetGroup(command, "Limits", {"--max-tokens", "--max-running"});
  SetGroup(command, "Limits",
           {"--max-n", "--max-prompts", "--max-nfe", "--score-alone", "--max-body", "--max-seconds",
            "--max-connections", "--max-per-address", "--max-waiting", "--max-rows", "--block-cache"},
           kInFullHelp);
  return [flags] { return Run(*flags); };
}

}  // namespace punt
