// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Waits: each counter with what may be left of it.
#include "analysis/Emulator/AMDGCN/Access.h"
#include "analysis/Emulator/AMDGCN/Decode.h"

#include <algorithm>

namespace interlock::emu::gcn {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;

void Decoder::waits(const Instruction &in, Op &op) {
  std::string_view name = op.entry->name;
  uint64_t list = 0;
  unsigned n = 0;
  auto add = [&](uint8_t counters, int64_t left) {
    list |= (uint64_t(counters) << 8 | uint64_t(std::clamp<int64_t>(left, 0, 255))) << 16 * n++;
  };
  constexpr uint8_t loads = Transfer::loads, stores = Transfer::stores, local = Transfer::local,
                    scalar = Transfer::scalar;
  bool gfx9 = image.target->family <= Family::gfx940;
  int64_t imm = 0;
  for (const Operand &o : in.operands)
    if (o.kind == OperandKind::integer)
      imm = int64_t(o.bits);
  if (name == "s_sleep" || name.ends_with("_mode")) {
    op.imm = imm;
    return;
  }
  uint8_t vector = gfx9 ? loads | stores : loads;
  if (name == "s_waitcnt") {
    bool words = false;
    for (const Operand &o : in.operands)
      words |= o.kind == OperandKind::call;
    if (words) {
      if (auto v = in.argument("vmcnt"))
        add(vector, *v);
      if (auto v = in.argument("lgkmcnt"))
        add(local | scalar, *v);
    } else if (gfx9) {
      add(vector, (imm & 15) | (imm >> 10 & 0x30));
      add(local | scalar, imm >> 8 & 15);
    } else {
      add(vector, imm >> 10 & 63);
      add(local | scalar, imm >> 4 & 63);
    }
  } else if (name == "s_waitcnt_vmcnt" || name == "s_wait_loadcnt") {
    add(loads, imm);
  } else if (name == "s_waitcnt_vscnt" || name == "s_wait_storecnt") {
    add(stores, imm);
  } else if (name == "s_waitcnt_lgkmcnt") {
    add(local | scalar, imm);
  } else if (name == "s_wait_dscnt") {
    add(local, imm);
  } else if (name == "s_wait_kmcnt") {
    add(scalar, imm);
  } else if (name == "s_wait_loadcnt_dscnt" || name == "s_wait_storecnt_dscnt") {
    add(name == "s_wait_loadcnt_dscnt" ? loads : stores, imm >> 8 & 63);
    add(local, imm & 63);
  } else {
    add(loads | stores | local | scalar, 0);
  }
  op.imm = int64_t(list);
}

} // namespace interlock::emu::gcn
