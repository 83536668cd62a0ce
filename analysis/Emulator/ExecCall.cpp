// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of device functions, direct and through a register (PTX ISA "call", "ret"). Lanes that call together share a
// frame; each returns on its own.
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

constexpr uint32_t maxDepth = 512;

struct CallShape {
  const Operand *returns = nullptr, *callee = nullptr, *arguments = nullptr;
};

/// call (ret), f, (args), proto — all but f may be missing.
CallShape shapeOf(const ptx::Instruction &in) {
  CallShape s;
  for (const Operand &o : in.operands) {
    if (o.kind == OperandKind::arguments)
      (s.callee ? s.arguments : s.returns) = &o;
    else if (!s.callee)
      s.callee = &o;
  }
  return s;
}

/// Copies between an actual operand of the caller and a formal parameter of the callee, for these lanes.
std::string transfer(Exec &x, const Operand &actual, Frame &caller, Frame &callee, const ptx::Variable &formal,
                     uint64_t formalOffset, LaneMask lanes, bool toCallee) {
  const DecodedFunction &from = *caller.fn, &to = *callee.fn;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint8_t buffer[16] = {};
    uint8_t *actualBytes = buffer;
    uint64_t *actualRegister = nullptr;
    uint64_t size = formal.size;
    if (actual.kind == OperandKind::symbol && actual.symbolScope == ptx::SymbolScope::function) {
      const ptx::Variable &v = from.source->variables[actual.index];
      if (v.space != ptx::Space::param || v.size < size)
        return fmt::format("expected {} bytes of .param space for {}, found {}", size, formal.name, actual.name);
      actualBytes = caller.params.get() + lane * from.paramBytes + from.variableOffset[actual.index] + actual.bits;
    } else if (actual.kind == OperandKind::reg && size <= 8) {
      actualRegister = caller.registers.get() + size_t(from.registerSlot[actual.index]) * warpLanes + lane;
      std::memcpy(buffer, actualRegister, 8);
    } else if (actual.isImmediate() && toCallee) {
      std::memcpy(buffer, &actual.bits, 8);
    } else if (actual.kind != OperandKind::sink) {
      return fmt::format("expected a register or a .param variable for {}", formal.name);
    }
    uint64_t *formalRegister = nullptr;
    if (formal.space == ptx::Space::reg) {
      auto it = to.paramRegister.find(formal.name);
      if (it == to.paramRegister.end())
        continue; // never mentioned in the body
      formalRegister = callee.registers.get() + size_t(it->second) * warpLanes + lane;
    }
    uint8_t *formalBytes = callee.params.get() + lane * to.paramBytes + formalOffset;
    if (toCallee) {
      if (formalRegister)
        *formalRegister = 0, std::memcpy(formalRegister, actualBytes, std::min<uint64_t>(size, 8));
      else
        std::memcpy(formalBytes, actualBytes, size);
    } else {
      const uint8_t *value = formalRegister ? reinterpret_cast<uint8_t *>(formalRegister) : formalBytes;
      if (actualRegister)
        *actualRegister = 0, std::memcpy(actualRegister, value, std::min<uint64_t>(size, 8));
      else
        std::memcpy(actualBytes, value, actualBytes == buffer ? std::min<uint64_t>(size, 16) : size);
    }
  }
  (void)x;
  return {};
}

