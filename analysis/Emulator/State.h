// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What exists while kernels run: grids, clusters, CTAs, warps and the groups of lanes that they split into.
#pragma once

#include "analysis/Emulator/Program.h"

#include <bit>
#include <deque>
#include <memory>
#include <vector>

namespace interlock::emu {

struct Grid;
struct Cluster;
struct Cta;
struct Warp;
namespace gcn {
struct Kernel;
struct Wave;
struct Workgroup;
struct Dispatch;
} // namespace gcn

/// Registers and memory of one call of a function by lanes that called it together.
struct Frame {
  const DecodedFunction *fn = nullptr;
  Frame *parent = nullptr;
  const Code *callSite = nullptr;
  uint32_t returnPc = 0;
  uint32_t depth = 0;
  LaneMask lanes = 0; ///< that have not returned yet
  std::unique_ptr<uint64_t[]> registers;
  std::unique_ptr<uint8_t[]> local, params; ///< lane after lane
};

enum class WaitKind : uint8_t {
  none,
  warp,        ///< a .sync instruction waits for the rest of its member mask: a
  warpBarrier, ///< bar.warp.sync: a is the member mask
  barrier,     ///< bar.sync/red: a is the barrier's number
  cluster,     ///< barrier.cluster.wait
  mbarrier,    ///< try_wait: a is the shared address; until `until`
  sleep,       ///< nanosleep: until `until`
  asyncGroup,  ///< cp.async.wait_group
  bulkGroup,   ///< cp.async.bulk.wait_group
  dependency,  ///< griddepcontrol.wait
};

struct Wait {
  WaitKind kind = WaitKind::none;
  uint64_t a = 0, b = 0;
  uint64_t until = 0; ///< virtual time in ns
};

/// Lanes that are at the same instruction of the same frame.
struct Group {
  Frame *frame = nullptr;
  uint32_t pc = 0;
  LaneMask lanes = 0;
  uint32_t streak = 0; ///< instructions run while others were ready
  uint64_t result = 0; ///< bar.red: what the reduction gave
  bool awake = true;   ///< may run; else `wait` says what it waits for
  Wait wait;
};

/// Asynchronous groups of one thread (cp.async and cp.async.bulk keep them apart).
struct AsyncGroups {
  struct Entry {
    uint32_t reads = 0, writes = 0; ///< operations that still have to read, to write
  };
  std::deque<Entry> entries; ///< oldest first; the last one is open
  uint64_t first = 0;        ///< number of entries.front()
  Entry &open() {
    if (entries.empty())
      entries.emplace_back();
    return entries.back();
  }
  uint64_t openNumber() { return open(), first + entries.size() - 1; }
  void commit() { open(), entries.emplace_back(), trim(); }
  void trim() {
    while (entries.size() > 1 && entries.front().writes == 0)
      entries.pop_front(), ++first;
  }
  Entry *find(uint64_t number) { return number < first ? nullptr : &entries[number - first]; }
  /// True if all committed groups but the latest `keep` are done (or have read their sources).
  bool done(uint64_t keep, bool readsOnly) const {
    for (size_t i = 0; i + 1 < entries.size() && entries.size() - 1 - i > keep; ++i)
      if (readsOnly ? entries[i].reads : entries[i].writes)
        return false;
    return true;
  }
};

struct WarpAsync {
  AsyncGroups copies[warpLanes], bulk[warpLanes];
};

struct Warp {
  Cta *cta = nullptr;
  uint32_t index = 0;
  LaneMask exists = 0; ///< threads of the block
  LaneMask live = 0;   ///< that have not exited
  std::vector<Group> groups;
  uint32_t current = 0;
  uint32_t turn = 0; ///< instructions for which `current` keeps running although others stand lower
  uint32_t sincePoll = 0;
  int64_t readyIndex = -1;               ///< in the machine's list of ready warps
  uint32_t clusterPhase[warpLanes] = {}; ///< phase that each lane has arrived in, plus 1; 0: none outstanding
  std::vector<std::unique_ptr<Frame>> frames;
  std::unique_ptr<WarpAsync> async;
  bool listedSleeper = false;
  std::shared_ptr<gcn::Wave> wave; ///< an AMD chip's: runs instead of groups; the one group says what it waits for

