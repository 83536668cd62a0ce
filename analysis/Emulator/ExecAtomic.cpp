// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// atom and red (PTX ISA "atom", "red"), scalar, 128-bit and vector forms.
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"
#include "analysis/Emulator/Reduction.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

/// One read-modify-write of an element, indivisible for another process too that shares the memory (Machine::map).
template <typename T, typename Update> uint64_t exchange(uint8_t *host, Update update) {
  T *at = reinterpret_cast<T *>(host);
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, T(update(old)), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return old;
}
template <typename Update> uint64_t exchange(uint8_t *host, unsigned bytes, Update update) {
  return bytes == 8   ? exchange<uint64_t>(host, update)
         : bytes == 4 ? exchange<uint32_t>(host, update)
                      : exchange<uint16_t>(host, update);
}

/// cas and exch of 128 bits: indivisible in this process only. Returns what was there.
std::array<uint64_t, 2> exchangeWide(uint8_t *host, std::optional<std::array<uint64_t, 2>> expected,
                                     std::array<uint64_t, 2> value) {
  std::array<uint64_t, 2> old;
  std::memcpy(old.data(), host, sizeof old);
  if (!expected || old == *expected)
    std::memcpy(host, value.data(), sizeof value);
  return old;
}

/// Lanes go one after the other, in the order of their number.
Flow runAtomic(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *base = x.src(c.src[0]);
  uint32_t bytes = uint32_t(c.bytes) * c.n;
  Reduction op = Reduction(c.sub);
  bool returns = c.flags & 1;
  bool changed = false;
  uint64_t keep = c.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (c.bytes * 8)) - 1;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    Place p;
    if (!x.place(c, c.space, base[lane] + uint64_t(c.offset[0]), bytes, bytes, lane, p))
      return Flow::fault;
    if (p.space != MemorySpace::global && p.space != MemorySpace::shared)
      return x.fault(c, lane, "expected an atomic operation on global or shared memory");
    auto operand = [&](unsigned i) { return x.src(c.src[1 + i])[lane]; };
    uint64_t old[8] = {};
    if (c.type == ptx::Type::b128) {
      std::array<uint64_t, 2> first{operand(0), operand(1)}, before;
      before = op == Reduction::cas ? exchangeWide(p.host, first, {operand(2), operand(3)})
                                    : exchangeWide(p.host, std::nullopt, first);
      std::copy(before.begin(), before.end(), old);
      changed |= std::memcmp(before.data(), p.host, sizeof before) != 0;
    } else {
      bool flush = p.space == MemorySpace::global && op == Reduction::add;
      for (unsigned i = 0; i < c.n; ++i)
        old[i] = exchange(p.host + i * c.bytes, c.bytes, [&](uint64_t now) {
          uint64_t fresh = op != Reduction::cas         ? reduce(op, c.type, now, operand(i), flush)
                           : now == (operand(i) & keep) ? operand(c.n + i)
                                                        : now;
          changed |= ((fresh ^ now) & keep) != 0;
          return fresh;
        });
    }
    if (returns)
      for (unsigned i = 0; i < c.n; ++i)
        x.dst(c.dst[i])[lane] = old[i];
    x.observe(c, p, returns ? AccessKind::atomic : AccessKind::reduction, bytes, lane);
  }
  if (changed)
    x.engine.progress();
  return Flow::next;
}

} // namespace

bool decodeAtomic(Decoder &d, const ptx::Instruction &in) {
  if (in.has("async"))
    return decodeStoreAsync(d, in);
  bool returns = in.opcode == "atom";
  auto op = reductionOf(in);
  ptx::Type type = in.type();
  // A vector of packed halves is written `.v2.f16x2`; the element type is the last one.
  if (!op || !reductionKnows(*op, type))
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  unsigned values = *op == Reduction::cas ? 2 : 1, at = returns ? 1 : 0;
  if (in.operands.size() < at + 1 + values)
    return d.fail(fmt::format("expected more operands on {}", in.mnemonic()));
  Slot base;
  int64_t offset;
  if (!d.address(in.operands[at], base, offset))
    return false;
  bool wide = type == ptx::Type::b128;
  unsigned n = wide ? 2 : in.vectorLength();
  std::array<Slot, 8> dst{};
  std::array<Slot, 9> src{};
  auto gather = [&](const Operand &o, unsigned i, bool isDest) -> Slot {
    if (o.kind == OperandKind::vector)
      return i < o.elements.size() ? (isDest ? d.dest(o.elements[i]) : d.value(o.elements[i], type)) : sinkSlot;
    if (o.kind == OperandKind::sink)
      return sinkSlot;
    Slot s = isDest ? d.dest(o) : d.value(o, wide ? ptx::Type::b64 : type);
    return wide && s >= 0 ? s + Slot(i) : s;
  };
  if (values * n > 8)
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  for (unsigned v = 0; v < values; ++v)
    for (unsigned i = 0; i < n; ++i)
      src[1 + v * n + i] = gather(in.operands[at + 1 + v], i, false);
  for (unsigned i = 0; i < n; ++i)
    dst[i] = returns ? gather(in.operands[0], i, true) : sinkSlot;
  for (unsigned i = 0; i < values * n; ++i)
    if (src[1 + i] == sinkSlot)
      return d.fail("expected as many values as the vector has elements");
  src[0] = base;
  Code &c = d.emit(in, runAtomic);
  decodeQualifiers(in, c);
  if (c.sem == Sem::weak)
    c.sem = Sem::relaxed; // "If no .sem is specified, .relaxed is assumed", and .gpu without a scope
  if (c.scope == Scope::none)
    c.scope = Scope::gpu;
  c.space = addressKind(in);
  c.sub = uint8_t(*op);
  c.flags = returns;
  c.type = type;
  c.n = uint8_t(n);
  c.bytes = uint8_t(std::min(64u, ptx::bitWidth(type)) / 8);
  c.dst = dst;
  c.src = src;
  c.offset[0] = offset;
  c.poll = true;
  return true;
}

} // namespace interlock::emu
