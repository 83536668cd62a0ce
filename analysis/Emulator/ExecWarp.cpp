// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Exchange between the lanes of a warp: shfl, vote, match, redux, elect, activemask.
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"
#include "analysis/Emulator/Reduction.h"

#include <fmt/format.h>

#include <cmath>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

/// Runs f(executing lanes) once for each member mask among the lanes, when every member has come. `members` is the
/// slot of the mask; forms without .sync have only the lanes themselves.
template <typename F> Flow synchronised(Exec &x, const Code &c, LaneMask lanes, Slot members, bool sync, F f) {
  if (!sync) {
    f(lanes);
    return Flow::next;
  }
  const uint64_t *m = x.src(members);
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    LaneMask mask = LaneMask(m[lane]);
    if (!(mask >> lane & 1))
      return x.fault(c, lane, fmt::format("expected the executing lane in the member mask, found {:#010x}", mask));
    Flow flow;
    if (!x.gather(c, mask, flow))
      return flow;
  }
  LaneMask rest = lanes;
  while (rest) {
    LaneMask mask = LaneMask(m[std::countr_zero(rest)]), same = 0;
    for (LaneMask r = rest; r; r &= r - 1)
      if (LaneMask(m[std::countr_zero(r)]) == mask)
        same |= r & -r;
    f(same);
    rest &= ~same;
  }
  return Flow::next;
}

template <typename F> void forEach(LaneMask lanes, F f) {
  for (; lanes; lanes &= lanes - 1)
    f(unsigned(std::countr_zero(lanes)));
}

enum ShuffleMode : uint8_t { up, down, bfly, idx };

Flow runShuffle(Exec &x, const Code &c, LaneMask lanes) {
  return synchronised(x, c, lanes, c.src[3], c.flags, [&](LaneMask set) {
    uint64_t a[warpLanes], value[warpLanes], valid[warpLanes];
    std::memcpy(a, x.src(c.src[0]), sizeof a);
    const uint64_t *b = x.src(c.src[1]), *clamp = x.src(c.src[2]);
    forEach(set, [&](unsigned lane) {
      unsigned bval = b[lane] & 31, cval = clamp[lane] & 31, mask = clamp[lane] >> 8 & 31;
      int maxLane = int((lane & mask) | (cval & ~mask & 31)), minLane = int(lane & mask), j = 0;
      bool in = false;
      switch (c.sub) {
      case up:
        j = int(lane) - int(bval);
        in = j >= maxLane;
        break;
      case down:
        j = int(lane + bval);
        in = j <= maxLane;
        break;
      case bfly:
        j = int(lane ^ bval);
        in = j <= maxLane;
        break;
      default:
        j = minLane | int(bval & ~mask & 31);
        in = j <= maxLane;
      }
      value[lane] = a[in ? unsigned(j) & 31 : lane] & 0xffffffff;
      valid[lane] = in;
    });
    uint64_t *d = x.dst(c.dst[0]);
    forEach(set, [&](unsigned lane) { d[lane] = value[lane]; });
    uint64_t *p = x.dst(c.dst[1]);
    forEach(set, [&](unsigned lane) { p[lane] = valid[lane]; });
  });
}

enum VoteMode : uint8_t { all, any, uni, ballot };

Flow runVote(Exec &x, const Code &c, LaneMask lanes) {
  return synchronised(x, c, lanes, c.src[1], c.flags, [&](LaneMask set) {
    const uint64_t *a = x.src(c.src[0]);
    LaneMask votes = 0;
    forEach(set, [&](unsigned lane) { votes |= LaneMask(a[lane] & 1) << lane; });
    uint64_t result = c.sub == ballot ? votes
                      : c.sub == all  ? votes == set
                      : c.sub == any  ? votes != 0
                                      : votes == set || votes == 0;
    uint64_t *d = x.dst(c.dst[0]);
    forEach(set, [&](unsigned lane) { d[lane] = result; });
  });
}

Flow runMatch(Exec &x, const Code &c, LaneMask lanes) {
  return synchronised(x, c, lanes, c.src[1], true, [&](LaneMask set) {
    uint64_t a[warpLanes], result[warpLanes];
    std::memcpy(a, x.src(c.src[0]), sizeof a);
    bool equal = true;
    forEach(set, [&](unsigned lane) {
      LaneMask same = 0;
      forEach(set, [&](unsigned other) { same |= LaneMask(a[other] == a[lane]) << other; });
      result[lane] = same;
      equal &= same == set;
    });
    uint64_t *d = x.dst(c.dst[0]);
    forEach(set, [&](unsigned lane) { d[lane] = c.sub ? (equal ? set : 0) : result[lane]; });
    if (c.sub) {
      uint64_t *p = x.dst(c.dst[1]);
      forEach(set, [&](unsigned lane) { p[lane] = equal; });
    }
  });
}

