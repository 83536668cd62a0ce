// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Operands, constants and special registers; the layout of a module's variables; the table of families.
#include "analysis/Emulator/Decoder.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

struct Family {
  std::string_view opcode;
  DecodeFn decode;
};
constexpr Family families[] = {
    {"mov", decodeMove},
    {"cvta", decodeCvta},
    {"isspacep", decodeIsspacep},
    {"mapa", decodeMapa},
    {"getctarank", decodeMapa},
    {"ld", decodeLoad},
    {"ldu", decodeLoad},
    {"st", decodeStore},
    {"fence", decodeFence},
    {"membar", decodeFence},
    {"atom", decodeAtomic},
    {"red", decodeAtomic},
    {"bra", decodeBranch},
    {"brx", decodeBranchIndex},
    {"call", decodeCall},
    {"ret", decodeReturn},
    {"exit", decodeExit},
    {"trap", decodeTrap},
    {"brkpt", decodeTrap},
    {"nanosleep", decodeNanosleep},
    {"griddepcontrol", decodeGridControl},
    {"shfl", decodeShuffle},
    {"vote", decodeVote},
    {"match", decodeMatch},
    {"redux", decodeRedux},
    {"activemask", decodeActiveMask},
    {"elect", decodeElect},
    {"bar", decodeBarrier},
    {"barrier", decodeBarrier},
    {"mbarrier", decodeMbarrier},
    {"cp", decodeCopyAsync},
    {"clusterlaunchcontrol", decodeLaunchControl},
    {"prefetch", decodeNothing},
    {"prefetchu", decodeNothing},
    {"applypriority", decodeNothing},
    {"discard", decodeNothing},
    {"setmaxnreg", decodeNothing},
    {"pmevent", decodeNothing},
};

struct FixedRow {
  std::string_view name;
  Fixed x; ///< of .x; .y and .z follow
  bool vector;
};
constexpr FixedRow fixedTable[] = {
    {"tid", Fixed::tidX, true},
    {"ntid", Fixed::ntidX, true},
    {"ctaid", Fixed::ctaidX, true},
    {"nctaid", Fixed::nctaidX, true},
    {"clusterid", Fixed::clusteridX, true},
    {"nclusterid", Fixed::nclusteridX, true},
    {"cluster_ctaid", Fixed::clusterCtaidX, true},
    {"cluster_nctaid", Fixed::clusterNctaidX, true},
    {"cluster_ctarank", Fixed::clusterCtarank, false},
    {"cluster_nctarank", Fixed::clusterNctarank, false},
    {"is_explicit_cluster", Fixed::isExplicitCluster, false},
    {"laneid", Fixed::laneid, false},
    {"warpid", Fixed::warpid, false},
    {"nwarpid", Fixed::nwarpid, false},
    {"smid", Fixed::smid, false},
    {"nsmid", Fixed::nsmid, false},
    {"gridid", Fixed::gridid, false},
    {"lanemask_eq", Fixed::lanemaskEq, false},
    {"lanemask_le", Fixed::lanemaskLe, false},
    {"lanemask_lt", Fixed::lanemaskLt, false},
    {"lanemask_ge", Fixed::lanemaskGe, false},
    {"lanemask_gt", Fixed::lanemaskGt, false},
    {"dynamic_smem_size", Fixed::dynamicSharedSize, false},
    {"total_smem_size", Fixed::totalSharedSize, false},
    {"aggr_smem_size", Fixed::totalSharedSize, false},
};

uint64_t alignUp(uint64_t n, uint64_t align) { return (n + align - 1) & ~(align - 1); }

} // namespace

Slot Decoder::constant(uint64_t bits) {
  auto [it, fresh] = constantSlots.try_emplace(bits, Slot(-1 - Slot(fn.constants.size())));
  if (fresh) {
    fn.constants.emplace_back();
    fn.constants.back().fill(bits);
  }
  return it->second;
}

Slot Decoder::fixed(Fixed which) {
  for (auto [slot, f] : fn.fixed)
    if (f == which)
      return slot;
  fn.fixed.emplace_back(temp(), which);
  return fn.fixed.back().first;
}

unsigned Decoder::width(const Operand &o) const {
  return o.kind == OperandKind::reg ? ptx::bitWidth(source.registers[o.index].type) : 0;
}

