// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Branches, exit, trap, nanosleep and griddepcontrol (PTX ISA "Control Flow Instructions", "Miscellaneous
// Instructions").
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

Flow runBranch(Exec &x, const Code &c, LaneMask taken) {
  LaneMask stay = x.group->lanes & ~taken;
  if (stay) {
    uint32_t behind = x.group->pc + 1;
    x.split(stay, x.frame, behind);
  }
  x.group->pc = c.target;
  return Flow::jumped;
}

Flow runBranchIndex(Exec &x, const Code &c, LaneMask lanes) {
  const auto &targets = x.frame->fn->tables[c.target];
  uint64_t indices[warpLanes];
  std::memcpy(indices, x.src(c.src[0]), sizeof indices);
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    if (indices[lane] >= targets.size())
      return x.fault(
          c, lane,
          fmt::format("expected an index below the {} targets of brx.idx, found {}", targets.size(), indices[lane]));
  }
  uint32_t behind = x.group->pc + 1;
  LaneMask others = x.group->lanes & ~lanes;
  if (others)
    x.split(others, x.frame, behind);
  // Lanes with the same target stay together.
  while (lanes) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    LaneMask same = 0;
    for (LaneMask m = lanes; m; m &= m - 1)
      if (targets[indices[std::countr_zero(m)]] == targets[indices[lane]])
        same |= m & -m;
    lanes &= ~same;
    if (lanes)
      x.split(same, x.frame, targets[indices[lane]]);
    else
      x.group->pc = targets[indices[lane]];
  }
  return Flow::jumped;
}

Flow runExit(Exec &x, const Code &, LaneMask lanes) {
  if (x.group->lanes != lanes)
    x.group->pc += 1; // of the lanes that stay
  x.exitLanes(lanes);
  return Flow::jumped;
}

Flow runTrap(Exec &x, const Code &c, LaneMask lanes) {
  return x.fault(c, unsigned(std::countr_zero(lanes)), "the kernel trapped");
}

Flow runNanosleep(Exec &x, const Code &c, LaneMask lanes) {
  if (x.group->wait.kind == WaitKind::sleep) { // has slept
    x.group->wait = {};
    return Flow::next;
  }
  uint64_t longest = 0;
  for (LaneMask m = lanes; m; m &= m - 1)
    longest = std::max(longest, x.src(c.src[0])[std::countr_zero(m)] & 0xffffffff);
  return x.block(WaitKind::sleep, 0, 0, x.engine.now() + std::min<uint64_t>(longest, 1000000));
}

Flow runLaunchDependents(Exec &x, const Code &c, LaneMask lanes) {
  x.observeSyncs(c, SyncKind::dependentsLaunch, lanes);
  Cta &cta = x.cta();
  if (!cta.launchedDependents) {
    cta.launchedDependents = true;
    ++cta.grid->ctasReleased;
    x.engine.dependentsReleased();
  }
  return Flow::next;
}

Flow runDependencyWait(Exec &x, const Code &c, LaneMask lanes) {
  if (x.cta().grid->prerequisite)
    return x.block(WaitKind::dependency);
  x.group->wait = {};
  x.observeSyncs(c, SyncKind::dependencyWait, lanes);
  return Flow::next;
}

} // namespace

bool decodeBranch(Decoder &d, const ptx::Instruction &in) {
  if (in.operands.size() != 1 || in.operands[0].kind != ptx::OperandKind::label)
    return d.fail("expected bra to have a label");
  Code &c = d.emit(in, runBranch);
  c.target = in.operands[0].index; // of the PTX instruction; Decoder::run makes it one of Code
  return true;
}

bool decodeBranchIndex(Decoder &d, const ptx::Instruction &in) {
  if (!in.has("idx") || in.operands.size() != 2 || in.operands[1].kind != ptx::OperandKind::table)
    return d.fail("expected brx.idx to have an index and a list of targets");
  Slot index = d.value(in.operands[0], 32u);
  Code &c = d.emit(in, runBranchIndex);
  c.src[0] = index;
  c.target = in.operands[1].index;
  return true;
}

bool decodeExit(Decoder &d, const ptx::Instruction &in) {
  d.emit(in, runExit);
  return true;
}

bool decodeTrap(Decoder &d, const ptx::Instruction &in) {
  d.emit(in, runTrap);
  return true;
}

bool decodeNanosleep(Decoder &d, const ptx::Instruction &in) {
  if (in.operands.size() != 1)
    return d.fail("expected nanosleep to have one operand");
  Slot duration = d.value(in.operands[0], 32u);
  Code &c = d.emit(in, runNanosleep);
  c.src[0] = duration;
  c.poll = true;
  return true;
}

bool decodeGridControl(Decoder &d, const ptx::Instruction &in) {
  d.emit(in, in.has("wait") ? runDependencyWait : runLaunchDependents);
  return true;
}

} // namespace interlock::emu
