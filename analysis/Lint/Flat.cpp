// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Makes the one graph. A guarded instruction with a side effect gets a block of its own that a branch leads round.
#include "analysis/Lint/Flat.h"

#include <array>
#include <string_view>

namespace interlock::lint {
namespace {

constexpr unsigned maxDepth = 8;

class Flattener {
public:
  Flattener(const ptx::Module &module, size_t budget, std::vector<bool> &inlined)
      : module(module), budget(budget), inlined(inlined) {}

  Flat run(const ptx::Function &function) {
    uint32_t start = newBlock();
    std::vector<uint32_t> returns;
    uint32_t frame = pushFrame(function, Frame::none, Frame::none);
    body(frame, 0, start, returns);
    for (uint32_t b : returns)
      flat.blocks[b].endsThread = true;
    for (uint32_t b = 0; b < flat.blocks.size(); ++b)
      for (uint32_t s : flat.blocks[b].successors)
        flat.blocks[s].predecessors.push_back(b);
    return std::move(flat);
  }

private:
  uint32_t newBlock() {
    flat.blocks.emplace_back();
    flat.blocks.back().first = uint32_t(flat.nodes.size());
    return uint32_t(flat.blocks.size() - 1);
  }
  uint32_t pushFrame(const ptx::Function &function, uint32_t parent, uint32_t callNode) {
    flat.frames.push_back({&function, flat.registers, parent, callNode});
    flat.registers += uint32_t(function.registers.size());
    return uint32_t(flat.frames.size() - 1);
  }
  void link(uint32_t from, uint32_t to) { flat.blocks[from].successors.push_back(to); }
  void add(uint32_t block, const ptx::Instruction &in, uint32_t frame) {
    FlatBlock &b = flat.blocks[block];
    if (b.count == 0)
      b.first = uint32_t(flat.nodes.size());
    flat.nodes.push_back({&in, frame});
    b.count++;
  }
  const ptx::Function *callee(const ptx::Instruction &in) const {
    for (const ptx::Operand &o : in.operands)
      if (o.kind == ptx::OperandKind::symbol && o.symbolScope == ptx::SymbolScope::callee)
        return &module.functions[o.index];
    return nullptr;
  }
  bool mayInline(const ptx::Function *function, uint32_t frame, unsigned depth) const {
    if (!function || !function->defined || depth >= maxDepth ||
        flat.nodes.size() + function->instructions.size() > budget)
      return false;
    for (uint32_t f = frame; f != Frame::none; f = flat.frames[f].parent)
      if (flat.frames[f].function == function)
        return false; // recursion
    return true;
  }

  void body(uint32_t frame, unsigned depth, uint32_t start, std::vector<uint32_t> &returns);

