// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/KernelCache.h"

#include "runtime/Cache/Digest.h"
#include "runtime/Cache/EntryFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

namespace interlock {
namespace {

using Clock = std::chrono::steady_clock;

/// Of the key, so that a change of what an entry means is another key.
constexpr const char *keyVersion = "interlock-key-1";

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Mixes the fields of a spec: cheap, because a hit in memory must not build the canonical form.
struct SpecHash {
  size_t operator()(const KernelSpec &s) const {
    const LayerSpec &l = s.layer;
    size_t hash = std::hash<std::string>()(s.target);
    for (uint64_t field : {uint64_t(l.ranks) << 32 | l.experts, uint64_t(l.topk) << 32 | l.hidden,
                           uint64_t(l.scaleBytes) << 32 | l.maxTokens, uint64_t(l.capacity) << 32 | s.blockThreads,
                           uint64_t(l.dtype) << 56 | uint64_t(l.combineDType) << 48 | uint64_t(s.kernel) << 40 |
                               uint64_t(s.schedule) << 32 | uint64_t(s.copy) << 28 | uint64_t(s.wait) << 24 |
                               uint64_t(l.expertRows) << 16 | uint64_t(s.cluster) << 8 | s.tileTokens})
      hash = (hash ^ field) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
  }
};

/// One spec in memory. `making` is held by the thread that loads or compiles it; the others wait there.
struct Slot {
  std::mutex making;
  std::shared_ptr<const Artifact> artifact; ///< guarded by the cache's lock
  std::atomic<uint64_t> lastUse{0};
};

std::string featuresOf(const TargetInfo &t) {
  return fmt::format("{} {} cc={} warp={} ptx={} clusters={} async={} restricted={} shared={}", t.vendor, t.name,
                     t.computeCapability, t.warpWidth, t.minPtxIsa, t.clusters, t.asyncBarrier, t.restrictedFence,
                     t.maxSharedBytes);
}

} // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
  case Outcome::memory:
    return "memory";
  case Outcome::disk:
    return "disk";
  case Outcome::miss:
    return "miss";
  }
  return "?";
}

std::string defaultCacheDirectory(const std::string &xdgCacheHome, const std::string &home) {
  // XDG Base Directory Specification: a relative path is invalid and is to be ignored.
  if (!xdgCacheHome.empty() && xdgCacheHome.front() == '/')
    return xdgCacheHome + "/interlock";
  return home.empty() ? std::string() : home + "/.cache/interlock";
}

struct KernelCache::State {
  explicit State(CacheOptions given) : options(std::move(given)) {
    if (options.directory.empty()) {
      diskOff = "no directory was given";
      return;
    }
    auto opened = DiskStore::open(options.directory, options.limits);
    if (opened) {
      store.emplace(std::move(*opened));
      if (!store->readOnly().empty())
        note(fmt::format("the disk cache is read only: {}; what it lacks is compiled anew by each process",
                         store->readOnly()));
    } else {
      diskOff = opened.error().message;
      note(fmt::format("the disk cache is off: {}; kernels are compiled anew by each process", diskOff));
    }
  }

  std::shared_ptr<const Artifact> find(const KernelSpec &spec);
  std::shared_ptr<Slot> slotFor(const KernelSpec &spec);
  void keep(const KernelSpec &spec, const std::shared_ptr<Slot> &slot, std::shared_ptr<const Artifact> artifact);
  void forget(const KernelSpec &spec, const std::shared_ptr<Slot> &slot);
  bool writable() const { return store && store->readOnly().empty(); }
  Result<Lookup> loadOrMake(const KernelSpec &spec);
  std::optional<Lookup> load(const KernelSpec &spec, const std::string &key, std::string &reason);
  Result<std::shared_ptr<const Artifact>> make(const KernelSpec &spec);
  Result<std::string> identity();
  Result<std::string> keyOf(const KernelSpec &spec);

  void note(std::string text) {
    std::lock_guard lock(notesMutex);
    if (std::find(notes.begin(), notes.end(), text) == notes.end())
      notes.push_back(std::move(text));
  }

  CacheOptions options;
  std::optional<DiskStore> store;
  std::string diskOff; ///< why there is no store

