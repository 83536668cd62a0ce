// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The table of instructions, and the bits that say what one of them does exactly.
#include "analysis/LintAMDGCN/Decode.h"

#include <algorithm>

namespace interlock::lint::gcn {
namespace {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;

struct Row {
  std::string_view opcode;
  Kind kind;
  Memory memory;
  Counter counter;
};
constexpr Row rows[] = {
#define ROW(opcode, kind, memory, counter) {opcode, Kind::kind, Memory::memory, Counter::counter},
#include "analysis/LintAMDGCN/Instructions.inc"
#undef ROW
};

const Row *rowOf(std::string_view opcode) {
  const Row *best = nullptr;
  for (const Row &row : rows)
    if (opcode.starts_with(row.opcode) && (!best || row.opcode.size() > best->opcode.size()))
      best = &row;
  return best;
}

bool gfx9(Family family) { return family == Family::gfx90a || family == Family::gfx940; }
bool newer(Family family) { return family == Family::gfx12 || family == Family::gfx1250; }

/// scope:SCOPE_… of gfx12; without it the compute unit.
Scope scopeWord(const Instruction &in, Family family) {
  std::string_view word = in.word("scope");
  if (word == "SCOPE_SYS")
    return Scope::sys;
  if (word == "SCOPE_DEV")
    return Scope::gpu;
  if (word == "SCOPE_SE") // there are no clusters on gfx12: the next wider group is the workgroup's own
    return family == Family::gfx1250 ? Scope::cluster : Scope::cta;
  return family == Family::gfx1250 ? Scope::cta : Scope::thread;
}

/// sc0 and sc1 of gfx940, for loads, stores and cache operations.
Scope scopeBits(const Instruction &in) {
  bool sc0 = in.has("sc0"), sc1 = in.has("sc1");
  return sc1 ? (sc0 ? Scope::sys : Scope::gpu) : sc0 ? Scope::cta : Scope::thread;
}

void decodeScope(const Instruction &in, Family family, Effect &e) {
  bool load = e.kind == Kind::load;
  if (newer(family)) {
    std::string_view temporal = in.word("th");
    e.returns = temporal.find("RETURN") != temporal.npos;
    e.nonTemporal = temporal.find("_NT") != temporal.npos;
    e.reach = e.past = scopeWord(in, family);
    e.scoped = in.has("scope") && in.word("scope") != "SCOPE_CU";
  } else if (family == Family::gfx940) {
    e.nonTemporal = in.has("nt");
    if (e.kind == Kind::atomic) {
      // sc0 asks for the old value; atomics are done in the L2 of the device, and beyond it with sc1.
      e.returns = in.has("sc0");
      e.reach = e.past = in.has("sc1") ? Scope::sys : Scope::gpu;
      e.returnForScope = in.has("sc0") && !in.has("sc1");
      e.scoped = in.has("sc1");
    } else {
      e.reach = e.past = scopeBits(in);
      e.scoped = e.reach >= Scope::cta;
    }
  } else {
    // glc makes a load miss the first cache, which is all that its scope can say; stores and atomics go through it.
    e.nonTemporal = in.has("slc");
    e.returns = in.has("glc");
    e.reach = !load || in.has("glc") ? Scope::sys : Scope::thread;
    e.past = !load || !in.has("glc") ? Scope::thread : family == Family::gfx90a ? Scope::gpu : Scope::cta;
    e.scoped = load && in.has("glc");
  }
  if (e.kind != Kind::atomic)
    e.returns = false;
}

uint8_t partsOf(const Instruction &in, Family family, bool writeBack) {
  switch (family) {
  case Family::gfx90a:
    return writeBack ? 1 : in.opcode == "buffer_invl2" ? 2 : 1;
  case Family::gfx940: {
    Scope scope = scopeBits(in);
    return scope == Scope::sys ? 3 : scope == Scope::gpu ? 1 : 0;
  }
  case Family::gfx11:
    return writeBack ? 0 : in.opcode == "buffer_gl1_inv" ? 2 : 1;
  case Family::gfx12:
  case Family::gfx1250:
    break;
  }
  std::string_view word = in.word("scope");
  if (word == "SCOPE_SYS")
    return writeBack ? 3 : 7;
  if (word == "SCOPE_DEV")
    return writeBack ? 1 : 3;
  return !writeBack && word == "SCOPE_SE" ? 1 : 0;
}

uint8_t clamped(int64_t n) { return uint8_t(std::clamp<int64_t>(n, 0, 255)); }

/// The immediate of s_waitcnt: vmcnt and lgkmcnt where each generation keeps them.
void decodeImmediate(uint64_t bits, Family family, Effect &e) {
  auto &vm = e.atMost[size_t(Counter::loads)], &lds = e.atMost[size_t(Counter::lds)];
  if (gfx9(family)) {
    vm = uint8_t((bits & 15) | (bits >> 10 & 0x30));
    lds = uint8_t(bits >> 8 & 15);
  } else {
    vm = uint8_t(bits >> 10 & 63);
    lds = uint8_t(bits >> 4 & 63);
  }
}

void decodeWait(const Instruction &in, Family family, Effect &e) {
  std::string_view what = in.opcode.substr(in.opcode.starts_with("s_waitcnt") ? 9 : 7);
  auto at = [&](Counter c) -> uint8_t & { return e.atMost[size_t(c)]; };
  const Operand *last = in.operands.empty() ? nullptr : &in.operands.back();
  std::optional<int64_t> n;
  if (last && last->kind == OperandKind::integer)
    n = int64_t(last->bits);
  if (what.empty()) { // s_waitcnt
    if (n)
      decodeImmediate(uint64_t(*n), family, e);
    if (auto vm = in.argument("vmcnt"))
      at(Counter::loads) = clamped(*vm);
    if (auto lgkm = in.argument("lgkmcnt"))
      at(Counter::lds) = clamped(*lgkm);
    if (auto vs = in.argument("vscnt"))
      at(Counter::stores) = clamped(*vs);
  } else if (what == "idle") {
    e.atMost.fill(0);
  } else if (n) {
    if (what == "_vmcnt" || what == "loadcnt")
      at(Counter::loads) = clamped(*n);
    else if (what == "_vscnt" || what == "storecnt")
      at(Counter::stores) = clamped(*n);
    else if (what == "_lgkmcnt" || what == "dscnt")
      at(Counter::lds) = clamped(*n);
    else if (what == "asynccnt")
      at(Counter::async) = clamped(*n);
    else if (what == "loadcnt_dscnt" || what == "storecnt_dscnt") {
      at(what[0] == 'l' ? Counter::loads : Counter::stores) = uint8_t(*n >> 8 & 63);
      at(Counter::lds) = uint8_t(*n & 63);
    }
  }
  if (gfx9(family))
    at(Counter::stores) = at(Counter::loads);
}

/// Where the address, the base and the data stand. global and flat: [dst,] address [, data], base; stores and atomics
/// without a result begin with the address. Buffers: data, address, descriptor, offset. Scalar: dst, base, offset.
void decodeOperands(const Instruction &in, Effect &e) {
  auto count = uint32_t(in.operands.size());
  auto set = [&](std::optional<uint32_t> &which, uint32_t index) {
    if (index < count)
      which = index;
  };
  switch (e.memory) {
  case Memory::global:
  case Memory::flat:
  case Memory::scratch:
    if (e.kind == Kind::scalarLoad) {
      set(e.base, 1);
      set(e.address, 2);
      return;
    }
    if (e.kind == Kind::load) {
      bool direct = in.opcode.starts_with("global_load_lds"); // no register is written
      set(e.address, direct ? 0 : 1);
      set(e.base, direct ? 1 : 2);
      return;
    }
    set(e.address, e.returns ? 1 : 0);
    set(e.data, e.returns ? 2 : 1);
    set(e.base, e.returns ? 3 : 2);
    return;
  case Memory::buffer:
    if (e.kind == Kind::scalarLoad) {
      set(e.base, 1);
      return;
    }
    set(e.data, 0);
    set(e.address, 1);
    set(e.base, 2);
    return;
  case Memory::lds:
    set(e.address, e.kind == Kind::load || e.returns ? 1 : 0);
    set(e.data, e.kind == Kind::store ? 1 : 0);
    return;
  case Memory::none:
    return;
  }
}

} // namespace

Effect decode(const Instruction &in, Family family) {
  Effect e;
  const Row *row = rowOf(in.opcode);
  if (!row)
    return e;
  e.kind = row->kind;
  e.memory = row->memory;
  e.counter = row->counter;
  switch (e.kind) {
  case Kind::load:
  case Kind::store:
  case Kind::atomic:
    if (e.memory == Memory::lds) {
      e.returns = e.kind == Kind::atomic && in.opcode.find("_rtn") != in.opcode.npos;
    } else {
      decodeScope(in, family, e);
      if (e.kind == Kind::atomic && !e.returns && e.counter == Counter::loads)
        e.counter = Counter::stores;
    }
    break;
  case Kind::writeBack:
  case Kind::invalidate:
  case Kind::writeBackInvalidate:
    e.parts = partsOf(in, family, e.kind != Kind::invalidate);
    break;
  case Kind::wait:
    decodeWait(in, family, e);
    break;
  case Kind::barrier:
  case Kind::barrierSignal:
  case Kind::barrierWait:
    // -3, or 0xfffd: s_barrier_wait has 16 bits.
    e.cluster =
        !in.operands.empty() && in.operands[0].kind == OperandKind::integer && int16_t(in.operands[0].bits) == -3;
    break;
  default:
    break;
  }
  if (gfx9(family) && e.counter == Counter::stores)
    e.counter = Counter::loads;
  decodeOperands(in, e);
  return e;
}

size_t destinations(const Instruction &in, const Effect &effect) {
  switch (effect.kind) {
  case Kind::load:
    return effect.data && effect.memory != Memory::buffer ? 0 : in.opcode.starts_with("global_load_lds") ? 0 : 1;
  case Kind::scalarLoad:
    return 1;
  case Kind::atomic:
    return effect.returns ? 1 : 0;
  case Kind::call:
    return 1;
  case Kind::none:
    break;
  default:
    return 0;
  }
  if (in.operands.empty() || in.opcode.starts_with("s_cmp") || in.opcode.starts_with("s_bitcmp"))
    return 0;
  // v_add_co_u32 v0, vcc, …; v_mad_u64_u32 v[0:1], s[2:3], …
  bool carries = in.opcode.find("_co_") != in.opcode.npos || in.opcode.starts_with("v_mad_u64_u32") ||
                 in.opcode.starts_with("v_mad_i64_i32") || in.opcode.starts_with("v_div_scale");
  return carries && in.operands.size() > 3 ? 2 : 1;
}

} // namespace interlock::lint::gcn
