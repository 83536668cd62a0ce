// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Floating-point arithmetic as the vector and scalar units do it: IEEE, to nearest even, denormals kept. A NaN operand
// is handed on, made quiet, the first one first; an invalid operation gives the positive quiet NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace interlock::emu::gcn {

template <typename T> struct FloatBits;
template <> struct FloatBits<float> {
  using Int = uint32_t;
  static constexpr int mantissa = 23, exponent = 8;
  static constexpr Int quiet = 1u << 22, nan = 0x7fc00000, sign = 0x80000000;
};
template <> struct FloatBits<double> {
  using Int = uint64_t;
  static constexpr int mantissa = 52, exponent = 11;
  static constexpr Int quiet = uint64_t(1) << 51, nan = uint64_t(0x7ff8) << 48, sign = uint64_t(1) << 63;
};

template <typename T> typename FloatBits<T>::Int bitsOf(T v) { return std::bit_cast<typename FloatBits<T>::Int>(v); }
template <typename T> T quieted(T v) { return std::bit_cast<T>(bitsOf(v) | FloatBits<T>::quiet); }

/// The NaN that an operation gives whose result is one.
template <typename T> T nanOf(T a) { return a != a ? quieted(a) : std::bit_cast<T>(FloatBits<T>::nan); }
template <typename T> T nanOf(T a, T b) { return a != a ? quieted(a) : nanOf(b); }
template <typename T> T nanOf(T a, T b, T c) { return a != a ? quieted(a) : nanOf(b, c); }

template <typename T> T addFloat(T a, T b) {
  T r = a + b;
  return r == r ? r : nanOf(a, b);
}
template <typename T> T subFloat(T a, T b) {
  T r = a - b;
  return r == r ? r : nanOf(a, b);
}
template <typename T> T mulFloat(T a, T b) {
  T r = a * b;
  return r == r ? r : nanOf(a, b);
}
template <typename T> T fmaFloat(T a, T b, T c) {
  T r = std::fma(a, b, c);
  return r == r ? r : nanOf(a, b, c);
}
/// minimumNumber and maximumNumber: a NaN gives the other operand; -0 is less than +0.
template <typename T> T minNumber(T a, T b) {
  if (a != a || b != b)
    return a == a ? a : b == b ? b : quieted(a);
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T> T maxNumber(T a, T b) {
  if (a != a || b != b)
    return a == a ? a : b == b ? b : quieted(a);
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
/// minimum and maximum: a NaN gives a NaN.
template <typename T> T minimum(T a, T b) { return a != a || b != b ? nanOf(a, b) : minNumber(a, b); }
template <typename T> T maximum(T a, T b) { return a != a || b != b ? nanOf(a, b) : maxNumber(a, b); }

template <typename T> T rounded(T a, T (*f)(T)) { return a != a ? quieted(a) : f(a); }
template <typename T> T nearestEven(T a) {
  if (a != a)
    return quieted(a);
  return std::nearbyint(a); // the host rounds to nearest even
}

/// To an integer, towards zero; what does not fit becomes the nearest that does, a NaN 0.
template <typename I, typename T> I toInteger(T v) {
  if (v != v)
    return 0;
  if (v <= T(std::numeric_limits<I>::min()))
    return std::numeric_limits<I>::min();
  if (v >= T(std::numeric_limits<I>::max()))
    return std::numeric_limits<I>::max();
  return I(v);
}

} // namespace interlock::emu::gcn
