// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/CacheLog.h"

#include <algorithm>

namespace interlock {
namespace {
/// As CacheReport says.
constexpr size_t missesKept = 256;
} // namespace

void CacheLog::note(std::string text) {
  {
    std::lock_guard lock(mutex);
    if (std::find(notes.begin(), notes.end(), text) != notes.end())
      return;
    notes.push_back(text);
  }
  // Not under the lock: the listener may ask the cache.
  if (listener)
    listener(text);
}

void CacheLog::miss(CacheMiss miss) {
  std::lock_guard lock(mutex);
  misses.push_back(std::move(miss));
  if (misses.size() > missesKept)
    misses.pop_front();
}

CacheReport CacheLog::report() const {
  CacheReport all;
  all.counters = counters();
  std::lock_guard lock(mutex);
  all.misses.assign(misses.begin(), misses.end());
  all.notes = notes;
  return all;
}

std::vector<std::string> CacheLog::allNotes() const {
  std::lock_guard lock(mutex);
  return notes;
}

CacheCounters CacheLog::counters() const {
  CacheCounters all{memoryHits, diskHits, 0, compiled, failed, refused, repaired};
  all.misses = all.compiled + all.failed + all.refused;
  return all;
}

} // namespace interlock
