// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Asynchronous operations after their issue: each reads its source, and later writes its destination and signals, at
// times that the scheduler chooses.
#include "analysis/Emulator/Exec.h"
#include "analysis/Emulator/Mbarrier.h"
#include "analysis/Emulator/Reduction.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

AsyncGroups *groupsOf(const AsyncOp &op) {
  if (op.group == AsyncOp::Group::none)
    return nullptr;
  WarpAsync &state = op.warp->asyncState();
  return &(op.group == AsyncOp::Group::bulk ? state.bulk : state.copies)[op.lane];
}

} // namespace

void Engine::enqueue(AsyncOp op) {
  op.number = nextAsync++;
  ++statistics.asyncOperations;
  ++op.issuer->pendingAsync;
  if (AsyncGroups *groups = groupsOf(op)) {
    op.groupNumber = groups->openNumber();
    ++groups->open().reads;
    ++groups->open().writes;
  }
  progress();
  pending.push_back(std::move(op));
}

std::string Engine::mbarrierIncrement(uint8_t *host) {
  uint64_t word;
  std::memcpy(&word, host, 8);
  Mbarrier b = Mbarrier::unpack(word);
  if (!b.valid)
    return "expected an initialised mbarrier";
  if (b.pending >= Mbarrier::maxCount)
    return "expected less than 2^20 - 1 pending arrivals";
  ++b.pending;
  word = b.pack();
  std::memcpy(host, &word, 8);
  return {};
}

bool Engine::resolveAsync(const AsyncOp &op, AddressKind kind, uint64_t address, uint32_t bytes, Place &out) {
  auto refuse = [&](const std::string &what) {
    const ptx::Instruction &in = *op.code->in;
    const Cta &cta = *op.issuer;
    fail(ErrorKind::fault,
         fmt::format("{}:{}:{}: {}: {}; issued in {} on device {}, CTA {}, warp {}, lane {}", cta.grid->program->name,
                     in.at.line, in.at.column, in.text(), what, cta.grid->entry->source->name, cta.grid->device,
                     cta.index, op.warp->index, op.lane));
    return false;
  };
  if (kind == AddressKind::global) {
    Span span = memory.find(address, bytes);
    if (!span.host)
      return refuse(fmt::format("expected {} allocated bytes at {:#x}, {}", bytes, address, memory.describe(address)));
    out = {span.at(address), MemorySpace::global, address};
    return true;
  }
  std::string why;
  Cta *owner = sharedOwner(*op.issuer, uint32_t(address), kind == AddressKind::sharedCluster, why);
  if (!owner)
    return refuse(fmt::format("expected a shared address, but {:#x} {}", address, why));
  uint64_t offset = address & ((1u << sharedRankShift) - 1);
  if (!owner->sharedSpan.holds(offset, bytes))
    return refuse(fmt::format("expected {} bytes inside the {} bytes of shared memory at {:#x}, found address {:#x}",
                              bytes, owner->shared.size(), sharedBase, address));
  out = {owner->sharedSpan.at(offset), MemorySpace::shared, window::observed + (owner->uid << sharedRankShift) + offset,
         owner};
  return true;
}

void Engine::observeAsync(const AsyncOp &op, const Place &p, AccessKind kind, uint32_t bytes) {
  if (!observer)
    return;
  Access a;
  a.actor = actor(*op.warp, op.lane);
  a.actor.async = op.number;
  a.kind = kind;
  a.space = p.space;
  a.sem = op.code->sem;
  a.scope = op.code->scope;
  a.proxy = op.code->proxy;
  a.address = p.observed;
  a.size = bytes;
  a.instruction = op.code->in;
  observer->access(a);
}