Flow runCall(Exec &x, const Code &c, LaneMask lanes) {
  CallShape shape = shapeOf(*c.in);
  Program &program = *x.cta().grid->program;
  unsigned first = unsigned(std::countr_zero(lanes));
  uint32_t index = c.target;
  if (index == ~0u) {
    uint64_t address = x.src(c.src[0])[first];
    // Lanes that go elsewhere call in their turn: they stay at this instruction.
    LaneMask same = 0;
    for (LaneMask m = lanes; m; m &= m - 1)
      if (x.src(c.src[0])[std::countr_zero(m)] == address)
        same |= m & -m;
    lanes = same;
    uint64_t number = (address - window::code) / 16;
    if (address < window::code || number >= program.functions.size() || (address & 15))
      return x.fault(c, first, fmt::format("expected the address of a function, found {:#x}", address));
    index = uint32_t(number);
  }
  const DecodedFunction &callee = program.functions[index];
  if (!callee.decoded)
    return x.fault(
        c, first,
        fmt::format("expected {} to be defined in the module, found only its declaration", callee.source->name),
        ErrorKind::unsupported);
  if (x.frame->depth + 1 >= maxDepth)
    return x.fault(c, first, fmt::format("expected calls nested less than {} deep", maxDepth));
  size_t given = shape.arguments ? shape.arguments->elements.size() : 0;
  if (given < callee.source->params.size())
    return x.fault(c, first,
                   fmt::format("expected {} arguments for {}, found {}", callee.source->params.size(),
                               callee.source->name, given));
  LaneMask guardOff = x.group->lanes & ~lanes;
  uint32_t pc = x.group->pc;
  Frame *caller = x.frame;
  if (guardOff) {
    // Those whose guard is false go on behind; those with another callee come back here.
    LaneMask elsewhere = 0;
    if (c.target == ~0u)
      for (LaneMask m = guardOff; m; m &= m - 1)
        if (c.guard < 0 || bool(x.regs[size_t(c.guard) * warpLanes + std::countr_zero(m)] & 1) != c.guardNegated)
          elsewhere |= m & -m;
    if (elsewhere)
      x.split(elsewhere, caller, pc);
    if (LaneMask behind = guardOff & ~elsewhere)
      x.split(behind, caller, pc + 1);
  }
  Frame *frame = x.engine.makeFrame(x.warp, &callee, caller, lanes);
  frame->callSite = &c;
  frame->returnPc = pc + 1;
  for (size_t i = 0; i < callee.source->params.size(); ++i) {
    std::string why = transfer(x, shape.arguments->elements[i], *caller, *frame, callee.source->params[i],
                               callee.source->params[i].offset, lanes, true);
    if (!why.empty())
      return x.fault(c, first, why);
  }
  x.group->frame = frame;
  x.group->pc = 0;
  return Flow::jumped;
}

} // namespace

Flow runReturn(Exec &x, const Code &c, LaneMask lanes) {
  Frame *frame = x.frame, *caller = frame->parent;
  if (!caller) {
    if (x.group->lanes != lanes)
      x.group->pc += 1;
    x.exitLanes(lanes);
    return Flow::jumped;
  }
  CallShape shape = shapeOf(*frame->callSite->in);
  for (size_t i = 0; i < frame->fn->source->returns.size() && shape.returns && i < shape.returns->elements.size();
       ++i) {
    std::string why = transfer(x, shape.returns->elements[i], *caller, *frame, frame->fn->source->returns[i],
                               frame->fn->returnOffset[i], lanes, false);
    if (!why.empty())
      return x.fault(c.in ? c : *frame->callSite, unsigned(std::countr_zero(lanes)), why);
  }
  if (LaneMask stay = x.group->lanes & ~lanes)
    x.split(stay, frame, x.group->pc + 1);
  x.group->frame = caller;
  x.group->pc = frame->returnPc;
  frame->lanes &= ~lanes;
  if (frame->lanes == 0) {
    auto &frames = x.warp.frames;
    for (size_t i = 0; i < frames.size(); ++i)
      if (frames[i].get() == frame) {
        frames[i] = std::move(frames.back());
        frames.pop_back();
        break;
      }
  }
  return Flow::jumped;
}

bool decodeCall(Decoder &d, const ptx::Instruction &in) {
  CallShape shape = shapeOf(in);
  if (!shape.callee)
    return d.fail("expected call to name a function");
  bool direct = shape.callee->kind == OperandKind::symbol && shape.callee->symbolScope == ptx::SymbolScope::callee;
  if (!direct && shape.callee->kind != OperandKind::reg)
    return d.fail(fmt::format("expected {} to be declared", shape.callee->name));
  Slot address = direct ? 0 : d.value(*shape.callee, 64u);
  Code &c = d.emit(in, runCall);
  c.target = direct ? shape.callee->index : ~0u;
  c.src[0] = address;
  return true;
}

bool decodeReturn(Decoder &d, const ptx::Instruction &in) {
  d.emit(in, runReturn);
  return true;
}

} // namespace interlock::emu
