// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels by spec: from memory, from disk, or made by the compiler, once.
#pragma once

#include "interlock/cache.hpp"
#include "runtime/Cache/Artifact.h"
#include "runtime/Cache/Compiler.h"
#include "runtime/Cache/DiskStore.h"
#include "runtime/Cache/SourceRequest.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace interlock {

enum class Outcome : uint8_t { memory, disk, miss };
std::string_view name(Outcome outcome);

/// What a lookup gave, and how it was come by.
struct Lookup {
  std::shared_ptr<const Artifact> artifact;
  Outcome outcome = Outcome::memory;
  std::string reason;      ///< of a miss, or of a disk hit that was not the first try; empty on a plain hit
  double milliseconds = 0; ///< of the whole call; 0 for a plain hit in memory, which is not timed
};

struct CacheOptions {
  std::string directory;                     ///< of the disk cache, made if it is missing; empty: memory only
  DiskLimits limits;                         ///< of the disk cache
  uint64_t memoryEntries = 4096;             ///< artefacts kept in memory, least recently used go first
  bool readOnly = false;                     ///< nothing in the directory is changed
  std::shared_ptr<Compiler> compiler;        ///< makes what is missing; null: a miss is an error
  std::function<void(std::string_view)> log; ///< is told every note
};

/// $XDG_CACHE_HOME/interlock or $HOME/.cache/interlock, from those variables' values; empty if neither serves.
std::string defaultCacheDirectory(const std::string &xdgCacheHome, const std::string &home);

/// Thread safe; several processes may share a directory. One key is compiled once at a time, in this process and, where
/// the file system can lock, in all. Failures are not cached: they are remembered for `report`, and the next call tries
/// again.
class KernelCache {
public:
  /// Never fails: a directory that cannot be used leaves a cache in memory, and a note.
  static std::unique_ptr<KernelCache> open(CacheOptions options);
  ~KernelCache();

  [[nodiscard]] Result<Lookup> get(const KernelSpec &spec);
  /// The same of a kernel that is given as source.
  [[nodiscard]] Result<Lookup> get(const SourceRequest &source);
  /// From here on `get` compiles nothing and waits for nobody: what is not there is `notPrepared`.
  void freeze(bool frozen);

  /// The name of the spec's entry on disk (Key.h).
  Result<std::string> keyOf(const KernelSpec &spec);
  Result<std::string> keyOf(const SourceRequest &source);

  CacheReport report() const;
  /// Parts of the report.
  std::vector<std::string> notes() const;
  CacheCounters counters() const;
  /// What makes kernels on a miss; may be null.
  std::shared_ptr<Compiler> compiler() const;
  /// The disk cache, or null if it is off.
  const DiskStore *disk() const;

private:
  struct State;
  explicit KernelCache(std::unique_ptr<State> state);
  State &current() const;

  /// Replaced in a process that was forked, because locks of the old one may be held by threads that are not there.
  mutable std::atomic<State *> state;
};

} // namespace interlock
