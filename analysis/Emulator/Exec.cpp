// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Address translation with its checks, faults, and the bookkeeping of groups.
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

namespace interlock::emu {

Actor Engine::actor(const Warp &warp, unsigned lane) const {
  const Cta &cta = *warp.cta;
  return {cta.grid->device, cta.grid->number, cta.index, cta.cluster->index, warp.index, lane, 0};
}

Flow Exec::fault(const Code &code, unsigned lane, const std::string &what, ErrorKind kind) const {
  const Cta &c = cta();
  std::string place;
  if (code.in) {
    place = fmt::format("{}:{}:{}: {}", c.grid->program->name, code.in->at.line, code.in->at.column, code.in->text());
    if (code.in->source.line)
      place += fmt::format(" (source line {})", code.in->source.line);
  }
  engine.fail(kind, fmt::format("{}: {}; in {} on device {}, CTA {}, warp {}, lane {}", place, what, c.grid->name,
                                c.grid->device, c.index, warp.index, lane));
  return Flow::fault;
}

Cta *sharedOwner(Cta &from, uint32_t address, bool clusterWide, std::string &why) {
  uint32_t field = address >> sharedRankShift;
  if (field == 0)
    return &from;
  Cluster &cluster = *from.cluster;
  uint32_t rank = field - 1;
  if (rank >= cluster.ctas.size()) {
    why = fmt::format("is no shared address of a cluster of {}", cluster.ctas.size());
    return nullptr;
  }
  Cta *owner = cluster.ctas[rank].get();
  if (!clusterWide && owner != &from) {
    why = fmt::format("is in the shared memory of CTA {} of the cluster, but the instruction can only reach its own",
                      rank);
    return nullptr;
  }
  if (owner->finished) {
    why = fmt::format("is in the shared memory of CTA {} of the cluster, which has ended", rank);
    return nullptr;
  }
  return owner;
}

bool Exec::place(const Code &code, AddressKind kind, uint64_t address, uint32_t bytes, uint32_t align, unsigned lane,
                 Place &out) const {
  if (address & (align - 1)) {
    fault(code, lane, fmt::format("expected an address that is a multiple of {}, found {:#x}", align, address));
    return false;
  }
  if (kind == AddressKind::generic) {
    if (address >= window::globalBase)
      kind = AddressKind::global;
    else if (address - window::shared < window::size)
      kind = AddressKind::sharedCluster;
    else if (address - window::local < window::size)
      kind = AddressKind::local;
    else if (address - window::param < window::size)
      kind = AddressKind::param;
    else
      kind = AddressKind::global; // and fails there
    if (kind != AddressKind::global)
      address &= window::size - 1;
  }
  switch (kind) {
  case AddressKind::generic:
  case AddressKind::global:
  case AddressKind::constant: {
    if (!code.cache.holds(address, bytes)) {
      Span found = engine.memory.find(address, bytes);
      if (!found.host) {
        fault(code, lane,
              fmt::format("expected {} allocated bytes at {:#x}, {}", bytes, address, engine.memory.describe(address)));
        return false;
      }
      code.cache = found;
    }
    out = {code.cache.at(address), kind == AddressKind::constant ? MemorySpace::constant : MemorySpace::global, address,
           nullptr};
    return true;
  }
  case AddressKind::shared:
  case AddressKind::sharedCluster: {
    std::string why;
    Cta *owner =
        (address >> 32) == 0 ? sharedOwner(cta(), uint32_t(address), kind == AddressKind::sharedCluster, why) : nullptr;
    if (!owner) {
      fault(code, lane,
            fmt::format("expected a shared address, but {:#x} {}", address,
                        why.empty() ? "needs more than 32 bits" : why));
      return false;
    }
    uint64_t offset = address & ((1u << sharedRankShift) - 1);
    if (!owner->sharedSpan.holds(offset, bytes)) {
      fault(code, lane,
            fmt::format("expected {} bytes inside the {} bytes of shared memory at {:#x}, found address {:#x}", bytes,
                        owner->shared.size(), sharedBase, address));
      return false;
    }
    out = {owner->sharedSpan.at(offset), MemorySpace::shared,
           window::observed + (owner->uid << sharedRankShift) + offset, owner};
    return true;
  }
  case AddressKind::local:
  case AddressKind::param: {
    uint64_t offset = address & 0xfffff, depth = address >> 20;
    const Frame *f = frame;
    while (f && f->depth != depth)
      f = f->parent;
    bool isLocal = kind == AddressKind::local;
    if (f && !isLocal && f->fn->source->entry && offset + bytes <= cta().grid->params.size() &&
        offset + bytes <= f->fn->source->paramBytes) {
      out = {cta().grid->params.data() + offset, MemorySpace::param, window::param + address, nullptr, true};
      return true;
    }
    uint64_t size = f ? (isLocal ? f->fn->localBytes : f->fn->paramBytes) : 0;
    if (!f || offset + bytes > size) {
      fault(code, lane,
            fmt::format("expected {} bytes inside the {} bytes of {} memory of the function, found offset {}", bytes,
                        size, isLocal ? "local" : "parameter", offset));
      return false;
    }
    out = {(isLocal ? f->local : f->params).get() + lane * size + offset,
           isLocal ? MemorySpace::local : MemorySpace::param, (isLocal ? window::local : window::param) + address,
           nullptr};
    return true;
  }
  }
  return false;
}

void Exec::observe(const Code &code, const Place &p, AccessKind kind, uint32_t bytes, unsigned lane) const {
  if (!engine.observer)
    return;
  Access a;
  a.actor = engine.actor(warp, lane);
  a.kind = kind;
  a.space = p.space;
  a.sem = code.sem;
  a.scope = code.scope;
  a.proxy = code.proxy;
  a.nonCoherent = code.in->has("nc");
  a.address = p.observed;
  a.size = bytes;
  a.instruction = code.in;
  engine.observer->access(a);
}

void Exec::observeSync(const Code &code, SyncKind kind, unsigned lane, uint64_t object, uint64_t count) const {
  if (engine.observer)
    engine.observer->sync({engine.actor(warp, lane), kind, code.sem, code.scope, code.proxy, object, count, code.in});
}

Flow Exec::block(WaitKind kind, uint64_t a, uint64_t b, uint64_t until) {
  group->wait = {kind, a, b, until};
  return Flow::blocked;
}

void Exec::split(LaneMask lanes, Frame *to, uint32_t pc) {
  Group other;
  other.frame = to;
  other.pc = pc;
  other.lanes = lanes;
  group->lanes &= ~lanes;
  warp.groups.push_back(other);
  refresh();
}

bool Exec::gather(const Code &code, LaneMask members, Flow &flow) {
  LaneMask wanted = members & warp.live;
  if ((wanted & ~group->lanes) == 0) {
    group->wait = {};
    return true;
  }
  (void)code;
  flow = block(WaitKind::warp, wanted);
  return false;
}

void Exec::exitLanes(LaneMask lanes) {
  warp.live &= ~lanes;
  for (Frame *f = frame; f; f = f->parent)
    f->lanes &= ~lanes;
  group->lanes &= ~lanes;
  if (group->lanes == 0) {
    warp.groups.erase(warp.groups.begin() + warp.current);
    warp.current = 0;
  }
  engine.progress();
  engine.lanesExited(warp, lanes);
}

} // namespace interlock::emu
