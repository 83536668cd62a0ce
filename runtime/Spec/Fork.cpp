// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/Fork.h"

#include <atomic>

#include <pthread.h>

namespace interlock {
namespace {
std::atomic<uint64_t> forks{0};
}

uint64_t forkCount() {
  // Not before the first call: loading the library has no effect on its process.
  static const int watching = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)watching;
  return forks.load(std::memory_order_relaxed);
}

} // namespace interlock
