// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Many kernels at once: as many threads as cores take the next one until there is none.
#include "runtime/Cache/Prewarm.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace interlock {

PrewarmReport prewarmWith(std::span<const KernelSpec> kernels, const PrewarmOptions &options,
                          const std::function<Result<Outcome>(const KernelSpec &)> &get) {
  PrewarmReport report;
  PrewarmProgress progress{0, kernels.size(), 0, 0};
  std::mutex mutex; // of both
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t at = next++; at < kernels.size(); at = next++) {
      Result<Outcome> found = get(kernels[at]);
      std::lock_guard lock(mutex);
      if (!found)
        report.failures.push_back({kernels[at], std::move(found).error()});
      else
        ++(*found == Outcome::miss ? report.compiled : report.cached);
      ++progress.done;
      progress.compiled = report.compiled;
      progress.failed = report.failures.size();
      if (options.progress)
        options.progress(progress);
    }
  };
  size_t count = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(count, kernels.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return report;
}

PrewarmReport prewarm(KernelCache &cache, std::span<const KernelSpec> kernels, const PrewarmOptions &options) {
  return prewarmWith(kernels, options, [&](const KernelSpec &kernel) -> Result<Outcome> {
    ILK_ASSIGN_OR_RETURN(Lookup found, cache.get(kernel));
    return found.outcome;
  });
}

} // namespace interlock