Code &Decoder::emit(const ptx::Instruction &in, Handler run) {
  Code &code = fn.code.emplace_back();
  code.run = run;
  code.in = &in;
  return code;
}

Slot Decoder::value(const Operand &o, ptx::Type type) {
  if (o.kind == OperandKind::float64 && (type == ptx::Type::f32 || type == ptx::Type::tf32)) {
    float f = float(std::bit_cast<double>(o.bits));
    return constant(std::bit_cast<uint32_t>(f));
  }
  if (o.kind == OperandKind::float32 && type == ptx::Type::f64)
    return constant(std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(o.bits)))));
  return value(o, ptx::bitWidth(type));
}

Slot Decoder::value(const Operand &o, unsigned bits) {
  switch (o.kind) {
  case OperandKind::reg: {
    Slot slot = fn.registerSlot[o.index];
    if (o.component)
      slot += std::string_view("xyzw").find(o.component);
    if (!o.negated)
      return slot;
    Slot out = temp();
    Code &code = emit(*current, runNegate);
    code.counts = false;
    code.dst[0] = out;
    code.src[0] = slot;
    return out;
  }
  case OperandKind::integer:
  case OperandKind::float32:
  case OperandKind::float64:
    return constant(bits >= 64 || bits == 0 ? o.bits : o.bits & ((uint64_t(1) << bits) - 1));
  case OperandKind::symbol: {
    Slot base;
    int64_t offset = int64_t(o.bits);
    if (!symbolBase(o, base, offset))
      return 0;
    if (base < 0)
      return constant(fn.constants[size_t(-1 - base)][0] + uint64_t(offset));
    if (offset == 0)
      return base;
    fail(fmt::format("expected the address of {} without an offset", o.name));
    return base;
  }
  case OperandKind::special:
    return special(o);
  case OperandKind::sink:
    return constant(0);
  default:
    fail(fmt::format("expected a value, found {}", o.name.empty() ? "an operand of another kind" : o.name));
    return 0;
  }
}

Slot Decoder::dest(const Operand &o) {
  if (o.kind == OperandKind::sink)
    return sinkSlot;
  if (o.kind != OperandKind::reg) {
    fail("expected a register to write to");
    return sinkSlot;
  }
  Slot slot = fn.registerSlot[o.index];
  return o.component ? slot + Slot(std::string_view("xyzw").find(o.component)) : slot;
}

Slot Decoder::special(const Operand &o) {
  if (o.name == "WARP_SZ")
    return constant(warpLanes);
  for (const FixedRow &row : fixedTable)
    if (row.name == o.name) {
      if (!row.vector || o.component == 0)
        return fixed(row.x);
      if (o.component == 'w')
        return constant(0);
      return fixed(Fixed(size_t(row.x) + size_t(o.component - 'x')));
    }
  static constexpr std::string_view clocks[] = {"globaltimer", "globaltimer_lo", "globaltimer_hi",
                                                "clock64",     "clock",          "clock_hi"};
  for (size_t i = 0; i < std::size(clocks); ++i)
    if (clocks[i] == o.name) {
      Slot out = temp();
      Code &code = emit(*current, runReadClock);
      code.dst[0] = out;
      code.sub = uint8_t(i % 3); // whole, low, high
      code.poll = true;
      code.counts = false;
      return out;
    }
  if (o.name.substr(0, 6) == "envreg" || o.name.substr(0, 2) == "pm" || o.name == "current_graph_exec")
    return constant(0);
  fail(fmt::format("the emulator does not have the special register %{}", o.name));
  return 0;
}