  const ptx::Module &module;
  size_t budget;
  std::vector<bool> &inlined;
  Flat flat;
};

bool endsBlock(std::string_view opcode) {
  return opcode == "bra" || opcode == "brx" || opcode == "ret" || opcode == "exit" || opcode == "trap";
}

void Flattener::body(uint32_t frame, unsigned depth, uint32_t start, std::vector<uint32_t> &returns) {
  const ptx::Function &function = *flat.frames[frame].function;
  const auto &code = function.instructions;
  constexpr uint32_t none = ~0u;
  std::vector<uint32_t> blockAt(code.size() + 1, none);
  for (const ptx::Label &label : function.labels)
    if (blockAt[label.instruction] == none)
      blockAt[label.instruction] = newBlock();

  uint32_t current = start; // none behind a jump
  uint32_t guard = none;    // of the conditional block that is open
  bool guardNegated = false;
  auto closeGuard = [&] {
    if (guard == none)
      return;
    guard = none;
    uint32_t after = flat.blocks[current].successors.back(); // put there when it was opened
    current = after;
  };
  auto openGuard = [&](const ptx::Instruction &in) {
    uint32_t conditional = newBlock(), after = newBlock();
    FlatBlock &b = flat.blocks[current];
    b.condition = flat.frames[frame].registerBase + in.guard;
    b.conditionNegated = in.guardNegated;
    b.successors = {conditional, after};
    link(conditional, after);
    guard = in.guard;
    guardNegated = in.guardNegated;
    current = conditional;
  };

  for (uint32_t i = 0; i < code.size(); ++i) {
    const ptx::Instruction &in = code[i];
    if (blockAt[i] != none) {
      closeGuard();
      if (current != none)
        link(current, blockAt[i]);
      current = blockAt[i];
    }
    if (current == none)
      current = newBlock(); // cannot be reached, but is read all the same
    bool guarded = in.guard != ptx::Instruction::noGuard;
    bool branch = in.opcode == "bra" || in.opcode == "brx";
    if (guard != none && (!guarded || branch || in.guard != guard || in.guardNegated != guardNegated))
      closeGuard();
    if (in.opcode == "bra") {
      uint32_t target = in.operands.empty() ? none : in.operands[0].index;
      if (target > code.size() || blockAt[target] == none)
        continue;
      if (guarded) {
        uint32_t next = newBlock();
        FlatBlock &b = flat.blocks[current];
        b.condition = flat.frames[frame].registerBase + in.guard;
        b.conditionNegated = in.guardNegated;
        b.successors = {blockAt[target], next};
        current = next;
      } else {
        link(current, blockAt[target]);
        current = none;
      }
      continue;
    }
    if (in.opcode == "brx") {
      for (const ptx::Operand &o : in.operands)
        if (o.kind == ptx::OperandKind::table)
          for (const ptx::Operand &entry : function.tables[o.index].entries)
            if (entry.kind == ptx::OperandKind::label && entry.index <= code.size() && blockAt[entry.index] != none)
              link(current, blockAt[entry.index]);
      uint32_t next = guarded ? newBlock() : none;
      if (guarded)
        link(current, next);
      current = next;
      continue;
    }
    if (guarded && guard == none && isSideEffect(in))
      openGuard(in);
    const ptx::Function *target = in.opcode == "call" ? callee(in) : nullptr;
    if (target && mayInline(target, frame, depth)) {
      inlined[size_t(target - module.functions.data())] = true;
      add(current, in, frame); // for the values that it hands over
      uint32_t inner = pushFrame(*target, frame, uint32_t(flat.nodes.size() - 1)), entry = newBlock(),
               after = newBlock();
      std::vector<uint32_t> innerReturns;
      // What is open here must stay so behind the call.
      std::vector<uint32_t> outer;
      outer.swap(flat.blocks[current].successors);
      link(current, entry);
      body(inner, depth + 1, entry, innerReturns);
      for (uint32_t b : innerReturns)
        link(b, after);
      flat.blocks[after].successors.swap(outer);
      current = after;
      continue;
    }
    add(current, in, frame);
    if (in.opcode == "ret")
      returns.push_back(current);
    if (in.opcode == "exit")
      flat.blocks[current].endsThread = true;
    if (endsBlock(in.opcode)) {
      if (guard != none) {
        uint32_t after = flat.blocks[current].successors.back();
        flat.blocks[current].successors.clear();
        guard = none;
        current = after;
      } else {
        current = none;
      }
    }
  }
  closeGuard();
  if (blockAt[code.size()] != none) {
    if (current != none)
      link(current, blockAt[code.size()]);
    current = blockAt[code.size()];
  }
  if (current != none)
    returns.push_back(current);
}

} // namespace

bool isSideEffect(const ptx::Instruction &in) {
  static constexpr std::string_view pure[] = {
      "mov",  "add",   "sub",   "mul",  "mad",   "and",      "or",       "xor",        "not",       "shl",
      "shr",  "setp",  "selp",  "cvt",  "cvta",  "mapa",     "fma",      "div",        "rem",       "min",
      "max",  "neg",   "abs",   "lop3", "shf",   "bfe",      "bfi",      "prmt",       "set",       "slct",
      "popc", "clz",   "bfind", "brev", "mul24", "mad24",    "sad",      "ex2",        "lg2",       "rcp",
      "sqrt", "rsqrt", "sin",   "cos",  "tanh",  "copysign", "testp",    "dp4a",       "dp2a",      "szext",
      "bmsk", "addc",  "subc",  "madc", "fns",   "cnot",     "isspacep", "getctarank", "nanosleep", "createpolicy"};
  for (std::string_view opcode : pure)
    if (in.opcode == opcode)
      return false;
  return true;
}

Flat flatten(const ptx::Module &module, const ptx::Function &function, size_t budget, std::vector<bool> &inlined) {
  return Flattener(module, budget, inlined).run(function);
}

} // namespace interlock::lint
