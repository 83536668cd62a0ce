// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A forward dataflow over the registers, 32 bits each. A pointer stays one through moves, additions and everything else
// that LLVM computes addresses with, as long as one pointer goes in; its offset is followed through constants only.
#include "analysis/LintAMDGCN/Pointers.h"

#include <fmt/format.h>

namespace interlock::lint::gcn {
namespace {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;

bool startsWithAny(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (text.starts_with(word))
      return true;
  return false;
}

/// Copies: part i of the result is part i of the source.
bool isMove(std::string_view op) {
  return startsWithAny(op,
                       {"s_mov_b", "v_mov_b", "v_readfirstlane", "v_readlane", "v_accvgpr", "s_movk", "v_dual_mov"});
}

/// What can make an address of one: additions, masks and shifts that align, selections, joining of halves.
bool keepsPointers(std::string_view op) {
  return startsWithAny(op, {"s_add",          "s_sub",        "v_add",        "v_sub",     "v_lshl_add", "v_mad_u64",
                            "v_mad_i64",      "v_mad_nc_u64", "v_mad_co_u64", "v_lshl_or", "v_or",       "s_or",
                            "v_and",          "s_and",        "v_cndmask",    "s_cselect", "v_add3",     "v_dual_add",
                            "v_dual_cndmask", "s_lshl",       "v_dual_or",    "v_bfi"}) &&
         op.find("saveexec") == op.npos;
}

} // namespace

std::string Base::str() const {
  std::string from = argument ? fmt::format("param {}", *argument) : fmt::format("the argument at byte {}", offset);
  switch (kind) {
  case BaseKind::unknown:
    return "memory";
  case BaseKind::arguments:
    return "the kernel's arguments";
  case BaseKind::argument:
    return from;
  case BaseKind::symbol:
    return std::string(symbol);
  case BaseKind::loaded:
    return symbol.empty() ? "memory behind a pointer from " + from
                          : fmt::format("memory behind a pointer from {}", symbol);
  }
  return {};
}

Pointers::Pointers(const Code &code, const amdgcn::Kernel *kernel)
    : code(code), kernel(kernel), bases(1), places(code.instructions.size()), zero(code.instructions.size()) {
  constexpr size_t largest = 4'000'000; ///< values kept: beyond that nothing is followed
  if (code.blocks.size() * code.registers > largest)
    return;
  const Graph graph(code.blocks);
  std::vector<State> in(code.blocks.size());
  std::vector<bool> dirty(code.blocks.size());
  State first(code.registers);
  start(first);
  in[0] = std::move(first);
  dirty[0] = true;
  // A value changes at most three times on its way down, but the text may be as twisted as it likes.
  size_t steps = 0, limit = 40 * code.blocks.size() + 100;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t b : graph.order) {
      if (!dirty[b] || in[b].empty())
        continue;
      dirty[b] = false;
      if (++steps > limit) {
        places.assign(places.size(), Place{});
        return;
      }
      State state = in[b];
      for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i)
        apply(state, i);
      for (uint32_t next : code.blocks[b].successors) {
        bool changed = in[next].empty();
        if (changed)
          in[next] = state;
        else
          changed = merge(in[next], state);
        if (changed)
          again = dirty[next] = true;
      }
    }
  }
}

bool Pointers::merge(State &into, const State &from) {
  bool changed = false;
  for (size_t r = 0; r < into.size(); ++r) {
    Value &a = into[r];
    const Value &b = from[r];
    if (a == b || b.kind == Value::Kind::unset || a.kind == Value::Kind::unknown)
      continue;
    Value met;
    if (a.kind == Value::Kind::unset)
      met = b;
    else if (a.kind == Value::Kind::pointer && b.kind == Value::Kind::pointer && a.base == b.base)
      met = {Value::Kind::pointer, false, a.base, 0};
    else
      met.kind = Value::Kind::unknown;
    changed |= !(met == a);
    a = met;
  }
  return changed;
}

uint32_t Pointers::intern(const Base &base) {
  auto [it, added] = index.try_emplace(base, uint32_t(bases.size()));
  if (added)
    bases.push_back(base);
  return it->second;
}

