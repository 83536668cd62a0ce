// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where a memory checker stands: every access and every synchronisation of the emulator passes through here.
#pragma once

#include "analysis/PTX/Module.h"

#include <cstdint>
#include <string_view>

namespace interlock::emu {

/// Who accesses. An asynchronous operation (bulk copy, st.async, …) is an actor of its own: `async` is its number,
/// counted from 1, and the other fields name the thread that issued it.
struct Actor {
  uint32_t device = 0;
  uint64_t grid = 0;    ///< number of the launch, counted from 1
  uint32_t cta = 0;     ///< linear index in the grid
  uint32_t cluster = 0; ///< linear index of its cluster
  uint32_t warp = 0;    ///< in the CTA
  uint32_t lane = 0;
  uint64_t async = 0;
};

/// Memory order and scope, as far as the instruction states one (PTX ISA "Memory Consistency Model").
enum class Sem : uint8_t { weak, relaxed, acquire, release, acqRel, sc, isVolatile };
enum class Scope : uint8_t { none, cta, cluster, gpu, sys };
enum class Proxy : uint8_t { generic, async, tensormap, alias };
enum class AccessKind : uint8_t { load, store, atomic, reduction };
/// Where the bytes lie. `shared` is a CTA's shared memory, whoever accesses it.
enum class MemorySpace : uint8_t { global, shared, local, param, constant };

/// One access of one lane.
struct Access {
  Actor actor;
  AccessKind kind = AccessKind::load;
  MemorySpace space = MemorySpace::global;
  Sem sem = Sem::weak;
  Scope scope = Scope::none;
  Proxy proxy = Proxy::generic;
  bool nonCoherent = false; ///< ld.global.nc
  uint64_t address = 0;     ///< generic, the same for every actor: see Machine
  uint32_t size = 0;        ///< bytes
  const ptx::Instruction *instruction = nullptr;
};

enum class SyncKind : uint8_t {
  fence,         ///< fence, membar: sem, scope
  proxyFence,    ///< fence.proxy.*: proxy
  barrierArrive, ///< bar/barrier: object is the barrier's number; sem acqRel when it waits too
  barrierLeave,  ///< a thread leaves bar.sync/red
  clusterArrive,
  clusterLeave,
  warpSync,     ///< bar.warp.sync left: object is the member mask
  mbarrierInit, ///< object is the generic address of the mbarrier, count its count
  mbarrierInval,
  mbarrierArrive, ///< count arrivals
  mbarrierExpect, ///< count bytes
  mbarrierComplete,
  mbarrierWait, ///< a wait that returned true
  groupCommit,  ///< cp.async(.bulk).commit_group
  groupWait,    ///< cp.async(.bulk).wait_group satisfied: count is N
  gridBegin,    ///< a CTA starts
  gridEnd,      ///< a CTA ends
  dependentsLaunch,
  dependencyWait,
};

/// One synchronisation by one lane (or by one async operation).
struct Sync {
  Actor actor;
  SyncKind kind = SyncKind::fence;
  Sem sem = Sem::weak;
  Scope scope = Scope::none;
  Proxy proxy = Proxy::generic;
  uint64_t object = 0;
  uint64_t count = 0;
  const ptx::Instruction *instruction = nullptr; ///< null for gridBegin and gridEnd
};

/// Called in the order of the interleaving that the machine runs, which is sequentially consistent.
class MemoryObserver {
public:
  virtual ~MemoryObserver() = default;
  virtual void access(const Access &access) = 0;
  virtual void sync(const Sync &sync) = 0;
};

} // namespace interlock::emu
