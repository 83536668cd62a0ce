// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/KernelCache.h"

#include "runtime/Cache/CacheLog.h"
#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/ForkGate.h"
#include "runtime/Cache/Key.h"
#include "runtime/Cache/MemoryStore.h"
#include "runtime/Spec/Fork.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <optional>

namespace interlock {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
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
  explicit State(CacheOptions given)
      : options(std::move(given)), forks(forkCount()), memory(options.memoryEntries), log(options.log) {
    if (options.directory.empty()) {
      diskOff = "no directory was given";
      return;
    }
    auto opened = options.readOnly ? DiskStore::openReadOnly(options.directory, options.limits)
                                   : DiskStore::open(options.directory, options.limits);
    if (opened) {
      store.emplace(std::move(*opened));
      if (!options.readOnly && !writable())
        log.note(fmt::format("the disk cache is read only: {}; what it lacks is compiled anew by each process",
                             store->readOnly()));
    } else {
      diskOff = opened.error().message;
      log.note(fmt::format("the disk cache is off: {}; kernels are compiled anew by each process", diskOff));
    }
  }

  /// What the disk has of a spec.
  struct OnDisk {
    std::shared_ptr<const Artifact> artifact;
    std::string reason;   ///< why there is none
    bool damaged = false; ///< there is something in its place
  };

  bool writable() const { return store && store->readOnly().empty(); }
  Result<Lookup> loadOrMake(const KernelSpec &spec);
  Result<Lookup> loadOrRefuse(const KernelSpec &spec);
  Result<Lookup> makeUnderLock(const KernelSpec &spec, const std::string &key, OnDisk before);
  Result<Lookup> make(const KernelSpec &spec, const std::string &key, const std::string &reason);
  Result<std::shared_ptr<const Artifact>> compile(const KernelSpec &spec);
  OnDisk load(const KernelSpec &spec, const std::string &key);
  Result<Lookup> diskHit(OnDisk found, std::string reason);
  Result<std::string> identity();
  Result<std::string> keyOf(const KernelSpec &spec);

  const CacheOptions options;
  const uint64_t forks; ///< forkCount() of the process that this state is of
  std::optional<DiskStore> store;
  std::string diskOff; ///< why there is no store
  std::atomic<bool> frozen{false};

  MemoryStore memory;
  CacheLog log;

  std::mutex identityMutex;
  std::string knownIdentity;
};

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
    log.note(fmt::format("{}; kernels cached by the last compiler are used", asked.error().message));
    return *recorded;
  }
  knownIdentity = *asked;
  if (writable())
    if (Status written = store->writeToolchain(knownIdentity); !written)
      log.note(written.error().message);
  return knownIdentity;
}

Result<std::string> KernelCache::State::keyOf(const KernelSpec &spec) {
  ILK_ASSIGN_OR_RETURN(std::string compiler, identity());
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  return cacheKey(spec, target, compiler);
}

KernelCache::State::OnDisk KernelCache::State::load(const KernelSpec &spec, const std::string &key) {
  auto bytes = store->read(key);
  if (!bytes && bytes.error().absent)
    return {nullptr, "nothing is cached for this spec and compiler"};
  if (!bytes)
    return {nullptr, fmt::format("the cached entry cannot be read and is replaced: {}", bytes.error().why), true};
  auto damaged = [](std::string_view why) {
    return OnDisk{nullptr, fmt::format("the cached entry is damaged and is replaced: {}", why), true};
  };
  auto entry = decodeEntry(*bytes);
  if (!entry)
    return damaged(entry.error());
  if (entry->artifact.spec != spec)
    return damaged("it is of another spec");
  if (entry->key() != key)
    return damaged("it was made by another compiler than its name says");
  return {std::make_shared<const Artifact>(std::move(entry->artifact)), {}};
}

Result<Lookup> KernelCache::State::diskHit(OnDisk found, std::string reason) {
  ++log.diskHits;
  return Lookup{std::move(found.artifact), Outcome::disk, std::move(reason), 0};
}

Result<std::shared_ptr<const Artifact>> KernelCache::State::compile(const KernelSpec &spec) {
  if (!options.compiler)
    return makeError(Code::notFound, "expected a cached kernel, found none, and there is no compiler to make it");
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  const char *text = target.textPart(), *binary = target.binaryPart();
  ILK_ASSIGN_OR_RETURN(auto parts, options.compiler->compile(spec, {text, binary, "meta"}));
  ILK_ASSIGN_OR_RETURN(Artifact artifact,
                       makeArtifact(spec, std::move(parts[text]), std::move(parts[binary]), parts["meta"]));
  return std::make_shared<const Artifact>(std::move(artifact));
}

Result<Lookup> KernelCache::State::make(const KernelSpec &spec, const std::string &key, const std::string &reason) {
  auto begin = Clock::now();
  auto artifact = compile(spec);
  ++(artifact ? log.compiled : log.failed);
  log.miss({spec, key, reason, artifact ? "" : artifact.error().message, millisecondsSince(begin)});
  if (!artifact)
    return tl::unexpected(artifact.error());
  return Lookup{std::move(*artifact), Outcome::miss, reason, 0};
}