bool Engine::writeAsync(AsyncOp &op, uint64_t to, uint64_t mbarrier) {
  Place p;
  uint32_t bytes = uint32_t(op.data.size());
  if (bytes && !resolveAsync(op, op.toKind, to, bytes, p))
    return false;
  if (op.kind == AsyncOp::Kind::reduce) {
    uint32_t width = ptx::bitWidth(op.type) / 8;
    for (uint32_t i = 0; i + width <= bytes; i += width) {
      uint64_t old = 0, value = 0;
      std::memcpy(&old, p.host + i, width);
      std::memcpy(&value, op.data.data() + i, width);
      bool flush = p.space == MemorySpace::global && Reduction(op.sub) == Reduction::add;
      uint64_t fresh = reduce(Reduction(op.sub), op.type, old, value, flush);
      std::memcpy(p.host + i, &fresh, width);
    }
    observeAsync(op, p, AccessKind::reduction, bytes);
  } else if (bytes) {
    if (op.byteMask == ~uint64_t(0))
      std::memcpy(p.host, op.data.data(), bytes);
    else
      for (uint32_t i = 0; i < bytes; ++i)
        if (op.byteMask >> (i % 16) & 1)
          p.host[i] = op.data[i];
    observeAsync(op, p, AccessKind::store, bytes);
  }
  if (!op.signals)
    return true;
  Place b;
  if (!resolveAsync(op, AddressKind::sharedCluster, mbarrier, 8, b))
    return false;
  std::string why =
      b.owner != p.owner && p.owner
          ? fmt::format("expected the mbarrier in the CTA of the destination, rank {}, found it in rank {}",
                        p.owner->rank, b.owner->rank)
          : mbarrierTransaction(*b.owner, b.host, -int64_t(bytes));
  if (!why.empty()) {
    fail(ErrorKind::fault,
         fmt::format("{}:{}: {}: {}", op.issuer->grid->program->name, op.code->in->at.line, op.code->in->text(), why));
    return false;
  }
  if (observer) {
    Actor who = actor(*op.warp, op.lane);
    who.async = op.number;
    observer->sync({who, SyncKind::mbarrierComplete, Sem::release, Scope::cluster, Proxy::generic, b.observed, bytes,
                    op.code->in});
  }
  return true;
}

void Engine::stepAsync(size_t index) {
  AsyncOp &op = pending[index];
  AsyncGroups *groups = groupsOf(op);
  if (op.kind == AsyncOp::Kind::cancel && !op.read) {
    op.data = answerToCancel(*op.issuer->grid);
    op.read = true;
  }
  if (!op.read) {
    Place p;
    if (op.bytes && !resolveAsync(op, op.fromKind, op.from, op.bytes, p))
      return;
    op.data.assign(p.host, p.host + op.bytes);
    op.data.resize(op.bytes + op.zeroFill);
    if (op.bytes)
      observeAsync(op, p, AccessKind::load, op.bytes);
    op.read = true;
    if (groups)
      --groups->find(op.groupNumber)->reads;
    progress();
    wake(*op.warp, WaitKind::bulkGroup);
    return;
  }
  if (op.kind == AsyncOp::Kind::arrive) {
    // Its turn comes when the thread's earlier copies are complete.
    for (const AsyncOp &other : pending)
      if (other.warp == op.warp && other.lane == op.lane && other.group == AsyncOp::Group::copies &&
          other.number < op.number)
        return;
    Place b;
    if (!resolveAsync(op, AddressKind::shared, op.mbarrier, 8, b))
      return;
    std::string why = mbarrierArrive(*b.owner, b.host);
    if (!why.empty())
      return fail(ErrorKind::fault, fmt::format("{}:{}: {}: {}", op.issuer->grid->program->name, op.code->in->at.line,
                                                op.code->in->text(), why));
  } else if (op.multicast) {
    for (uint32_t rank = 0; rank < 16; ++rank) {
      uint32_t offsetMask = (1u << sharedRankShift) - 1, peer = (rank + 1) << sharedRankShift;
      if (op.multicast >> rank & 1 && !writeAsync(op, (op.to & offsetMask) | peer, (op.mbarrier & offsetMask) | peer))
        return;
    }
  } else if (!writeAsync(op, op.to, op.mbarrier)) {
    return;
  }
  if (groups) {
    --groups->find(op.groupNumber)->writes;
    groups->trim();
  }
  progress();
  Warp *warp = op.warp;
  Cta *issuer = op.issuer;
  if (index + 1 != pending.size())
    pending[index] = std::move(pending.back());
  pending.pop_back();
  wake(*warp, WaitKind::bulkGroup);
  wake(*warp, WaitKind::asyncGroup);
  if (--issuer->pendingAsync == 0 && issuer->liveThreads == 0)
    finishCta(*issuer);
}

} // namespace interlock::emu
