#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace punt {

void Histogram::Add(double value) {
  if (std::isnan(value)) return;
  std::lock_guard lock(mutex_);
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  ++counts_[static_cast<std::size_t>(at)];
  if (std::isfinite(value)) sum_ += value;
}

std::string Histogram::Text(const std::string& name) const {
  std::lock_guard lock(mutex_);
  std::string text;
  std::int64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    const std::string bound = i < bounds_.size() ? fmt::format("{}", bounds_[i]) : "+Inf";
    text += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, bound, below);
  }
  return text + fmt::format("{}_sum {}\n{}_count {}\n", name, sum_, name, below);
}

void Metrics::CountRequest(const std::string& path, int status) {
  std::lock_guard lock(mutex_);
  ++requests_[{path, status}];
}

std::int64_t Metrics::requests() const {
  std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& [key, count] : requests_) sum += count;
  return sum;
}

std::string Metrics::Text(const Load& load) const {
  std::string text;
  const auto head = [&](const char* name, const char* type, const char* help) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  };
  const auto single = [&](const char* name, const char* type, const char* help, auto value) {
    head(name, type, help);
    text += fmt::format("{} {}\n", name, value);
  };
  const auto histogram = [&](const char* name, const char* help, const Histogram& values) {
    head(name, "histogram", help);
    text += values.Text(name);
  };
  head("punt_requests_total", "counter", "Requests that were answered, by path and status.");
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, count] : requests_) {
      text += fmt::format("punt_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
    }
  }
  single("punt_connections_refused_total", "counter", "Connections that there was no place for.",
         refused_connections.load());
  single("punt_requests_running", "gauge", "Sequences that are being generated.", load.running);
  single("punt_requests_waiting", "gauge", "Sequences in the queue.", load.waiting);
  single("punt_requests_cancelled_total", "counter", "Sequences that ended before they were full.", cancelled.load());
  head("punt_nfe_total", "counter", "Forward passes of sequences, by what they are for.");
  text += fmt::format("punt_nfe_total{{kind=\"base\"}} {}\n", base_passes.load());
  text += fmt::format("punt_nfe_total{{kind=\"test\"}} {}\n", test_passes.load());
  single("punt_steps_total", "counter", "Steps of generation.", steps.load());
  single("punt_prompt_tokens_total", "counter", "Tokens of prompts.", prompt_tokens.load());
  single("punt_tokens_committed_total", "counter", "Positions that were filled.", committed_tokens.load());
  const double nfe = static_cast<double>(base_passes.load() + test_passes.load());
  single("punt_tokens_per_forward", "gauge", "Positions filled per forward pass, since the start.",
         nfe == 0 ? 0.0 : static_cast<double>(committed_tokens.load()) / nfe);
  const double tests = static_cast<double>(tested.load());
  single("punt_accept_ratio", "gauge", "Share of tested positions that were found independent, since the start.",
         tests == 0 ? 0.0 : static_cast<double>(kept.load()) / tests);
  head("punt_block_cache_tokens_total", "counter",
       "Tokens of finished blocks, by where their keys and values came from (models in blocks).");
  text += fmt::format("punt_block_cache_tokens_total{{from=\"cache\"}} {}\n", load.blocks.reused_tokens);
  text += fmt::format("punt_block_cache_tokens_total{{from=\"pass\"}} {}\n", load.blocks.computed_tokens);
  single("punt_block_cache_bytes", "gauge", "Keys and values of finished blocks.", load.blocks.bytes);
  single("punt_block_cache_bytes_in_use", "gauge", "Those of sequences that are being generated.",
         load.blocks.bytes_in_use);
  single("punt_block_cache_dropped_blocks_total", "counter", "Blocks that were dropped to keep within the bound.",
         load.blocks.dropped_blocks);
  histogram("punt_forward_seconds", "Duration of a batch of forward passes.", forward_seconds);
  histogram("punt_batch_sequences", "Forward passes in a batch, base and test passes of all that run.",
            batch_sequences);
  histogram("punt_kl_test", "Divergences that tests measured.", divergences);
  histogram("punt_time_to_first_token_seconds", "From a request to its first settled text.", first_text_seconds);
  histogram("punt_request_seconds", "From a request to its last byte, of completions.", request_seconds);
  return text;
}

}  // namespace punt
