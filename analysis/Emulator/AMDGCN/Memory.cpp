// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// global_*, flat_*, scratch_*, buffer_* and s_load: addresses and their checks; write-backs and invalidations. What an
// access does then stands in Transfers.cpp.
#include "analysis/Emulator/AMDGCN/Access.h"
#include "analysis/Emulator/AMDGCN/Define.h"

#include <fmt/format.h>

namespace interlock::emu::gcn {
namespace {

using Space = Transfer::Space;

/// Up to gfx9 one counter counts all of them, and who waits for it waits for both bits.
uint8_t countersOf(AccessKind::What what, bool returns, bool flat) {
  bool store = what == AccessKind::store || (what == AccessKind::atomic && !returns);
  uint8_t c = store ? Transfer::stores : Transfer::loads;
  return flat ? c | Transfer::local : c;
}

bool inWindow(uint64_t address, uint64_t base) { return address - base < window::size; }

/// Finds the bytes of a lane; false after a fault.
bool resolve(WaveExec &x, const Op &op, Space space, unsigned lane, uint32_t bytes, uint64_t address, uint8_t *&host) {
  switch (space) {
  case Space::global:
    if (!op.cache.holds(address, bytes)) {
      Span found = x.engine.memory.find(address, bytes);
      if (!found.host) {
        x.fault(
            op,
            fmt::format("expected {} allocated bytes at {:#x}, {}", bytes, address, x.engine.memory.describe(address)),
            ErrorKind::fault, int(lane));
        return false;
      }
      op.cache = found;
    }
    host = op.cache.at(address);
    return true;
  case Space::local: {
    Cta &cta = x.cta();
    if (address > cta.shared.size() || bytes > cta.shared.size() - address) {
      x.fault(op,
              fmt::format("expected {} bytes inside the {} bytes of LDS, found address {:#x}", bytes, cta.shared.size(),
                          address),
              ErrorKind::fault, int(lane));
      return false;
    }
    host = cta.shared.data() + address;
    return true;
  }
  case Space::scratch:
    if (address > x.wave.scratchBytes || bytes > x.wave.scratchBytes - address) {
      x.fault(op,
              fmt::format("expected {} bytes inside the {} bytes of scratch memory, found address {:#x}", bytes,
                          x.wave.scratchBytes, address),
              ErrorKind::fault, int(lane));
      return false;
    }
    host = x.wave.scratch.get() + size_t(lane) * x.wave.scratchBytes + address;
    return true;
  }
  return false;
}

/// The lanes of x.transfer whose addresses are set, all in one space: checks, data, and off it goes.
Flow submitLanes(WaveExec &x, const Op &op, Space space, uint64_t lanes, bool flat) {
  AccessKind kind = AccessKind::of(op.sub);
  Transfer &t = x.transfer;
  t.op = &op;
  t.space = space;
  t.kind = kind.what == AccessKind::load    ? Transfer::Kind::load
           : kind.what == AccessKind::store ? Transfer::Kind::store
                                            : Transfer::Kind::atomic;
  t.scope = Scope(op.scope);
  t.lanes = lanes;
  t.done = false;
  t.counters = countersOf(kind.what, op.flags & returnsValue, flat);
  t.low = ~uint64_t(0), t.high = 0;
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint64_t address = t.address[lane];
    if (kind.what == AccessKind::atomic && address % kind.bytes) {
      return x.fault(op, fmt::format("expected an address that is a multiple of {}, found {:#x}", kind.bytes, address),
                     ErrorKind::fault, int(lane));
    }
    if (!resolve(x, op, space, lane, kind.bytes, address, t.host[lane]))
      return Flow::fault;
    t.low = std::min(t.low, address);
    t.high = std::max(t.high, address + kind.bytes);
  }
  if (kind.what != AccessKind::load) {
    unsigned words = std::max(1, kind.bytes / 4) * (kind.op == Atomic::cmpswap ? 2u : 1u);
    const Src &data = op.src[1];
    for (unsigned w = 0; w < words; ++w)
      std::memcpy(t.data + w * maxLanes, x.wave.vector(data.index + w), sizeof(uint32_t) * maxLanes);
    if (kind.d16High || data.half == 2)
      for (unsigned i = 0; i < maxLanes; ++i)
        t.data[i] >>= 16;
  }
  submit(x.engine, x.warp, x.wave, t);
  return x.engine.failed() ? Flow::fault : Flow::next;
}

uint64_t scalarBase(WaveExec &x, const Src &s) {
  return s.kind == SrcKind::none ? 0 : s.words == 2 ? x.scalar64(s) : x.scalar32(s);
}

Flow runGlobal(WaveExec &x, const Op &op) {
  uint64_t lanes = x.wave.active();
  if (!lanes)
    return Flow::next;
  const Src &v = op.src[0], &s = op.src[2];
  AccessKind kind = AccessKind::of(op.sub);
  uint64_t base = scalarBase(x, s) + uint64_t(op.imm), scale = op.flags & scaleOffset ? kind.bytes : 1;
  bool wide = v.words == 2;
  const uint32_t *low = v.kind == SrcKind::vector ? x.wave.vector(v.index) : nullptr;
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned i = unsigned(std::countr_zero(m));
    uint64_t offset = !low ? 0 : wide ? low[i] | uint64_t(low[maxLanes + i]) << 32 : low[i];
    x.transfer.address[i] = base + offset * scale;
  }
  return submitLanes(x, op, Space::global, lanes, false);
}

