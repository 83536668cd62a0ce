// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ds_*: LDS, and the permutations that use its crossbar.
#include "analysis/Emulator/AMDGCN/Access.h"
#include "analysis/Emulator/AMDGCN/Define.h"

#include <fmt/format.h>

#include <charconv>

namespace interlock::emu::gcn {
namespace {

Flow runLocal(WaveExec &x, const Op &op) {
  uint64_t lanes = x.wave.active();
  if (!lanes)
    return Flow::next;
  AccessKind kind = AccessKind::of(op.sub);
  Cta &cta = x.cta();
  Transfer &t = x.transfer;
  t.op = &op;
  t.space = Transfer::Space::local;
  t.kind = kind.what == AccessKind::load    ? Transfer::Kind::load
           : kind.what == AccessKind::store ? Transfer::Kind::store
                                            : Transfer::Kind::atomic;
  t.scope = Scope::workgroup;
  t.counters = Transfer::local;
  t.done = false;
  t.lanes = lanes;
  t.low = ~uint64_t(0), t.high = 0;
  const uint32_t *address = x.raw(op.src[0], 0);
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned i = unsigned(std::countr_zero(m));
    uint64_t a = address[i] + uint64_t(op.imm);
    for (uint64_t piece : {uint64_t(0), uint64_t(kind.two ? op.imm2 - op.imm : 0)}) {
      uint64_t at = a + piece;
      if (at > cta.shared.size() || kind.bytes > cta.shared.size() - at)
        return x.fault(op,
                       fmt::format("expected {} bytes inside the {} bytes of LDS, found address {:#x}", kind.bytes,
                                   cta.shared.size(), at),
                       ErrorKind::fault, int(i));
      uint32_t align =
          kind.bytes >= 8 && kind.what == AccessKind::atomic ? 8 : std::min<uint32_t>(kind.bytes & -kind.bytes, 4);
      if (at % align)
        return x.fault(op, fmt::format("expected an LDS address that is a multiple of {}, found {:#x}", align, at),
                       ErrorKind::fault, int(i));
      t.low = std::min(t.low, at);
      t.high = std::max(t.high, at + kind.bytes);
    }
    t.address[i] = a;
    t.host[i] = cta.shared.data() + a;
  }
  if (kind.what != AccessKind::load) {
    // The second piece of a store, or the new value of a comparison, is an operand of its own.
    unsigned words = std::max(1, kind.bytes / 4), at = 0;
    for (unsigned n = 1; n < op.nsrc; ++n) {
      const uint32_t *v = x.raw(op.src[n], n);
      std::memcpy(t.data + at * maxLanes, v, sizeof(uint32_t) * maxLanes * words);
      if (kind.d16High || op.src[n].half == 2)
        for (unsigned i = 0; i < maxLanes; ++i)
          t.data[at * maxLanes + i] >>= 16;
      at += words;
    }
  }
  submit(x.engine, x.warp, x.wave, t);
  return Flow::next;
}

/// ds_bpermute: a lane reads the lane that its address names, of those that are active; ds_permute writes there.
Flow runBpermute(WaveExec &x, const Op &op) {
  const uint32_t *address = x.raw(op.src[0], 0), *v = x.raw(op.src[1], 1);
  uint64_t active = x.wave.active();
  for (unsigned i = 0; i < x.wave.lanes; ++i) {
    unsigned from = uint32_t(address[i] + uint32_t(op.imm)) / 4 & (x.wave.lanes - 1);
    x.out[i] = (active >> from & 1) ? v[from] : 0;
  }
  x.put(op.dst.index, x.out, active);
  return Flow::next;
}
Flow runPermute(WaveExec &x, const Op &op) {
  const uint32_t *address = x.raw(op.src[0], 0), *v = x.raw(op.src[1], 1);
  uint64_t active = x.wave.active();
  std::fill_n(x.out, maxLanes, 0u);
  for (unsigned i = 0; i < x.wave.lanes; ++i)
    if (active >> i & 1)
      x.out[uint32_t(address[i] + uint32_t(op.imm)) / 4 & (x.wave.lanes - 1)] = v[i];
  x.put(op.dst.index, x.out, active);
  return Flow::next;
}

/// ds_swizzle: bit 15 set: a quad's permutation; else (and, or, xor) masks within 32 lanes.
Flow runSwizzle(WaveExec &x, const Op &op) {
  const uint32_t *v = x.raw(op.src[0], 0);
  uint64_t active = x.wave.active();
  auto code = uint32_t(op.imm);
  for (unsigned i = 0; i < x.wave.lanes; ++i) {
    unsigned from = (code & 0x8000) ? (i & ~3u) | (code >> 2 * (i & 3) & 3)
                                    : (i & 32) | ((((i & 31) & (code & 31)) | (code >> 5 & 31)) ^ (code >> 10 & 31));
    x.out[i] = (active >> from & 1) ? v[from] : 0;
  }
  x.put(op.dst.index, x.out, active);
  return Flow::next;
}

/// ds_append, ds_consume: one counter for the wave.
template <bool append> Flow runAppend(WaveExec &x, const Op &op) {
  Cta &cta = x.cta();
  uint64_t at = (x.wave.s[sreg::m0] & 0xffff) + uint64_t(op.imm);
  if (at % 4 || at > cta.shared.size() || cta.shared.size() - at < 4)
    return x.fault(op, fmt::format("expected an aligned LDS address below {}, found {:#x}", cta.shared.size(), at));
  uint32_t old, n = uint32_t(std::popcount(x.wave.active()));
  std::memcpy(&old, cta.shared.data() + at, 4);
  uint32_t fresh = append ? old + n : old - n;
  std::memcpy(cta.shared.data() + at, &fresh, 4);
  std::fill_n(x.out, maxLanes, old);
  x.put(op.dst.index, x.out, x.wave.active());
  x.engine.progress();
  return Flow::next;
}

constexpr uint32_t access(unsigned bytes, AccessKind::What what, bool isSigned = false, bool d16 = false,
                          bool high = false, bool two = false, bool far = false) {
  return AccessKind{uint8_t(bytes), what, Atomic::none, isSigned, d16, high, two, far}.encoded();
}
constexpr Entry read(std::string_view name, unsigned bytes, bool isSigned = false, bool d16 = false,
                     bool high = false) {
  return {name,      runLocal, Form::local, Ty::none,
          {Ty::b32}, nullptr,  nullptr,     access(bytes, AccessKind::load, isSigned, d16, high)};
}
constexpr Entry readTwo(std::string_view name, unsigned bytes, bool far = false) {
  return {name,      runLocal, Form::local, Ty::none,
          {Ty::b32}, nullptr,  nullptr,     access(bytes, AccessKind::load, false, false, false, true, far)};
}
constexpr Entry write(std::string_view name, unsigned bytes, bool high = false) {
  return {name,      runLocal, Form::local, Ty::none,
          {Ty::b32}, nullptr,  nullptr,     access(bytes, AccessKind::store, false, high, high)};
}
constexpr Entry writeTwo(std::string_view name, unsigned bytes, bool far = false) {
  return {name,      runLocal, Form::local, Ty::none,
          {Ty::b32}, nullptr,  nullptr,     access(bytes, AccessKind::store, false, false, false, true, far)};
}
constexpr Entry atomic(std::string_view name, Atomic op, unsigned bytes, bool returns) {
  AccessKind k{uint8_t(bytes), AccessKind::atomic, op};
  k.returns = returns;
  return {name, runLocal, Form::local, Ty::none, {Ty::b32}, nullptr, nullptr, k.encoded()};
}
constexpr Entry cross(std::string_view name, Handler run, unsigned sources) {
  return {name, run, Form::plain, Ty::b32, {Ty::b32, sources > 1 ? Ty::b32 : Ty::none}};
}

#define ILK_LOCAL(name, type, op, bytes)                                                                               \
  atomic("ds_" name "_" type, Atomic::op, bytes, false), atomic("ds_" name "_rtn_" type, Atomic::op, bytes, true)
#define ILK_LOCAL_INT(name, kind, op) ILK_LOCAL(name, kind "32", op, 4), ILK_LOCAL(name, kind "64", op, 8)

constexpr Entry table[] = {
    read("ds_read_b32", 4),
    read("ds_load_b32", 4),
    read("ds_read_b64", 8),
    read("ds_load_b64", 8),
    read("ds_read_b96", 12),
    read("ds_load_b96", 12),
    read("ds_read_b128", 16),
    read("ds_load_b128", 16),
    read("ds_read_u8", 1),
    read("ds_load_u8", 1),
    read("ds_read_i8", 1, true),
    read("ds_load_i8", 1, true),
    read("ds_read_u16", 2),
    read("ds_load_u16", 2),
    read("ds_read_i16", 2, true),
    read("ds_load_i16", 2, true),
    read("ds_read_u16_d16", 2, false, true),
    read("ds_load_u16_d16", 2, false, true),
    read("ds_read_u16_d16_hi", 2, false, true, true),
    read("ds_load_u16_d16_hi", 2, false, true, true),
    read("ds_read_u8_d16", 1, false, true),
    read("ds_load_u8_d16", 1, false, true),
    read("ds_read_u8_d16_hi", 1, false, true, true),
    read("ds_load_u8_d16_hi", 1, false, true, true),
    read("ds_read_i8_d16", 1, true, true),
    read("ds_read_i8_d16_hi", 1, true, true, true),
    readTwo("ds_read2_b32", 4),
    readTwo("ds_load_2addr_b32", 4),
    readTwo("ds_read2_b64", 8),
    readTwo("ds_load_2addr_b64", 8),
    readTwo("ds_read2st64_b32", 4, true),
    readTwo("ds_load_2addr_stride64_b32", 4, true),
    readTwo("ds_read2st64_b64", 8, true),
    readTwo("ds_load_2addr_stride64_b64", 8, true),
    write("ds_write_b32", 4),
    write("ds_store_b32", 4),
    write("ds_write_b64", 8),
    write("ds_store_b64", 8),
    write("ds_write_b96", 12),
    write("ds_store_b96", 12),
    write("ds_write_b128", 16),
    write("ds_store_b128", 16),
    write("ds_write_b8", 1),
    write("ds_store_b8", 1),
    write("ds_write_b16", 2),
    write("ds_store_b16", 2),
    write("ds_write_b8_d16_hi", 1, true),
    write("ds_store_b8_d16_hi", 1, true),
    write("ds_write_b16_d16_hi", 2, true),
    write("ds_store_b16_d16_hi", 2, true),
    writeTwo("ds_write2_b32", 4),
    writeTwo("ds_store_2addr_b32", 4),
    writeTwo("ds_write2_b64", 8),
    writeTwo("ds_store_2addr_b64", 8),
    writeTwo("ds_write2st64_b32", 4, true),
    writeTwo("ds_store_2addr_stride64_b32", 4, true),
    writeTwo("ds_write2st64_b64", 8, true),
    writeTwo("ds_store_2addr_stride64_b64", 8, true),
    ILK_LOCAL_INT("add", "u", add),
    ILK_LOCAL_INT("sub", "u", sub),
    ILK_LOCAL_INT("rsub", "u", rsub),
    ILK_LOCAL_INT("inc", "u", inc),
    ILK_LOCAL_INT("dec", "u", dec),
    ILK_LOCAL_INT("min", "u", umin),
    ILK_LOCAL_INT("max", "u", umax),
    ILK_LOCAL_INT("min", "i", smin),
    ILK_LOCAL_INT("max", "i", smax),
    ILK_LOCAL_INT("and", "b", land),
    ILK_LOCAL_INT("or", "b", lor),
    ILK_LOCAL_INT("xor", "b", lxor),
    ILK_LOCAL_INT("mskor", "b", mskor),
    ILK_LOCAL_INT("cmpst", "b", cmpswap),
    ILK_LOCAL_INT("cmpstore", "b", cmpswap),
    ILK_LOCAL("add", "f32", addF32, 4),
    ILK_LOCAL("min", "f32", minF32, 4),
    ILK_LOCAL("max", "f32", maxF32, 4),
    ILK_LOCAL("min_num", "f32", minF32, 4),
    ILK_LOCAL("max_num", "f32", maxF32, 4),
    ILK_LOCAL("add", "f64", addF64, 8),
    ILK_LOCAL("pk_add", "f16", pkAddF16, 4),
    ILK_LOCAL("pk_add", "bf16", pkAddBf16, 4),
    atomic("ds_wrxchg_rtn_b32", Atomic::swap, 4, true),
    atomic("ds_storexchg_rtn_b32", Atomic::swap, 4, true),
    atomic("ds_wrxchg_rtn_b64", Atomic::swap, 8, true),
    atomic("ds_storexchg_rtn_b64", Atomic::swap, 8, true),
    cross("ds_bpermute_b32", runBpermute, 2),
    cross("ds_permute_b32", runPermute, 2),
    cross("ds_swizzle_b32", runSwizzle, 1),
    cross("ds_append", runAppend<true>, 0),
    cross("ds_consume", runAppend<false>, 0),
    {"ds_nop", [](WaveExec &, const Op &) { return Flow::next; }, Form::plain},
};

} // namespace

std::span<const Entry> localEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