  WarpAsync &asyncState() {
    if (!async)
      async = std::make_unique<WarpAsync>();
    return *async;
  }
};

struct CtaBarrier {
  uint32_t arrived = 0;
  uint32_t expected = 0; ///< 0: all threads of the CTA
  uint32_t waiting = 0;  ///< threads that wait in it
  bool any = false, all = true;
  uint32_t count = 0;
  uint64_t generation = 0;
};

struct Cta {
  Grid *grid = nullptr;
  Cluster *cluster = nullptr;
  uint32_t index = 0, rank = 0;
  uint64_t uid = 0;
  uint32_t slot = 0; ///< place in the device's residency: %smid
  std::array<uint32_t, 3> id{};
  std::vector<uint8_t> shared;
  std::deque<Warp> warps;
  uint32_t liveThreads = 0;
  uint32_t pendingAsync = 0;
  bool finished = false;
  bool launchedDependents = false;
  CtaBarrier barriers[16];
  Span sharedSpan;                           ///< addresses from sharedBase
  std::shared_ptr<gcn::Workgroup> workgroup; ///< an AMD chip's
};

struct Cluster {
  Grid *grid = nullptr;
  uint32_t index = 0;
  std::array<uint32_t, 3> id{};
  std::vector<std::unique_ptr<Cta>> ctas;
  uint32_t finished = 0;
  uint32_t liveThreads = 0;
  uint32_t arrived = 0;
  uint32_t phase = 1;
  bool cancelRefused = false; ///< a thread of it has learnt that a try_cancel failed
};

struct Grid {
  uint64_t number = 0;
  uint32_t device = 0;
  Program *program = nullptr;
  const DecodedFunction *entry = nullptr;  ///< null on an AMD chip
  const gcn::Kernel *kernel = nullptr;     ///< an AMD chip's
  std::shared_ptr<gcn::Dispatch> dispatch; ///< an AMD chip's
  std::string_view name;
  LaunchConfig config;
  std::vector<uint8_t> params;
  uint32_t clusterSize = 1, threads = 1;
  uint32_t clusters = 0, nextCluster = 0, finishedClusters = 0;
  uint32_t endCluster = 0; ///< one past the last cluster that is still to start; those beyond were cancelled
  uint32_t sharedStatic = 0, dynamicOffset = 0, sharedTotal = 0;
  uint32_t ctasReleased = 0; ///< CTAs that launched their dependents or ended
  bool explicitCluster = false;
  Grid *prerequisite = nullptr; ///< that griddepcontrol.wait waits for; null when it has ended
  std::vector<std::unique_ptr<Cluster>> running;
  bool done() const { return finishedClusters == clusters; }
};

/// Where an access goes on the host.
struct Place {
  uint8_t *host = nullptr;
  MemorySpace space = MemorySpace::global;
  uint64_t observed = 0; ///< the address that observers see
  Cta *owner = nullptr;  ///< of shared memory
  bool readOnly = false; ///< kernel parameters
};

/// A pending asynchronous operation, an actor of its own.
struct AsyncOp {
  enum class Kind : uint8_t { copy, store, reduce, arrive, cancel } kind = Kind::copy;
  enum class Group : uint8_t { none, copies, bulk } group = Group::none;
  uint64_t number = 0;
  Cta *issuer = nullptr;
  Warp *warp = nullptr;
  uint32_t lane = 0;
  uint64_t groupNumber = 0;
  const Code *code = nullptr;
  bool read = false; ///< the source has been read into `data`
  AddressKind fromKind = AddressKind::global, toKind = AddressKind::shared;
  uint64_t from = 0, to = 0; ///< addresses in their spaces, as seen by the issuer
  uint32_t bytes = 0, zeroFill = 0;
  uint64_t byteMask = ~uint64_t(0);
  std::vector<uint8_t> data;
  bool signals = false;   ///< has an mbarrier
  uint64_t mbarrier = 0;  ///< shared address as seen by the issuer; complete_tx when written
  uint32_t multicast = 0; ///< CTAs of the cluster; 0: only `to`
  uint8_t sub = 0;        ///< reduction
  ptx::Type type = ptx::Type::none;
};

} // namespace interlock::emu
