// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Branches, waits, barriers, clocks and the program's end: SOPP of AMD's ISA manuals, and what is like it.
#include "analysis/Emulator/AMDGCN/Define.h"

#include <fmt/format.h>

namespace interlock::emu::gcn {
namespace {

constexpr uint64_t clocksPerNs = 2; ///< of the shader clock
constexpr uint64_t realtimeNs = 10; ///< the constant clock runs at 100 MHz

Flow nothing(WaveExec &, const Op &) { return Flow::next; }

template <auto test> Flow branchIf(WaveExec &x, const Op &op) {
  if (test(x.wave))
    x.next = op.target;
  return Flow::next;
}

Flow jumpTo(WaveExec &x, const Op &op, uint64_t address) {
  uint32_t at = x.wave.image->at(address);
  if (at >= x.wave.image->code.size())
    return x.fault(op, fmt::format("expected the address of an instruction, found {:#x}", address));
  x.next = at;
  return Flow::next;
}
Flow setPc(WaveExec &x, const Op &op) { return jumpTo(x, op, x.scalar64(op.src[0])); }
Flow getPc(WaveExec &x, const Op &op) {
  x.setScalar64(op.dst, x.wave.image->address[x.wave.pc + 1]);
  return Flow::next;
}
Flow swapPc(WaveExec &x, const Op &op) {
  uint64_t to = x.scalar64(op.src[0]);
  x.setScalar64(op.dst, x.wave.image->address[x.wave.pc + 1]);
  return jumpTo(x, op, to);
}
Flow call(WaveExec &x, const Op &op) {
  x.setScalar64(op.dst, x.wave.image->address[x.wave.pc + 1]);
  x.next = op.target;
  return Flow::next;
}

Flow endProgram(WaveExec &x, const Op &) {
  // What is outstanding happens in its own time, while others run.
  performSome(x.engine, x.warp, x.wave, x.engine.random.below(64));
  if (!x.wave.memory.pending.empty()) {
    x.next = x.wave.pc;
    return Flow::yield;
  }
  x.wave.ended = true;
  return Flow::jumped;
}
Flow trap(WaveExec &x, const Op &op) { return x.fault(op, "expected a kernel to reach no trap"); }

Flow block(WaveExec &x, WaitKind kind, uint64_t a = 0, uint64_t until = 0) {
  x.warp.groups[0].wait = {kind, a, 0, until};
  return Flow::blocked;
}

Flow sleep(WaveExec &x, const Op &op) {
  Wait &w = x.warp.groups[0].wait;
  if (w.kind == WaitKind::sleep) {
    if (x.engine.now() < w.until)
      return Flow::blocked;
    w = {};
    return Flow::next;
  }
  uint64_t ns = 64 * uint64_t(op.imm & 127) / clocksPerNs;
  return ns ? block(x, WaitKind::sleep, 0, x.engine.now() + ns) : Flow::next;
}

// The workgroup's barrier has phases: every wave signals one, then waits for it (ISA manuals, "Barriers"). s_barrier is
// both at once.
void signal(WaveExec &x) {
  Workgroup &g = *x.cta().workgroup;
  x.wave.signalled = true;
  ++g.signalled;
  x.engine.progress();
  checkBarrier(x.engine, x.cta());
}
Flow waitBarrier(WaveExec &x) {
  Wave &w = x.wave;
  if (x.cta().workgroup->generation <= w.waits)
    return block(x, WaitKind::barrier);
  ++w.waits;
  w.signalled = false;
  x.warp.groups[0].wait = {};
  return Flow::next;
}
Flow barrier(WaveExec &x, const Op &) {
  if (!x.wave.signalled)
    signal(x);
  return waitBarrier(x);
}

constexpr int64_t workgroupBarrier = -1, clusterBarrier = -3;

Flow wrongBarrier(WaveExec &x, const Op &op, int64_t number) {
  return x.fault(op, fmt::format("expected barrier -1, the workgroup's, or -3, the cluster's, found {}", number),
                 ErrorKind::unsupported);
}
/// -3, or 0xfffd: s_barrier_wait has 16 bits.
int64_t barrierNumber(WaveExec &x, const Op &op) { return int16_t(x.scalar32(op.src[0])); }

template <bool isFirst> Flow barrierSignal(WaveExec &x, const Op &op) {
  int64_t number = barrierNumber(x, op);
  if (number == workgroupBarrier) {
    if (x.wave.signalled)
      return x.fault(op, "expected s_barrier_wait between two signals of the workgroup's barrier");
    bool first = x.cta().workgroup->signalled == 0;
    signal(x);
    if (isFirst)
      x.wave.setScc(first);
    return Flow::next;
  }
  if (number == clusterBarrier && x.wave.image->target->clusters) {
    Cluster &cluster = *x.cta().cluster;
    if (isFirst)
      x.wave.setScc(cluster.arrived == 0);
    ++cluster.arrived;
    x.engine.progress();
    checkClusterBarrier(x.engine, cluster);
    return Flow::next;
  }
  return wrongBarrier(x, op, number);
}
Flow barrierWait(WaveExec &x, const Op &op) {
  int64_t number = barrierNumber(x, op);
  if (number == workgroupBarrier) {
    if (!x.wave.signalled)
      return x.fault(op, "expected s_barrier_signal before s_barrier_wait");
    return waitBarrier(x);
  }
  if (number == clusterBarrier && x.wave.image->target->clusters) {
    // One wave signals for its workgroup, and all wait.
    if (x.cta().cluster->phase <= x.wave.clusterWaits + 1)
      return block(x, WaitKind::cluster);
    ++x.wave.clusterWaits;
    x.warp.groups[0].wait = {};
    return Flow::next;
  }
  return wrongBarrier(x, op, number);
}

/// The counts that a wait names lie in op.imm, 16 bits each: counters and how many may be left.
Flow wait(WaveExec &x, const Op &op) {
  for (uint64_t list = uint64_t(op.imm); list; list >>= 16)
    waitFor(x.engine, x.warp, x.wave, uint8_t(list >> 8), uint32_t(list & 0xff));
  return x.engine.failed() ? Flow::fault : Flow::next;
}

Flow realtime(WaveExec &x, const Op &op) {
  x.setScalar64(op.dst, x.engine.now() / realtimeNs);
  return Flow::next;
}
Flow clock(WaveExec &x, const Op &op) {
  x.setScalar64(op.dst, x.engine.now() * clocksPerNs);
  return Flow::next;
}
Flow sendMessage(WaveExec &x, const Op &op) {
  const amdgcn::Operand &o = op.in->operands.back();
  std::string_view message = o.elements.empty() ? std::string_view() : o.elements[0].name;
  if (message != "MSG_RTN_GET_REALTIME")
    return x.fault(op, fmt::format("expected MSG_RTN_GET_REALTIME, found {}", message.empty() ? o.name : message),
                   ErrorKind::unsupported);
  uint64_t v = x.engine.now() / realtimeNs;
  op.dst.words == 2 ? x.setScalar64(op.dst, v) : x.setScalar32(op.dst, uint32_t(v));
  return Flow::next;
}

/// hwreg(NAME, offset, size): where in the register, and how many bits.
struct Field {
  std::string_view name;
  unsigned offset = 0, size = 32;
};
Field fieldOf(const amdgcn::Operand &o) {
  Field f;
  if (!o.elements.empty())
    f.name = o.elements[0].name;
  if (o.elements.size() == 3) {
    f.offset = unsigned(o.elements[1].bits & 31);
    f.size = unsigned(std::clamp<uint64_t>(o.elements[2].bits, 1, 32));
  }
  return f;
}
uint32_t maskOf(const Field &f) { return uint32_t(((uint64_t(1) << f.size) - 1) << f.offset); }

Flow getRegister(WaveExec &x, const Op &op) {
  Field f = fieldOf(op.in->operands.back());
  const Cta &cta = x.cta();
  uint32_t v = 0;
  if (f.name == "HW_REG_MODE" || f.name == "HW_REG_WAVE_MODE")
    v = x.wave.mode;
  else if (f.name == "HW_REG_SHADER_CYCLES" || f.name == "HW_REG_SHADER_CYCLES_LO")
    v = uint32_t(x.engine.now() * clocksPerNs);
  else if (f.name == "HW_REG_SHADER_CYCLES_HI")
    v = uint32_t(x.engine.now() * clocksPerNs >> 32);
  else if (f.name == "HW_REG_IB_STS2") // bits 6 to 9: the last workgroup of the cluster, 0 without one
    v = uint32_t(cta.grid->clusterSize - 1) << 6;
  else if (f.name == "HW_REG_HW_ID" || f.name == "HW_REG_HW_ID1" || f.name == "HW_REG_WAVE_HW_ID1")
    v = x.warp.index & 3;
  else if (f.name == "HW_REG_XCC_ID")
    v = cta.slot % std::max<uint32_t>(1, x.wave.image->target->seconds);
  else
    return x.fault(op, fmt::format("expected a hardware register that is emulated, found {}", f.name),
                   ErrorKind::unsupported);
  x.setScalar32(op.dst, (v & maskOf(f)) >> f.offset);
  return Flow::next;
}
Flow setRegister(WaveExec &x, const Op &op) {
  Field f = fieldOf(op.in->operands[0]);
  if (f.name != "HW_REG_MODE" && f.name != "HW_REG_WAVE_MODE")
    return x.fault(op, fmt::format("expected a hardware register that can be set, found {}", f.name),
                   ErrorKind::unsupported);
  uint32_t value = x.scalar32(op.src[1]);
  x.wave.mode = (x.wave.mode & ~maskOf(f)) | (value << f.offset & maskOf(f));
  // FP_ROUND and FP_DENORM: all arithmetic here rounds to nearest even and keeps denormals.
  if ((x.wave.mode & 0xff) != 0xf0)
    return x.fault(op, "expected rounding to nearest and denormals to be kept, found another mode",
                   ErrorKind::unsupported);
  return Flow::next;
}
template <uint32_t wanted> Flow setMode(WaveExec &x, const Op &op) {
  if (uint32_t(op.imm) != wanted)
    return x.fault(op, "expected rounding to nearest and denormals to be kept, found another mode",
                   ErrorKind::unsupported);
  return Flow::next;
}

constexpr Entry idle(std::string_view name) { return {name, nothing, Form::plain}; }
template <auto test> constexpr Entry conditional(std::string_view name) { return {name, branchIf<test>, Form::branch}; }
constexpr Entry counters(std::string_view name) { return {name, wait, Form::wait}; }

bool vccZero(const Wave &w) { return w.mask(sreg::vcc) == 0; }

constexpr Entry table[] = {
    idle("s_nop"),
    idle("s_clause"),
    idle("s_delay_alu"),
    idle("s_setprio"),
    idle("s_setprio_inc_wg"),
    idle("s_inst_prefetch"),
    idle("s_set_inst_prefetch_distance"),
    idle("s_wait_alu"),
    idle("s_waitcnt_depctr"),
    idle("s_wait_event"),
    idle("s_wait_expcnt"),
    idle("s_wait_samplecnt"),
    idle("s_wait_bvhcnt"),
    idle("s_wait_xcnt"),
    idle("s_waitcnt_expcnt"),
    idle("s_sendmsg"),
    idle("s_ttracedata"),
    idle("s_ttracedata_imm"),
    idle("s_icache_inv"),
    idle("s_code_end"),
    idle("s_wakeup"),
    idle("s_prefetch_inst"),
    idle("s_prefetch_inst_pc_rel"),
    idle("s_prefetch_data"),
    idle("s_prefetch_data_pc_rel"),
    idle("global_prefetch_b8"),
    idle("flat_prefetch_b8"),
    idle("s_barrier_leave"),
    idle("v_nop"),
    idle("s_sethalt"),
    {"s_endpgm", endProgram, Form::plain},
    {"s_trap", trap, Form::plain},
    {"s_branch", branchIf<[](const Wave &) { return true; }>, Form::branch},
    conditional<[](const Wave &w) { return !w.scc(); }>("s_cbranch_scc0"),
    conditional<[](const Wave &w) { return w.scc(); }>("s_cbranch_scc1"),
    conditional<[](const Wave &w) { return vccZero(w); }>("s_cbranch_vccz"),
    conditional<[](const Wave &w) { return !vccZero(w); }>("s_cbranch_vccnz"),
    conditional<[](const Wave &w) { return w.active() == 0; }>("s_cbranch_execz"),
    conditional<[](const Wave &w) { return w.active() != 0; }>("s_cbranch_execnz"),
    {"s_setpc_b64", setPc, Form::plain, Ty::none, {Ty::b64}},
    {"s_set_pc_i64", setPc, Form::plain, Ty::none, {Ty::b64}},
    {"s_getpc_b64", getPc, Form::plain, Ty::b64},
    {"s_get_pc_i64", getPc, Form::plain, Ty::b64},
    {"s_swappc_b64", swapPc, Form::plain, Ty::b64, {Ty::b64}},
    {"s_swap_pc_i64", swapPc, Form::plain, Ty::b64, {Ty::b64}},
    {"s_call_b64", call, Form::branch, Ty::b64},
    {"s_call_i64", call, Form::branch, Ty::b64},
    {"s_sleep", sleep, Form::wait},
    {"s_barrier", barrier, Form::plain},
    {"s_barrier_signal", barrierSignal<false>, Form::plain, Ty::none, {Ty::b32}},
    {"s_barrier_signal_isfirst", barrierSignal<true>, Form::plain, Ty::none, {Ty::b32}},
    {"s_barrier_wait", barrierWait, Form::plain, Ty::none, {Ty::b32}},
    counters("s_waitcnt"),
    counters("s_waitcnt_vmcnt"),
    counters("s_waitcnt_vscnt"),
    counters("s_waitcnt_lgkmcnt"),
    counters("s_wait_loadcnt"),
    counters("s_wait_storecnt"),
    counters("s_wait_dscnt"),
    counters("s_wait_kmcnt"),
    counters("s_wait_loadcnt_dscnt"),
    counters("s_wait_storecnt_dscnt"),
    counters("s_wait_idle"),
    {"s_memrealtime", realtime, Form::plain, Ty::b64},
    {"s_memtime", clock, Form::plain, Ty::b64},
    {"s_get_shader_cycles_u64", clock, Form::plain, Ty::b64},
    {"s_sendmsg_rtn_b32", sendMessage, Form::plain, Ty::b32},
    {"s_sendmsg_rtn_b64", sendMessage, Form::plain, Ty::b64},
    {"s_getreg_b32", getRegister, Form::plain, Ty::b32},
    {"s_setreg_b32", setRegister, Form::plain, Ty::none, {Ty::b32, Ty::b32}},
    {"s_setreg_imm32_b32", setRegister, Form::plain, Ty::none, {Ty::b32, Ty::b32}},
    {"s_round_mode", setMode<0>, Form::wait},
    {"s_denorm_mode", setMode<15>, Form::wait},
};

} // namespace

void checkBarrier(Engine &engine, Cta &cta) {
  Workgroup &g = *cta.workgroup;
  if (g.waves == 0 || g.signalled < g.waves)
    return;
  g.signalled = 0;
  ++g.generation;
  engine.progress();
  engine.wake(cta, WaitKind::barrier);
}

void checkClusterBarrier(Engine &engine, Cluster &cluster) {
  size_t alive = 0;
  for (const auto &cta : cluster.ctas)
    alive += !cta->finished;
  if (cluster.arrived == 0 || cluster.arrived < alive)
    return;
  cluster.arrived = 0;
  ++cluster.phase;
  engine.progress();
  for (auto &cta : cluster.ctas)
    engine.wake(*cta, WaitKind::cluster);
}

std::span<const Entry> controlEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
