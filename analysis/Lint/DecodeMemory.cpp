// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loads, stores, atomics and fences, with the defaults that the PTX ISA gives their qualifiers.
#include "analysis/Lint/DecodeParts.h"

#include <algorithm>

namespace interlock::lint::decoders {
namespace {

/// Order and scope of an access to memory.
void qualify(const Instruction &in, Event &e, Order byDefault, Scope scopeByDefault) {
  e.order = orderOf(in).value_or(in.has("weak") ? Order::weak : byDefault);
  e.scope = e.order == Order::isVolatile ? Scope::sys : scopeOf(in).value_or(scopeByDefault);
}

void sizes(const Instruction &in, scope::Access &access) {
  access.bytes = std::max(1u, ptx::bitWidth(in.type()) / 8);
  access.elements = uint8_t(in.vectorLength());
}

bool isThreadMemory(const Instruction &in) {
  ptx::Space space = spaceOf(in);
  return space == ptx::Space::param || space == ptx::Space::local || space == ptx::Space::constant;
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

} // namespace

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
  d.event.conditional = in.has("cas");
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

} // namespace interlock::lint::decoders
