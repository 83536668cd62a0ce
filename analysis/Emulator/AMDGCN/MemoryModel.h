// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// How loads and stores of AMD waves reach memory. Two ways (MachineOptions::memory):
//
// Sequentially consistent: at once, in the order in which instructions run.
//
// Cached: as the "User Guide for AMDGPU Backend", section "Memory Model", allows it, at its worst. An access is
// outstanding until a wait asks for it; before that it happens at a random time, out of order with others of its wave
// (but in order where they overlap). Then it goes through caches that nothing keeps coherent:
//
//   first: vector L1, L0, WGP$. Of a workgroup's waves (in WGP mode of every other one); write-through.
//   scalar: the scalar data cache. Of a workgroup's waves; read only.
//   second: of some workgroups of a device. An XCD's L2 (gfx942, gfx950, gfx1250), write-back; GL1 (gfx11), and what
//       SCOPE_SE names (gfx12), write-through.
//   agent: of a device. The L2 of gfx90a and gfx12, and what lies behind an XCD's L2; write-back.
//   memory: everybody's.
//
// An access of some scope goes past the levels that are shared by fewer than the scope says; a release writes back,
// and an acquire drops, what those levels hold. Lines come into a cache at any time, also ones that nobody asked for,
// leave it at any time, and stores that a level holds back are written back late.
//
// Assumptions about MTYPEs, in this one place: every page is treated as if a cache might hold it back (MTYPE RW or NC),
// the symmetric window and memory of another device too. LLVM's text lets a runtime map fine-grained memory uncached
// (UC), which hides missing releases on the chips of today; code that is right here is right under either mapping. The
// one exception is gfx11, whose instructions have no write-back of the L2: LLVM's text relies on MTYPE UC there for
// memory that other agents see, so the agent level is left out. Read-modify-writes happen in memory on every chip. The
// scalar cache is never coherent within a kernel.
#pragma once

#include "analysis/Emulator/AMDGCN/Target.h"
#include "analysis/Emulator/AddressSpace.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

namespace interlock::emu {
class Engine;
struct Cta;
struct Grid;
struct Warp;
struct Random;
} // namespace interlock::emu

namespace interlock::emu::gcn {

struct Op;
struct Wave;

enum class Scope : uint8_t { wave, workgroup, cluster, agent, system };

inline constexpr uint64_t lineBytes = 64;

/// Lines of one cache.
class Cache {
public:
  struct Line {
    uint64_t valid = 0, dirty = 0; ///< a bit for each byte
    uint8_t bytes[lineBytes];
  };
  Cache(Scope shared, bool writeBack, Cache *parent) : shared(shared), writeBack(writeBack), parent(parent) {}

  const Scope shared; ///< threads of this scope all use this cache
  const bool writeBack;
  Cache *const parent;                      ///< null: memory
  std::unordered_map<uint64_t, Line> lines; ///< by address / lineBytes
  std::vector<uint64_t> dirty;              ///< lines that have, or had, dirty bytes
};

/// The way of a wave's accesses, nearest first.
using Path = std::vector<Cache *>;

/// What a workgroup has of its own.
struct Caches {
  std::unique_ptr<Cache> first[2], scalar;
  Path path[2], scalarPath;
};

/// An access that may be outstanding: all lanes of one instruction.
struct Transfer {
  enum class Kind : uint8_t { load, store, atomic, writeBack, scalarLoad };
  enum class Space : uint8_t { global, local, scratch };
  /// Counters that count it, as bits.
  enum Counter : uint8_t { loads = 1, stores = 2, local = 4, scalar = 8 };

  const Op *op = nullptr;
  Kind kind = Kind::load;
  Space space = Space::global;
  Scope scope = Scope::wave;
  uint8_t counters = 0;
  bool done = false;
  uint64_t lanes = 0;
  uint64_t low = ~uint64_t(0), high = 0; ///< addresses lie in [low, high)
  uint64_t address[64];                  ///< by lane
  uint8_t *host[64];
  uint32_t data[4 * 64]; ///< word after word of all lanes

