// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel cache as an embedder opens it, asks it and freezes it. prepare.hpp fills it before it is needed.
#pragma once

#include "interlock/spec.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace interlock INTERLOCK_API {

class KernelCache;

struct KernelCacheConfig {
  std::string directory;                 ///< of the disk cache, made if it is missing; empty: memory only
  uint64_t maxBytes = uint64_t(1) << 30; ///< of the disk cache; least recently used entries go first
  uint64_t maxFiles = 10'000;
  uint64_t memoryEntries = 4096; ///< kernels kept in memory, least recently used go first
  bool readOnly = false;         ///< nothing in the directory is changed: an image that was baked
  std::string compilerPath;      ///< of libinterlock_compiler.so; empty: beside libinterlock.so, in ../lib, or by name
  std::string templateDir;       ///< overrides the compiler's templates, if not empty
  /// For a profiler: kernels name lines of their expanded MLIR, which is written here when they are compiled, and
  /// should stay. The instructions are the same, but they are other kernels to the cache. Empty: they name none.
  std::string lineFolder;
  std::function<void(std::string_view)> log; ///< is told every note once, from the thread that ran into it
};

/// Never fails: a directory that cannot be used leaves a cache in memory, and a compiler that is missing shows at the
/// first miss. Thread safe; several processes may share a directory. One that was forked goes on with what is on disk.
std::shared_ptr<KernelCache> openKernelCache(const KernelCacheConfig &config);

/// From here on a kernel that is neither in memory nor on disk is an error (`notPrepared`), at once: nothing is
/// compiled and nobody is waited for. A compilation that is under way goes on.
void freeze(KernelCache &cache);
void thaw(KernelCache &cache);

struct CacheCounters {
  uint64_t memoryHits = 0, diskHits = 0;
  uint64_t misses = 0;   ///< lookups that found nothing: compiled + failed + refused
  uint64_t compiled = 0; ///< that the compiler made
  uint64_t failed = 0;   ///< that it could not make; the next lookup tries again
  uint64_t refused = 0;  ///< because the cache was frozen
  uint64_t repaired = 0; ///< damaged entries that were replaced
};

struct CacheMiss {
  KernelSpec spec;
  std::string source;  ///< what a kernel that was given as source is called; of the spec only the target counts then
  std::string key;     ///< empty if the disk cache is off
  std::string reason;  ///< why nothing was found
  std::string failure; ///< why nothing was made either; empty if it was
  double milliseconds = 0;
};

/// What a cache is and what became of every lookup.
struct CacheReport {
  std::string directory; ///< empty if the disk cache is off
  bool readOnly = false; ///< asked for, or because it cannot be written
  bool frozen = false;
  CacheCounters counters;
  std::vector<CacheMiss> misses;  ///< the last 256, oldest first
  std::vector<std::string> notes; ///< every downgrade so far, one sentence each, each once
};
CacheReport report(const KernelCache &cache);

} // namespace interlock INTERLOCK_API
