// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Instructions that access memory, by the form in which their operands stand.
#include "analysis/Emulator/AMDGCN/Access.h"
#include "analysis/Emulator/AMDGCN/Decode.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::emu::gcn {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;

Scope Decoder::scopeOf(const Instruction &in, bool atomic) const {
  switch (image.target->family) {
  case Family::gfx90a:
    // gbl: past the L1; whether system scope is meant only the write-backs around say.
    return in.has("glc") || atomic ? Scope::agent : Scope::wave;
  case Family::gfx940:
    if (atomic)
      return in.has("sc1") ? Scope::system : Scope::agent;
    return in.has("sc1") ? (in.has("sc0") ? Scope::system : Scope::agent)
                         : (in.has("sc0") ? Scope::workgroup : Scope::wave);
  case Family::gfx11:
    return in.has("glc") || in.has("dlc") || atomic ? Scope::agent : Scope::wave;
  case Family::gfx12:
  case Family::gfx1250: {
    std::string_view w = in.word("scope");
    return w == "SCOPE_SYS"   ? Scope::system
           : w == "SCOPE_DEV" ? Scope::agent
           : w == "SCOPE_SE"  ? Scope::cluster
                              : Scope::wave;
  }
  }
  return Scope::wave;
}

void Decoder::memory(const Instruction &in, Op &op) {
  const Entry &e = *op.entry;
  AccessKind kind = AccessKind::of(e.sub);
  bool atomic = kind.what == AccessKind::atomic, load = kind.what == AccessKind::load;
  std::vector<const Operand *> o;
  for (const Operand &one : in.operands)
    o.push_back(&one);
  op.imm = in.number("offset");
  op.scope = uint8_t(scopeOf(in, atomic));
  op.poll = true;
  if (in.has("scale_offset"))
    op.flags |= scaleOffset;
  if (in.has("lds") || in.has("tfe"))
    return need("expected no lds and no tfe modifier");
  size_t n = 0;
  auto next = [&](std::string_view what) -> const Operand * {
    if (n < o.size())
      return o[n++];
    need(fmt::format("expected {}", what));
    return nullptr;
  };
  auto vectorOrOff = [&](Src &s) {
    if (const Operand *v = next("an address")) {
      s = operand(*v, Ty::none);
      if (s.kind != SrcKind::vector && s.kind != SrcKind::none)
        need("expected a vector register, or off, as the address");
    }
  };
  auto vectorDst = [&] {
    if (const Operand *v = next("a destination")) {
      op.dst = operand(*v, Ty::none);
      if (op.dst.kind != SrcKind::vector)
        need("expected a vector register as the destination");
    }
  };
  auto vectorData = [&](Src &s) {
    if (const Operand *v = next("data")) {
      s = operand(*v, Ty::none);
      if (s.kind != SrcKind::vector)
        need("expected a vector register as the data");
    }
  };
  auto scalarOrOff = [&](Src &s) {
    if (n >= o.size())
      return;
    s = operand(*o[n++], Ty::none);
    if (s.kind == SrcKind::scalar && s.index == sreg::zero)
      s.kind = SrcKind::none;
    if (s.kind == SrcKind::vector)
      need("expected a scalar register, or off");
  };
  switch (e.form) {
  case Form::global:
  case Form::flat:
  case Form::scratch: {
    // A returned value is a destination in front: the text has an operand more.
    bool flat = e.form == Form::flat;
    size_t without = flat ? 2 : 3;
    bool returns = atomic && (in.word("th").find("RETURN") != std::string_view::npos || in.has("glc") ||
                              (in.has("sc0") && image.target->family == Family::gfx940));
    if (atomic && o.size() > without + (flat && in.operands.back().kind == OperandKind::special))
      returns = flat ? returns : true;
    if (returns)
      op.flags |= returnsValue;
    if (load || returns)
      vectorDst();
    vectorOrOff(op.src[0]);
    if (!load)
      vectorData(op.src[1]);
    scalarOrOff(op.src[2]);
    if (e.form != Form::scratch && op.src[0].kind == SrcKind::none && op.src[2].kind == SrcKind::none)
      need("expected an address");
    if (flat && op.src[0].kind != SrcKind::vector)
      need("expected a vector register as the address");
    break;
  }
  case Form::buffer: {
    if (load) {
      vectorDst();
    } else {
      vectorData(op.src[1]);
      if (atomic && (in.has("glc") || in.has("sc0") || in.word("th").find("RETURN") != std::string_view::npos)) {
        op.dst = op.src[1];
        op.flags |= returnsValue;
      }
    }
    vectorOrOff(op.src[0]);
    scalarOrOff(op.src[2]);
    if (op.src[2].kind != SrcKind::scalar || op.src[2].words != 4)
      return need("expected four scalar registers as the resource");
    if (const Operand *v = next("a scalar offset"))
      op.src[3] = operand(*v, Ty::b32);
    if (op.src[3].kind == SrcKind::vector || op.src[3].kind == SrcKind::none)
      need("expected a scalar register or a constant as the offset");
    op.flags |= (in.has("offen") ? offsetEnable : 0u) | (in.has("idxen") ? indexEnable : 0u);
    break;
  }
  case Form::local: {
    bool returns = kind.returns;
    if (load || returns)
      vectorDst();
    if (returns)
      op.flags |= returnsValue;
    if (e.name.starts_with("ds_cmpst_") || e.name.starts_with("ds_mskor"))
      op.flags |= comparesFirst;
    vectorOrOff(op.src[0]);
    if (op.src[0].kind == SrcKind::none)
      return need("expected an address");
    unsigned data = load ? 0 : kind.two || kind.op == Atomic::cmpswap || kind.op == Atomic::mskor ? 2 : 1;
    for (unsigned i = 0; i < data; ++i)
      vectorData(op.src[1 + i]);
    op.nsrc = uint8_t(1 + data);
    op.scope = uint8_t(Scope::workgroup);
    if (kind.two) {
      int64_t unit = kind.bytes * (kind.stride64 ? 64 : 1);
      op.imm = in.number("offset0") * unit;
      op.imm2 = in.number("offset1") * unit;
    }
    break;
  }
  case Form::scalar: {
    const Operand *d = next("a destination");
    const Operand *b = next("an address");
    if (!d || !b)
      return;
    op.dst = operand(*d, Ty::none, true);
    op.src[0] = operand(*b, Ty::none);
    uint32_t width = e.sub & 0xff;
    if (op.dst.kind != SrcKind::scalar || op.src[0].kind != SrcKind::scalar || op.src[0].words < 2 ||
        op.dst.index + std::max(1u, width / 4) > sreg::sink + 16)
      return need("expected scalar registers");
    if (n < o.size()) {
      Src offset = operand(*o[n++], Ty::b32);
      if (offset.kind == SrcKind::constant)
        op.imm += int64_t(int32_t(offset.value));
      else
        op.src[1] = offset;
    }
    break;
  }
  default:
    break;
  }
  if (op.src[0].kind == SrcKind::vector && e.form == Form::scratch)
    op.src[0].words = 1;
  checkWidth(op, kind);
}

void Decoder::checkWidth(const Op &op, const AccessKind &kind) {
  if (op.entry->form == Form::scalar)
    return;
  uint32_t n = uint32_t(std::max(1, kind.bytes / 4)) * (kind.two ? 2 : 1);
  if (op.dst.kind == SrcKind::vector)
    vectorUse({.words = uint8_t(n), .index = op.dst.index});
  uint32_t data =
      uint32_t(std::max(1, kind.bytes / 4)) * (kind.op == Atomic::cmpswap && op.entry->form != Form::local ? 2 : 1);
  for (unsigned i : {1u, 2u})
    if (op.src[i].kind == SrcKind::vector)
      vectorUse({.words = uint8_t(data), .index = op.src[i].index});
}

} // namespace interlock::emu::gcn
