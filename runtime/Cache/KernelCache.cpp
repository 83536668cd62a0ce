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
#include <map>
#include <mutex>
#include <optional>

namespace interlock {
namespace {

using Clock = std::chrono::steady_clock;

/// What a lookup asks for: one of the two.
struct Wanted {
  const KernelSpec *spec = nullptr;
  const SourceRequest *source = nullptr;

  std::string form() const { return source ? source->form : canonicalForm(*spec); }
  std::string_view target() const { return source ? source->target : spec->target; }
  std::string what() const { return source ? source->what : std::string(name(spec->kernel)) + " kernel"; }
  bool isMade(const Artifact &artifact) const {
    return source ? artifact.source == source->form : artifact.source.empty() && artifact.spec == *spec;
  }
  /// A source has none; what an artefact of one has in its place says its target.
  KernelSpec plainSpec() const {
    if (spec)
      return *spec;
    KernelSpec none;
    none.target = source->target;
    return none;
  }
};

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
      : options(std::move(given)), forks(forkCount()), memory(options.memoryEntries), sources(options.memoryEntries),
        log(options.log) {
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
  template <typename Memory, typename Key>
  Result<Lookup> lookUp(Memory &from, const Key &key, const Wanted &wanted, Clock::time_point begin);
  Result<Lookup> loadOrMake(const Wanted &wanted);
  Result<Lookup> loadOrRefuse(const Wanted &wanted);
  Result<Lookup> makeUnderLock(const Wanted &wanted, const std::string &key, OnDisk before);
  Result<Lookup> make(const Wanted &wanted, const std::string &key, const std::string &reason);
  Result<std::shared_ptr<const Artifact>> compile(const Wanted &wanted);
  OnDisk load(const Wanted &wanted, const std::string &key);
  Result<Lookup> diskHit(OnDisk found, std::string reason);
  Lookup memoryHit(std::shared_ptr<const Artifact> artifact, double milliseconds = 0);
  Result<std::string> identity(const Wanted &wanted);
  Result<std::string> keyOf(const Wanted &wanted);

  const CacheOptions options;
  const uint64_t forks; ///< forkCount() of the process that this state is of
  std::optional<DiskStore> store;
  std::string diskOff; ///< why there is no store
  std::atomic<bool> frozen{false};

  SpecStore memory;
  SourceStore sources;
  CacheLog log;

  std::mutex identityMutex;
  std::map<std::string, std::string> knownIdentities; ///< by toolchain; that of the plugin has no name
};

/// The compiler's identity, or, with no compiler to ask, that of the compiler that last wrote into the directory.
Result<std::string> KernelCache::State::identity(const Wanted &wanted) {
  std::lock_guard lock(identityMutex);
  const std::string toolchain = wanted.source ? wanted.source->toolchain : std::string();
  std::string &known = knownIdentities[toolchain];
  if (!known.empty())
    return known;
  auto asked = wanted.source ? wanted.source->identity()
               : options.compiler
                   ? options.compiler->identity()
                   : Result<std::string>(makeError(Code::notFound, "no compiler was given to the cache"));
  if (!asked) {
    std::optional<std::string> recorded = store ? store->readToolchain(toolchain) : std::nullopt;
    if (!recorded)
      return asked;
    log.note(fmt::format("{}; kernels cached by the last compiler are used", asked.error().message));
    return *recorded;
  }
  known = *asked;
  if (writable())
    if (Status written = store->writeToolchain(known, toolchain); !written)
      log.note(written.error().message);
  return known;
}

Result<std::string> KernelCache::State::keyOf(const Wanted &wanted) {
  ILK_ASSIGN_OR_RETURN(std::string compiler, identity(wanted));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(wanted.target()));
  return cacheKey(wanted.form(), target, compiler);
}

KernelCache::State::OnDisk KernelCache::State::load(const Wanted &wanted, const std::string &key) {
  auto bytes = store->read(key);
  if (!bytes && bytes.error().absent)
    return {nullptr, fmt::format("nothing is cached for this {} and compiler", wanted.source ? "source" : "spec")};
  if (!bytes)
    return {nullptr, fmt::format("the cached entry cannot be read and is replaced: {}", bytes.error().why), true};
  auto damaged = [](std::string_view why) {
    return OnDisk{nullptr, fmt::format("the cached entry is damaged and is replaced: {}", why), true};
  };
  auto entry = decodeEntry(*bytes);
  if (!entry && entry.error().otherVersion)
    return {nullptr, fmt::format("the cached entry was written by another version of Interlock and is replaced: {}",
                                 entry.error().why)};
  if (!entry)
    return damaged(entry.error().why);
  if (!wanted.isMade(entry->artifact))
    return damaged(wanted.source ? "it is of another source" : "it is of another spec");
  if (entry->key != key)
    return damaged("it was made by another compiler than its name says");
  return {std::make_shared<const Artifact>(std::move(entry->artifact)), {}};
}

Result<Lookup> KernelCache::State::diskHit(OnDisk found, std::string reason) {
  ++log.diskHits;
  return Lookup{std::move(found.artifact), Outcome::disk, std::move(reason), 0};
}

Result<std::shared_ptr<const Artifact>> KernelCache::State::compile(const Wanted &wanted) {
  if (!wanted.source && !options.compiler)
    return makeError(Code::notFound, "expected a cached kernel, found none, and there is no compiler to make it");
  KernelSpec spec = wanted.plainSpec();
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  const char *text = target.textPart(), *binary = target.binaryPart();
  ILK_ASSIGN_OR_RETURN(auto parts, wanted.source ? wanted.source->compile()
                                                 : options.compiler->compile(*wanted.spec, {text, binary, "meta"}));
  ILK_ASSIGN_OR_RETURN(Artifact artifact,
                       makeArtifact(spec, std::move(parts[text]), std::move(parts[binary]), parts["meta"]));
  if (wanted.source)
    artifact.source = wanted.source->form;
  return std::make_shared<const Artifact>(std::move(artifact));
}

Result<Lookup> KernelCache::State::make(const Wanted &wanted, const std::string &key, const std::string &reason) {
  auto begin = Clock::now();
  auto artifact = compile(wanted);
  ++(artifact ? log.compiled : log.failed);
  log.miss({wanted.plainSpec(), wanted.source ? wanted.source->what : "", key, reason,
            artifact ? "" : artifact.error().message, millisecondsSince(begin)});
  if (!artifact)
    return tl::unexpected(artifact.error());
  return Lookup{std::move(*artifact), Outcome::miss, reason, 0};
}

Result<Lookup> KernelCache::State::makeUnderLock(const Wanted &wanted, const std::string &key, OnDisk before) {
  KeyLock lock = store->lock(key);
  if (!lock.held())
    log.note(fmt::format("{}; so each process may compile the same kernel, and the last one stays", lock.why()));
  // Whoever held the lock may have made it.
  if (OnDisk now = load(wanted, key); now.artifact)
    return diskHit(std::move(now), "another process made it meanwhile");
  ILK_ASSIGN_OR_RETURN(Lookup made, make(wanted, key, before.reason));
  ILK_ASSIGN_OR_RETURN(std::string compiler, identity(wanted));
  if (Status written = store->publish(key, encodeEntry(*made.artifact, compiler)); !written)
    log.note(fmt::format("a kernel could not be cached: {}", written.error().message));
  else if (before.damaged)
    ++log.repaired;
  return made;
}

Result<Lookup> KernelCache::State::loadOrMake(const Wanted &wanted) {
  if (!store)
    return make(wanted, {}, "the disk cache is off: " + diskOff);
  ILK_ASSIGN_OR_RETURN(std::string key, keyOf(wanted));
  OnDisk found = load(wanted, key);
  if (found.artifact)
    return diskHit(std::move(found), {});
  return writable() ? makeUnderLock(wanted, key, std::move(found)) : make(wanted, key, found.reason);
}

Result<Lookup> KernelCache::State::loadOrRefuse(const Wanted &wanted) {
  std::string key, reason = "the disk cache is off: " + diskOff;
  if (store) {
    ILK_ASSIGN_OR_RETURN(key, keyOf(wanted));
    OnDisk found = load(wanted, key);
    if (found.artifact)
      return diskHit(std::move(found), {});
    reason = std::move(found.reason);
  }
  ++log.refused;
  log.miss({wanted.plainSpec(), wanted.source ? wanted.source->what : "", key, reason, "the cache is frozen", 0});
  return makeError(Code::notPrepared,
                   fmt::format("expected a {} that was prepared before the cache was frozen, but {}: preparing it, or "
                               "thawing the cache, would do",
                               wanted.what(), reason));
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

Lookup KernelCache::State::memoryHit(std::shared_ptr<const Artifact> artifact, double milliseconds) {
  log.memoryHits.fetch_add(1, std::memory_order_relaxed);
  return Lookup{std::move(artifact), Outcome::memory, {}, milliseconds};
}

/// What was not in memory at the first look.
template <typename Memory, typename Key>
Result<Lookup> KernelCache::State::lookUp(Memory &from, const Key &key, const Wanted &wanted, Clock::time_point begin) {
  std::shared_ptr<typename Memory::Slot> slot = from.slotFor(key);
  std::unique_lock making(slot->making, std::defer_lock);
  bool refuse = frozen;
  if (!refuse) {
    making.lock();
    if (auto artifact = from.find(key))
      return memoryHit(std::move(artifact), millisecondsSince(begin));
  }
  Result<Lookup> lookup = refuse ? loadOrRefuse(wanted) : loadOrMake(wanted);
  if (!lookup) {
    from.forget(key, slot);
    return lookup;
  }
  from.keep(key, slot, lookup->artifact);
  lookup->milliseconds = millisecondsSince(begin);
  return lookup;
}

Result<Lookup> KernelCache::get(const KernelSpec &spec) {
  State &my = current();
  // Not timed: looking at the clock twice would take longer than the lookup.
  if (auto artifact = my.memory.find(spec))
    return my.memoryHit(std::move(artifact));
  // Everything behind this may make a static object for the first time, which a child of a fork would wait for.
  ForkGate gate;
  auto begin = Clock::now();
  ILK_RETURN_IF_ERROR(validate(spec));
  return my.lookUp(my.memory, spec, {.spec = &spec}, begin);
}

Result<Lookup> KernelCache::get(const SourceRequest &source) {
  State &my = current();
  if (auto artifact = my.sources.find(source.form))
    return my.memoryHit(std::move(artifact));
  ForkGate gate;
  auto begin = Clock::now();
  return my.lookUp(my.sources, source.form, {.source = &source}, begin);
}

void KernelCache::freeze(bool frozen) { current().frozen = frozen; }

Result<std::string> KernelCache::keyOf(const KernelSpec &spec) { return current().keyOf({.spec = &spec}); }
Result<std::string> KernelCache::keyOf(const SourceRequest &source) { return current().keyOf({.source = &source}); }

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

std::shared_ptr<Compiler> KernelCache::compiler() const { return current().options.compiler; }

const DiskStore *KernelCache::disk() const {
  State &my = current();
  return my.store ? &*my.store : nullptr;
}

} // namespace interlock
