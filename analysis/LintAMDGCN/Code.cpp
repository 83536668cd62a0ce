// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Blocks from branches; registers from operands.
#include "analysis/LintAMDGCN/Code.h"

#include <algorithm>

namespace interlock::lint::gcn {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;
using amdgcn::RegisterFile;

namespace {

/// Calls `visit` on the instruction, and on the second half of a pair.
template <class Visit> void eachHalf(const Instruction &in, Visit visit) {
  visit(in);
  for (const Instruction &second : in.second)
    visit(second);
}

} // namespace

Code::Code(const amdgcn::Module &module, const amdgcn::Function &function, Family family)
    : module(&module), function(&function), family(family), instructions(module.code(function)) {
  uint32_t accumulators = 0;
  auto count = [&](const Operand &o) {
    if (o.isRegister(RegisterFile::vgpr))
      vectors = std::max(vectors, o.index + o.count);
    else if (o.isRegister(RegisterFile::agpr))
      accumulators = std::max(accumulators, o.index + o.count);
  };
  effects.reserve(instructions.size());
  for (const Instruction &in : instructions) {
    effects.push_back(decode(in, family));
    hasCalls |= effects.back().kind == Kind::call;
    eachHalf(in, [&](const Instruction &half) {
      for (const Operand &o : half.operands) {
        count(o);
        for (const Operand &element : o.elements)
          count(element);
      }
    });
  }
  registers = firstVector + vectors + accumulators;
  split();
}

void Code::split() {
  auto size = uint32_t(instructions.size());
  auto target = [&](uint32_t i) {
    const auto &operands = instructions[i].operands;
    if (operands.empty() || operands.back().kind != OperandKind::label || operands.back().index < function->begin ||
        operands.back().index >= function->end)
      return ~0u;
    return operands.back().index - function->begin;
  };
  std::vector<bool> starts(size + 1);
  starts[0] = true;
  for (uint32_t i = 0; i < size; ++i) {
    Kind kind = effects[i].kind;
    if (kind != Kind::branch && kind != Kind::conditional && kind != Kind::end)
      continue;
    starts[i + 1] = true;
    if (uint32_t to = target(i); kind != Kind::end && to != ~0u)
      starts[to] = true;
  }
  blockOf.resize(size);
  for (uint32_t i = 0; i < size; ++i) {
    if (starts[i]) {
      FlatBlock block;
      block.first = i;
      blocks.push_back(std::move(block));
    }
    blockOf[i] = uint32_t(blocks.size() - 1);
    blocks.back().count++;
  }
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    uint32_t last = blocks[b].first + blocks[b].count - 1;
    Kind kind = effects[last].kind;
    auto link = [&](uint32_t to) {
      blocks[b].successors.push_back(to);
      blocks[to].predecessors.push_back(b);
    };
    uint32_t to = kind == Kind::branch || kind == Kind::conditional ? target(last) : ~0u;
    if (to != ~0u)
      link(blockOf[to]);
    if (kind != Kind::branch && kind != Kind::end && b + 1 < blocks.size() && !(to != ~0u && blockOf[to] == b + 1))
      link(b + 1);
    if (kind == Kind::end)
      blocks[b].endsThread = true;
  }
}

std::vector<Register> Code::expand(const Operand &o) const {
  std::vector<Register> out;
  auto range = [&](Register first, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i)
      if (first + i < registers)
        out.push_back(first + i);
  };
  if (o.kind == OperandKind::list) {
    for (const Operand &element : o.elements)
      for (Register r : expand(element))
        out.push_back(r);
  } else if (o.isRegister(RegisterFile::vgpr)) {
    range(firstVector + o.index, o.count);
  } else if (o.isRegister(RegisterFile::agpr)) {
    range(firstVector + vectors + o.index, o.count);
  } else if (o.isRegister(RegisterFile::sgpr)) {
    if (o.index + o.count <= execLow)
      range(o.index, o.count);
  } else if (o.is("vcc")) {
    range(106, 2);
  } else if (o.is("vcc_lo")) {
    range(106, 1);
  } else if (o.is("vcc_hi")) {
    range(107, 1);
  } else if (o.is("exec")) {
    range(execLow, 2);
  } else if (o.is("exec_lo")) {
    range(execLow, 1);
  } else if (o.is("exec_hi")) {
    range(execHigh, 1);
  } else if (o.is("m0")) {
    range(m0, 1);
  }
  return out;
}

std::vector<Register> Code::written(const Instruction &in, const Effect &effect) const {
  std::vector<Register> out;
  auto add = [&](const Instruction &half) {
    size_t n = std::min(destinations(half, effect), half.operands.size());
    std::string_view op = half.opcode;
    if (op.starts_with("v_cmpx"))
      n = 0;
    for (size_t i = 0; i < n; ++i)
      for (Register r : expand(half.operands[i]))
        out.push_back(r);
    if (effect.kind != Kind::none)
      return;
    if (op.starts_with("v_cmpx") || op.find("saveexec") != op.npos || op.find("wrexec") != op.npos)
      out.insert(out.end(), {execLow, execHigh});
    if (op.starts_with("s_") && !op.starts_with("s_mov") && !op.starts_with("s_cselect") && !op.starts_with("s_cmov"))
      out.push_back(scc);
  };
  eachHalf(in, add);
  return out;
}

std::vector<Register> Code::read(const Instruction &in, const Effect &effect) const {
  std::vector<Register> out;
  auto add = [&](const Instruction &half) {
    std::string_view op = half.opcode;
    size_t from = op.starts_with("v_cmpx") ? 0 : std::min(destinations(half, effect), half.operands.size());
    for (size_t i = from; i < half.operands.size(); ++i)
      for (Register r : expand(half.operands[i]))
        out.push_back(r);
    auto ends = [&](std::string_view what) { return op.find(what) != op.npos; };
    if (effect.kind == Kind::conditional) {
      if (ends("vcc"))
        out.insert(out.end(), {106, 107});
      else if (ends("exec"))
        out.insert(out.end(), {execLow, execHigh});
      else
        out.push_back(scc);
      return;
    }
    if (effect.kind != Kind::none)
      return;
    if (ends("saveexec") || ends("wrexec"))
      out.insert(out.end(), {execLow, execHigh});
    if (ends("s_cselect") || ends("s_cmov") || ends("s_addc") || ends("s_subb") || ends("s_add_co_ci"))
      out.push_back(scc);
    // v_fmac, v_accvgpr …: what is written is read too
    if (ends("mac") || ends("v_writelane") || ends("s_cmovk") || ends("s_addk") || ends("s_mulk"))
      for (size_t i = 0; i < from; ++i)
        for (Register r : expand(half.operands[i]))
          out.push_back(r);
  };
  eachHalf(in, add);
  return out;
}

} // namespace interlock::lint::gcn
