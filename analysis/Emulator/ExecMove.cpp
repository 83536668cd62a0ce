// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// mov, address conversions, clocks, and the way into the arithmetic of Alu.h (PTX ISA "Data Movement and Conversion
// Instructions").
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

uint64_t widthMask(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

template <typename F> Flow perLane(Exec &x, const Code &c, LaneMask lanes, F f) {
  uint64_t *d = x.dst(c.dst[0]);
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    d[lane] = f(lane);
  }
  return Flow::next;
}

Flow runMove(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *s = x.src(c.src[0]);
  uint64_t *d = x.dst(c.dst[0]);
  uint64_t keep = widthMask(c.dstBits);
  if (lanes == ~LaneMask(0)) {
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      d[lane] = s[lane] & keep;
    return Flow::next;
  }
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    d[lane] = lanes >> lane & 1 ? s[lane] & keep : d[lane];
  return Flow::next;
}

/// mov.b64 d, {a, b}: element i goes to bits i * width.
Flow runPack(Exec &x, const Code &c, LaneMask lanes) {
  unsigned bits = c.bytes * 8u;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint64_t value = 0;
    for (unsigned i = 0; i < c.n; ++i)
      value |= (x.src(c.src[i])[lane] & widthMask(bits)) << (i * bits);
    x.dst(c.dst[0])[lane] = value;
  }
  return Flow::next;
}

Flow runUnpack(Exec &x, const Code &c, LaneMask lanes) {
  unsigned bits = c.bytes * 8u;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint64_t value = x.src(c.src[0])[lane];
    for (unsigned i = 0; i < c.n; ++i)
      x.dst(c.dst[i])[lane] = value >> (i * bits) & widthMask(bits);
  }
  return Flow::next;
}

/// Several independent moves: b128 registers and whole vector registers.
Flow runMoveMany(Exec &x, const Code &c, LaneMask lanes) {
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint64_t values[8];
    for (unsigned i = 0; i < c.n; ++i)
      values[i] = x.src(c.src[i])[lane];
    for (unsigned i = 0; i < c.n; ++i)
      x.dst(c.dst[i])[lane] = values[i];
  }
  return Flow::next;
}

Flow runAlu(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *in[4] = {nullptr, nullptr, nullptr, nullptr};
  for (unsigned i = 0; i < c.nsrc; ++i)
    in[i] = x.src(c.src[i]);
  uint64_t second[warpLanes];
  c.op.eval(c.op, in, x.dst(c.dst[0]), c.dst[1] == sinkSlot ? second : x.dst(c.dst[1]), lanes, warpLanes);
  return Flow::next;
}

/// sub: 0 adds the window of cvta, 1 takes it away (cvta.to), 2 and 3: 64-bit and 32-bit results of the identity.
Flow runCvta(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *s = x.src(c.src[0]);
  uint64_t window = uint64_t(c.offset[0]);
  return perLane(x, c, lanes, [&](unsigned lane) {
    uint64_t v = s[lane];
    if (!window)
      return v;
    return c.sub == 1 ? v & (window::size - 1) : window | (v & (window::size - 1));
  });
}

Flow runIsspacep(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *s = x.src(c.src[0]);
  return perLane(x, c, lanes, [&](unsigned lane) -> uint64_t {
    uint64_t v = s[lane];
    auto in = [&](uint64_t window) { return v - window < window::size; };
    switch (c.space) {
    case AddressKind::global:
      return v >= window::globalBase;
    case AddressKind::sharedCluster:
      return in(window::shared);
    case AddressKind::shared: {
      uint32_t field = uint32_t(v) >> sharedRankShift;
      return in(window::shared) && (field == 0 || field - 1 == x.cta().rank);
    }
    case AddressKind::local:
      return in(window::local);
    case AddressKind::param:
      return in(window::param);
    default: // constants lie in device memory here
      return 0;
    }
  });
}

Flow runMapa(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *a = x.src(c.src[0]), *b = x.src(c.src[1]);
  uint32_t size = uint32_t(x.cta().cluster->ctas.size());
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    if (b[lane] >= size)
      return x.fault(c, lane, fmt::format("expected a rank below the cluster size {}, found {}", size, b[lane]));
  }
  return perLane(x, c, lanes, [&](unsigned lane) {
    uint64_t offset = a[lane] & ((1u << sharedRankShift) - 1);
    return (c.sub ? window::shared : 0) | (b[lane] + 1) << sharedRankShift | offset;
  });
}