/// A generic address may lie in LDS or in scratch memory; each lane's for itself.
Flow runFlat(WaveExec &x, const Op &op) {
  const Src &v = op.src[0], &s = op.src[2];
  uint64_t base = scalarBase(x, s) + uint64_t(op.imm), of[3] = {};
  const uint32_t *low = x.wave.vector(v.index);
  uint64_t scale = op.flags & scaleOffset ? AccessKind::of(op.sub).bytes : 1;
  uint64_t address[maxLanes];
  for (uint64_t m = x.wave.active(); m; m &= m - 1) {
    unsigned i = unsigned(std::countr_zero(m));
    uint64_t a = base + (v.words == 2 ? low[i] | uint64_t(low[maxLanes + i]) << 32 : low[i] * scale);
    Space space = inWindow(a, window::shared)  ? Space::local
                  : inWindow(a, window::local) ? Space::scratch
                                               : Space::global;
    address[i] = space == Space::global ? a : a & (window::size - 1);
    of[size_t(space)] |= uint64_t(1) << i;
  }
  for (Space space : {Space::global, Space::local, Space::scratch})
    if (uint64_t lanes = of[size_t(space)]) {
      std::copy_n(address, maxLanes, x.transfer.address);
      if (Flow flow = submitLanes(x, op, space, lanes, true); flow != Flow::next)
        return flow;
    }
  return Flow::next;
}

Flow runScratch(WaveExec &x, const Op &op) {
  uint64_t lanes = x.wave.active();
  if (!lanes)
    return Flow::next;
  const Src &v = op.src[0], &s = op.src[2];
  uint32_t base = (s.kind == SrcKind::none ? 0 : x.scalar32(s)) + uint32_t(op.imm);
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned i = unsigned(std::countr_zero(m));
    x.transfer.address[i] = uint32_t(base + (v.kind == SrcKind::vector ? x.wave.vector(v.index)[i] : 0));
  }
  return submitLanes(x, op, Space::scratch, lanes, false);
}

/// A buffer's resource: base in 48 bits, stride in 14, size in records. The one that a kernel gets for its scratch
/// memory has its base in the private window; its scalar offset then counts for all lanes together.
Flow runBuffer(WaveExec &x, const Op &op) {
  uint64_t lanes = x.wave.active();
  if (!lanes)
    return Flow::next;
  const Src &v = op.src[0], &r = op.src[2];
  uint32_t words[4];
  for (unsigned w = 0; w < 4; ++w)
    words[w] = x.wave.s[r.index + w];
  uint64_t base = words[0] | uint64_t(words[1] & 0xffff) << 32, records = words[2];
  uint32_t stride = words[1] >> 16 & 0x3fff;
  bool scratch = inWindow(base, window::local);
  uint64_t scalar = x.scalar32(op.src[3]);
  AccessKind kind = AccessKind::of(op.sub);
  uint64_t out = 0;
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned i = unsigned(std::countr_zero(m));
    const uint32_t *a = v.kind == SrcKind::vector ? x.wave.vector(v.index) : nullptr;
    uint64_t index = a && (op.flags & indexEnable) ? a[i] : 0;
    uint64_t offset = uint64_t(op.imm);
    if (a && (op.flags & offsetEnable))
      offset += a[(op.flags & indexEnable ? maxLanes : 0) + i];
    if (scratch) {
      // In 32 bits: LLVM 14 puts what an index lacks to be positive into the offset of the instruction.
      x.transfer.address[i] = uint32_t(offset + scalar / x.wave.lanes);
      continue;
    }
    // Out of range: loads give 0, stores are dropped.
    bool outside = stride ? index >= records : offset + kind.bytes > records;
    if (outside)
      out |= uint64_t(1) << i;
    x.transfer.address[i] = base + scalar + index * stride + offset;
  }
  if (out && kind.what != AccessKind::store && op.dst.kind == SrcKind::vector) {
    uint32_t zero[maxLanes] = {};
    for (int w = 0; w < std::max(1, kind.bytes / 4); ++w)
      x.put(op.dst.index + uint32_t(w), zero, out);
  }
  return lanes & ~out ? submitLanes(x, op, scratch ? Space::scratch : Space::global, lanes & ~out, false) : Flow::next;
}

