// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Instructions that compute: destinations, then sources.
#include "analysis/Emulator/AMDGCN/Decode.h"

#include <fmt/format.h>

namespace interlock::emu::gcn {

using amdgcn::Instruction;
using amdgcn::Operand;

namespace {

/// v_s_* write a scalar register.
bool scalarOk(const Entry &e) { return e.name.starts_with("v_s_"); }

} // namespace

void Decoder::plain(const Instruction &in, Op &op) {
  const Entry &e = *op.entry;
  size_t n = 0;
  auto take = [&]() -> const Operand * { return n < in.operands.size() ? &in.operands[n++] : nullptr; };
  size_t sources = 0;
  while (sources < 4 && e.src[sources] != Ty::none)
    ++sources;
  if (e.flags & tied)
    --sources;
  // v_cmpx has no destination from gfx10 on; a comparison's is implied in some old texts.
  bool noDst = e.dst == Ty::mask && in.operands.size() == sources;
  bool isGetreg = e.name == "s_getreg_b32" || e.name.starts_with("s_sendmsg_rtn");
  bool isSetreg = e.name.starts_with("s_setreg");
  if (e.dst != Ty::none && !noDst) {
    const Operand *o = take();
    if (!o)
      return need("expected a destination");
    op.dst = operand(*o, e.dst, true);
    if (op.dst.kind == SrcKind::constant || op.dst.kind == SrcKind::none)
      return need("expected a register as the destination");
  } else if (noDst && e.run == runCompare) {
    op.dst = {.kind = SrcKind::scalar, .type = Ty::mask, .words = 2, .index = sreg::vcc};
  }
  if (e.flags & secondDst) {
    const Operand *o = take();
    if (!o)
      return need("expected a mask as the second destination");
    op.dst2 = operand(*o, Ty::mask, true);
    if (op.dst2.kind != SrcKind::scalar)
      return need("expected a scalar register as the second destination");
  }
  if (isGetreg)
    return;
  for (size_t i = 0; i < sources; ++i) {
    if (isSetreg && i == 0) {
      take();
      continue;
    }
    const Operand *o = take();
    if (!o && e.src[i] == Ty::mask) { // v_dual_cndmask: VCC is implied
      op.src[i] = {.kind = SrcKind::scalar, .type = Ty::mask, .words = 2, .index = sreg::vcc};
      continue;
    }
    if (!o)
      return need(fmt::format("expected {} sources, found {}", sources, i));
    op.src[i] = operand(*o, e.src[i]);
    if (op.src[i].kind == SrcKind::none)
      return need("expected a register or a constant as a source");
  }
  op.nsrc = uint8_t(sources);
  if (e.flags & tied) {
    Src self = op.dst;
    self.type = e.src[sources];
    op.src[sources] = self;
    ++op.nsrc;
  }
  if (e.name.starts_with("v_")) {
    // Masks, lane numbers and selectors are scalars.
    bool selects = e.name.starts_with("v_readlane") || e.name.starts_with("v_permlane16_b32") ||
                   e.name.starts_with("v_permlanex16");
    for (size_t i = 0; i < sources; ++i)
      if (op.src[i].kind == SrcKind::vector &&
          (e.src[i] == Ty::mask || (selects && i > 0) || e.name == "v_writelane_b32"))
        return need("expected a scalar register or a constant as a source");
    if (e.name == "v_writelane_b32" && op.dst.kind != SrcKind::vector)
      return need("expected a vector register as the destination");
    bool lane = e.name.starts_with("v_readlane") || e.name.starts_with("v_readfirst");
    bool scalarResult = lane || e.dst == Ty::mask || e.dst == Ty::none;
    if (!scalarResult && op.dst.kind != SrcKind::vector && op.dst.kind != SrcKind::none && !scalarOk(e))
      return need("expected a vector register as the destination");
    if (e.dst == Ty::mask && !noDst && op.dst.kind != SrcKind::scalar)
      return need("expected a scalar register as the destination");
    if (lane && op.dst.kind != SrcKind::scalar)
      return need("expected a scalar register as the destination");
    vectorModifiers(in, op);
    if (e.name.ends_with("_swap_b32") && op.src[0].kind != SrcKind::vector)
      return need("expected two vector registers");
    if (op.clamp)
      if (const Entry *saturating = findEntry(std::string(e.name) + ".clamp")) {
        op.compute = saturating->compute;
        op.clamp = false;
        op.plain = false;
      }
  } else if (e.name.starts_with("ds_")) {
    op.imm = in.number("offset");
    if (op.dst.kind != SrcKind::vector)
      return need("expected a vector register as the destination");
    if (e.name == "ds_swizzle_b32") {
      auto code = swizzle(in);
      if (!code)
        return need("expected an offset that says how lanes are exchanged");
      op.imm = *code;
    }
  } else {
    for (size_t i = 0; i < sources; ++i)
      if (op.src[i].kind == SrcKind::vector)
        return need("expected a scalar register as a source");
    if (op.dst.kind == SrcKind::vector)
      return need("expected a scalar register as the destination");
  }
}

} // namespace interlock::emu::gcn
