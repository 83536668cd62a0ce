// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// atom and red (PTX ISA "atom", "red"), scalar, 128-bit and vector forms.
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"
#include "analysis/Emulator/Reduction.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

/// Lanes go one after the other, in the order of their number.
Flow runAtomic(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *base = x.src(c.src[0]);
  uint32_t bytes = uint32_t(c.bytes) * c.n;
  Reduction op = Reduction(c.sub);
  bool returns = c.flags & 1;
  bool changed = false;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    Place p;
    if (!x.place(c, c.space, base[lane] + uint64_t(c.offset[0]), bytes, bytes, lane, p))
      return Flow::fault;
    if (p.space != MemorySpace::global && p.space != MemorySpace::shared)
      return x.fault(c, lane, "expected an atomic operation on global or shared memory");
    uint64_t old[8] = {}, fresh[8] = {};
    bool swap = true;
    for (unsigned i = 0; i < c.n; ++i) {
      std::memcpy(&old[i], p.host + i * c.bytes, c.bytes);
      uint64_t b = x.src(c.src[1 + i])[lane];
      if (op == Reduction::cas) {
        uint64_t keep = c.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (c.bytes * 8)) - 1;
        swap &= old[i] == (b & keep);
        fresh[i] = x.src(c.src[1 + c.n + i])[lane];
      } else {
        fresh[i] = reduce(op, c.type, old[i], b, p.space == MemorySpace::global && op == Reduction::add);
      }
    }
    if (swap)
      for (unsigned i = 0; i < c.n; ++i) {
        changed |= std::memcmp(&old[i], &fresh[i], c.bytes) != 0;
        std::memcpy(p.host + i * c.bytes, &fresh[i], c.bytes);
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