bool Decoder::symbolBase(const Operand &o, Slot &base, int64_t &offset) {
  const ptx::Variable *v = nullptr;
  uint64_t at = 0;
  switch (o.symbolScope) {
  case ptx::SymbolScope::callee:
    base = constant(window::code + 16 * uint64_t(o.index));
    return true;
  case ptx::SymbolScope::parameter:
    base = fixed(Fixed::paramBase);
    offset += int64_t(source.params[o.index].offset);
    return true;
  case ptx::SymbolScope::returns:
    base = fixed(Fixed::paramBase);
    offset += int64_t(fn.returnOffset[o.index]);
    return true;
  case ptx::SymbolScope::module:
    v = &program.module.variables[o.index];
    at = program.variableAddress[o.index];
    break;
  case ptx::SymbolScope::function:
    v = &source.variables[o.index];
    at = fn.variableOffset[o.index];
    break;
  }
  if (v->space == ptx::Space::shared && v->unsized) {
    base = fixed(Fixed::dynamicShared);
    return true;
  }
  if (v->space == ptx::Space::local || v->space == ptx::Space::param) {
    base = fixed(v->space == ptx::Space::local ? Fixed::localBase : Fixed::paramBase);
    offset += int64_t(at);
    return true;
  }
  if (at == 0)
    return fail(fmt::format("expected the variable {} to be defined, found only an external declaration", o.name));
  base = constant(at);
  return true;
}

bool Decoder::address(const Operand &o, Slot &base, int64_t &offset) {
  if (o.kind != OperandKind::address || o.elements.size() != 1)
    return fail("expected an address in brackets");
  const Operand &b = o.elements[0];
  offset = int64_t(o.bits);
  switch (b.kind) {
  case OperandKind::reg:
    base = value(b, 64u);
    return true;
  case OperandKind::integer:
    base = constant(b.bits);
    return true;
  case OperandKind::symbol:
    return symbolBase(b, base, offset);
  default:
    return fail(fmt::format("expected an address of a register or variable, found {}", b.name));
  }
}

void Decoder::instruction(const ptx::Instruction &in) {
  current = &in;
  error.clear();
  size_t first = fn.code.size();
  std::string missing = lacks(chip, in);
  bool ok;
  if (!missing.empty()) {
    ok = fail(missing);
  } else {
    DecodeFn decode = decodeAlu;
    for (const Family &family : families)
      if (family.opcode == in.opcode)
        decode = family.decode;
    ok = decode(*this, in) && error.empty();
  }
  if (!ok) {
    fn.code.resize(first);
    Code &code = emit(in, runUnknown);
    code.target = uint32_t(program.messages.size());
    program.messages.push_back(error.empty() ? fmt::format("the emulator does not know {}", in.mnemonic()) : error);
  }
  if (in.guard != ptx::Instruction::noGuard) {
    // Helpers before the instruction itself have no effect that a guard would have to hold back.
    for (size_t i = first; i < fn.code.size(); ++i)
      if (fn.code[i].counts) {
        fn.code[i].guard = fn.registerSlot[in.guard];
        fn.code[i].guardNegated = in.guardNegated;
      }
  }
}

void Decoder::run() {
  std::vector<uint32_t> pcOf;
  for (const ptx::Instruction &in : source.instructions) {
    pcOf.push_back(uint32_t(fn.code.size()));
    instruction(in);
  }
  pcOf.push_back(uint32_t(fn.code.size()));
  fn.code.emplace_back().run = runReturn; // the end of the body returns
  for (Code &code : fn.code)
    if (code.in && code.in->opcode == "bra")
      code.target = pcOf[code.target];
  for (const ptx::Table &table : source.tables) {
    fn.tables.emplace_back();
    for (const Operand &entry : table.entries)
      fn.tables.back().push_back(entry.kind == OperandKind::label ? pcOf[entry.index] : uint32_t(pcOf.back()));
  }
}

