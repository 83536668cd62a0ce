// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A forward dataflow of one bit a register.
#include "analysis/LintAMDGCN/Taint.h"

#include <algorithm>

namespace interlock::lint::gcn {

Taint::Taint(const Code &code, const Graph &graph, uint32_t from, bool choices)
    : code(code), graph(graph), from(from), choices(choices) {
  for (bool again = true; again;) {
    in.assign(code.blocks.size(), std::vector<bool>(code.registers));
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : graph.order) {
        std::vector<bool> here = in[b];
        for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i)
          apply(here, i);
        for (uint32_t next : code.blocks[b].successors)
          for (Register r = 0; r < code.registers; ++r)
            if (here[r] && !in[next][r])
              changed = in[next][r] = true;
      }
    }
    again = !lds && throughLds();
    lds |= again;
  }
}

bool Taint::any(const std::vector<Register> &of, const std::vector<bool> &here) const {
  return std::any_of(of.begin(), of.end(), [&](Register r) { return here[r]; });
}

void Taint::apply(std::vector<bool> &here, uint32_t i) const {
  const amdgcn::Instruction &in = code.instructions[i];
  const Effect &e = code.effects[i];
  bool compares = in.opcode.starts_with("v_cmp") || in.opcode.starts_with("s_cmp");
  bool fromLds = lds && e.memory == Memory::lds && (e.kind == Kind::load || e.returns);
  bool tainted = i == from || fromLds || ((choices || !compares) && any(code.read(in, e), here));
  for (Register r : code.written(in, e))
    here[r] = tainted;
}

bool Taint::throughLds() const {
  bool found = false;
  walk([&](uint32_t i, const std::vector<bool> &here) {
    const Effect &e = code.effects[i];
    found |= e.memory == Memory::lds && e.writes() && any(code.read(code.instructions[i], e), here);
  });
  return found;
}

} // namespace interlock::lint::gcn