  std::shared_mutex mutex; ///< of `slots` and the artefacts in them
  std::unordered_map<KernelSpec, std::shared_ptr<Slot>, SpecHash> slots;
  std::atomic<uint64_t> tick{0};

  std::mutex identityMutex;
  std::string knownIdentity;

  mutable std::mutex notesMutex;
  std::vector<std::string> notes;

  std::atomic<uint64_t> memoryHits{0}, diskHits{0}, misses{0}, compiled{0}, failed{0}, repaired{0};
};

std::shared_ptr<const Artifact> KernelCache::State::find(const KernelSpec &spec) {
  std::shared_lock lock(mutex);
  auto found = slots.find(spec);
  if (found == slots.end() || !found->second->artifact)
    return nullptr;
  found->second->lastUse = ++tick;
  return found->second->artifact;
}

std::shared_ptr<Slot> KernelCache::State::slotFor(const KernelSpec &spec) {
  std::unique_lock lock(mutex);
  std::shared_ptr<Slot> &slot = slots[spec];
  if (!slot)
    slot = std::make_shared<Slot>();
  return slot;
}

void KernelCache::State::keep(const KernelSpec &spec, const std::shared_ptr<Slot> &slot,
                              std::shared_ptr<const Artifact> artifact) {
  std::unique_lock lock(mutex);
  slot->artifact = std::move(artifact);
  slot->lastUse = ++tick;
  // Another thread may have dropped the slot while this one was filling it.
  slots.insert_or_assign(spec, slot);
  // Slots that are being filled count too, so several may have to go once they are.
  while (slots.size() > options.memoryEntries) {
    auto oldest = slots.end();
    for (auto at = slots.begin(); at != slots.end(); ++at)
      if (at->second != slot && at->second->artifact &&
          (oldest == slots.end() || at->second->lastUse < oldest->second->lastUse))
        oldest = at;
    if (oldest == slots.end())
      return;
    slots.erase(oldest);
  }
}

/// Drops a slot that could not be filled, so that failures take no room. Threads that wait for it try for themselves.
void KernelCache::State::forget(const KernelSpec &spec, const std::shared_ptr<Slot> &slot) {
  std::unique_lock lock(mutex);
  auto found = slots.find(spec);
  if (found != slots.end() && found->second == slot && !slot->artifact)
    slots.erase(found);
}

/// The compiler's identity, or, with no compiler to ask, that of the compiler that last wrote into the directory.
Result<std::string> KernelCache::State::identity() {
  std::lock_guard lock(identityMutex);
  if (!knownIdentity.empty())
    return knownIdentity;
  auto asked = options.compiler ? options.compiler->identity()
                                : Result<std::string>(makeError(Code::notFound, "no compiler was given to the cache"));
  if (!asked) {
    std::optional<std::string> recorded = store ? store->readToolchain() : std::nullopt;
    if (!recorded)
      return asked;
    note(fmt::format("{}; kernels cached by the last compiler are used", asked.error().message));
    return *recorded;
  }
  knownIdentity = *asked;
  if (writable())
    if (Status written = store->writeToolchain(knownIdentity); !written)
      note(written.error().message);
  return knownIdentity;
}

Result<std::string> KernelCache::State::keyOf(const KernelSpec &spec) {
  ILK_ASSIGN_OR_RETURN(std::string compiler, identity());
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  std::string fields[] = {keyVersion, canonicalForm(spec), featuresOf(target), compiler};
  return digestOfFields(fields);
}

std::optional<Lookup> KernelCache::State::load(const KernelSpec &spec, const std::string &key, std::string &reason) {
  std::optional<std::string> bytes = store->read(key);
  if (!bytes) {
    reason = "nothing is cached for this spec and compiler";
    return std::nullopt;
  }
  auto artifact = decodeEntry(*bytes);
  if (artifact && artifact->spec == spec)
    return Lookup{std::make_shared<const Artifact>(std::move(*artifact)), Outcome::disk, "", 0};
  reason = fmt::format("the cached entry is damaged and is replaced: {}",
                       artifact ? "it is of another spec" : artifact.error());
  ++repaired;
  return std::nullopt;
}