uint32_t Pointers::argumentAt(uint32_t offset) {
  Base base{BaseKind::argument, offset, {}, {}};
  if (kernel)
    for (uint32_t i = 0; i < kernel->arguments.size(); ++i) {
      const amdgcn::Argument &a = kernel->arguments[i];
      if (offset >= a.offset && offset < a.offset + a.size) {
        if (a.hidden() || a.size < 8)
          return 0; // the runtime's own memory, or a number
        base.argument = i;
      }
    }
  return intern(base);
}

/// The registers that the launch fills (User Guide for AMDGPU Backend, "Initial Kernel Execution State").
void Pointers::start(State &state) {
  if (!kernel || !kernel->directive("user_sgpr_kernarg_segment_ptr"))
    return;
  auto has = [&](std::string_view key) { return uint32_t(kernel->directive(key)); };
  uint32_t at =
      4 * has("user_sgpr_private_segment_buffer") + 2 * has("user_sgpr_dispatch_ptr") + 2 * has("user_sgpr_queue_ptr");
  uint32_t base = intern({BaseKind::arguments, 0, {}, {}});
  auto put = [&](uint32_t r, const Value &value) {
    if (r < execLow)
      state[r] = value;
  };
  put(at, {Value::Kind::pointer, true, base, 0});
  put(at + 1, {Value::Kind::pointer, true, base, 0});
  at += 2 + 2 * has("user_sgpr_dispatch_id") + 2 * has("user_sgpr_flat_scratch_init") +
        has("user_sgpr_private_segment_size");
  uint32_t length = std::min(has("user_sgpr_kernarg_preload_length"), 16u);
  uint32_t from = has("user_sgpr_kernarg_preload_offset");
  for (uint32_t i = 0; i < length; ++i)
    if (uint32_t argument = argumentAt(4 * ((from + i) & ~1u)))
      put(at + i, {Value::Kind::pointer, true, argument, 0});
}

Pointers::Value Pointers::valueOf(const State &state, const Operand &o, uint32_t part) {
  Value unknown{Value::Kind::unknown, false, 0, 0};
  if (o.kind == OperandKind::integer)
    return {Value::Kind::number, true, 0, part == 0 ? int64_t(o.bits) : (int64_t(o.bits) < 0 ? -1 : 0)};
  if (o.is("null")) // how a disassembler writes that there is no offset
    return {Value::Kind::number, true, 0, 0};
  if (o.kind == OperandKind::symbol && !o.relocation.empty())
    return {Value::Kind::pointer, false, intern({BaseKind::symbol, 0, {}, o.name}), 0};
  std::vector<Register> registers = code.expand(o);
  if (part >= registers.size())
    return registers.empty() ? unknown : Value{Value::Kind::number, true, 0, 0};
  const Value &value = state[registers[part]];
  return value.kind == Value::Kind::unset ? unknown : value;
}

/// The one pointer among the sources; its offset only where everything else is a constant that is added.
Pointers::Value Pointers::combine(const State &state, const Instruction &in, size_t from, uint32_t part) {
  Value found{Value::Kind::unknown, false, 0, 0};
  bool constants = true;
  int64_t sum = 0;
  // What is multiplied or shifted is an index; the pointer is what that is added to.
  bool shifts = in.operands.size() > from + 1 && in.operands[from + 1].bits != 0;
  if (in.opcode.starts_with("v_mad") || (in.opcode.starts_with("v_lshl_add") && shifts))
    from = in.operands.size() - 1, constants = false;
  for (size_t i = from; i < in.operands.size(); ++i) {
    Value v = valueOf(state, in.operands[i], part);
    if (v.kind == Value::Kind::pointer) {
      if (found.kind == Value::Kind::pointer && found.base != v.base)
        return {Value::Kind::unknown, false, 0, 0};
      constants &= found.kind != Value::Kind::pointer && v.exact;
      sum += v.number;
      found = v;
    } else if (v.kind == Value::Kind::number) {
      sum += v.number;
    } else {
      constants = false;
    }
  }
  if (found.kind != Value::Kind::pointer)
    return found;
  bool plain = startsWithAny(in.opcode, {"s_add_u32", "s_add_i32", "s_add_nc_u64", "s_add_u64", "v_add_co_u32",
                                         "v_add_nc_u64", "v_add_u64", "v_add_u32", "v_add_nc_u32"});
  found.exact = constants && plain;
  found.number = found.exact ? sum : 0;
  // The upper half only tells which pointer it is.
  if (part > 0)
    found.exact = true, found.number = 0;
  return found;
}

