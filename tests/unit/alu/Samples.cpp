// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/alu/Samples.h"

#include <iterator>

namespace interlock::emu::alu {
namespace {

constexpr uint16_t special16[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x401,  0x8400, 0x3c00, 0xbc00,
                                  0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe00, 0x7fff, 0x7f,
                                  0x80,   0x81,   0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x3800,
                                  0x3e00, 0x4100, 2,      31,     32,     33,     15,     16,     0xffff, 0x7bfe};
constexpr uint32_t special32[] = {
    0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x800000,   0x800001,   0x807fffff, 0x80800000,
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
    0xffc00000, 0x7f800001, 0x7fffffff, 0x3f000000, 0x40200000, 0xbe99999a, 0x3fc00000, 0x4f000000, 0xcf000000,
    0x4f800000, 0x5f000000, 0x2,        0x3,        31,         32,         33,         63,         64,
    0xffffffff, 8,          16,         0x477fe000, 0x477ff000, 0x43e00000, 0x43e80000, 0x47600000, 0x33000000,
    0x387fe000, 0x7f7f8000, 0x7f7f7fff, 0x3a000000, 0x00400000};
constexpr uint64_t special64[] = {0,
                                  1ull << 63,
                                  1,
                                  (1ull << 63) + 1,
                                  0xfffffffffffffull,
                                  0x10000000000000ull,
                                  0x3ff0000000000000,
                                  0xbff0000000000000,
                                  0x3ff0000000000001,
                                  0x7fefffffffffffff,
                                  0x7ff0000000000000,
                                  0xfff0000000000000,
                                  0x7ff8000000000000,
                                  0xfff8000000000123,
                                  0x7ff0000000000001,
                                  0x3fe0000000000000,
                                  0x4004000000000000,
                                  0x41dfffffffc00000,
                                  0xc1e0000000000000,
                                  0x41efffffffe00000,
                                  0x43e0000000000000,
                                  0xc3e0000000000000,
                                  0x43f0000000000000,
                                  0x47efffffe0000000,
                                  0x47efffffefffffff,
                                  0x47effffff0000000,
                                  0x380fffffc0000000,
                                  0x380ffffff0000000,
                                  0x36a0000000000000,
                                  0x3690000000000000,
                                  2,
                                  3,
                                  0xffffffffffffffff,
                                  0x7fffffffffffffff,
                                  0xffffffff,
                                  0x80000000,
                                  0x40efffe000000000};

uint64_t sample16(Random &random) {
  return random() % 2 ? random() & 0xffff : special16[random() % std::size(special16)];
}

uint64_t sample32(Random &random) {
  switch (random() % 6) {
  case 0:
    return random() & 0xffffffff;
  case 1:
  case 2:
    return special32[random() % std::size(special32)];
  case 3:
    return random() % 70;
  case 4: { // f32 of middling size
    uint32_t fraction = uint32_t(random()) & 0x807fffff;
    return fraction | uint32_t(100 + random() % 60) << 23;
  }
  default: {
    uint64_t low = sample16(random);
    return low | sample16(random) << 16;
  }
  }
}

/// f64 whose exponent is one of `count` from `first` on.
uint64_t sampleF64(Random &random, uint64_t first, uint64_t count) {
  uint64_t fraction = random() & 0x800fffffffffffff;
  return fraction | (first + random() % count) << 52;
}

uint64_t sample64(Random &random) {
  switch (random() % 6) {
  case 0:
    return random();
  case 1:
  case 2:
    return special64[random() % std::size(special64)];
  case 3:
    return random() % 130;
  case 4:
    return sampleF64(random, 1023 - 50, 130);
  default:
    return sampleF64(random, 1023 - 160, 330);
  }
}

} // namespace

uint64_t Random::operator()() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t sample(Random &random, unsigned bits) {
  return bits == 1 ? random() & 1 : bits == 16 ? sample16(random) : bits == 32 ? sample32(random) : sample64(random);
}

std::vector<uint64_t> samples(unsigned form, const std::vector<unsigned> &widths) {
  Random random{uint64_t(form) * 1000003 + 17};
  std::vector<uint64_t> values(sampleLanes * 4);
  for (int lane = 0; lane < sampleLanes; ++lane)
    for (size_t i = 0; i < widths.size(); ++i) {
      uint64_t &value = values[size_t(lane) * 4 + i];
      value = sample(random, widths[i]);
      if (i && random() % 8 == 0 && widths[i] == widths[i - 1])
        value = values[size_t(lane) * 4 + i - 1] ^ (random() & 1 ? uint64_t(1) << (widths[i] - 1) : 0);
    }
  return values;
}

} // namespace interlock::emu::alu
