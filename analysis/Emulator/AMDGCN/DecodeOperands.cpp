// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Operands: registers by their number, constants as the type takes them, symbols as addresses.
#include "analysis/Emulator/AMDGCN/Decode.h"
#include "analysis/Emulator/FloatFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace interlock::emu::gcn {

using amdgcn::Operand;
using amdgcn::OperandKind;
using amdgcn::RegisterFile;

namespace {

struct Named {
  std::string_view name;
  uint32_t index;
  uint8_t words;
};
constexpr Named named[] = {
    {"vcc", sreg::vcc, 2},
    {"vcc_lo", sreg::vcc, 1},
    {"vcc_hi", sreg::vcc + 1, 1},
    {"exec", sreg::exec, 2},
    {"exec_lo", sreg::exec, 1},
    {"exec_hi", sreg::exec + 1, 1},
    {"m0", sreg::m0, 1},
    {"scc", sreg::scc, 1},
    {"src_scc", sreg::scc, 1},
    {"flat_scratch", sreg::flatScratch, 2},
    {"flat_scratch_lo", sreg::flatScratch, 1},
    {"flat_scratch_hi", sreg::flatScratch + 1, 1},
    {"xnack_mask", sreg::xnackMask, 2},
    {"xnack_mask_lo", sreg::xnackMask, 1},
    {"xnack_mask_hi", sreg::xnackMask + 1, 1},
    {"src_shared_base", sreg::sharedBase, 2},
    {"src_shared_base_lo", sreg::sharedBase, 1},
    {"src_shared_limit", sreg::sharedLimit, 2},
    {"src_private_base", sreg::privateBase, 2},
    {"src_private_base_lo", sreg::privateBase, 1},
    {"src_private_limit", sreg::privateLimit, 2},
    {"src_flat_scratch_base_lo", sreg::flatScratchBase, 1},
    {"src_flat_scratch_base_hi", sreg::flatScratchBase + 1, 1},
};

/// A constant as an operand of the type takes it.
uint64_t constantOf(const Operand &o, Ty type) {
  if (o.kind == OperandKind::integer) {
    uint64_t v = o.bits;
    bool isInline = int64_t(v) >= -16 && int64_t(v) <= 64;
    if (type == Ty::f64 && !isInline && v <= 0xffffffff)
      return v << 32; // a literal is the upper half
    if (type == Ty::i64 && !isInline && v <= 0xffffffff)
      return uint64_t(int64_t(int32_t(v)));
    return v;
  }
  double v = o.value;
  switch (type) {
  case Ty::f64:
  case Ty::b64:
  case Ty::i64:
    return std::bit_cast<uint64_t>(v);
  case Ty::b16:
  case Ty::f16:
  case Ty::pkf16:
    return alu::encode(alu::formatF16, v, alu::Rounding::rn);
  case Ty::bf16:
  case Ty::pkbf16:
    return alu::encode(alu::formatBf16, v, alu::Rounding::rn);
  default:
    return std::bit_cast<uint32_t>(float(v));
  }
}

} // namespace

void Decoder::vectorUse(const Src &s) {
  uint32_t end = s.index + s.words;
  if (s.index >= agprBase)
    image.agprs = std::max(image.agprs, end - agprBase);
  else
    image.vgprs = std::max(image.vgprs, end);
}

Src Decoder::operand(const Operand &o, Ty type, bool destination) {
  Src s;
  s.type = type;
  s.words = uint8_t(type == Ty::mask ? 2 : std::max(1u, words(type)));
  s.negated = o.negated;
  s.absolute = o.absolute;
  s.sext = o.sext;
  s.half = o.half == 'l' ? 1 : o.half == 'h' ? 2 : 0;
  switch (o.kind) {
  case OperandKind::reg:
    if (o.file == RegisterFile::vgpr || o.file == RegisterFile::agpr) {
      s.kind = SrcKind::vector;
      s.index = o.index + (o.file == RegisterFile::agpr ? agprBase : 0);
      if (type == Ty::none)
        s.words = uint8_t(o.count);
      s.words = uint8_t(std::min<uint32_t>(s.words, 4));
      if (o.count > 32 || o.index + std::max<uint32_t>(o.count, s.words) > 1024)
        need(fmt::format("expected registers below v1024, found v{}", o.index));
      else
        vectorUse({.words = uint8_t(std::max<uint32_t>(o.count, s.words)), .index = s.index});
      return s;
    }
    s.kind = SrcKind::scalar;
    if (type == Ty::none)
      s.words = uint8_t(o.count);
    if (o.index + std::max<uint32_t>(o.count, s.words) > (o.file == RegisterFile::ttmp ? 16u : 106u))
      need(fmt::format("expected scalar registers that exist, found number {}", o.index));
    s.index = o.index + (o.file == RegisterFile::ttmp ? sreg::ttmp : 0);
    return s;
  case OperandKind::special:
    if (o.name == "null") {
      s.kind = SrcKind::scalar;
      s.index = destination ? sreg::sink : sreg::zero;
      return s;
    }
    if (o.name == "off") {
      s.kind = SrcKind::none;
      return s;
    }
    for (const Named &n : named)
      if (n.name == o.name) {
        s.kind = SrcKind::scalar;
        s.index = n.index;
        if (type == Ty::none)
          s.words = n.words;
        return s;
      }
    need(fmt::format("expected a register that is emulated, found {}", o.name));
    return s;
  case OperandKind::integer:
  case OperandKind::real:
    s.kind = SrcKind::constant;
    s.value = constantOf(o, type);
    if (type == Ty::none)
      s.words = 1;
    return s;
  case OperandKind::symbol:
  case OperandKind::label:
  case OperandKind::expression: {
    auto v = layout.value(image, o, at);
    if (!v)
      need(v.error());
    s.kind = SrcKind::constant;
    s.value = v.value_or(0);
    if (o.relocation != "rel64" && o.relocation != "abs64")
      s.value = uint32_t(s.value);
    return s;
  }
  default:
    need("expected a register or a constant");
    return s;
  }
}

} // namespace interlock::emu::gcn