Flow runGetCtarank(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *a = x.src(c.src[0]);
  return perLane(x, c, lanes, [&](unsigned lane) -> uint64_t {
    uint32_t field = uint32_t(a[lane]) >> sharedRankShift;
    return field ? field - 1 : x.cta().rank;
  });
}

Flow runNothing(Exec &, const Code &, LaneMask) { return Flow::next; }

} // namespace

Flow runReadClock(Exec &x, const Code &c, LaneMask lanes) {
  uint64_t now = x.engine.now();
  return perLane(x, c, lanes, [&](unsigned) { return c.sub == 0 ? now : c.sub == 1 ? now & 0xffffffff : now >> 32; });
}

Flow runNegate(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *s = x.src(c.src[0]);
  return perLane(x, c, lanes, [&](unsigned lane) { return s[lane] ^ 1; });
}

Flow runUnknown(Exec &x, const Code &c, LaneMask lanes) {
  return x.fault(c, unsigned(std::countr_zero(lanes)), x.cta().grid->program->messages[c.target],
                 ErrorKind::unsupported);
}

bool decodeNothing(Decoder &d, const ptx::Instruction &in) {
  d.emit(in, runNothing);
  return true;
}

bool decodeMove(Decoder &d, const ptx::Instruction &in) {
  if (in.operands.size() != 2)
    return d.fail("expected mov to have two operands");
  const Operand &to = in.operands[0], &from = in.operands[1];
  unsigned bits = ptx::bitWidth(in.type());
  if (bits == 0)
    return d.fail("expected a type on mov");
  auto pieces = [&](const Operand &v) { return unsigned(v.elements.size()); };
  auto wide = [&](const Operand &o, auto &slots, bool isDest) {
    // The two 64-bit halves of a 128-bit operand.
    if (o.kind == OperandKind::vector && pieces(o) == 2) {
      for (unsigned i = 0; i < 2; ++i)
        slots[i] = isDest ? d.dest(o.elements[i]) : d.value(o.elements[i], 64u);
      return true;
    }
    if (o.kind != OperandKind::reg)
      return d.fail("expected a 128-bit register or a pair of 64-bit ones");
    slots[0] = d.dest(o);
    slots[1] = slots[0] + 1;
    return true;
  };
  if (bits == 128) {
    std::array<Slot, 8> dst{};
    std::array<Slot, 9> src{};
    if (!wide(to, dst, true) || !wide(from, src, false))
      return false;
    Code &c = d.emit(in, runMoveMany);
    c.n = 2;
    c.dst = dst;
    c.src = src;
    return true;
  }
  if (from.kind == OperandKind::vector || to.kind == OperandKind::vector) {
    const Operand &v = from.kind == OperandKind::vector ? from : to;
    unsigned n = pieces(v);
    if (n == 0 || n > 8 || bits % (8 * n) || (from.kind == OperandKind::vector && to.kind == OperandKind::vector))
      return d.fail(fmt::format("expected mov to split {} bits into 2 or 4 elements", bits));
    std::array<Slot, 8> slots{};
    bool pack = &v == &from;
    for (unsigned i = 0; i < n; ++i)
      slots[i] = pack ? d.value(v.elements[i], bits / n) : d.dest(v.elements[i]);
    Slot other = pack ? d.dest(to) : d.value(from, bits);
    Code &c = d.emit(in, pack ? runPack : runUnpack);
    c.n = uint8_t(n);
    c.bytes = uint8_t(bits / n / 8);
    for (unsigned i = 0; i < n; ++i)
      (pack ? c.src[i] : c.dst[i]) = slots[i];
    (pack ? c.dst[0] : c.src[0]) = other;
    return true;
  }
  Slot src = d.value(from, in.type());
  Slot dst = d.dest(to);
  Code &c = d.emit(in, runMove);
  c.src[0] = src;
  c.dst[0] = dst;
  c.dstBits = uint8_t(bits);
  return true;
}

