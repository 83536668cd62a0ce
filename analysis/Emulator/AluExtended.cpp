// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Additions and products that hand a carry on (PTX ISA "Extended-Precision Integer Arithmetic Instructions").
#include "analysis/Emulator/Alu.h"

namespace interlock::emu::alu {
namespace {

using Wide = unsigned __int128;

/// sub: 0 adds, 1 subtracts (the condition code is then a borrow), 2 and 3 add the low or high half of a product.
void extended(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *out2, uint64_t active, unsigned lanes) {
  uint64_t mask = maskOf(op.bits);
  const uint64_t *code = op.carryIn ? in[op.sub >= 2 ? 3 : 2] : nullptr;
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t a = in[0][l] & mask, b = in[1][l] & mask, carry = code ? code[l] & 1 : 0;
    if (op.sub == 1) {
      Wide result = Wide(a) - b - carry;
      out[l] = uint64_t(result) & mask;
      if (op.carryOut)
        out2[l] = Wide(a) < Wide(b) + carry;
      return;
    }
    if (op.sub >= 2) {
      Wide product = op.isSigned ? Wide(__int128(signExtend(a, op.bits)) * signExtend(b, op.bits)) : Wide(a) * b;
      a = uint64_t(op.sub == 3 ? product >> op.bits : product) & mask;
      b = in[2][l] & mask;
    }
    Wide result = Wide(a) + b + carry;
    out[l] = uint64_t(result) & mask;
    if (op.carryOut)
      out2[l] = uint64_t(result >> op.bits) & 1;
  });
}

} // namespace

tl::expected<Op, std::string> resolveExtended(const ptx::Instruction &in) {
  Op op;
  op.type = in.type();
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.isSigned = ptx::isSigned(op.type);
  op.carryIn = in.opcode == "addc" || in.opcode == "subc" || in.opcode == "madc";
  op.carryOut = in.has("cc");
  bool add = in.opcode == "add" || in.opcode == "addc", sub = in.opcode == "sub" || in.opcode == "subc";
  bool mad = in.opcode == "mad" || in.opcode == "madc";
  bool half = in.has("lo") != in.has("hi");
  if (!(add || sub || (mad && half)) || !(op.carryIn || op.carryOut) || !hasOnly(in, {"cc", "lo", "hi"}) ||
      ptx::isFloat(op.type) || (op.bits != 32 && op.bits != 64))
    return unknownInstruction(in);
  op.sub = add ? 0 : sub ? 1 : in.has("lo") ? 2 : 3;
  op.eval = extended;
  return op;
}

} // namespace interlock::emu::alu
