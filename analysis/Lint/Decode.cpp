// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The instructions of the PTX ISA that touch memory or other threads, and how their parts are found.
#include "analysis/Lint/DecodeParts.h"

#include <algorithm>
#include <string_view>

namespace interlock::lint {
namespace decoders {

std::optional<Scope> scopeOf(const Instruction &in) {
  // .cta and the like are modifiers of their own; `shared::cta` is another modifier.
  static constexpr std::pair<std::string_view, Scope> names[] = {
      {"cta", Scope::cta}, {"cluster", Scope::cluster}, {"gpu", Scope::gpu}, {"gl", Scope::gpu}, {"sys", Scope::sys}};
  for (auto [name, scope] : names)
    if (in.has(name))
      return scope;
  return std::nullopt;
}

std::optional<Order> orderOf(const Instruction &in) {
  static constexpr std::pair<std::string_view, Order> names[] = {
      {"relaxed", Order::relaxed}, {"acquire", Order::acquire}, {"release", Order::release},
      {"acq_rel", Order::acqRel},  {"sc", Order::sc},           {"volatile", Order::isVolatile},
      {"mmio", Order::relaxed}};
  for (auto [name, order] : names)
    if (in.has(name))
      return order;
  return std::nullopt;
}

ptx::Space spaceOf(const Instruction &in) {
  for (std::string_view mod : in.mods)
    for (ptx::Space space :
         {ptx::Space::global, ptx::Space::shared, ptx::Space::param, ptx::Space::local, ptx::Space::constant})
      if (mod == ptx::name(space) ||
          (mod.size() > ptx::name(space).size() + 2 && mod.substr(0, ptx::name(space).size()) == ptx::name(space) &&
           mod.substr(ptx::name(space).size(), 2) == "::"))
        return space;
  return ptx::Space::none;
}

const Operand *operand(const Instruction &in, size_t i) { return i < in.operands.size() ? &in.operands[i] : nullptr; }

const Operand *address(const Instruction &in, size_t n) {
  for (const Operand &o : in.operands)
    if (o.kind == OperandKind::address && n-- == 0)
      return &o;
  return nullptr;
}

std::optional<int64_t> immediate(const Operand *o) {
  return o && o->kind == OperandKind::integer ? std::optional(int64_t(o->bits)) : std::nullopt;
}

Decoded &add(Out &out, EventKind kind) {
  out.emplace_back();
  out.back().event.kind = kind;
  return out.back();
}

} // namespace decoders

namespace {

using ptx::Instruction;
using namespace decoders;

struct Row {
  std::string_view opcode;
  void (*decode)(const Instruction &, Out &);
};
constexpr Row table[] = {
    {"ld", load},
    {"ldu", load},
    {"st", store},
    {"atom", atomic},
    {"red", atomic},
    {"multimem", multimem},
    {"fence", fence},
    {"membar", fence},
    {"mbarrier", mbarrier},
    {"cp", copy},
    {"bar", barrier},
    {"barrier", barrier},
    {"ldmatrix", matrix},
    {"stmatrix", matrix},
    {"wmma", matrix},
    {"wgmma", matrix},
    {"tcgen05", matrix},
    {"tensormap", tensorMap},
    {"clusterlaunchcontrol", launchControl},
    {"griddepcontrol", single},
    {"exit", single},
    {"call", single},
    {"shfl", single},
    {"vote", single},
    {"match", single},
    {"redux", single},
};

/// Opcodes that do nothing to memory that other threads see, or nothing by which they could be ordered (texture and
/// surface accesses lie outside the memory model).
constexpr std::string_view harmless[] = {
    "abs",     "activemask", "add",     "addc",         "alloca",   "and",       "applypriority", "bfe",
    "bfi",     "bfind",      "bmsk",    "bra",          "brev",     "brkpt",     "brx",           "clz",
    "cnot",    "copysign",   "cos",     "createpolicy", "cvt",      "cvta",      "discard",       "div",
    "dp2a",    "dp4a",       "elect",   "ex2",          "fma",      "fns",       "getctarank",    "isspacep",
    "istypep", "lg2",        "lop3",    "mad",          "mad24",    "madc",      "mapa",          "max",
    "min",     "mma",        "mov",     "movmatrix",    "mul",      "mul24",     "nanosleep",     "neg",
    "not",     "or",         "pmevent", "popc",         "prefetch", "prefetchu", "prmt",          "rcp",
    "rem",     "ret",        "rsqrt",   "sad",          "selp",     "set",       "setmaxnreg",    "setp",
    "shf",     "shl",        "shr",     "sin",          "slct",     "sqrt",      "stackrestore",  "stacksave",
    "sub",     "subc",       "suld",    "suq",          "sured",    "sust",      "szext",         "tanh",
    "testp",   "tex",        "tld4",    "trap",         "txq",      "vabsdiff",  "vabsdiff2",     "vabsdiff4",
    "vadd",    "vadd2",      "vadd4",   "vavrg2",       "vavrg4",   "vmad",      "vmax",          "vmax2",
    "vmax4",   "vmin",       "vmin2",   "vmin4",        "vset",     "vset2",     "vset4",         "vshl",
    "vshr",    "vsub",       "vsub2",   "vsub4",        "xor"};

} // namespace

void decode(const Instruction &in, Out &out) {
  for (const Row &row : table)
    if (row.opcode == in.opcode)
      return row.decode(in, out);
  if (!isKnownOpcode(in.opcode))
    add(out, EventKind::call); // taken to touch any memory
}

bool isKnownOpcode(std::string_view opcode) {
  return std::binary_search(std::begin(harmless), std::end(harmless), opcode) ||
         std::any_of(std::begin(table), std::end(table), [&](const Row &row) { return row.opcode == opcode; });
}

} // namespace interlock::lint
