// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the opcode tables are written with: typed lanes, and rows made of a function of one lane.
#pragma once

#include "analysis/Emulator/AMDGCN/Wave.h"

#include <algorithm>
#include <span>

namespace interlock::emu::gcn {

/// How a type's value is read from, and written to, the words of a lane.
template <typename Value, Ty type> struct Word {
  using T = Value;
  static constexpr Ty ty = type;
  static T get(const uint32_t *p, unsigned lane) { return std::bit_cast<T>(p[lane]); }
  static void put(uint32_t *p, unsigned lane, T v) { p[lane] = std::bit_cast<uint32_t>(v); }
};
template <typename Value, Ty type> struct Half {
  using T = Value;
  static constexpr Ty ty = type;
  static T get(const uint32_t *p, unsigned lane) { return T(p[lane]); }
  static void put(uint32_t *p, unsigned lane, T v) { p[lane] = uint16_t(v); }
};
template <typename Value, Ty type> struct Pair {
  using T = Value;
  static constexpr Ty ty = type;
  static T get(const uint32_t *p, unsigned lane) {
    return std::bit_cast<T>(p[lane] | uint64_t(p[maxLanes + lane]) << 32);
  }
  static void put(uint32_t *p, unsigned lane, T v) {
    uint64_t bits = std::bit_cast<uint64_t>(v);
    p[lane] = uint32_t(bits);
    p[maxLanes + lane] = uint32_t(bits >> 32);
  }
};
using U32 = Word<uint32_t, Ty::b32>;
using I32 = Word<int32_t, Ty::b32>;
using F32 = Word<float, Ty::f32>;
using B16 = Half<uint16_t, Ty::b16>;
using S16 = Half<int16_t, Ty::b16>;
using H16 = Half<uint16_t, Ty::f16>;   ///< an f16 as its bits
using BF16 = Half<uint16_t, Ty::bf16>; ///< a bf16 as its bits
using U64 = Pair<uint64_t, Ty::b64>;
using I64 = Pair<int64_t, Ty::i64>;
using F64 = Pair<double, Ty::f64>;
using P16 = Word<uint32_t, Ty::pk16>;
using PH16 = Word<uint32_t, Ty::pkf16>;

template <typename D, typename A, auto f> void lanes1(const Lanes &l, uint32_t *out) {
  const uint32_t *a = l.src[0];
  auto loop = [&](unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      D::put(out, i, typename D::T(f(A::get(a, i))));
  };
  l.n == 64 ? loop(64) : loop(32);
}
template <typename D, typename A, typename B, auto f> void lanes2(const Lanes &l, uint32_t *out) {
  const uint32_t *a = l.src[0], *b = l.src[1];
  auto loop = [&](unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      D::put(out, i, typename D::T(f(A::get(a, i), B::get(b, i))));
  };
  l.n == 64 ? loop(64) : loop(32);
}
template <typename D, typename A, typename B, typename C, auto f> void lanes3(const Lanes &l, uint32_t *out) {
  const uint32_t *a = l.src[0], *b = l.src[1], *c = l.src[2];
  auto loop = [&](unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      D::put(out, i, typename D::T(f(A::get(a, i), B::get(b, i), C::get(c, i))));
  };
  l.n == 64 ? loop(64) : loop(32);
}
template <typename A, typename B, auto f> uint64_t compare2(const Lanes &l) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < l.n; ++i)
    mask |= uint64_t(bool(f(A::get(l.src[0], i), B::get(l.src[1], i)))) << i;
  return mask;
}

/// A vector instruction whose `compute` gives the lanes of its destination (Vector.cpp).
Flow runVector(WaveExec &x, const Op &op);
/// A comparison into a mask (Vector.cpp).
Flow runCompare(WaveExec &x, const Op &op);
/// One that writes EXEC: v_cmpx.
Flow runCompareExec(WaveExec &x, const Op &op);

template <typename D, typename A, auto f> constexpr Entry vector1(std::string_view name, uint32_t flags = 0) {
  return {name, runVector, Form::plain, D::ty, {A::ty}, lanes1<D, A, f>, nullptr, 0, flags};
}
template <typename D, typename A, typename B, auto f>
constexpr Entry vector2(std::string_view name, uint32_t flags = 0) {
  return {name, runVector, Form::plain, D::ty, {A::ty, B::ty}, lanes2<D, A, B, f>, nullptr, 0, flags};
}
template <typename D, typename A, typename B, typename C, auto f>
constexpr Entry vector3(std::string_view name, uint32_t flags = 0) {
  return {name, runVector, Form::plain, D::ty, {A::ty, B::ty, C::ty}, lanes3<D, A, B, C, f>, nullptr, 0, flags};
}

/// Not a constant: the compiler refuses a table that comes to it.
void twoRowsOfOneName();
/// A table as it is searched: made by the compiler, so that no thread, and no child of a fork, meets one half made.
template <const auto &table>
constexpr auto byName = [] {
  auto rows = std::to_array(table);
  std::sort(rows.begin(), rows.end(), [](const Entry &a, const Entry &b) { return a.name < b.name; });
  if (std::adjacent_find(rows.begin(), rows.end(), [](const Entry &a, const Entry &b) { return a.name == b.name; }) !=
      rows.end())
    twoRowsOfOneName();
  return rows;
}();

/// The opcode tables, one a file, each in the order of its names.
std::span<const Entry> scalarEntries();        // Scalar.cpp
std::span<const Entry> scalarFloatEntries();   // ScalarFloat.cpp
std::span<const Entry> controlEntries();       // Control.cpp
std::span<const Entry> vectorEntries();        // Vector.cpp
std::span<const Entry> vectorIntegerEntries(); // VectorInteger.cpp
std::span<const Entry> vectorFloatEntries();   // VectorFloat.cpp
std::span<const Entry> vectorHalfEntries();    // VectorHalf.cpp
std::span<const Entry> vectorConvertEntries(); // VectorConvert.cpp
std::span<const Entry> vectorFp8Entries();     // VectorFp8.cpp
std::span<const Entry> vectorCompareEntries(); // VectorCompare.cpp
std::span<const Entry> vectorLaneEntries();    // VectorLanes.cpp
std::span<const Entry> memoryEntries();        // Memory.cpp
std::span<const Entry> localEntries();         // Local.cpp

} // namespace interlock::emu::gcn
