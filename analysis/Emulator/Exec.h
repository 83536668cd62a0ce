// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a handler sees: one group of a warp at one instruction, and the way to memory that checks every access.
#pragma once

#include "analysis/Emulator/Engine.h"

#include <cstring>

namespace interlock::emu {

struct Exec {
  Engine &engine;
  Warp &warp;
  Group *group;
  Frame *frame;
  uint64_t *regs;
  const std::array<uint64_t, warpLanes> *constants;
  std::array<uint64_t, warpLanes> sink;

  Exec(Engine &engine, Warp &warp) : engine(engine), warp(warp) {}
  /// Looks at the warp's current group again, after groups have moved.
  void refresh() {
    group = &warp.groups[warp.current];
    frame = group->frame;
    regs = frame->registers.get();
    constants = frame->fn->constants.data();
  }

  const uint64_t *src(Slot slot) const {
    return slot >= 0 ? regs + size_t(slot) * warpLanes : constants[-1 - slot].data();
  }
  uint64_t *dst(Slot slot) { return slot >= 0 ? regs + size_t(slot) * warpLanes : sink.data(); }
  Cta &cta() const { return *warp.cta; }

  /// Sets the machine's error, naming the instruction, its line, the lane and its CTA.
  Flow fault(const Code &code, unsigned lane, const std::string &what, ErrorKind kind = ErrorKind::fault) const;

  /// Finds the bytes and tells the observer nothing. False after a fault. `align` is 1 for none.
  bool place(const Code &code, AddressKind kind, uint64_t address, uint32_t bytes, uint32_t align, unsigned lane,
             Place &out) const;
  /// Tells the observer of an access that place() found.
  void observe(const Code &code, const Place &place, AccessKind kind, uint32_t bytes, unsigned lane) const;
  void observeSync(const Code &code, SyncKind kind, unsigned lane, uint64_t object = 0, uint64_t count = 0) const;
  void observeSyncs(const Code &code, SyncKind kind, LaneMask lanes, uint64_t object = 0, uint64_t count = 0) const {
    if (engine.observer)
      for (LaneMask m = lanes; m; m &= m - 1)
        observeSync(code, kind, unsigned(std::countr_zero(m)), object, count);
  }

  /// Waits at this instruction.
  Flow block(WaitKind kind, uint64_t a = 0, uint64_t b = 0, uint64_t until = 0);
  /// True if the group is complete for a member mask; else it is made to wait and `flow` says how.
  bool gather(const Code &code, LaneMask members, Flow &flow);
  /// Removes lanes from the current group, which leaves with the given program counter of theirs.
  void split(LaneMask lanes, Frame *to, uint32_t pc);
  /// These lanes are no more.
  void exitLanes(LaneMask lanes);
};

/// Where a shared address leads from a CTA, for asynchronous operations too. Null and a message if nowhere.
Cta *sharedOwner(Cta &from, uint32_t address, bool clusterWide, std::string &why);

} // namespace interlock::emu
