// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Decoding and encoding of small formats against a search among all their values.
#include "analysis/Emulator/FloatFormat.h"
#include "tests/unit/alu/Samples.h"

#include <gtest/gtest.h>

#include <vector>

namespace interlock::emu::alu {
namespace {

struct Named {
  const char *name;
  const FloatFormat *format;
};
void PrintTo(const Named &n, std::ostream *out) { *out << n.name; }

class Format : public testing::TestWithParam<Named> {
protected:
  const FloatFormat &format = *GetParam().format;
  /// Every finite magnitude, ascending; built from the definition of the format, not by decode().
  std::vector<std::pair<double, uint32_t>> values() const {
    std::vector<std::pair<double, uint32_t>> all;
    for (uint32_t code = 0; code <= format.largest(); ++code) {
      int exponent = int(code >> format.mantissaBits);
      double fraction = double(code & ((1u << format.mantissaBits) - 1)) / std::exp2(format.mantissaBits);
      double value =
          exponent ? std::exp2(exponent - format.bias()) * (1 + fraction) : std::exp2(1 - format.bias()) * fraction;
      all.emplace_back(value, code);
    }
    return all;
  }
};

TEST_P(Format, EveryCodeDecodesToItsValueAndBack) {
  for (auto [value, code] : values()) {
    ASSERT_EQ(decode(format, code), value) << code;
    ASSERT_EQ(decode(format, code | format.signBit()), -value);
    ASSERT_TRUE(std::signbit(decode(format, code | format.signBit())));
    for (Rounding rounding : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp, Rounding::rna}) {
      ASSERT_EQ(encode(format, value, rounding), code);
      ASSERT_EQ(encode(format, -value, rounding), code | format.signBit());
    }
  }
  for (uint32_t code = format.largest() + 1; code < format.signBit(); ++code) {
    if (format.infinite && code == format.infinity()) {
      ASSERT_TRUE(std::isinf(decode(format, code)));
    } else {
      ASSERT_TRUE(std::isnan(decode(format, code)));
    }
  }
  EXPECT_EQ(encode(format, NAN, Rounding::rn), format.canonicalNan);
}

TEST_P(Format, RoundsToTheRightNeighbour) {
  std::vector<std::pair<double, uint32_t>> all = values();
  double largest = all.rbegin()->first;
  Random random{4};
  for (int i = 0; i < 50000; ++i) {
    // Between two neighbours: near one of them, halfway, or anywhere.
    auto above = std::next(all.begin(), ptrdiff_t(1 + random() % (all.size() - 1))), below = std::prev(above);
    double step = above->first - below->first, fraction = double(random() % 1025) / 1024;
    double value = random() % 4 == 0 ? std::nextafter(below->first + step / 2, random() & 1 ? 0 : largest)
                                     : below->first + step * fraction;
    bool exact = value == below->first || value == above->first;
    uint32_t low = value == above->first ? above->second : below->second, high = exact ? low : above->second;
    double middle = below->first + step / 2;
    uint32_t even = below->second % 2 ? above->second : below->second;
    uint32_t nearest = exact ? low : value < middle ? low : value > middle ? high : even;
    uint32_t sign = format.signBit();
    ASSERT_EQ(encode(format, value, Rounding::rn), nearest) << value;
    ASSERT_EQ(encode(format, value, Rounding::rna), value == middle ? high : nearest) << value;
    ASSERT_EQ(encode(format, value, Rounding::rz), low) << value;
    ASSERT_EQ(encode(format, value, Rounding::rm), low) << value;
    ASSERT_EQ(encode(format, value, Rounding::rp), high) << value;
    ASSERT_EQ(encode(format, -value, Rounding::rn), nearest | sign) << value;
    ASSERT_EQ(encode(format, -value, Rounding::rm), high | sign) << value;
    ASSERT_EQ(encode(format, -value, Rounding::rp), low | sign) << value;
  }
}

TEST_P(Format, LargeValuesSaturateOrOverflow) {
  double largest = decode(format, format.largest()), huge = largest * 4;
  uint32_t overflow = format.infinite ? format.infinity() : format.canonicalNan;
  EXPECT_EQ(encode(format, huge, Rounding::rn), overflow);
  EXPECT_EQ(encode(format, huge, Rounding::rp), overflow);
  EXPECT_EQ(encode(format, huge, Rounding::rm), format.largest());
  EXPECT_EQ(encode(format, huge, Rounding::rz), format.largest());
  EXPECT_EQ(encode(format, -huge, Rounding::rn, true), format.largest() | format.signBit());
  EXPECT_EQ(encode(format, INFINITY, Rounding::rn, true), format.largest());
  EXPECT_EQ(encode(format, 0x1p-1060, Rounding::rn), 0u);
  EXPECT_EQ(encode(format, 0x1p-1060, Rounding::rp), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, Format,
                         testing::Values(Named{"f16", &formatF16}, Named{"bf16", &formatBf16},
                                         Named{"tf32", &formatTf32}, Named{"e4m3", &formatE4m3},
                                         Named{"e5m2", &formatE5m2}, Named{"e2m1", &formatE2m1},
                                         Named{"e2m3", &formatE2m3}, Named{"e3m2", &formatE3m2}),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace interlock::emu::alu
