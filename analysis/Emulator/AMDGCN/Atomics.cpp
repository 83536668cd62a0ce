// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Read-modify-writes as functions of the old value.
#include "analysis/Emulator/AMDGCN/Access.h"
#include "analysis/Emulator/AMDGCN/Float.h"
#include "analysis/Emulator/FloatFormat.h"

#include <algorithm>

namespace interlock::emu::gcn {
namespace {

template <typename I, typename S> uint64_t integer(Atomic op, I old, I value, I compare) {
  switch (op) {
  case Atomic::swap:
    return value;
  case Atomic::cmpswap:
    return old == compare ? value : old;
  case Atomic::add:
    return I(old + value);
  case Atomic::sub:
    return I(old - value);
  case Atomic::rsub:
    return I(value - old);
  case Atomic::umin:
    return std::min(old, value);
  case Atomic::umax:
    return std::max(old, value);
  case Atomic::smin:
    return I(std::min(S(old), S(value)));
  case Atomic::smax:
    return I(std::max(S(old), S(value)));
  case Atomic::land:
    return old & value;
  case Atomic::lor:
    return old | value;
  case Atomic::lxor:
    return old ^ value;
  case Atomic::inc:
    return old >= value ? 0 : I(old + 1);
  case Atomic::dec:
    return old == 0 || old > value ? value : I(old - 1);
  case Atomic::subClamp:
    return old > value ? I(old - value) : 0;
  case Atomic::condSub:
    return old >= value ? I(old - value) : old;
  case Atomic::mskor:
    return I((old & ~compare) | value);
  default:
    return old;
  }
}

uint32_t packedAdd(const alu::FloatFormat &t, uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (unsigned s : {0u, 16u}) {
    double sum = alu::addOdd(alu::decode(t, a >> s & 0xffff), alu::decode(t, b >> s & 0xffff));
    r |= alu::encode(t, sum, alu::Rounding::rn) << s;
  }
  return r;
}

} // namespace

uint64_t combine(Atomic op, unsigned bytes, uint64_t old, uint64_t value, uint64_t compare) {
  auto f = [](uint64_t v) { return std::bit_cast<float>(uint32_t(v)); };
  auto d = [](uint64_t v) { return std::bit_cast<double>(v); };
  switch (op) {
  case Atomic::addF32:
    return bitsOf(addFloat(f(old), f(value)));
  case Atomic::minF32:
    return bitsOf(minNumber(f(old), f(value)));
  case Atomic::maxF32:
    return bitsOf(maxNumber(f(old), f(value)));
  case Atomic::addF64:
    return bitsOf(addFloat(d(old), d(value)));
  case Atomic::minF64:
    return bitsOf(minNumber(d(old), d(value)));
  case Atomic::maxF64:
    return bitsOf(maxNumber(d(old), d(value)));
  case Atomic::pkAddF16:
    return packedAdd(alu::formatF16, uint32_t(old), uint32_t(value));
  case Atomic::pkAddBf16:
    return packedAdd(alu::formatBf16, uint32_t(old), uint32_t(value));
  default:
    return bytes == 8 ? integer<uint64_t, int64_t>(op, old, value, compare)
                      : integer<uint32_t, int32_t>(op, uint32_t(old), uint32_t(value), uint32_t(compare));
  }
}

} // namespace interlock::emu::gcn
