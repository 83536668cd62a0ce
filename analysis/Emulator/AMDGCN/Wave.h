// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a wave beside its Warp, and what a handler sees.
#pragma once

#include "analysis/Emulator/AMDGCN/Image.h"
#include "analysis/Emulator/AMDGCN/MemoryModel.h"
#include "analysis/Emulator/Engine.h"

#include <bit>
#include <cstring>
#include <deque>
#include <memory>

namespace interlock::emu::gcn {

/// What a workgroup has beside its Cta.
struct Workgroup {
  uint32_t waves = 0;      ///< that have not ended
  uint32_t signalled = 0;  ///< waves that have signalled the workgroup's barrier
  uint64_t generation = 0; ///< of the barrier: how often it has been completed
  Caches caches;
};

/// What a grid has beside its Grid: the memory that its waves' first registers point to.
struct Dispatch {
  uint64_t address = 0; ///< of the allocation: the dispatch packet, then the kernarg segment
  uint64_t packet = 0, kernarg = 0;
};

struct Wave {
  const Image *image = nullptr;
  const Kernel *kernel = nullptr;
  uint32_t pc = 0;
  uint32_t lanes = 64;
  uint32_t threads = 64; ///< work-items that exist: fewer than lanes in the last wave
  uint32_t s[sreg::count] = {};
  std::unique_ptr<uint32_t[]> v; ///< lane after lane of each register; AGPRs behind the VGPRs
  std::unique_ptr<uint8_t[]> scratch;
  uint32_t scratchBytes = 0; ///< a lane
  uint64_t waits = 0;        ///< phases of the workgroup's barrier that it has waited for
  uint64_t clusterWaits = 0; ///< phases of the cluster's
  bool signalled = false;    ///< the phase of the workgroup's barrier that it will wait for
  uint32_t mode = 0;
  bool ended = false;
  WaveMemory memory; ///< what is outstanding

  uint64_t exec() const { return s[sreg::exec] | uint64_t(s[sreg::exec + 1]) << 32; }
  void setExec(uint64_t mask) {
    s[sreg::exec] = uint32_t(mask);
    if (lanes == 64)
      s[sreg::exec + 1] = uint32_t(mask >> 32);
  }
  /// The lanes that a vector instruction works on.
  uint64_t active() const { return lanes == 64 ? exec() : s[sreg::exec]; }
  uint64_t pair(uint32_t r) const { return s[r] | uint64_t(s[r + 1]) << 32; }
  void setPair(uint32_t r, uint64_t value) {
    s[r] = uint32_t(value);
    s[r + 1] = uint32_t(value >> 32);
  }
  /// A mask as vector comparisons write it: one register or two.
  uint64_t mask(uint32_t r) const { return lanes == 64 ? pair(r) : s[r]; }
  void setMask(uint32_t r, uint64_t value) {
    s[r] = uint32_t(value);
    if (lanes == 64)
      s[r + 1] = uint32_t(value >> 32);
  }
  uint32_t *vector(uint32_t r) { return v.get() + size_t(r) * maxLanes; }
  bool scc() const { return s[sreg::scc]; }
  void setScc(bool value) { s[sreg::scc] = value; }
};

struct WaveExec {
  Engine &engine;
  Warp &warp;
  Wave &wave;
  uint32_t next = 0; ///< program counter behind the instruction; handlers that jump set it

  /// Room for sources that cannot be used as they stand.
  alignas(64) uint32_t room[5][4 * maxLanes];
  alignas(64) uint32_t out[4 * maxLanes];
  Transfer transfer;    ///< the one that a memory instruction makes
  uint64_t enabled = 0; ///< lanes that a vector instruction writes: EXEC, but for DPP

  WaveExec(Engine &engine, Warp &warp, Wave &wave) : engine(engine), warp(warp), wave(wave) {}
  Cta &cta() const { return *warp.cta; }

  Flow fault(const Op &op, const std::string &what, ErrorKind kind = ErrorKind::fault, int lane = -1) const;

  // Scalars (Operands.cpp)
  uint32_t scalar32(const Src &src) const {
    return src.kind == SrcKind::constant ? uint32_t(src.value) : wave.s[src.index];
  }
  uint64_t scalar64(const Src &src) const { return src.kind == SrcKind::constant ? src.value : wave.pair(src.index); }
  void setScalar32(const Src &dst, uint32_t value) { wave.s[dst.index] = value; }
  void setScalar64(const Src &dst, uint64_t value) { wave.setPair(dst.index, value); }

  // Vectors (Operands.cpp)
  /// Lanes of source n with its modifiers: pointing into the registers where that will do.
  const uint32_t *source(const Op &op, unsigned n);
  /// All sources, and `enabled`.
  Lanes sources(const Op &op);
  /// Writes `out` to the enabled lanes of the destination, with output modifiers.
  void write(const Op &op);
  /// A vector operand's address register and the like, without modifiers.
  const uint32_t *raw(const Src &src, unsigned n);
  /// Writes one word of a register where lanes are set.
  void put(uint32_t reg, const uint32_t *values, uint64_t lanes);
};

// Running (Wave.cpp)
/// Runs up to `quantum` instructions and says how many; `sincePoll` counts those since the last that may poll.
uint32_t runWave(Engine &engine, Warp &warp, uint32_t quantum, uint32_t &sincePoll);
/// A wave that has ended: barriers no longer wait for it.
void endWave(Engine &engine, Warp &warp, Wave &wave);
/// What a wave does, or waits for, in a deadlock's report.
std::string describe(const Warp &warp, const emu::Group &group);

// Barriers (Control.cpp)
void checkBarrier(Engine &engine, Cta &cta);
void checkClusterBarrier(Engine &engine, Cluster &cluster);

} // namespace interlock::emu::gcn
