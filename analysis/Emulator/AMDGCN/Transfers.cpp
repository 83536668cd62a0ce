// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What an access does, and when: at once, or, with caches, at some time before a wait asks for it.
#include "analysis/Emulator/AMDGCN/Access.h"
#include "analysis/Emulator/AMDGCN/Wave.h"

#include <algorithm>

namespace interlock::emu::gcn {
namespace {

using Kind = Transfer::Kind;
using Space = Transfer::Space;

/// Aligned words are atomic and ordered for other processes too, which may share the memory (Machine::map).
void loadHost(const uint8_t *host, uint32_t bytes, uint8_t *out) {
  auto at = reinterpret_cast<uintptr_t>(host);
  if (bytes == 4 && at % 4 == 0) {
    uint32_t v = __atomic_load_n(reinterpret_cast<const uint32_t *>(host), __ATOMIC_ACQUIRE);
    std::memcpy(out, &v, 4);
  } else if (bytes == 8 && at % 8 == 0) {
    uint64_t v = __atomic_load_n(reinterpret_cast<const uint64_t *>(host), __ATOMIC_ACQUIRE);
    std::memcpy(out, &v, 8);
  } else {
    std::memcpy(out, host, bytes);
  }
}
/// True if that changed anything.
bool storeHost(uint8_t *host, uint32_t bytes, const uint8_t *from) {
  if (std::memcmp(host, from, bytes) == 0)
    return false;
  auto at = reinterpret_cast<uintptr_t>(host);
  if (bytes == 4 && at % 4 == 0) {
    uint32_t v;
    std::memcpy(&v, from, 4);
    __atomic_store_n(reinterpret_cast<uint32_t *>(host), v, __ATOMIC_RELEASE);
  } else if (bytes == 8 && at % 8 == 0) {
    uint64_t v;
    std::memcpy(&v, from, 8);
    __atomic_store_n(reinterpret_cast<uint64_t *>(host), v, __ATOMIC_RELEASE);
  } else {
    std::memcpy(host, from, bytes);
  }
  return true;
}

template <typename T> uint64_t modify(uint8_t *host, Atomic op, uint64_t value, uint64_t compare, bool &changed) {
  T *p = reinterpret_cast<T *>(host), old = __atomic_load_n(p, __ATOMIC_ACQUIRE), fresh;
  do
    fresh = T(combine(op, sizeof(T), old, value, compare));
  while (!__atomic_compare_exchange_n(p, &old, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  changed = old != fresh;
  return old;
}

/// Piece `piece` of a lane's result goes to the registers.
void give(Wave &wave, const Op &op, const AccessKind &kind, unsigned piece, unsigned lane, const uint8_t *bytes) {
  uint32_t words[4] = {};
  std::memcpy(words, bytes, kind.bytes);
  if (kind.bytes < 4) {
    uint32_t &v = words[0];
    if (kind.isSigned)
      v = kind.bytes == 1 ? uint32_t(int32_t(int8_t(v))) : uint32_t(int32_t(int16_t(v)));
    uint32_t old = wave.vector(op.dst.index)[lane];
    if (kind.d16High || op.dst.half == 2)
      v = (old & 0xffff) | v << 16;
    else if (kind.d16 || op.dst.half == 1)
      v = (old & 0xffff0000) | (v & 0xffff);
  }
  unsigned count = std::max(1, kind.bytes / 4);
  for (unsigned w = 0; w < count; ++w)
    wave.vector(op.dst.index + piece * count + w)[lane] = words[w];
}

void performLanes(Engine &engine, Wave &wave, const Transfer &t) {
  const Op &op = *t.op;
  AccessKind kind = AccessKind::of(op.sub);
  const Path *path = t.space == Space::global ? wave.memory.path : nullptr;
  unsigned words = std::max(1, kind.bytes / 4);
  int64_t apart = kind.two ? op.imm2 - op.imm : 0;
  bool changed = false;
  for (uint64_t m = t.lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    for (unsigned piece = 0; piece < 1u + kind.two; ++piece) {
      uint8_t *host = t.host[lane] + (piece ? apart : 0);
      uint64_t address = t.address[lane];
      alignas(8) uint8_t bytes[16];
      auto word = [&](unsigned i) { return t.data[i * maxLanes + lane]; };
      switch (t.kind) {
      case Kind::load:
        if (path)
          engine.caches->read(*path, address, kind.bytes, t.scope, bytes);
        else
          loadHost(host, kind.bytes, bytes);
        give(wave, op, kind, piece, lane, bytes);
        break;
      case Kind::store: {
        for (unsigned w = 0; w < words; ++w) {
          uint32_t v = word(piece * words + w);
          std::memcpy(bytes + 4 * w, &v, 4);
        }
        if (path)
          engine.caches->write(*path, address, kind.bytes, t.scope, bytes);
        else
          changed |= storeHost(host, kind.bytes, bytes);
        break;
      }
      case Kind::atomic: {
        // The value, then what it is compared with; ds_cmpst has them the other way round.
        auto value = [&](unsigned n) {
          return kind.bytes == 8 ? word(2 * n) | uint64_t(word(2 * n + 1)) << 32 : uint64_t(word(n));
        };
        bool swapped = op.flags & comparesFirst;
        uint64_t a = 0, b = 0;
        if (kind.op == Atomic::cmpswap || kind.op == Atomic::mskor) {
          a = value(swapped ? 1 : 0);
          b = value(swapped ? 0 : 1);
        } else {
          a = value(0);
        }
        if (path)
          engine.caches->prepareAtomic(*path, address, kind.bytes);
        bool one = false;
        uint64_t old =
            kind.bytes == 8 ? modify<uint64_t>(host, kind.op, a, b, one) : modify<uint32_t>(host, kind.op, a, b, one);
        changed |= one;
        if (op.flags & returnsValue) {
          std::memcpy(bytes, &old, 8);
          give(wave, op, kind, 0, lane, bytes);
        }
        break;
      }
      default:
        break;
      }
    }
  }
  if (changed)
    engine.progress();
}

void performScalar(Engine &engine, Wave &wave, const Transfer &t) {
  const Op &op = *t.op;
  uint32_t bytes = op.sub & 0xff;
  uint32_t words[16] = {};
  auto *to = reinterpret_cast<uint8_t *>(words);
  if (wave.memory.scalarPath)
    engine.caches->read(*wave.memory.scalarPath, t.address[0], bytes, t.scope, to);
  else
    loadHost(t.host[0], bytes, to);
  if (bytes < 4 && (op.sub >> 9 & 1))
    words[0] = bytes == 1 ? uint32_t(int32_t(int8_t(words[0]))) : uint32_t(int32_t(int16_t(words[0])));
  for (unsigned w = 0; w < std::max(1u, bytes / 4); ++w)
    wave.s[op.dst.index + w] = words[w];
}

void performUpTo(Engine &engine, const Cta &cta, Wave &wave, size_t n);

/// Up to gfx9 the waves of a workgroup share an L1 through which their stores go in order: one of them never sees what
/// was there before another's store, although no wait has asked for it. Others only see it when it gets further.
void performStoresOfWorkgroup(Engine &engine, const Cta &cta, const Wave &wave, const Transfer &t) {
  if (t.space != Space::global || t.kind == Kind::writeBack || wave.image->target->family > Family::gfx940)
    return;
  for (const Warp &other : cta.warps) {
    Wave &from = *other.wave;
    auto &pending = from.memory.pending;
    if (&from == &wave || pending.empty())
      continue;
    for (size_t i = 0; i < pending.size(); ++i)
      if (!pending[i].done && pending[i].kind != Kind::load && pending[i].ordersWith(t))
        performUpTo(engine, cta, from, i);
  }
}

void perform(Engine &engine, const Cta &cta, Wave &wave, const Transfer &t) {
  if (wave.memory.path)
    performStoresOfWorkgroup(engine, cta, wave, t);
  switch (t.kind) {
  case Kind::scalarLoad:
    return performScalar(engine, wave, t);
  case Kind::writeBack:
    if (wave.memory.path)
      engine.caches->release(*wave.memory.path, t.scope);
    return;
  default:
    return performLanes(engine, wave, t);
  }
}

/// Whether the n-th outstanding access may happen before the older ones.
bool mayHappen(const Wave &wave, size_t n) {
  const auto &pending = wave.memory.pending;
  if (pending[n].done)
    return false;
  for (size_t i = 0; i < n; ++i)
    if (!pending[i].done && pending[i].ordersWith(pending[n]))
      return false;
  return true;
}

void trim(Engine &engine, Warp &warp, Wave &wave) {
  auto &pending = wave.memory.pending;
  if (!wave.memory.path)
    return;
  while (!pending.empty() && pending.front().done)
    pending.pop_front();
  if (pending.empty())
    engine.caches->unlist(warp);
}

/// The n-th and whatever has to happen before it.
void performUpTo(Engine &engine, const Cta &cta, Wave &wave, size_t n) {
  auto &pending = wave.memory.pending;
  for (size_t i = 0; i < n; ++i)
    if (!pending[i].done && pending[i].ordersWith(pending[n]))
      performUpTo(engine, cta, wave, i);
  if (!pending[n].done) {
    pending[n].done = true;
    perform(engine, cta, wave, pending[n]);
  }
}

} // namespace

bool Transfer::ordersWith(const Transfer &o) const {
  if (space != o.space || kind == Kind::writeBack)
    return false;
  if (o.kind == Kind::writeBack) // "ensures previous stores are visible": it comes behind those of its wave
    return kind == Kind::store || kind == Kind::atomic;
  if (space == Space::local) // LDS is in order
    return true;
  bool reads = (kind == Kind::load || kind == Kind::scalarLoad) && (o.kind == Kind::load || o.kind == Kind::scalarLoad);
  return !reads && low < o.high && o.low < high;
}

void submit(Engine &engine, Warp &warp, Wave &wave, const Transfer &transfer) {
  if (!wave.memory.path)
    return perform(engine, *warp.cta, wave, transfer);
  wave.memory.pending.push_back(transfer);
  engine.caches->list(warp);
}

void waitFor(Engine &engine, Warp &warp, Wave &wave, uint8_t counters, uint32_t left) {
  auto &pending = wave.memory.pending;
  if (pending.empty())
    return;
  size_t counted = 0;
  for (const Transfer &t : pending)
    counted += (t.counters & counters) != 0;
  for (size_t i = 0; i < pending.size() && counted > left; ++i)
    if (pending[i].counters & counters) {
      performUpTo(engine, *warp.cta, wave, i);
      --counted;
    }
  trim(engine, warp, wave);
}

void performSome(Engine &engine, Warp &warp, Wave &wave, uint32_t pick) {
  auto &pending = wave.memory.pending;
  trim(engine, warp, wave); // others of the workgroup may have made them happen
  if (pending.empty())
    return;
  size_t n = pick % pending.size();
  if (!mayHappen(wave, n))
    return;
  pending[n].done = true;
  perform(engine, *warp.cta, wave, pending[n]);
  trim(engine, warp, wave);
}

void performAll(Engine &engine, Warp &warp, Wave &wave) {
  auto &pending = wave.memory.pending;
  if (pending.empty())
    return;
  for (size_t i = 0; i < pending.size(); ++i)
    performUpTo(engine, *warp.cta, wave, i);
  trim(engine, warp, wave);
}

} // namespace interlock::emu::gcn
