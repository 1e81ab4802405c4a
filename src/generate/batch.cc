// Several sequences at once. Each runs the ordinary loop on its own thread; a hub between them and
// the session merges their forward passes into batches. There is no second loop, and a sequence does not
// notice whether it runs alone.
#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "generate/batch_hub.h"
#include "punt/generator.h"

namespace punt {
namespace {

// More sequences than this run one group after another: threads wait most of the time, but not for free.
constexpr std::size_t kGroup = 64;

}  // namespace

void RunTogether(DenoiserSession& shared, std::size_t count,
                 const std::function<void(std::size_t index, DenoiserSession& session)>& run) {
  std::mutex mutex;
  std::exception_ptr failure;
  for (std::size_t begin = 0; begin < count; begin += kGroup) {
    const std::size_t end = std::min(begin + kGroup, count);
    BatchHub hub(shared);
    std::vector<std::unique_ptr<DenoiserSession>> sessions;
    for (std::size_t i = begin; i < end; ++i) sessions.push_back(hub.Join());
    std::vector<std::thread> threads;
    for (std::size_t i = begin; i < end; ++i) {
      threads.emplace_back([&, i] {
        const std::unique_ptr<DenoiserSession> session = std::move(sessions[i - begin]);
        try {
          run(i, *session);
        } catch (...) {
          std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  }
}

std::vector<GenerateResult> GenerateBatch(const Denoiser& denoiser, const SessionOptions& session_options,
                                          std::span<const Canvas> canvases, const Recipe& recipe,
                                          std::span<const Company> companies) {
  Check(companies.empty() || companies.size() == canvases.size(), "one company per sequence");
  const std::unique_ptr<DenoiserSession> shared = denoiser.NewSession(session_options);
  std::vector<GenerateResult> results(canvases.size());
  RunTogether(*shared, canvases.size(), [&](std::size_t i, DenoiserSession& session) {
    Recipe own = recipe;
    own.sample = recipe.sample + i;
    results[i] = Generate(session, canvases[i], own, companies.empty() ? Company{} : companies[i]);
  });
  return results;
}

}  // namespace punt