  /// Whether a younger access of the wave has to wait for this one: they overlap and one writes, or it writes back what
  /// this one stores.
  bool ordersWith(const Transfer &other) const;
};

/// What a wave has outstanding, oldest first.
struct WaveMemory {
  std::deque<Transfer> pending;
  Path *path = nullptr, *scalarPath = nullptr; ///< null: sequentially consistent
  size_t listed = ~size_t(0);                  ///< place in the list of waves with something outstanding
};

/// The caches of all devices, and time for them.
class MemorySystem {
public:
  MemorySystem(Engine &engine, const Target &target);
  ~MemorySystem();

  /// A workgroup comes, with fresh caches, and goes.
  void enter(const Cta &cta, Caches &caches, bool workgroupProcessorMode);
  void leave(Caches &caches);
  /// A kernel begins: its device sees what others have released. It ends: all that it did is in memory.
  void beginGrid(uint32_t device);
  void endGrid(uint32_t device);
  /// Everything is written back and forgotten.
  void settle();
  /// Memory goes away.
  void drop(uint64_t begin, uint64_t end);
  void clear();

  void read(const Path &path, uint64_t address, uint32_t bytes, Scope scope, uint8_t *out);
  void write(const Path &path, uint64_t address, uint32_t bytes, Scope scope, const uint8_t *from);
  /// Makes memory current for a read-modify-write that is about to happen there, and takes the line out of the caches.
  void prepareAtomic(const Path &path, uint64_t address, uint32_t bytes);
  void release(const Path &path, Scope scope);
  void acquire(const Path &path, Scope scope);
  static void invalidate(Cache &cache);
  void writeBackAll(Cache &cache);

  /// A little time goes by: lines are written back, outstanding accesses happen.
  void tick();
  /// Nobody gets anywhere: what is due next happens. False if nothing is.
  bool advance();
  void list(Warp &warp);
  void unlist(Warp &warp);

private:
  Cache::Line &fill(Cache &cache, uint64_t address, uint32_t bytes);
  void fetch(Cache *from, uint64_t address, uint32_t bytes, uint8_t *out, uint64_t &valid);
  void writeBackLine(Cache &cache, uint64_t number, Cache::Line &line);
  void put(Cache *into, uint64_t address, uint32_t bytes, const uint8_t *from);
  void putMemory(uint64_t address, uint32_t bytes, const uint8_t *from);
  void stale(const Path &writer, uint64_t address);
  void writeBackDue();

  struct Agent {
    std::unique_ptr<Cache> agent;
    std::vector<std::unique_ptr<Cache>> seconds;
  };
  struct Due {
    uint64_t time;
    Cache *cache;
    uint64_t line;
    bool operator<(const Due &o) const { return time > o.time; }
  };
  Engine &engine;
  const Target &target;
  std::vector<Agent> agents;
  std::vector<const Path *> paths; ///< of all workgroups that run
  std::vector<Warp *> waves;       ///< with something outstanding
  std::priority_queue<Due> due;
  uint64_t time = 0;
  bool inStale = false;
  uint64_t refreshedAt = ~uint64_t(0); ///< how much progress there was when all lines were last dropped
};

// Outstanding accesses (Transfers.cpp)
/// Takes an access whose addresses have been checked: it happens now, or is outstanding.
void submit(Engine &engine, Warp &warp, Wave &wave, const Transfer &transfer);
/// Until at most `left` of the accesses that a counter counts are outstanding.
void waitFor(Engine &engine, Warp &warp, Wave &wave, uint8_t counters, uint32_t left);
/// One that may happen next does, chosen by `pick`.
void performSome(Engine &engine, Warp &warp, Wave &wave, uint32_t pick);
void performAll(Engine &engine, Warp &warp, Wave &wave);

} // namespace interlock::emu::gcn