/// s_load, s_buffer_load: bytes into scalar registers.
Flow runScalarLoad(WaveExec &x, const Op &op) {
  uint32_t bytes = op.sub & 0xff;
  bool buffer = op.sub >> 8 & 1;
  uint64_t base = x.wave.pair(op.src[0].index);
  if (buffer)
    base &= (uint64_t(1) << 48) - 1;
  uint64_t offset = uint64_t(op.imm);
  if (op.src[1].kind == SrcKind::scalar)
    offset += x.scalar32(op.src[1]) * (op.flags & scaleOffset ? bytes : 1);
  uint64_t address = base + offset;
  if (bytes >= 4)
    address &= ~uint64_t(3);
  Transfer &t = x.transfer;
  t.op = &op;
  t.kind = Transfer::Kind::scalarLoad;
  t.space = Space::global;
  t.scope = Scope(op.scope);
  t.counters = Transfer::scalar;
  t.done = false;
  t.lanes = 1;
  t.address[0] = t.low = address;
  t.high = address + bytes;
  if (!resolve(x, op, Space::global, 0, bytes, address, t.host[0]))
    return Flow::fault;
  submit(x.engine, x.warp, x.wave, t);
  return Flow::next;
}

/// Write-backs are outstanding like stores.
Flow runWriteBack(WaveExec &x, const Op &op) {
  Transfer &t = x.transfer;
  t.op = &op;
  t.kind = Transfer::Kind::writeBack;
  t.space = Space::global;
  t.scope = Scope(op.scope);
  t.counters = Transfer::stores;
  t.done = false;
  t.lanes = 0;
  t.low = ~uint64_t(0), t.high = 0;
  submit(x.engine, x.warp, x.wave, t);
  return Flow::next;
}
/// Invalidations hold for the accesses that follow at once.
Flow runInvalidate(WaveExec &x, const Op &op) {
  if (x.engine.caches)
    x.engine.caches->acquire(*x.wave.memory.path, Scope(op.scope));
  return Flow::next;
}
Flow runWriteBackInvalidate(WaveExec &x, const Op &op) {
  runWriteBack(x, op);
  return runInvalidate(x, op);
}
/// buffer_wbinvl1, buffer_gl0_inv, buffer_gl1_inv, buffer_invl2: one level by name.
template <unsigned level> Flow runInvalidateLevel(WaveExec &x, const Op &) {
  if (x.engine.caches)
    for (Cache *c : *x.wave.memory.path)
      if ((level == 0 && c->shared <= Scope::workgroup) || (level == 1 && c->shared == Scope::cluster) ||
          (level == 2 && c->shared == Scope::agent))
        MemorySystem::invalidate(*c);
  return Flow::next;
}
Flow runInvalidateScalar(WaveExec &x, const Op &) {
  if (x.engine.caches)
    MemorySystem::invalidate(*x.wave.memory.scalarPath->front());
  return Flow::next;
}

constexpr uint32_t ld(unsigned bytes, bool isSigned = false, bool d16 = false, bool high = false) {
  return AccessKind{uint8_t(bytes), AccessKind::load, Atomic::none, isSigned, d16, high}.encoded();
}
constexpr uint32_t st(unsigned bytes, bool high = false) {
  return AccessKind{uint8_t(bytes), AccessKind::store, Atomic::none, false, high, high}.encoded();
}
constexpr uint32_t at(Atomic op, unsigned bytes) {
  return AccessKind{uint8_t(bytes), AccessKind::atomic, op}.encoded();
}
constexpr Entry row(std::string_view name, Handler run, Form form, uint32_t sub) {
  return {name, run, form, Ty::none, {}, nullptr, nullptr, sub};
}