/// flags: 1 .abs, 2 .NaN (floats).
Flow runRedux(Exec &x, const Code &c, LaneMask lanes) {
  return synchronised(x, c, lanes, c.src[1], true, [&](LaneMask set) {
    const uint64_t *a = x.src(c.src[0]);
    uint64_t result = 0;
    bool first = true, nan = false;
    forEach(set, [&](unsigned lane) {
      uint64_t v = c.flags & 1 ? a[lane] & 0x7fffffff : a[lane];
      if (c.type == ptx::Type::f32)
        nan |= std::isnan(std::bit_cast<float>(uint32_t(v)));
      result = first ? v : reduce(Reduction(c.sub), c.type, result, v, false);
      first = false;
    });
    if (nan && c.flags & 2)
      result = 0x7fffffff;
    uint64_t *d = x.dst(c.dst[0]);
    forEach(set, [&](unsigned lane) { d[lane] = result & 0xffffffff; });
  });
}

Flow runActiveMask(Exec &x, const Code &c, LaneMask lanes) {
  uint64_t *d = x.dst(c.dst[0]);
  forEach(lanes, [&](unsigned lane) { d[lane] = lanes; });
  return Flow::next;
}

Flow runElect(Exec &x, const Code &c, LaneMask lanes) {
  return synchronised(x, c, lanes, c.src[0], true, [&](LaneMask set) {
    unsigned leader = unsigned(std::countr_zero(set));
    uint64_t *d = x.dst(c.dst[0]);
    forEach(set, [&](unsigned lane) { d[lane] = leader; });
    uint64_t *p = x.dst(c.dst[1]);
    forEach(set, [&](unsigned lane) { p[lane] = lane == leader; });
  });
}

/// Destination and the optional predicate of `d|p`.
void destinations(Decoder &d, const Operand &o, Slot &value, Slot &predicate) {
  predicate = sinkSlot;
  if (o.kind == OperandKind::pair) {
    value = d.dest(o.elements[0]);
    predicate = d.dest(o.elements[1]);
  } else {
    value = d.dest(o);
  }
}

bool expectOperands(Decoder &d, const ptx::Instruction &in, size_t n) {
  return in.operands.size() == n ||
         d.fail(fmt::format("expected {} operands on {}, found {}", n, in.mnemonic(), in.operands.size()));
}

} // namespace

bool decodeShuffle(Decoder &d, const ptx::Instruction &in) {
  bool sync = in.has("sync");
  if (!expectOperands(d, in, sync ? 5 : 4))
    return false;
  Slot to, p, s[4] = {};
  destinations(d, in.operands[0], to, p);
  for (size_t i = 1; i < in.operands.size(); ++i)
    s[i - 1] = d.value(in.operands[i], 32u);
  Code &c = d.emit(in, runShuffle);
  c.dst = {to, p};
  for (unsigned i = 0; i < 4; ++i)
    c.src[i] = s[i];
  c.flags = sync;
  c.sub = in.has("up") ? up : in.has("down") ? down : in.has("bfly") ? bfly : idx;
  return true;
}

bool decodeVote(Decoder &d, const ptx::Instruction &in) {
  bool sync = in.has("sync");
  if (!expectOperands(d, in, sync ? 3 : 2))
    return false;
  Slot to = d.dest(in.operands[0]), a = d.value(in.operands[1], 1u), m = sync ? d.value(in.operands[2], 32u) : 0;
  Code &c = d.emit(in, runVote);
  c.dst[0] = to;
  c.src = {a, m};
  c.flags = sync;
  c.sub = in.has("ballot") ? ballot : in.has("all") ? all : in.has("any") ? any : uni;
  return true;
}

bool decodeMatch(Decoder &d, const ptx::Instruction &in) {
  if (!expectOperands(d, in, 3))
    return false;
  Slot to, p, a = d.value(in.operands[1], in.type()), m = d.value(in.operands[2], 32u);
  destinations(d, in.operands[0], to, p);
  Code &c = d.emit(in, runMatch);
  c.dst = {to, p};
  c.src = {a, m};
  c.sub = in.has("all");
  return true;
}

bool decodeRedux(Decoder &d, const ptx::Instruction &in) {
  auto op = reductionOf(in);
  ptx::Type type = in.type();
  if (!op || *op == Reduction::inc || *op == Reduction::dec || *op >= Reduction::exch || ptx::bitWidth(type) != 32)
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  if (!expectOperands(d, in, 3))
    return false;
  Slot to = d.dest(in.operands[0]), a = d.value(in.operands[1], type), m = d.value(in.operands[2], 32u);
  Code &c = d.emit(in, runRedux);
  c.dst[0] = to;
  c.src = {a, m};
  c.sub = uint8_t(*op);
  c.type = type;
  c.flags = uint8_t((in.has("abs") ? 1 : 0) | (in.has("NaN") ? 2 : 0));
  return true;
}

bool decodeActiveMask(Decoder &d, const ptx::Instruction &in) {
  if (!expectOperands(d, in, 1))
    return false;
  Slot to = d.dest(in.operands[0]);
  d.emit(in, runActiveMask).dst[0] = to;
  return true;
}

bool decodeElect(Decoder &d, const ptx::Instruction &in) {
  if (!expectOperands(d, in, 2))
    return false;
  Slot to, p, m = d.value(in.operands[1], 32u);
  destinations(d, in.operands[0], to, p);
  Code &c = d.emit(in, runElect);
  c.dst = {to, p};
  c.src[0] = m;
  return true;
}

} // namespace interlock::emu