void Pointers::applyHalf(State &state, const Instruction &in, const Effect &effect) {
  std::string_view op = in.opcode;
  size_t written = std::min(destinations(in, effect), in.operands.size());
  std::vector<std::pair<Register, Value>> results;
  const Value unknown{Value::Kind::unknown, false, 0, 0};
  for (size_t d = 0; d < written; ++d) {
    std::vector<Register> registers = code.expand(in.operands[d]);
    for (uint32_t part = 0; part < registers.size(); ++part) {
      Value value = unknown;
      if (d == 0 && effect.kind == Kind::none) {
        bool high = op.find("addc") != op.npos || op.find("_ci_") != op.npos;
        if (isMove(op) && in.operands.size() > 1)
          value = valueOf(state, in.operands[1], part);
        else if (keepsPointers(op))
          value = combine(state, in, written, part);
        if (high && value.kind == Value::Kind::pointer)
          value.exact = true, value.number = 0;
      }
      results.push_back({registers[part], value});
    }
  }
  for (const auto &[r, value] : results)
    state[r] = value;
}

Place Pointers::placeOf(const State &state, uint32_t i) {
  const Instruction &in = code.instructions[i];
  const Effect &e = code.effects[i];
  Place place;
  auto pointerOf = [&](std::optional<uint32_t> which) {
    return which ? valueOf(state, in.operands[*which], 0) : Value{Value::Kind::unknown, false, 0, 0};
  };
  Value base = pointerOf(e.base), address = pointerOf(e.address);
  bool hasBase = e.base && !in.operands[*e.base].is("off");
  Value &pointer = base.kind == Value::Kind::pointer ? base : address;
  Value &other = base.kind == Value::Kind::pointer ? address : base;
  if (pointer.kind != Value::Kind::pointer)
    return place;
  place.base = pointer.base;
  bool otherKnown =
      other.kind == Value::Kind::number || (&other == &base && !hasBase) || (&other == &address && !e.address);
  if (pointer.exact && otherKnown && !in.has("scale_offset"))
    place.offset = pointer.number + (other.kind == Value::Kind::number ? other.number : 0) + in.number("offset");
  return place;
}

void Pointers::load(State &state, uint32_t i, const Place &from) {
  const Instruction &in = code.instructions[i];
  const Effect &e = code.effects[i];
  if (in.operands.empty())
    return;
  std::vector<Register> registers = code.expand(in.operands[0]);
  Base source = bases[from.base];
  if (registers.size() < 2) // a pointer has 64 bits
    source.kind = BaseKind::unknown;
  for (uint32_t part = 0; part < registers.size(); ++part) {
    Value value{Value::Kind::unknown, false, 0, 0};
    if (source.kind == BaseKind::arguments && e.kind != Kind::atomic) {
      if (from.offset)
        if (uint32_t argument = argumentAt(uint32_t(*from.offset + 4 * part) & ~7u))
          value = {Value::Kind::pointer, true, argument, 0};
    } else if (source.kind != BaseKind::unknown) {
      Base loaded = source;
      loaded.kind = BaseKind::loaded;
      value = {Value::Kind::pointer, false, intern(loaded), 0};
    }
    state[registers[part]] = value;
  }
}

void Pointers::apply(State &state, uint32_t i) {
  const Instruction &in = code.instructions[i];
  const Effect &e = code.effects[i];
  if (e.kind == Kind::call) { // what it leaves is not followed
    for (Value &value : state)
      value = {Value::Kind::unknown, false, 0, 0};
    return;
  }
  if (!e.accesses()) {
    State before;
    if (!in.second.empty())
      before = state;
    applyHalf(state, in, e);
    for (const Instruction &second : in.second) { // both halves read what was before
      State other = before;
      applyHalf(other, second, e);
      if (!second.operands.empty())
        for (Register r : code.expand(second.operands[0]))
          state[r] = other[r];
    }
    return;
  }
  places[i] = placeOf(state, i);
  if (e.data) {
    Value data = valueOf(state, in.operands[*e.data], 0);
    zero[i] = data.kind == Value::Kind::number && data.number == 0;
  }
  if (destinations(in, e) || (e.memory == Memory::buffer && e.kind == Kind::load))
    load(state, i, places[i]);
}

} // namespace interlock::lint::gcn