#define ILK_MOVES(p, run, form)                                                                                        \
  row(p "_load_dword", run, form, ld(4)), row(p "_load_b32", run, form, ld(4)),                                        \
      row(p "_load_dwordx2", run, form, ld(8)), row(p "_load_b64", run, form, ld(8)),                                  \
      row(p "_load_dwordx3", run, form, ld(12)), row(p "_load_b96", run, form, ld(12)),                                \
      row(p "_load_dwordx4", run, form, ld(16)), row(p "_load_b128", run, form, ld(16)),                               \
      row(p "_load_ubyte", run, form, ld(1)), row(p "_load_u8", run, form, ld(1)),                                     \
      row(p "_load_sbyte", run, form, ld(1, true)), row(p "_load_i8", run, form, ld(1, true)),                         \
      row(p "_load_ushort", run, form, ld(2)), row(p "_load_u16", run, form, ld(2)),                                   \
      row(p "_load_sshort", run, form, ld(2, true)), row(p "_load_i16", run, form, ld(2, true)),                       \
      row(p "_load_short_d16", run, form, ld(2, false, true)), row(p "_load_d16_b16", run, form, ld(2, false, true)),  \
      row(p "_load_short_d16_hi", run, form, ld(2, false, true, true)),                                                \
      row(p "_load_d16_hi_b16", run, form, ld(2, false, true, true)),                                                  \
      row(p "_load_ubyte_d16", run, form, ld(1, false, true)), row(p "_load_d16_u8", run, form, ld(1, false, true)),   \
      row(p "_load_ubyte_d16_hi", run, form, ld(1, false, true, true)),                                                \
      row(p "_load_d16_hi_u8", run, form, ld(1, false, true, true)),                                                   \
      row(p "_load_sbyte_d16", run, form, ld(1, true, true)), row(p "_load_d16_i8", run, form, ld(1, true, true)),     \
      row(p "_load_sbyte_d16_hi", run, form, ld(1, true, true, true)),                                                 \
      row(p "_load_d16_hi_i8", run, form, ld(1, true, true, true)), row(p "_store_dword", run, form, st(4)),           \
      row(p "_store_b32", run, form, st(4)), row(p "_store_dwordx2", run, form, st(8)),                                \
      row(p "_store_b64", run, form, st(8)), row(p "_store_dwordx3", run, form, st(12)),                               \
      row(p "_store_b96", run, form, st(12)), row(p "_store_dwordx4", run, form, st(16)),                              \
      row(p "_store_b128", run, form, st(16)), row(p "_store_byte", run, form, st(1)),                                 \
      row(p "_store_b8", run, form, st(1)), row(p "_store_short", run, form, st(2)),                                   \
      row(p "_store_b16", run, form, st(2)), row(p "_store_byte_d16_hi", run, form, st(1, true)),                      \
      row(p "_store_d16_hi_b8", run, form, st(1, true)), row(p "_store_short_d16_hi", run, form, st(2, true)),         \
      row(p "_store_d16_hi_b16", run, form, st(2, true))
#define ILK_BOTH(p, run, form, old, short32, short64, op)                                                              \
  row(p "_atomic_" old, run, form, at(Atomic::op, 4)), row(p "_atomic_" old "_x2", run, form, at(Atomic::op, 8)),      \
      row(p "_atomic_" short32, run, form, at(Atomic::op, 4)), row(p "_atomic_" short64, run, form, at(Atomic::op, 8))
#define ILK_ATOMICS(p, run, form)                                                                                      \
  ILK_BOTH(p, run, form, "swap", "swap_b32", "swap_b64", swap),                                                        \
      ILK_BOTH(p, run, form, "cmpswap", "cmpswap_b32", "cmpswap_b64", cmpswap),                                        \
      ILK_BOTH(p, run, form, "add", "add_u32", "add_u64", add),                                                        \
      ILK_BOTH(p, run, form, "sub", "sub_u32", "sub_u64", sub),                                                        \
      ILK_BOTH(p, run, form, "umin", "min_u32", "min_u64", umin),                                                      \
      ILK_BOTH(p, run, form, "umax", "max_u32", "max_u64", umax),                                                      \
      ILK_BOTH(p, run, form, "smin", "min_i32", "min_i64", smin),                                                      \
      ILK_BOTH(p, run, form, "smax", "max_i32", "max_i64", smax),                                                      \
      ILK_BOTH(p, run, form, "and", "and_b32", "and_b64", land),                                                       \
      ILK_BOTH(p, run, form, "or", "or_b32", "or_b64", lor),                                                           \
      ILK_BOTH(p, run, form, "xor", "xor_b32", "xor_b64", lxor),                                                       \
      ILK_BOTH(p, run, form, "inc", "inc_u32", "inc_u64", inc),                                                        \
      ILK_BOTH(p, run, form, "dec", "dec_u32", "dec_u64", dec),                                                        \
      row(p "_atomic_csub_u32", run, form, at(Atomic::subClamp, 4)),                                                   \
      row(p "_atomic_sub_clamp_u32", run, form, at(Atomic::subClamp, 4)),                                              \
      row(p "_atomic_cond_sub_u32", run, form, at(Atomic::condSub, 4)),                                                \
      row(p "_atomic_add_f32", run, form, at(Atomic::addF32, 4)),                                                      \
      row(p "_atomic_min_f32", run, form, at(Atomic::minF32, 4)),                                                      \
      row(p "_atomic_max_f32", run, form, at(Atomic::maxF32, 4)),                                                      \
      row(p "_atomic_min_num_f32", run, form, at(Atomic::minF32, 4)),                                                  \
      row(p "_atomic_max_num_f32", run, form, at(Atomic::maxF32, 4)),                                                  \
      row(p "_atomic_add_f64", run, form, at(Atomic::addF64, 8)),                                                      \
      row(p "_atomic_min_f64", run, form, at(Atomic::minF64, 8)),                                                      \
      row(p "_atomic_max_f64", run, form, at(Atomic::maxF64, 8)),                                                      \
      row(p "_atomic_pk_add_f16", run, form, at(Atomic::pkAddF16, 4)),                                                 \
      row(p "_atomic_pk_add_bf16", run, form, at(Atomic::pkAddBf16, 4))

