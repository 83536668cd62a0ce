// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Barriers of all kinds, asynchronous copies, matrix operands, and the rest of what threads do to each other.
#include "analysis/Lint/DecodeParts.h"

namespace interlock::lint::decoders {
namespace {

/// A mask of lanes, written out.
bool isWholeWarp(const Operand *mask) {
  auto value = immediate(mask);
  return value && uint32_t(*value) == ~0u;
}

} // namespace

void mbarrier(const Instruction &in, Out &out) {
  if (in.mods.empty())
    return;
  std::string_view op = in.mods[0];
  bool arrive = op == "arrive" || op == "arrive_drop", expects = in.has("expect_tx");
  EventKind kind;
  if (op == "init")
    kind = EventKind::barrierInit;
  else if (op == "inval")
    kind = EventKind::barrierInval;
  else if (arrive)
    kind = EventKind::barrierArrive;
  else if (op == "expect_tx")
    kind = EventKind::barrierExpect;
  else if (op == "test_wait" || op == "try_wait")
    kind = EventKind::barrierWait;
  else if (op == "complete_tx")
    kind = EventKind::barrierDone;
  else
    return; // pending_count looks at a value only
  Decoded &d = add(out, kind);
  Event &e = d.event;
  d.barrier = address(in, 0);
  d.space = ptx::Space::shared;
  e.localForm = !in.has("shared::cluster") && (in.has("shared::cta") || in.has("shared"));
  e.scope = scopeOf(in).value_or(Scope::cta);
  const Operand *last = d.barrier ? operand(in, size_t(d.barrier - in.operands.data()) + 1) : nullptr;
  if (kind == EventKind::barrierInit) {
    d.count = last;
  } else if (kind == EventKind::barrierArrive) {
    e.order = orderOf(in).value_or(Order::release);
    e.expects = expects;
    if (expects)
      d.bytes = last;
    else
      d.count = last;
    if (expects || !last)
      e.count = 1;
  } else if (kind == EventKind::barrierExpect) {
    e.order = Order::relaxed;
    e.expects = true;
    d.bytes = last;
  } else if (kind == EventKind::barrierWait) {
    e.order = orderOf(in).value_or(Order::acquire);
    d.result = operand(in, 0);
    d.loopsAsPoll = true;
    if (in.has("parity"))
      d.parity = last;
  }
}

/// cp.async, cp.async.bulk and cp.reduce.async.bulk.
void copy(const Instruction &in, Out &out) {
  bool bulk = in.has("bulk");
  if (in.has("commit_group")) {
    add(out, EventKind::asyncCommit).event.completion = bulk ? Completion::bulkGroup : Completion::copyGroup;
    return;
  }
  if (in.has("wait_group") || in.has("wait_all")) {
    Decoded &d = add(out, EventKind::asyncWait);
    d.event.completion = bulk ? Completion::bulkGroup : Completion::copyGroup;
    d.event.readsOnly = in.has("read");
    return;
  }
  if (in.has("mbarrier")) { // cp.async.mbarrier.arrive
    Decoded &d = add(out, EventKind::barrierDone);
    d.barrier = address(in, 0);
    d.space = ptx::Space::shared;
    return;
  }
  if (in.has("prefetch"))
    return;
  Decoded &d = add(out, EventKind::asyncCopy);
  Event &e = d.event;
  e.proxy = bulk ? Proxy::async : Proxy::generic;
  e.reduces = in.has("reduce");
  e.multicast = in.has("multicast::cluster");
  d.dst = address(in, 0);
  d.src = address(in, 1);
  const Operand *size = operand(in, 2);
  if (in.has("tensor")) {
    bool toShared = d.src && !in.has("bulk_group");
    d.map = toShared ? d.src : d.dst;
    (toShared ? d.src : d.dst) = nullptr;
    size = nullptr;
  }
  if (in.has("mbarrier::complete_tx::bytes")) {
    e.completion = Completion::barrier;
    d.barrier = address(in, 2);
  } else {
    e.completion = bulk ? Completion::bulkGroup : Completion::copyGroup;
  }
  d.bytes = size;
}

void barrier(const Instruction &in, Out &out) {
  if (in.has("warp")) {
    add(out, EventKind::warpBarrier).event.allLanes = isWholeWarp(operand(in, 0));
    return;
  }
  if (in.has("cluster")) {
    Decoded &d = add(out, in.has("arrive") ? EventKind::clusterArrive : EventKind::clusterWait);
    d.event.order = in.has("arrive") ? orderOf(in).value_or(Order::release) : Order::acquire;
    d.event.scope = Scope::cluster;
    return;
  }
  Decoded &d = add(out, in.has("arrive") ? EventKind::ctaArrive : EventKind::ctaBarrier);
  d.event.order = in.has("arrive") ? Order::release : Order::acqRel;
  // bar.red has its result first.
  const Operand *id = operand(in, in.has("red") ? 1 : 0);
  if (auto number = immediate(id))
    d.event.id = uint32_t(*number);
}

void tensorMap(const Instruction &in, Out &out) {
  Decoded &d = add(out, EventKind::store);
  d.dst = address(in, 0);
  d.space = spaceOf(in);
  d.event.dst.bytes = 128;
  if (!in.has("cp_fenceproxy"))
    return;
  d.space = ptx::Space::global;
  add(out, EventKind::proxyFence).event.proxyFence = scope::ProxyFence::tensormapRelease;
}

/// Matrix operands in shared memory are named by descriptors, which are made of their addresses.
void matrix(const Instruction &in, Out &out) {
  if (in.opcode == "ldmatrix" || (in.opcode == "wmma" && in.has("load"))) {
    if (Decoded &d = add(out, EventKind::load); true) {
      d.src = address(in, 0);
      d.space = in.opcode == "ldmatrix" ? ptx::Space::shared : spaceOf(in);
    }
  } else if (in.opcode == "stmatrix" || (in.opcode == "wmma" && in.has("store"))) {
    Decoded &d = add(out, EventKind::store);
    d.dst = address(in, 0);
    d.space = in.opcode == "stmatrix" ? ptx::Space::shared : spaceOf(in);
  } else if ((in.opcode == "wgmma" && in.has("mma_async")) ||
             (in.opcode == "tcgen05" && (in.has("mma") || in.has("cp")))) {
    for (size_t i = 1; i < in.operands.size() && i < 4; ++i)
      if (in.operands[i].kind == OperandKind::reg) {
        Decoded &d = add(out, EventKind::asyncCopy);
        d.event.proxy = Proxy::async;
        d.src = &in.operands[i];
        d.space = ptx::Space::shared;
      }
  } else if (in.opcode == "tcgen05" && in.has("commit")) {
    Decoded &d = add(out, EventKind::barrierDone);
    d.barrier = address(in, 0);
    d.space = ptx::Space::shared;
  }
}

void launchControl(const Instruction &in, Out &out) {
  if (!in.has("try_cancel"))
    return;
  Decoded &d = add(out, EventKind::asyncCopy);
  d.event.proxy = Proxy::async;
  d.event.completion = Completion::barrier;
  d.event.bytes = 16;
  d.event.dst.bytes = 16;
  d.event.multicast = in.has("multicast::cluster::all");
  d.dst = address(in, 0);
  d.barrier = address(in, 1);
  d.space = ptx::Space::shared;
}

void single(const Instruction &in, Out &out) {
  if (in.opcode == "griddepcontrol")
    add(out, in.has("wait") ? EventKind::gridWait : EventKind::gridLaunch);
  else if (in.opcode == "exit")
    add(out, EventKind::exit);
  else if (in.opcode == "call")
    add(out, EventKind::call);
  else if (in.has("sync"))
    add(out, EventKind::warpBarrier).event.allLanes = // shfl, vote, match, redux: their lanes meet
        !in.operands.empty() && isWholeWarp(&in.operands.back());
}

} // namespace interlock::lint::decoders
