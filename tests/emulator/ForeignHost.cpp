// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/ForeignHost.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

namespace interlock::test {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using Words = std::vector<u32>;

constexpr u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

u32 twist(u32 x, u32 by) {
  switch (by & 3) {
  case 0:
    return x * primes[by & 7];
  case 1:
    return x / primes[by & 7];
  case 2:
    return x % primes[by & 7] + by;
  default:
    return std::rotl(x, int(by & 15));
  }
}

/// Rounds to a half and back: nearest, ties to even; none of the cases is a subnormal or too large for one.
float half(float value) {
  u32 bits = std::bit_cast<u32>(value);
  u32 rounded = bits + 0xfff + (bits >> 13 & 1);
  return std::bit_cast<float>(rounded & ~u32(0x1fff));
}
u32 halfBits(float value) {
  u32 bits = std::bit_cast<u32>(half(value));
  return bits << 1 ? (bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10 | (bits >> 13 & 0x3ff)) : bits >> 16;
}

u64 at(const Words &words, u32 i) { return words[2 * i] | u64(words[2 * i + 1]) << 32; }

u64 number(const Words &in, u32 i, u32 n) {
  u64 a = at(in, i), b = (at(in, (i + 1) % n) >> 40) | 1;
  double x = double(a >> 11), y = double(b), quotient = x / y + std::fma(x, 0.25, y);
  float ratio = float(u32(a >> 32)) / (float(u32(b)) + 0.5f);
  return a / b ^ (a % b) * 7 ^ std::bit_cast<u64>(quotient) ^ u64(std::bit_cast<u32>(ratio)) << 13 ^
         u64(std::popcount(a)) ^ u64(std::countl_zero(a | 1)) << 8;
}

u32 scratch(const Words &in, u32 i, u32 n) {
  u32 kept[24];
  for (u32 k = 0; k < 24; ++k)
    kept[k] = in[(i + k) % n] + k;
  for (u32 k = 0; k < 24; ++k)
    kept[kept[k] % 24] += kept[(k * 7 + i) % 24];
  u32 all = 0;
  for (u32 k = 0; k < 24; ++k)
    all = all * 31 + kept[k];
  return all;
}

u32 narrow(u32 word) {
  float f = std::bit_cast<float>(word);
  // As the kernel does, in halves: the product may be fused with the sum.
  float h = half(float(int(word & 2047) - 1024) * 0.25f), k = half(std::fma(h, h, 1.5f));
  u32 bits = f < 1.0f ? 1 : f > 1.0f ? 2 : f == 1.0f ? 4 : 8;
  return bits | (halfBits(k) << 8 ^ u32(int(int8_t(word)) * int(uint16_t(word >> 8))));
}

} // namespace

std::vector<ForeignCase> foreignCases(u32 n) {
  std::mt19937_64 random(11);
  Words words(2 * n), small(n), floats(n);
  for (u32 &word : words)
    word = u32(random());
  words[3] = 0x7fc00000; // no number, and one
  words[5] = 0x3f800000;
  for (u32 i = 0; i < n; ++i)
    floats[i] = std::bit_cast<u32>(float(int(random() % 4096) - 2048) / 64.0f);
  Words first(words.begin(), words.begin() + n);

  auto each = [&](const char *kernel, const Words &in, const std::function<u32(u32)> &value) {
    ForeignCase made{kernel, in, Words(n), Words(n), n};
    for (u32 i = 0; i < n; ++i)
      made.after[i] = value(i);
    return made;
  };
  std::vector<ForeignCase> cases;
  cases.push_back(each("axpy", floats, [&](u32 i) {
    return std::bit_cast<u32>(std::fma(1.5f, std::bit_cast<float>(floats[i]), 0.25f * float(i)));
  }));
  for (u32 i = 0; i < n; ++i)
    cases.back().before[i] = std::bit_cast<u32>(0.25f * float(i));
  ForeignCase sum{"sum", first, Words(1), Words(1), n}, bins{"histogram", first, Words(64), Words(64), n};
  for (u32 word : first)
    sum.after[0] += word, ++bins.after[word & 63];
  cases.push_back(sum);
  cases.push_back(bins);
  cases.push_back(each("table", first, [&](u32 i) { return twist(first[i], i) ^ twist(i, first[i]); }));
  ForeignCase numbers{"numbers", words, Words(2 * n), Words(2 * n), n};
  for (u32 i = 0; i < n; ++i) {
    u64 value = number(words, i, n);
    numbers.after[2 * i] = u32(value), numbers.after[2 * i + 1] = u32(value >> 32);
  }
  cases.push_back(numbers);
  // Workgroups are whole groups of 16 work-items; those past the end have nothing.
  auto lane = [&](u32 i) { return i < n ? first[i] : 0; };
  cases.push_back(each("neighbours", first, [&](u32 i) {
    u32 total = 0;
    for (u32 k = 0; k < 16; ++k)
      total += lane((i & ~15u) + k);
    return total * 3 + lane(i ^ 1);
  }));
  cases.push_back(each("scratch", first, [&](u32 i) { return scratch(first, i, n); }));
  cases.push_back(each("narrow", first, [&](u32 i) { return narrow(first[i]); }));
  return cases;
}

} // namespace interlock::test