Result<std::unique_ptr<Program>> decode(ptx::Module module, std::string name, const Chip &chip, uint32_t device,
                                        AddressSpace &memory) {
  auto program = std::make_unique<Program>();
  program->module = std::move(module);
  program->name = std::move(name);
  program->device = device;
  ptx::Module &m = program->module;

  uint64_t shared = 0;
  auto placeShared = [&](const ptx::Variable &v, uint64_t &size) {
    program->sharedAlign = std::max(program->sharedAlign, v.align);
    if (v.unsized)
      return uint64_t(0);
    size = alignUp(size + sharedBase, v.align) - sharedBase;
    uint64_t at = size + sharedBase;
    size += v.size;
    return at;
  };
  auto placeGlobal = [&](const ptx::Variable &v) -> uint64_t {
    if (v.linkage == ptx::Linkage::external)
      return 0;
    uint64_t at = memory.allocate(device, std::max<uint64_t>(v.size, 1), std::max<uint64_t>(v.align, 16));
    if (!at)
      return 0;
    program->ownedMemory.push_back(at);
    uint8_t *host = memory.find(at, v.size).host;
    std::fill_n(host, v.size, uint8_t(0));
    std::copy_n(v.initial.begin(), std::min<uint64_t>(v.size, v.initial.size()), host);
    return at;
  };
  auto placeVariable = [&](const ptx::Variable &v, DecodedFunction *fn, uint64_t &sharedSize) -> uint64_t {
    switch (v.space) {
    case ptx::Space::shared:
      return placeShared(v, sharedSize);
    case ptx::Space::local:
    case ptx::Space::param: {
      if (!fn)
        return 0;
      uint64_t &size = v.space == ptx::Space::local ? fn->localBytes : fn->paramBytes;
      size = alignUp(size, v.align);
      uint64_t at = size;
      size += v.size;
      return at;
    }
    default:
      return placeGlobal(v);
    }
  };
  for (const ptx::Variable &v : m.variables)
    program->variableAddress.push_back(placeVariable(v, nullptr, shared));
  program->functions.resize(m.functions.size());
  program->sharedBytes.resize(m.functions.size());
  // Device functions may run under any entry, so their shared variables come before those of the entries.
  for (bool entries : {false, true}) {
    if (entries)
      program->sharedCommon = shared;
    for (size_t i = 0; i < m.functions.size(); ++i) {
      const ptx::Function &f = m.functions[i];
      if (f.entry != entries)
        continue;
      DecodedFunction &fn = program->functions[i];
      fn.source = &f;
      fn.index = uint32_t(i);
      fn.paramBytes = alignUp(f.paramBytes, 16);
      for (const ptx::Variable &r : f.returns) {
        fn.paramBytes = alignUp(fn.paramBytes, r.align);
        fn.returnOffset.push_back(fn.paramBytes);
        fn.paramBytes += r.size;
      }
      uint64_t own = program->sharedCommon;
      for (const ptx::Variable &v : f.variables)
        fn.variableOffset.push_back(placeVariable(v, &fn, entries ? own : shared));
      program->sharedBytes[i] = own;
      fn.localBytes = alignUp(fn.localBytes, 16);
      fn.paramBytes = alignUp(fn.paramBytes, 16);
      if (fn.localBytes >> 20 || fn.paramBytes >> 20)
        return tl::unexpected(Error{ErrorKind::unsupported,
                                    fmt::format("expected less than 1 MiB of local memory per thread in {}, found {}",
                                                f.name, std::max(fn.localBytes, fn.paramBytes))});
      for (const ptx::Register &r : f.registers) {
        fn.registerSlot.push_back(Slot(fn.slots));
        fn.slots += uint32_t(r.lanes) * (r.type == ptx::Type::b128 ? 2 : 1);
      }
      for (size_t r = 0; r < f.registers.size(); ++r)
        fn.paramRegister.emplace(f.registers[r].name, fn.registerSlot[r]);
    }
  }
  // Initialisers may name variables that stand further down.
  auto relocate = [&](const ptx::Variable &v, uint64_t at) {
    for (const ptx::Relocation &r : v.relocations) {
      uint64_t value = 0;
      for (size_t i = 0; i < m.variables.size(); ++i)
        if (m.variables[i].name == r.symbol)
          value = program->variableAddress[i];
      for (size_t i = 0; i < m.functions.size(); ++i)
        if (m.functions[i].name == r.symbol)
          value = window::code + 16 * i;
      value = (value + uint64_t(r.addend)) >> r.shift;
      if (Span span = memory.find(at + r.offset, r.width); span.host)
        std::memcpy(span.at(at + r.offset), &value, std::min<size_t>(r.width, 8));
    }
  };
  for (size_t i = 0; i < m.variables.size(); ++i)
    relocate(m.variables[i], program->variableAddress[i]);
  for (DecodedFunction &fn : program->functions) {
    for (size_t i = 0; i < fn.source->variables.size(); ++i)
      relocate(fn.source->variables[i], fn.variableOffset[i]);
    Decoder(*program, chip, fn).run();
    fn.decoded = fn.source->defined;
  }
  return program;
}

} // namespace interlock::emu
