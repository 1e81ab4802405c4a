// Asks the Hugging Face hub, or a mirror of it, for lists of files and for files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/hub_cache.h"

namespace punt {

struct HubEndpoint {
  std::string url;             // without a slash at the end
  std::string token;           // sent to this host alone; empty: none. Appears in no message
  std::int64_t stall_seconds;  // without a byte, after which a transfer is begun anew
  int attempts = 5;            // that bring nothing, with pauses that double, from half a second on
};

/// From HF_ENDPOINT, HF_TOKEN or the file of HF_TOKEN_PATH or HubHome()/token, and HF_HUB_DOWNLOAD_TIMEOUT. Throws
/// Error on values that can be no such thing.
HubEndpoint HubEndpointFromEnvironment();

struct HubFile {
  std::string name;
  std::int64_t size = -1;  // bytes; -1: the listing does not say
  std::string hash;        // SHA-256 (64 digits), or git's SHA-1 of a small file (40)

  bool has_sha256() const { return hash.size() == 64; }
};

struct HubListing {
  std::string commit;  // 40 digits
  std::vector<HubFile> files;
};

struct HubRequest;
struct HubReply;

/// Used by one thread. Redirections are followed to http and https alone, never from https to http, and only the
/// endpoint itself sees the token. Every call throws Error: bad input when the hub says that there is no such thing or
/// that it may not be had, failed when it cannot be reached or answers nonsense; and Interrupted (interruptible.h).
class HubClient {
 public:
  explicit HubClient(HubEndpoint endpoint);
  ~HubClient();
  HubClient(const HubClient&) = delete;
  HubClient& operator=(const HubClient&) = delete;

  /// All files of the revision. Names are checked (RequireInside), and so are hashes.
  HubListing List(const HubName& name);

  /// Fills in the size and the hash, which a mirror may leave out of its list.
  void Describe(const HubName& name, const std::string& commit, HubFile& file);

  /// Receives bytes in order; `offset` is where they belong, 0 to begin anew.
  using Sink = std::function<void(std::int64_t offset, std::string_view bytes)>;
  /// Sends what follows `offset` to the sink, once: returns whether the answer came to its end. What cannot be expected
  /// to go better next time throws; `problem` says what did not go well. `is_unsatisfied` is set when the server has
  /// nothing from that offset on.
  struct Transfer {
    bool is_complete = false;
    bool is_unsatisfied = false;
    std::string problem;
  };
  Transfer Fetch(const HubName& name, const std::string& commit, const HubFile& file, std::int64_t offset,
                 const Sink& sink);

  const HubEndpoint& endpoint() const { return endpoint_; }

 private:
  HubReply Perform(const HubRequest& request);
  /// Perform, again while that may help.
  HubReply Insist(const HubRequest& request);
  std::string FileUrl(const HubName& name, const std::string& commit, const std::string& file) const;
  [[noreturn]] void Refuse(const HubName& name, const std::string& what, const HubReply& reply) const;

  HubEndpoint endpoint_;
  std::unique_ptr<void, void (*)(void*)> curl_;
};

}  // namespace punt
