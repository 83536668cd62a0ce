// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/Fork.h"

#include <atomic>

#include <pthread.h>

namespace interlock {
namespace {
std::atomic<uint64_t> forks{0};
}

uint64_t forkCount() {
  // Not before the first call: loading the library has no effect on its process. And not a static object's
  // initialisation: this one a child begins anew if its parent was forked in the middle of it.
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }); });
  return forks.load(std::memory_order_relaxed);
}

} // namespace interlock
