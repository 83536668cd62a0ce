// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The instructions of the PTX ISA that touch memory or other threads, with the defaults that it gives their qualifiers.
#include "analysis/Lint/Decode.h"

#include <algorithm>
#include <string_view>

namespace interlock::lint {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using scope::Completion;
using scope::Event;
using scope::EventKind;
using scope::Order;
using scope::Proxy;
using scope::Restrict;
using scope::Scope;

using Out = std::vector<Decoded>;

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

/// The n-th operand in brackets.
const Operand *address(const Instruction &in, size_t n) {
  for (const Operand &o : in.operands)
    if (o.kind == OperandKind::address && n-- == 0)
      return &o;
  return nullptr;
}

std::optional<int64_t> immediate(const Operand *o) {
  return o && o->kind == OperandKind::integer ? std::optional(int64_t(o->bits)) : std::nullopt;
}

/// Order and scope of an access to memory.
void qualify(const Instruction &in, Event &e, Order byDefault, Scope scopeByDefault) {
  e.order = orderOf(in).value_or(in.has("weak") ? Order::weak : byDefault);
  e.scope = e.order == Order::isVolatile ? Scope::sys : scopeOf(in).value_or(scopeByDefault);
}

void sizes(const Instruction &in, scope::Access &access) {
  access.bytes = std::max(1u, ptx::bitWidth(in.type()) / 8);
  access.elements = uint8_t(in.vectorLength());
}

Decoded &add(Out &out, EventKind kind) {
  out.emplace_back();
  out.back().event.kind = kind;
  return out.back();
}

bool isThreadMemory(const Instruction &in) {
  ptx::Space space = spaceOf(in);
  return space == ptx::Space::param || space == ptx::Space::local || space == ptx::Space::constant;
}

void load(const Instruction &in, Out &out) {
  if (isThreadMemory(in))
    return;
  Decoded &d = add(out, EventKind::load);
  qualify(in, d.event, Order::weak, Scope::sys);
  if (in.has("nc") || in.opcode == "ldu")
    d.event.proxy = Proxy::nonCoherent;
  d.src = address(in, 0);
  d.space = spaceOf(in);
  d.event.localForm = in.has("shared::cta") || in.has("shared");
  sizes(in, d.event.src);
  d.result = operand(in, 0);
  d.loopsAsPoll = true;
}

/// st.async and red.async: `[a], b, [mbarrier]`, or a release store without a barrier.
void asyncStore(const Instruction &in, Out &out) {
  const Operand *barrier = address(in, 1);
  if (!barrier) {
    Decoded &d = add(out, EventKind::store);
    qualify(in, d.event, Order::release, Scope::gpu);
    d.dst = address(in, 0);
    sizes(in, d.event.dst);
    return;
  }
  Decoded &d = add(out, EventKind::storeAsync);
  d.event.order = Order::weak;
  d.event.completion = Completion::barrier;
  d.event.reduces = in.opcode == "red";
  d.dst = address(in, 0);
  d.barrier = barrier;
  d.space = ptx::Space::shared;
  sizes(in, d.event.dst);
  d.event.bytes = int64_t(d.event.dst.bytes) * d.event.dst.elements;
}

void store(const Instruction &in, Out &out) {
  if (in.has("async"))
    return asyncStore(in, out);
  if (isThreadMemory(in))
    return;
  Decoded &d = add(out, EventKind::store);
  qualify(in, d.event, Order::weak, Scope::sys);
  d.dst = address(in, 0);
  d.space = spaceOf(in);
  d.event.localForm = in.has("shared::cta") || in.has("shared");
  if (in.has("bulk"))
    d.event.dst.bytes = uint32_t(immediate(operand(in, 1)).value_or(0));
  else
    sizes(in, d.event.dst);
}

void atomic(const Instruction &in, Out &out) {
  if (in.has("async"))
    return asyncStore(in, out);
  bool returns = in.opcode == "atom";
  Decoded &d = add(out, returns ? EventKind::atomic : EventKind::reduction);
  qualify(in, d.event, Order::relaxed, Scope::gpu);
  d.dst = address(in, 0);
  d.space = spaceOf(in);
  sizes(in, d.event.dst);
  if (!returns)
    return;
  d.result = operand(in, 0);
  // Only these can be tried again and again without doing something: the others count.
  auto value = immediate(operand(in, 2));
  bool nothing = value && *value == 0 && (in.has("add") || in.has("or") || in.has("xor"));
  d.loopsAsPoll = in.has("cas") || in.has("exch") || nothing;
  for (size_t i = 2; i < in.operands.size(); ++i)
    d.mustStay.push_back(&in.operands[i]);
}

void multimem(const Instruction &in, Out &out) {
  if (in.mods.empty())
    return;
  bool reads = in.mods[0] == "ld_reduce", reduces = in.mods[0] == "red";
  Decoded &d = add(out, reads ? EventKind::load : reduces ? EventKind::reduction : EventKind::store);
  qualify(in, d.event, reduces ? Order::relaxed : Order::weak, Scope::sys);
  d.event.multimem = true;
  (reads ? d.src : d.dst) = address(in, 0);
  d.space = ptx::Space::global;
  sizes(in, reads ? d.event.src : d.event.dst);
}

void fence(const Instruction &in, Out &out) {
  bool legacy = in.opcode == "membar";
  auto starts = [&](std::string_view with) {
    return std::any_of(in.mods.begin(), in.mods.end(),
                       [&](std::string_view m) { return m.substr(0, with.size()) == with; });
  };
  Restrict restrict = in.has("sync_restrict::shared::cta")       ? Restrict::sharedCta
                      : in.has("sync_restrict::shared::cluster") ? Restrict::sharedCluster
                      : in.has("mbarrier_init")                  ? Restrict::barrierInit
                                                                 : Restrict::none;
  if (in.has("proxy")) {
    Decoded &d = add(out, EventKind::proxyFence);
    if (starts("tensormap"))
      d.event.proxyFence =
          in.has("acquire") ? scope::ProxyFence::tensormapAcquire : scope::ProxyFence::tensormapRelease;
    else if (starts("alias"))
      d.event.proxyFence = scope::ProxyFence::alias;
    bool shared = spaceOf(in) == ptx::Space::shared || restrict != Restrict::none,
         global = spaceOf(in) == ptx::Space::global;
    d.event.forShared = shared || !global;
    d.event.forGlobal = global || !shared;
    if (restrict == Restrict::none)
      return;
  }
  Decoded &d = add(out, EventKind::fence);
  d.event.order = legacy ? Order::sc : orderOf(in).value_or(Order::acqRel);
  d.event.scope = scopeOf(in).value_or(Scope::sys);
  d.event.restrict = restrict;
  d.event.spelled = !legacy;
}

void mbarrier(const Instruction &in, Out &out) {
  if (in.mods.empty())
    return;
  std::string_view op = in.mods[0];
  bool arrive = op == "arrive" || op == "arrive_drop", expects = in.has("expect_tx");
  EventKind kind;
  if (op == "init")
    kind = EventKind::barrierInit;
  else if (op == "inval")
    kind = EventKind::barrierInval;
  else if (arrive)
    kind = EventKind::barrierArrive;
  else if (op == "expect_tx")
    kind = EventKind::barrierExpect;
  else if (op == "test_wait" || op == "try_wait")
    kind = EventKind::barrierWait;
  else if (op == "complete_tx")
    kind = EventKind::barrierDone;
  else
    return; // pending_count looks at a value only
  Decoded &d = add(out, kind);
  Event &e = d.event;
  d.barrier = address(in, 0);
  d.space = ptx::Space::shared;
  e.localForm = !in.has("shared::cluster") && (in.has("shared::cta") || in.has("shared"));
  e.scope = scopeOf(in).value_or(Scope::cta);
  const Operand *last = d.barrier ? operand(in, size_t(d.barrier - in.operands.data()) + 1) : nullptr;
  if (kind == EventKind::barrierInit) {
    d.count = last;
  } else if (kind == EventKind::barrierArrive) {
    e.order = orderOf(in).value_or(Order::release);
    e.expects = expects;
    if (expects)
      d.bytes = last;
    else
      d.count = last;
    if (expects || !last)
      e.count = 1;
  } else if (kind == EventKind::barrierExpect) {
    e.order = Order::relaxed;
    e.expects = true;
    d.bytes = last;
  } else if (kind == EventKind::barrierWait) {
    e.order = orderOf(in).value_or(Order::acquire);
    d.result = operand(in, 0);
    d.loopsAsPoll = true;
    if (in.has("parity"))
      d.parity = last;
  }
}

/// cp.async, cp.async.bulk and cp.reduce.async.bulk.
void copy(const Instruction &in, Out &out) {
  bool bulk = in.has("bulk");
  if (in.has("commit_group")) {
    add(out, EventKind::asyncCommit).event.completion = bulk ? Completion::bulkGroup : Completion::copyGroup;
    return;
  }
  if (in.has("wait_group") || in.has("wait_all")) {
    Decoded &d = add(out, EventKind::asyncWait);
    d.event.completion = bulk ? Completion::bulkGroup : Completion::copyGroup;
    d.event.readsOnly = in.has("read");
    return;
  }
  if (in.has("mbarrier")) { // cp.async.mbarrier.arrive
    Decoded &d = add(out, EventKind::barrierDone);
    d.barrier = address(in, 0);
    d.space = ptx::Space::shared;
    return;
  }
  if (in.has("prefetch"))
    return;
  Decoded &d = add(out, EventKind::asyncCopy);
  Event &e = d.event;
  e.proxy = bulk ? Proxy::async : Proxy::generic;
  e.reduces = in.has("reduce");
  e.multicast = in.has("multicast::cluster");
  d.dst = address(in, 0);
  d.src = address(in, 1);
  const Operand *size = operand(in, 2);
  if (in.has("tensor")) {
    bool toShared = d.src && !in.has("bulk_group");
    d.map = toShared ? d.src : d.dst;
    (toShared ? d.src : d.dst) = nullptr;
    size = nullptr;
  }
  if (in.has("mbarrier::complete_tx::bytes")) {
    e.completion = Completion::barrier;
    d.barrier = address(in, 2);
  } else {
    e.completion = bulk ? Completion::bulkGroup : Completion::copyGroup;
  }
  d.bytes = size;
}

void barrier(const Instruction &in, Out &out) {
  if (in.has("warp")) {
    add(out, EventKind::warpBarrier);
    return;
  }
  if (in.has("cluster")) {
    Decoded &d = add(out, in.has("arrive") ? EventKind::clusterArrive : EventKind::clusterWait);
    d.event.order = in.has("arrive") ? orderOf(in).value_or(Order::release) : Order::acquire;
    d.event.scope = Scope::cluster;
    return;
  }
  Decoded &d = add(out, in.has("arrive") ? EventKind::ctaArrive : EventKind::ctaBarrier);
  d.event.order = in.has("arrive") ? Order::release : Order::acqRel;
  // bar.red has its result first.
  const Operand *id = operand(in, in.has("red") ? 1 : 0);
  if (auto number = immediate(id))
    d.event.id = uint32_t(*number);
}

void tensorMap(const Instruction &in, Out &out) {
  Decoded &d = add(out, EventKind::store);
  d.dst = address(in, 0);
  d.space = spaceOf(in);
  d.event.dst.bytes = 128;
  if (!in.has("cp_fenceproxy"))
    return;
  d.space = ptx::Space::global;
  add(out, EventKind::proxyFence).event.proxyFence = scope::ProxyFence::tensormapRelease;
}

/// Matrix operands in shared memory are named by descriptors, which are made of their addresses.
void matrix(const Instruction &in, Out &out) {
  if (in.opcode == "ldmatrix" || (in.opcode == "wmma" && in.has("load"))) {
    if (Decoded &d = add(out, EventKind::load); true) {
      d.src = address(in, 0);
      d.space = in.opcode == "ldmatrix" ? ptx::Space::shared : spaceOf(in);
    }
  } else if (in.opcode == "stmatrix" || (in.opcode == "wmma" && in.has("store"))) {
    Decoded &d = add(out, EventKind::store);
    d.dst = address(in, 0);
    d.space = in.opcode == "stmatrix" ? ptx::Space::shared : spaceOf(in);
  } else if ((in.opcode == "wgmma" && in.has("mma_async")) ||
             (in.opcode == "tcgen05" && (in.has("mma") || in.has("cp")))) {
    for (size_t i = 1; i < in.operands.size() && i < 4; ++i)
      if (in.operands[i].kind == OperandKind::reg) {
        Decoded &d = add(out, EventKind::asyncCopy);
        d.event.proxy = Proxy::async;
        d.src = &in.operands[i];
        d.space = ptx::Space::shared;
      }
  } else if (in.opcode == "tcgen05" && in.has("commit")) {
    Decoded &d = add(out, EventKind::barrierDone);
    d.barrier = address(in, 0);
    d.space = ptx::Space::shared;
  }
}

void launchControl(const Instruction &in, Out &out) {
  if (!in.has("try_cancel"))
    return;
  Decoded &d = add(out, EventKind::asyncCopy);
  d.event.proxy = Proxy::async;
  d.event.completion = Completion::barrier;
  d.event.bytes = 16;
  d.event.dst.bytes = 16;
  d.event.multicast = in.has("multicast::cluster::all");
  d.dst = address(in, 0);
  d.barrier = address(in, 1);
  d.space = ptx::Space::shared;
}

void single(const Instruction &in, Out &out) {
  if (in.opcode == "griddepcontrol")
    add(out, in.has("wait") ? EventKind::gridWait : EventKind::gridLaunch);
  else if (in.opcode == "exit")
    add(out, EventKind::exit);
  else if (in.opcode == "call")
    add(out, EventKind::call);
  else if (in.has("sync"))
    add(out, EventKind::warpBarrier); // shfl, vote, match, redux: their lanes meet
}

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