constexpr Entry scalarLoad(std::string_view name, unsigned bytes, bool buffer = false) {
  return {name, runScalarLoad, Form::scalar, Ty::none, {}, nullptr, nullptr, bytes | uint32_t(buffer) << 8};
}
/// Those narrower than a register are extended: the sub says how.
constexpr Entry scalarByte(std::string_view name, unsigned bytes, bool isSigned) {
  return {name, runScalarLoad, Form::scalar, Ty::none, {}, nullptr, nullptr, bytes | uint32_t(isSigned) << 9};
}
constexpr Entry cacheRow(std::string_view name, Handler run) { return {name, run, Form::plain}; }

constexpr Entry table[] = {
    ILK_MOVES("global", runGlobal, Form::global),
    ILK_MOVES("flat", runFlat, Form::flat),
    ILK_MOVES("scratch", runScratch, Form::scratch),
    ILK_MOVES("buffer", runBuffer, Form::buffer),
    ILK_ATOMICS("global", runGlobal, Form::global),
    ILK_ATOMICS("flat", runFlat, Form::flat),
    ILK_ATOMICS("buffer", runBuffer, Form::buffer),
    scalarLoad("s_load_dword", 4),
    scalarLoad("s_load_b32", 4),
    scalarLoad("s_load_dwordx2", 8),
    scalarLoad("s_load_b64", 8),
    scalarLoad("s_load_b96", 12),
    scalarLoad("s_load_dwordx4", 16),
    scalarLoad("s_load_b128", 16),
    scalarLoad("s_load_dwordx8", 32),
    scalarLoad("s_load_b256", 32),
    scalarLoad("s_load_dwordx16", 64),
    scalarLoad("s_load_b512", 64),
    scalarByte("s_load_u8", 1, false),
    scalarByte("s_load_i8", 1, true),
    scalarByte("s_load_u16", 2, false),
    scalarByte("s_load_i16", 2, true),
    scalarLoad("s_buffer_load_dword", 4, true),
    scalarLoad("s_buffer_load_b32", 4, true),
    scalarLoad("s_buffer_load_dwordx2", 8, true),
    scalarLoad("s_buffer_load_b64", 8, true),
    scalarLoad("s_buffer_load_dwordx4", 16, true),
    scalarLoad("s_buffer_load_b128", 16, true),
    cacheRow("buffer_wbl2", runWriteBack),
    cacheRow("global_wb", runWriteBack),
    cacheRow("buffer_inv", runInvalidate),
    cacheRow("global_inv", runInvalidate),
    cacheRow("global_wbinv", runWriteBackInvalidate),
    cacheRow("buffer_wbinvl1", runInvalidateLevel<0>),
    cacheRow("buffer_wbinvl1_vol", runInvalidateLevel<0>),
    cacheRow("buffer_gl0_inv", runInvalidateLevel<0>),
    cacheRow("buffer_gl1_inv", runInvalidateLevel<1>),
    cacheRow("buffer_invl2", runInvalidateLevel<2>),
    cacheRow("s_dcache_inv", runInvalidateScalar),
    cacheRow("s_dcache_wb", runInvalidateScalar),
};

} // namespace

std::span<const Entry> memoryEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