Result<std::shared_ptr<const Artifact>> KernelCache::State::make(const KernelSpec &spec) {
  if (!options.compiler)
    return makeError(Code::notFound, "expected a cached kernel, found none, and there is no compiler to make it");
  auto parts = options.compiler->compile(spec, {"ptx", "cubin", "meta"});
  auto artifact = !parts
                      ? Result<Artifact>(tl::unexpected(parts.error()))
                      : makeArtifact(spec, std::move((*parts)["ptx"]), std::move((*parts)["cubin"]), (*parts)["meta"]);
  if (!artifact) {
    ++failed;
    return tl::unexpected(artifact.error());
  }
  ++compiled;
  return std::make_shared<const Artifact>(std::move(*artifact));
}

Result<Lookup> KernelCache::State::loadOrMake(const KernelSpec &spec) {
  if (!store) {
    ILK_ASSIGN_OR_RETURN(auto artifact, make(spec));
    ++misses;
    return Lookup{std::move(artifact), Outcome::miss, "the disk cache is off: " + diskOff, 0};
  }
  ILK_ASSIGN_OR_RETURN(std::string key, keyOf(spec));
  std::string reason;
  if (auto hit = load(spec, key, reason)) {
    ++diskHits;
    return std::move(*hit);
  }
  if (!writable()) {
    ILK_ASSIGN_OR_RETURN(auto artifact, make(spec));
    ++misses;
    return Lookup{std::move(artifact), Outcome::miss, reason, 0};
  }
  KeyLock lock = store->lock(key);
  if (!lock.held())
    note("the cache's file system cannot lock: each process may compile the same kernel, and the last one stays");
  // Whoever held the lock may have made it.
  std::string again;
  if (auto hit = load(spec, key, again)) {
    ++diskHits;
    hit->reason = "another process made it meanwhile";
    return std::move(*hit);
  }
  ILK_ASSIGN_OR_RETURN(auto artifact, make(spec));
  ++misses;
  ILK_ASSIGN_OR_RETURN(std::string compiler, identity());
  if (Status written = store->publish(key, encodeEntry(*artifact, compiler)); !written)
    note(fmt::format("a kernel could not be cached: {}", written.error().message));
  return Lookup{std::move(artifact), Outcome::miss, reason, 0};
}

KernelCache::KernelCache(CacheOptions options) : state(std::make_unique<State>(std::move(options))) {}
KernelCache::~KernelCache() = default;

std::unique_ptr<KernelCache> KernelCache::open(CacheOptions options) {
  return std::unique_ptr<KernelCache>(new KernelCache(std::move(options)));
}

Result<Lookup> KernelCache::get(const KernelSpec &spec) {
  auto begin = Clock::now();
  auto hit = [&](std::shared_ptr<const Artifact> artifact) {
    state->memoryHits.fetch_add(1, std::memory_order_relaxed);
    return Lookup{std::move(artifact), Outcome::memory, {}, millisecondsSince(begin)};
  };
  if (auto artifact = state->find(spec))
    return hit(std::move(artifact));
  ILK_RETURN_IF_ERROR(validate(spec));
  std::shared_ptr<Slot> slot = state->slotFor(spec);
  std::lock_guard making(slot->making);
  if (auto artifact = state->find(spec))
    return hit(std::move(artifact));
  Result<Lookup> lookup = state->loadOrMake(spec);
  if (!lookup) {
    state->forget(spec, slot);
    return lookup;
  }
  state->keep(spec, slot, lookup->artifact);
  lookup->milliseconds = millisecondsSince(begin);
  return lookup;
}

Result<std::string> KernelCache::keyOf(const KernelSpec &spec) { return state->keyOf(spec); }

std::vector<std::string> KernelCache::notes() const {
  std::lock_guard lock(state->notesMutex);
  return state->notes;
}

CacheCounters KernelCache::counters() const {
  return {state->memoryHits, state->diskHits, state->misses, state->compiled, state->failed, state->repaired};
}

const DiskStore *KernelCache::disk() const { return state->store ? &*state->store : nullptr; }

} // namespace interlock
