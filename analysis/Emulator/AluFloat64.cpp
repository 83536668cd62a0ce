// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Double precision (PTX ISA "Floating Point Instructions"): the host's arithmetic in the instruction's rounding mode.
#include "analysis/Emulator/AluFloat.h"

#include <cfenv>

namespace interlock::emu::alu {
namespace {

/// The host's rounding mode for as long as this lives.
class HostRounding {
public:
  explicit HostRounding(Rounding rounding) {
    if (rounding == Rounding::rn)
      return;
    before = std::fegetround();
    std::fesetround(rounding == Rounding::rz ? FE_TOWARDZERO : rounding == Rounding::rm ? FE_DOWNWARD : FE_UPWARD);
  }
  ~HostRounding() {
    if (before >= 0)
      std::fesetround(before);
  }
  HostRounding(const HostRounding &) = delete;
  HostRounding &operator=(const HostRounding &) = delete;

private:
  int before = -1;
};

/// The NaN that an operation hands on, made quiet; 0 if no operand is one.
uint64_t nanOperand(const Op &op, const uint64_t *const *in, unsigned l) {
  // Of several, the last factor or addend, as on an H200; its division is a subroutine that looks at the first operand.
  unsigned count = !in[1] ? 1 : !in[2] ? 2 : 3, first = Do(op.sub) == Do::div ? 0 : count - 1;
  if (count == 3)
    first = 1;
  for (unsigned i = 0; i < count; ++i) {
    unsigned at = (first + i) % count;
    if (isNanF64(in[at][l]))
      return in[at][l] | quietBitF64;
  }
  return 0;
}

} // namespace

void evaluateF64(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes) {
  HostRounding mode(op.rounding);
  eachLane(active, lanes, [&](unsigned l) {
    // volatile keeps the arithmetic between the changes of the rounding mode.
    bool extremes = Do(op.sub) == Do::min || Do(op.sub) == Do::max;
    if (uint64_t nan = nanOperand(op, in, l); nan && (!extremes || (isNanF64(in[0][l]) && isNanF64(in[1][l])))) {
      out[l] = nan;
      return;
    }
    volatile double a = std::bit_cast<double>(in[0][l]), b = in[1] ? std::bit_cast<double>(in[1][l]) : 0,
                    c = in[1] && in[2] ? std::bit_cast<double>(in[2][l]) : 0, value = 0;
    switch (Do(op.sub)) {
    case Do::add:
      value = a + b;
      break;
    case Do::sub:
      value = a - b;
      break;
    case Do::mul:
      value = a * b;
      break;
    case Do::fma:
      value = std::fma(a, b, c);
      break;
    case Do::div:
      value = a / b;
      break;
    case Do::rcp:
      value = 1.0 / a;
      break;
    case Do::sqrt:
      value = std::sqrt(a);
      break;
    default:
      value = computeOdd(op, a, b, c);
      break;
    }
    double result = value;
    if (op.ftz && std::fabs(result) < 0x1p-1022) // rcp and rsqrt .approx.ftz
      result = std::copysign(0.0, result);
    out[l] = std::isnan(result) ? canonicalNanF64 : std::bit_cast<uint64_t>(result);
  });
}

} // namespace interlock::emu::alu