Result<Lookup> KernelCache::State::makeUnderLock(const KernelSpec &spec, const std::string &key, OnDisk before) {
  KeyLock lock = store->lock(key);
  if (!lock.held())
    log.note(fmt::format("{}; so each process may compile the same kernel, and the last one stays", lock.why()));
  // Whoever held the lock may have made it.
  if (OnDisk now = load(spec, key); now.artifact)
    return diskHit(std::move(now), "another process made it meanwhile");
  ILK_ASSIGN_OR_RETURN(Lookup made, make(spec, key, before.reason));
  ILK_ASSIGN_OR_RETURN(std::string compiler, identity());
  if (Status written = store->publish(key, encodeEntry(*made.artifact, compiler)); !written)
    log.note(fmt::format("a kernel could not be cached: {}", written.error().message));
  else if (before.damaged)
    ++log.repaired;
  return made;
}

Result<Lookup> KernelCache::State::loadOrMake(const KernelSpec &spec) {
  if (!store)
    return make(spec, {}, "the disk cache is off: " + diskOff);
  ILK_ASSIGN_OR_RETURN(std::string key, keyOf(spec));
  OnDisk found = load(spec, key);
  if (found.artifact)
    return diskHit(std::move(found), {});
  return writable() ? makeUnderLock(spec, key, std::move(found)) : make(spec, key, found.reason);
}

Result<Lookup> KernelCache::State::loadOrRefuse(const KernelSpec &spec) {
  std::string key, reason = "the disk cache is off: " + diskOff;
  if (store) {
    ILK_ASSIGN_OR_RETURN(key, keyOf(spec));
    OnDisk found = load(spec, key);
    if (found.artifact)
      return diskHit(std::move(found), {});
    reason = std::move(found.reason);
  }
  ++log.refused;
  log.miss({spec, key, reason, "the cache is frozen", 0});
  return makeError(Code::notPrepared,
                   fmt::format("expected a {} kernel that was prepared before the cache was frozen, but {}: preparing "
                               "it, or thawing the cache, would do",
                               name(spec.kernel), reason));
}

KernelCache::KernelCache(std::unique_ptr<State> state) : state(state.release()) {}
KernelCache::~KernelCache() { delete state.load(); }

std::unique_ptr<KernelCache> KernelCache::open(CacheOptions options) {
  return std::unique_ptr<KernelCache>(new KernelCache(std::make_unique<State>(std::move(options))));
}

KernelCache::State &KernelCache::current() const {
  State *now = state.load(std::memory_order_acquire);
  if (now->forks == forkCount()) [[likely]]
    return *now;
  // The old state is left as it is: its locks may be held for ever, and its artefacts are in use.
  auto fresh = std::make_unique<State>(now->options);
  fresh->frozen = now->frozen.load();
  if (state.compare_exchange_strong(now, fresh.get()))
    return *fresh.release();
  return *now;
}

Result<Lookup> KernelCache::get(const KernelSpec &spec) {
  State &my = current();
  auto hit = [&](std::shared_ptr<const Artifact> artifact, double milliseconds = 0) {
    my.log.memoryHits.fetch_add(1, std::memory_order_relaxed);
    return Lookup{std::move(artifact), Outcome::memory, {}, milliseconds};
  };
  // Not timed: looking at the clock twice would take longer than the lookup.
  if (auto artifact = my.memory.find(spec))
    return hit(std::move(artifact));
  // Everything behind this may make a static object for the first time, which a child of a fork would wait for.
  ForkGate gate;
  auto begin = Clock::now();
  ILK_RETURN_IF_ERROR(validate(spec));
  std::shared_ptr<MemoryStore::Slot> slot = my.memory.slotFor(spec);
  std::unique_lock making(slot->making, std::defer_lock);
  bool frozen = my.frozen;
  if (!frozen) {
    making.lock();
    if (auto artifact = my.memory.find(spec))
      return hit(std::move(artifact), millisecondsSince(begin));
  }
  Result<Lookup> lookup = frozen ? my.loadOrRefuse(spec) : my.loadOrMake(spec);
  if (!lookup) {
    my.memory.forget(spec, slot);
    return lookup;
  }
  my.memory.keep(spec, slot, lookup->artifact);
  lookup->milliseconds = millisecondsSince(begin);
  return lookup;
}

void KernelCache::freeze(bool frozen) { current().frozen = frozen; }

Result<std::string> KernelCache::keyOf(const KernelSpec &spec) { return current().keyOf(spec); }

CacheReport KernelCache::report() const {
  State &my = current();
  CacheReport report = my.log.report();
  if (my.store) {
    report.directory = my.store->root().string();
    report.readOnly = !my.writable();
  }
  report.frozen = my.frozen;
  return report;
}

std::vector<std::string> KernelCache::notes() const { return current().log.allNotes(); }

CacheCounters KernelCache::counters() const { return current().log.counters(); }

const DiskStore *KernelCache::disk() const {
  State &my = current();
  return my.store ? &*my.store : nullptr;
}

} // namespace interlock
