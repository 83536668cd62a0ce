// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Caches that nothing keeps coherent (MemoryModel.h says which, and what they stand for).
#include "analysis/Emulator/AMDGCN/MemoryModel.h"
#include "analysis/Emulator/AMDGCN/Wave.h"

#include <algorithm>
#include <bit>

namespace interlock::emu::gcn {
namespace {

constexpr uint32_t evictOneIn = 48; ///< of hits: a poller does not read one stale line for ever
constexpr uint32_t staleOneIn = 3;  ///< of stores: somebody has just fetched what was there before
constexpr size_t firstLevelLines = 512;

uint64_t bits(uint64_t address, uint32_t bytes) {
  uint64_t mask = bytes >= 64 ? ~uint64_t(0) : (uint64_t(1) << bytes) - 1;
  return mask << address % lineBytes;
}

/// Calls `f(address, bytes, offset)` for the part of an access in each line.
template <typename F> void eachLine(uint64_t address, uint32_t bytes, F f) {
  for (uint32_t done = 0; done < bytes;) {
    uint64_t at = address + done;
    uint32_t n = std::min<uint32_t>(bytes - done, uint32_t(lineBytes - at % lineBytes));
    f(at, n, done);
    done += n;
  }
}

void copyMasked(uint8_t *to, const uint8_t *from, uint64_t mask) {
  if (mask == ~uint64_t(0)) {
    std::memcpy(to, from, lineBytes);
    return;
  }
  for (; mask; mask &= mask - 1) {
    unsigned i = unsigned(std::countr_zero(mask));
    to[i] = from[i];
  }
}

} // namespace

MemorySystem::MemorySystem(Engine &engine, const Target &target) : engine(engine), target(target) {
  agents.resize(engine.options.devices);
  for (Agent &a : agents) {
    if (target.agentLevel)
      a.agent = std::make_unique<Cache>(Scope::agent, true, nullptr);
    for (unsigned i = 0; i < target.seconds; ++i)
      a.seconds.push_back(std::make_unique<Cache>(Scope::cluster, target.secondsWriteBack, a.agent.get()));
  }
}
MemorySystem::~MemorySystem() = default;

void MemorySystem::enter(const Cta &cta, Caches &c, bool workgroupProcessorMode) {
  Agent &agent = agents[cta.grid->device];
  // The workgroups of a cluster lie behind one second level; others take turns.
  Cache *above =
      agent.seconds.empty() ? agent.agent.get() : agent.seconds[cta.cluster->index % agent.seconds.size()].get();
  unsigned firsts = workgroupProcessorMode ? 2 : 1;
  auto tail = [&](Path &path) {
    for (Cache *at = above; at; at = at->parent)
      path.push_back(at);
  };
  for (unsigned i = 0; i < firsts; ++i) {
    c.first[i] = std::make_unique<Cache>(firsts == 2 ? Scope::wave : Scope::workgroup, false, above);
    c.path[i].push_back(c.first[i].get());
    tail(c.path[i]);
    paths.push_back(&c.path[i]);
  }
  c.scalar = std::make_unique<Cache>(Scope::workgroup, false, above);
  c.scalarPath.push_back(c.scalar.get());
  tail(c.scalarPath);
  paths.push_back(&c.scalarPath);
}

void MemorySystem::leave(Caches &c) {
  std::erase_if(paths, [&](const Path *p) { return p == &c.path[0] || p == &c.path[1] || p == &c.scalarPath; });
}

void MemorySystem::beginGrid(uint32_t device) {
  Agent &a = agents[device];
  for (auto &s : a.seconds)
    invalidate(*s);
  if (a.agent)
    invalidate(*a.agent);
}
void MemorySystem::endGrid(uint32_t device) {
  Agent &a = agents[device];
  for (auto &s : a.seconds)
    writeBackAll(*s);
  if (a.agent)
    writeBackAll(*a.agent);
}
void MemorySystem::settle() {
  while (!waves.empty()) {
    Warp &warp = *waves.back();
    performAll(engine, warp, *warp.wave);
    if (!waves.empty() && waves.back() == &warp)
      unlist(warp);
  }
  for (uint32_t d = 0; d < agents.size(); ++d) {
    endGrid(d);
    beginGrid(d);
  }
  for (const Path *p : paths)
    invalidate(*p->front());
}
void MemorySystem::drop(uint64_t begin, uint64_t end) {
  auto from = [&](Cache &c) {
    std::erase_if(c.lines, [&](const auto &line) {
      return (line.first + 1) * lineBytes > begin && line.first * lineBytes < end;
    });
  };
  for (Agent &a : agents) {
    for (auto &s : a.seconds)
      from(*s);
    if (a.agent)
      from(*a.agent);
  }
  for (const Path *p : paths)
    from(*p->front());
}
void MemorySystem::clear() {
  paths.clear();
  waves.clear();
  due = {};
  for (Agent &a : agents) {
    for (auto &s : a.seconds)
      s->lines.clear(), s->dirty.clear();
    if (a.agent)
      a.agent->lines.clear(), a.agent->dirty.clear();
  }
}

/// Bytes as the level `from` and those behind it show them, into `out` from the line's begin; `valid` gets the bytes
/// that exist at all: an allocation may end within a line.
void MemorySystem::fetch(Cache *from, uint64_t address, uint32_t bytes, uint8_t *out, uint64_t &valid) {
  uint64_t line = address / lineBytes * lineBytes;
  if (from) {
    Cache::Line &l = fill(*from, address, bytes);
    std::memcpy(out, l.bytes, lineBytes);
    valid = l.valid;
    return;
  }
  Span span = engine.memory.find(address, bytes);
  valid = 0;
  if (!span.host)
    return;
  uint64_t begin = std::max(line, span.begin), end = std::min(line + lineBytes, span.end);
  // Word by word, since another process may store to what is mapped.
  for (uint64_t at = begin; at < end;) {
    if (at % 8 == 0 && end - at >= 8) {
      uint64_t v = __atomic_load_n(reinterpret_cast<const uint64_t *>(span.at(at)), __ATOMIC_ACQUIRE);
      std::memcpy(out + (at - line), &v, 8);
      at += 8;
    } else {
      out[at - line] = *span.at(at);
      ++at;
    }
  }
  valid = bits(begin, uint32_t(end - begin));
}

Cache::Line &MemorySystem::fill(Cache &cache, uint64_t address, uint32_t bytes) {
  uint64_t number = address / lineBytes, want = bits(address, bytes);
  auto it = cache.lines.find(number);
  if (it != cache.lines.end() && (it->second.valid & want) == want) {
    if (it->second.dirty == 0 && engine.random.below(evictOneIn) == 0)
      it->second.valid = 0;
    else
      return it->second;
  }
  uint8_t fresh[lineBytes];
  uint64_t valid = 0;
  fetch(cache.parent, address, bytes, fresh, valid);
  if (!cache.writeBack && cache.shared <= Scope::workgroup && cache.lines.size() >= firstLevelLines)
    cache.lines.clear();
  Cache::Line &line = cache.lines[number];
  uint64_t take = valid & ~line.dirty;
  // Bytes that were there stay as they were: a line comes whole, but what it lacked comes later.
  take &= ~line.valid | want;
  copyMasked(line.bytes, fresh, take);
  line.valid |= take;
  return line;
}

void MemorySystem::read(const Path &path, uint64_t address, uint32_t bytes, Scope scope, uint8_t *out) {
  eachLine(address, bytes, [&](uint64_t at, uint32_t n, uint32_t offset) {
    Cache *from = nullptr;
    uint64_t want = bits(at, n);
    for (Cache *c : path) {
      if (c->shared >= scope) {
        from = c;
        break;
      }
      // Past this level: what it holds back of these bytes goes on first, and nobody finds them here afterwards.
      if (auto it = c->lines.find(at / lineBytes); it != c->lines.end()) {
        if (it->second.dirty & want)
          writeBackLine(*c, it->first, it->second);
        it->second.valid &= ~want | it->second.dirty;
      }
    }
    uint8_t line[lineBytes];
    uint64_t valid = 0;
    fetch(from, at, n, line, valid);
    std::memcpy(out + offset, line + at % lineBytes, n);
  });
}

void MemorySystem::putMemory(uint64_t address, uint32_t bytes, const uint8_t *from) {
  Span span = engine.memory.find(address, bytes);
  if (!span.host)
    return;
  uint8_t *host = span.at(address);
  if (std::memcmp(host, from, bytes) == 0)
    return;
  if (address % 4 == 0 && bytes == 4) {
    uint32_t v;
    std::memcpy(&v, from, 4);
    __atomic_store_n(reinterpret_cast<uint32_t *>(host), v, __ATOMIC_RELEASE);
  } else if (address % 8 == 0 && bytes == 8) {
    uint64_t v;
    std::memcpy(&v, from, 8);
    __atomic_store_n(reinterpret_cast<uint64_t *>(host), v, __ATOMIC_RELEASE);
  } else {
    std::memcpy(host, from, bytes);
  }
  engine.progress();
}

/// Stores bytes in a level that holds them back, or in memory.
void MemorySystem::put(Cache *into, uint64_t address, uint32_t bytes, const uint8_t *from) {
  while (into && !into->writeBack) {
    if (auto it = into->lines.find(address / lineBytes); it != into->lines.end()) {
      std::memcpy(it->second.bytes + address % lineBytes, from, bytes);
      it->second.valid |= bits(address, bytes);
    }
    into = into->parent;
  }
  if (!into)
    return putMemory(address, bytes, from);
  uint64_t number = address / lineBytes;
  Cache::Line &line = into->lines[number];
  if (!line.dirty) {
    // Lines that time has written back since still stand in the list.
    if (into->dirty.size() > 1024 + 4 * into->lines.size()) {
      std::erase_if(into->dirty, [&](uint64_t n) {
        auto it = into->lines.find(n);
        return it == into->lines.end() || !it->second.dirty;
      });
    }
    into->dirty.push_back(number);
    // Soon, as a rule; some lines stay for long.
    uint32_t r = engine.random.below(16);
    uint64_t delay = 1 + engine.random.below(r < 8 ? 16 : r < 14 ? 400 : 6000);
    due.push({time + delay, into, number});
  }
  std::memcpy(line.bytes + address % lineBytes, from, bytes);
  line.valid |= bits(address, bytes);
  line.dirty |= bits(address, bytes);
  engine.progress();
}

void MemorySystem::write(const Path &path, uint64_t address, uint32_t bytes, Scope scope, const uint8_t *from) {
  stale(path, address);
  eachLine(address, bytes, [&](uint64_t at, uint32_t n, uint32_t offset) {
    uint64_t mask = bits(at, n);
    Cache *into = nullptr;
    for (Cache *c : path) {
      if (c->writeBack && c->shared >= scope) {
        into = c;
        break;
      }
      // Through this level, which keeps what it has up to date.
      if (auto it = c->lines.find(at / lineBytes); it != c->lines.end()) {
        std::memcpy(it->second.bytes + at % lineBytes, from + offset, n);
        it->second.valid |= mask;
        it->second.dirty &= ~mask;
      }
    }
    put(into, at, n, from + offset);
  });
}

void MemorySystem::prepareAtomic(const Path &path, uint64_t address, uint32_t bytes) {
  stale(path, address);
  uint64_t want = bits(address, bytes);
  for (Cache *c : path)
    if (auto it = c->lines.find(address / lineBytes); it != c->lines.end()) {
      if (it->second.dirty & want)
        writeBackLine(*c, it->first, it->second);
      it->second.valid &= ~want;
    }
}

void MemorySystem::writeBackLine(Cache &cache, uint64_t number, Cache::Line &line) {
  uint64_t dirty = line.dirty;
  line.dirty = 0;
  while (dirty) {
    unsigned first = unsigned(std::countr_zero(dirty));
    unsigned n = unsigned(std::countr_one(dirty >> first));
    // As stores of single words go: what others see of a line is never torn within a word.
    n = std::min(n, 8 - first % 8);
    put(cache.parent, number * lineBytes + first, n, line.bytes + first);
    dirty &= n == 64 ? 0 : ~(((uint64_t(1) << n) - 1) << first);
  }
}
void MemorySystem::writeBackAll(Cache &cache) {
  std::vector<uint64_t> numbers;
  numbers.swap(cache.dirty);
  for (uint64_t number : numbers)
    if (auto it = cache.lines.find(number); it != cache.lines.end() && it->second.dirty)
      writeBackLine(cache, number, it->second);
}
void MemorySystem::invalidate(Cache &cache) {
  if (!cache.writeBack) {
    cache.lines.clear();
    return;
  }
  for (auto it = cache.lines.begin(); it != cache.lines.end();) {
    it->second.valid = it->second.dirty;
    it = it->second.dirty ? std::next(it) : cache.lines.erase(it);
  }
}

void MemorySystem::release(const Path &path, Scope scope) {
  for (Cache *c : path)
    if (c->writeBack && c->shared < scope)
      writeBackAll(*c);
}
void MemorySystem::acquire(const Path &path, Scope scope) {
  for (Cache *c : path)
    if (c->shared < scope)
      invalidate(*c);
}

/// Somebody else fetches what is there before a store: the line that an acquire has to drop.
void MemorySystem::stale(const Path &writer, uint64_t address) {
  if (paths.size() < 2 || inStale || engine.random.below(staleOneIn))
    return;
  inStale = true;
  for (unsigned tries = 0; tries < 2; ++tries) {
    const Path &other = *paths[engine.random.below(uint32_t(paths.size()))];
    if (&other == &writer)
      continue;
    uint8_t line[lineBytes];
    uint64_t valid = 0;
    fetch(other.front(), address, 1, line, valid);
  }
  inStale = false;
}

void MemorySystem::writeBackDue() {
  while (!due.empty() && due.top().time <= time) {
    Due d = due.top();
    due.pop();
    if (auto it = d.cache->lines.find(d.line); it != d.cache->lines.end() && it->second.dirty)
      writeBackLine(*d.cache, d.line, it->second);
  }
}

void MemorySystem::tick() {
  ++time;
  writeBackDue();
  if (!waves.empty() && engine.random.below(2) == 0) {
    Warp &warp = *waves[engine.random.below(uint32_t(waves.size()))];
    performSome(engine, warp, *warp.wave, engine.random.below(64));
  }
}

bool MemorySystem::advance() {
  if (!waves.empty() && (due.empty() || engine.random.below(2) == 0)) {
    Warp &warp = *waves[engine.random.below(uint32_t(waves.size()))];
    performSome(engine, warp, *warp.wave, engine.random.below(64));
    return true;
  }
  if (due.empty()) {
    // Whoever polls a stale line gets a fresh one before time goes ahead; once is enough while no memory changes.
    if (refreshedAt == engine.progressMade())
      return false;
    refreshedAt = engine.progressMade();
    for (uint32_t d = 0; d < agents.size(); ++d)
      beginGrid(d);
    for (const Path *p : paths)
      invalidate(*p->front());
    return true;
  }
  time = std::max(time, due.top().time);
  writeBackDue();
  return true;
}

void MemorySystem::list(Warp &warp) {
  size_t &at = warp.wave->memory.listed;
  if (at != ~size_t(0))
    return;
  at = waves.size();
  waves.push_back(&warp);
}
void MemorySystem::unlist(Warp &warp) {
  size_t &at = warp.wave->memory.listed;
  if (at == ~size_t(0))
    return;
  waves[at] = waves.back();
  waves[at]->wave->memory.listed = at;
  waves.pop_back();
  at = ~size_t(0);
}

} // namespace interlock::emu::gcn