bool decodeCvta(Decoder &d, const ptx::Instruction &in) {
  if (in.operands.size() != 2)
    return d.fail("expected cvta to have two operands");
  uint64_t window = 0;
  switch (addressKind(in)) {
  case AddressKind::shared:
  case AddressKind::sharedCluster:
    window = window::shared;
    break;
  case AddressKind::local:
    window = window::local;
    break;
  case AddressKind::param:
    window = window::param;
    break;
  default: // global and const addresses are generic ones
    break;
  }
  Slot src = d.value(in.operands[1], 64u), dst = d.dest(in.operands[0]);
  Code &c = d.emit(in, runCvta);
  c.src[0] = src;
  c.dst[0] = dst;
  c.sub = in.has("to");
  c.offset[0] = int64_t(window);
  return true;
}

bool decodeIsspacep(Decoder &d, const ptx::Instruction &in) {
  if (in.operands.size() != 2)
    return d.fail("expected isspacep to have two operands");
  Slot src = d.value(in.operands[1], 64u), dst = d.dest(in.operands[0]);
  Code &c = d.emit(in, runIsspacep);
  c.src[0] = src;
  c.dst[0] = dst;
  c.space = addressKind(in);
  return true;
}

bool decodeMapa(Decoder &d, const ptx::Instruction &in) {
  bool map = in.opcode == "mapa";
  if (in.operands.size() != (map ? 3u : 2u))
    return d.fail("expected another number of operands");
  Slot a = d.value(in.operands[1], 64u), b = map ? d.value(in.operands[2], 32u) : 0, dst = d.dest(in.operands[0]);
  Code &c = d.emit(in, map ? runMapa : runGetCtarank);
  c.src = {a, b};
  c.dst[0] = dst;
  c.sub = addressKind(in) == AddressKind::generic;
  return true;
}

bool decodeAlu(Decoder &d, const ptx::Instruction &in) {
  bool carries = in.has("cc") || in.opcode == "addc" || in.opcode == "subc" || in.opcode == "madc";
  auto op = carries ? alu::resolveExtended(in) : alu::resolve(in);
  if (!op)
    return d.fail(op.error());
  if (in.operands.size() < 2 || in.operands.size() > 5)
    return d.fail(fmt::format("the emulator does not know {}", in.text()));
  std::array<Slot, 8> dst{};
  std::array<Slot, 9> src{};
  const Operand &to = in.operands[0];
  if (to.kind == OperandKind::pair) {
    dst[0] = d.dest(to.elements[0]);
    dst[1] = d.dest(to.elements[1]);
  } else {
    dst[0] = d.dest(to);
    dst[1] = sinkSlot;
  }
  // Literals are cut to the width at which the operand is read: the second type of conversions and comparisons, twice
  // the type for the addend of .wide, and 32 bits for predicates' integers and shift amounts.
  ptx::Type first = in.type(0), second = in.type(1);
  unsigned n = 0;
  for (size_t i = 1; i < in.operands.size(); ++i) {
    ptx::Type type =
        second != ptx::Type::none && in.opcode != "slct" && in.opcode.substr(0, 2) != "dp" ? second : first;
    if (in.opcode == "slct")
      type = i == 3 ? second : first;
    if (in.opcode == "dp4a" || in.opcode == "dp2a")
      type = ptx::Type::b32;
    if ((in.opcode == "shl" || in.opcode == "shr") && i == 2)
      type = ptx::Type::b32;
    if ((in.opcode == "bfe" && i > 1) || (in.opcode == "bfi" && i > 2))
      type = ptx::Type::b32;
    if (in.has("wide") && i == 3)
      type = ptx::Type::b64;
    if (in.operands[i].kind == OperandKind::vector)
      return d.fail(fmt::format("the emulator does not know {}", in.text()));
    src[n++] = d.value(in.operands[i], type);
  }
  if (op->carryIn)
    src[n++] = d.conditionCode();
  if (op->carryOut)
    dst[1] = d.conditionCode();
  if (unsigned width = d.width(to); width && in.opcode == "cvt")
    op->extendTo = uint8_t(std::min(64u, width));
  Code &c = d.emit(in, runAlu);
  c.op = *op;
  c.dst = dst;
  c.src = src;
  c.nsrc = uint8_t(n);
  return true;
}

} // namespace interlock::emu
