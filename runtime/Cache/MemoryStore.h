// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Artefacts in memory by what they are made of, bounded, and the place where threads that want the same one wait for
// each other.
#pragma once

#include "runtime/Cache/Artifact.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace interlock {

/// Mixes the fields of a spec: cheap, because a hit in memory must not build the canonical form.
struct SpecHash {
  size_t operator()(const KernelSpec &spec) const noexcept;
};

template <typename Key, typename Hash> class MemoryStore {
public:
  /// One kernel. `making` is held by the thread that loads or compiles it; the others wait there.
  struct Slot {
    std::mutex making;
    std::shared_ptr<const Artifact> artifact; ///< guarded by the store's lock
    std::atomic<uint64_t> lastUse{0};
  };

  /// Keeps at most `bound` artefacts; the least recently used go first. Those that are being made count too, so there
  /// may be more until they are.
  explicit MemoryStore(uint64_t bound) : bound(bound) {}

  /// Null if it is not there. Allocates nothing.
  std::shared_ptr<const Artifact> find(const Key &key);
  std::shared_ptr<Slot> slotFor(const Key &key);
  void keep(const Key &key, const std::shared_ptr<Slot> &slot, std::shared_ptr<const Artifact> artifact);
  /// Drops a slot that could not be filled, so that failures take no room. Threads that wait for it try for themselves.
  void forget(const Key &key, const std::shared_ptr<Slot> &slot);

private:
  uint64_t bound;
  std::shared_mutex mutex; ///< of `slots` and the artefacts in them
  std::unordered_map<Key, std::shared_ptr<Slot>, Hash> slots;
  std::atomic<uint64_t> tick{0};
};

/// By spec, and by the canonical form of a source.
using SpecStore = MemoryStore<KernelSpec, SpecHash>;
using SourceStore = MemoryStore<std::string, std::hash<std::string>>;

} // namespace interlock
