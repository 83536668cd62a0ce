// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a cache remembers of its lookups: counters, the last misses, and each downgrade once. In memory only.
#pragma once

#include "interlock/cache.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

/// Any thread may call it.
class CacheLog {
public:
  explicit CacheLog(std::function<void(std::string_view)> listener) : listener(std::move(listener)) {}

  /// Says something once, however often it is noted.
  void note(std::string text);
  /// A lookup that found nothing.
  void miss(CacheMiss miss);

  /// Counters, misses and notes; the rest is the cache's to fill in.
  CacheReport report() const;
  std::vector<std::string> allNotes() const;
  CacheCounters counters() const;

  std::atomic<uint64_t> memoryHits{0}, diskHits{0}, compiled{0}, failed{0}, refused{0}, repaired{0};

private:
  std::function<void(std::string_view)> listener;
  mutable std::mutex mutex; ///< of what follows
  std::vector<std::string> notes;
  std::deque<CacheMiss> misses;
};

} // namespace interlock
