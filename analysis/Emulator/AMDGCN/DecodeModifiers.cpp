// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What stands behind the operands of vector instructions: DPP, SDWA, op_sel, clamp; and the code of ds_swizzle_b32.
#include "analysis/Emulator/AMDGCN/Decode.h"

#include "analysis/AMDGCN/Expression.h"

namespace interlock::emu::gcn {

using amdgcn::Instruction;

namespace {

uint8_t selection(std::string_view word) {
  constexpr std::string_view names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  for (uint8_t i = 0; i < std::size(names); ++i)
    if (names[i] == word)
      return i;
  return 6;
}

} // namespace

void Decoder::dpp(const Instruction &in, Op &op) {
  struct Row {
    std::string_view name;
    DppKind kind;
  };
  constexpr Row rows[] = {{"quad_perm", DppKind::quadPerm},       {"row_shl", DppKind::rowShl},
                          {"row_shr", DppKind::rowShr},           {"row_ror", DppKind::rowRor},
                          {"wave_shl", DppKind::waveShl},         {"wave_rol", DppKind::waveRol},
                          {"wave_shr", DppKind::waveShr},         {"wave_ror", DppKind::waveRor},
                          {"row_mirror", DppKind::rowMirror},     {"row_half_mirror", DppKind::rowHalfMirror},
                          {"row_share", DppKind::rowShare},       {"row_xmask", DppKind::rowXmask},
                          {"row_newbcast", DppKind::rowNewbcast}, {"dpp8", DppKind::dpp8}};
  for (const Row &r : rows)
    if (const amdgcn::Modifier *m = in.find(r.name)) {
      op.dpp.kind = r.kind;
      for (size_t i = 0; i < m->numbers.size() && i < 8; ++i)
        op.dpp.select[i] = uint8_t(m->numbers[i] & 15);
    }
  if (in.has("row_bcast"))
    op.dpp.kind = in.number("row_bcast") == 15 ? DppKind::rowBcast15 : DppKind::rowBcast31;
  if (op.dpp.kind == DppKind::none)
    return;
  op.dpp.zeroFill = in.has("bound_ctrl"); // `bound_ctrl:0` is how older assemblers wrote it
  op.dpp.fetchInactive = in.number("fi") != 0;
  op.dpp.rowMask = uint8_t(in.number("row_mask", 15));
  op.dpp.bankMask = uint8_t(in.number("bank_mask", 15));
  op.plain = false;
}

void Decoder::vectorModifiers(const Instruction &in, Op &op) {
  auto list = [&](std::string_view name, uint8_t otherwise) {
    const amdgcn::Modifier *m = in.find(name);
    if (!m)
      return otherwise;
    uint8_t bits = 0;
    for (size_t i = 0; i < m->numbers.size() && i < 4; ++i)
      bits |= uint8_t((m->numbers[i] & 1) << i);
    return bits;
  };
  bool mix = op.entry->name.find("_mix") != std::string_view::npos;
  op.opSel = list("op_sel", 0);
  op.opSelHi = list("op_sel_hi", mix ? 0 : 7);
  op.negLo = list("neg_lo", 0);
  op.negHi = list("neg_hi", 0);
  bool packed = op.entry->name.starts_with("v_pk_") || mix || op.entry->name.starts_with("v_dot");
  if (const amdgcn::Modifier *m = in.find("op_sel"); m && !packed && m->numbers.size() < 4) {
    // The last one is the destination's, which is bit 3.
    uint8_t last = uint8_t(1 << (m->numbers.size() - 1));
    if (m->numbers.size() == op.nsrc + 1u && (op.opSel & last))
      op.opSel = uint8_t((op.opSel & ~last) | 8);
  }
  if (mix)
    for (unsigned i = 0; i < 3; ++i) {
      op.negLo |= uint8_t(op.src[i].negated << i);
      op.negHi |= uint8_t(op.src[i].absolute << i);
      op.src[i].negated = op.src[i].absolute = false;
    }
  op.clamp = in.has("clamp");
  if (in.has("mul") || in.has("div"))
    op.outputScale = in.has("div") ? 3 : in.number("mul") == 4 ? 2 : 1;
  op.imm = in.has("bitop3") ? in.number("bitop3") : in.number("byte_sel");
  if (op.entry->name.starts_with("v_cvt_f32_") && op.entry->name.ends_with("8") && op.imm == 0)
    op.imm = (op.opSel & 1) << 1 | (op.opSel >> 1 & 1);
  if (in.has("src0_sel") || in.has("dst_sel")) {
    op.src[0].sel = selection(in.word("src0_sel"));
    op.src[1].sel = selection(in.word("src1_sel"));
    op.dstSel = in.has("dst_sel") ? selection(in.word("dst_sel")) : 6;
    op.dstUnused = in.word("dst_unused") == "UNUSED_PRESERVE" ? 2 : in.word("dst_unused") == "UNUSED_SEXT" ? 1 : 0;
  }
  dpp(in, op);
  op.plain = op.dpp.kind == DppKind::none && !op.opSel && !op.clamp && !op.outputScale && op.dstSel == 6;
}

std::optional<int64_t> Decoder::swizzle(const Instruction &in) {
  const amdgcn::Modifier *m = in.find("offset");
  if (!m)
    return 0;
  if (m->numbers.size() == 1)
    return m->numbers[0];
  std::string_view v = m->value;
  if (!v.starts_with("swizzle(") || !v.ends_with(")"))
    return {};
  amdgcn::Cursor c{v.substr(8, v.size() - 9), 0, {}};
  std::string_view name = c.name();
  std::vector<int64_t> n;
  std::string_view mask;
  while (c.accept(',')) {
    c.skipBlanks();
    if (c.peek() == '"') {
      mask = c.rest().substr(1, 5);
      break;
    }
    auto number = amdgcn::unsignedNumber(c);
    if (!number)
      return {};
    n.push_back(int64_t(*number & 31));
  }
  auto code = [](int64_t land, int64_t lor, int64_t lxor) { return land | lor << 5 | lxor << 10; };
  if (name == "QUAD_PERM" && n.size() == 4)
    return 0x8000 | (n[0] & 3) | (n[1] & 3) << 2 | (n[2] & 3) << 4 | (n[3] & 3) << 6;
  if (name == "SWAP" && n.size() == 1)
    return code(31, 0, n[0]);
  if (name == "REVERSE" && n.size() == 1)
    return code(31, 0, n[0] - 1);
  if (name == "BROADCAST" && n.size() == 2)
    return code(32 - n[0], n[1], 0);
  if (name == "BITMASK_PERM" && mask.size() == 5) {
    int64_t land = 0, lor = 0, lxor = 0;
    for (unsigned i = 0; i < 5; ++i) {
      int64_t bit = 16 >> i;
      land |= mask[i] == 'p' || mask[i] == 'i' ? bit : 0;
      lor |= mask[i] == '1' ? bit : 0;
      lxor |= mask[i] == 'i' ? bit : 0;
    }
    return code(land, lor, lxor);
  }
  return {};
}

} // namespace interlock::emu::gcn
