// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// cvt, exhaustive where the source has 16 bits or fewer.
#include "analysis/Emulator/FloatFormat.h"
#include "tests/unit/alu/Form.h"
#include "tests/unit/alu/Samples.h"

#include <gtest/gtest.h>

#include <cfenv>

namespace interlock::emu::alu {
namespace {

struct Mode {
  const char *integer, *floating;
  int host;
};
constexpr Mode modes[] = {
    {"rni", "rn", FE_TONEAREST}, {"rzi", "rz", FE_TOWARDZERO}, {"rmi", "rm", FE_DOWNWARD}, {"rpi", "rp", FE_UPWARD}};

long double rounded(long double value, int mode) {
  std::fesetround(mode);
  volatile long double result = std::rint(value);
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST(Convert, IntegersExtendAndSaturate) {
  for (unsigned from : {8u, 16u, 32u, 64u})
    for (bool fromSigned : {false, true})
      for (unsigned to : {8u, 16u, 32u, 64u})
        for (bool toSigned : {false, true}) {
          std::string types = std::string(toSigned ? ".s" : ".u") + std::to_string(to) + (fromSigned ? ".s" : ".u") +
                              std::to_string(from) + " %d, %a";
          Form plain("cvt" + types), saturated("cvt.sat" + types);
          ASSERT_EQ(plain.error() + saturated.error(), "");
          Random random{9};
          for (int i = 0; i < 2000; ++i) {
            uint64_t raw = sample(random, from == 8 ? 16 : from);
            __int128 value = fromSigned ? __int128(signExtend(raw, from)) : __int128(raw & maskOf(from));
            __int128 low = toSigned ? -(__int128(1) << (to - 1)) : 0, high = low + __int128(maskOf(to));
            uint64_t cut = toSigned ? uint64_t(signExtend(uint64_t(value), to)) : uint64_t(value) & maskOf(to);
            uint64_t kept = uint64_t(value < low ? low : value > high ? high : value);
            // Results of less than 32 bits are extended to 32.
            ASSERT_EQ(plain(raw).value, cut & maskOf(std::max(to, 32u))) << types << " " << raw;
            ASSERT_EQ(saturated(raw).value, kept & maskOf(std::max(to, 32u))) << types << " " << raw;
          }
        }
}

TEST(Convert, FloatsToIntegersRoundAndClamp) {
  for (const Mode &mode : modes)
    for (unsigned to : {8u, 16u, 32u, 64u})
      for (bool toSigned : {false, true})
        for (const char *from : {"f16", "bf16", "f32", "f64"}) {
          std::string type = (toSigned ? "s" : "u") + std::to_string(to);
          Form form(std::string("cvt.") + mode.integer + "." + type + "." + from + " %d, %a");
          ASSERT_EQ(form.error(), "");
          bool wide = std::string(from) == "f64", single = std::string(from) == "f32";
          Random random{10};
          for (int i = 0; i < 4000; ++i) {
            uint64_t raw = sample(random, wide ? 64 : single ? 32 : 16);
            double value = wide ? std::bit_cast<double>(raw)
                                : decode(single                       ? formatF32
                                         : std::string(from) == "f16" ? formatF16
                                                                      : formatBf16,
                                         uint32_t(raw));
            long double whole = rounded(value, mode.host);
            long double low = toSigned ? -std::exp2((long double)(to - 1)) : 0;
            long double high = std::exp2((long double)(toSigned ? to - 1 : to)) - 1;
            uint64_t expected = std::isnan(value) ? (wide || to == 64 ? uint64_t(1) << (to - 1) : 0)
                                : whole < low     ? uint64_t(int64_t(low))
                                : whole > high    ? uint64_t(high)
                                : toSigned        ? uint64_t(int64_t(whole))
                                                  : uint64_t(whole);
            if (toSigned)
              expected = uint64_t(signExtend(expected, to));
            ASSERT_EQ(form(raw).value, expected & maskOf(std::max(to, 32u)))
                << mode.integer << " " << type << " " << from << std::hex << " " << raw;
          }
        }
}

TEST(Convert, IntegersToFloatsRoundOnce) {
  for (const Mode &mode : modes)
    for (bool isSigned : {false, true}) {
      std::string from = isSigned ? "s64" : "u64";
      Form single(std::string("cvt.") + mode.floating + ".f32." + from + " %d, %a");
      Form wide(std::string("cvt.") + mode.floating + ".f64." + from + " %d, %a");
      ASSERT_EQ(single.error() + wide.error(), "");
      Random random{11};
      for (int i = 0; i < 50000; ++i) {
        uint64_t raw = sample(random, 64) >> (random() % 64);
        std::fesetround(mode.host);
        volatile long double exact = isSigned ? (long double)(int64_t(raw)) : (long double)(raw);
        volatile float f = float(exact);
        volatile double d = double(exact);
        std::fesetround(FE_TONEAREST);
        ASSERT_EQ(single(raw).value, std::bit_cast<uint32_t>(float(f))) << mode.floating << " " << from << " " << raw;
        ASSERT_EQ(wide(raw).value, std::bit_cast<uint64_t>(double(d))) << mode.floating << " " << from << " " << raw;
      }
    }
}

TEST(Convert, HalvesToF32AndBackAreTheSame) {
  Form up("cvt.f32.f16 %d, %a"), down("cvt.rn.f16.f32 %d, %a"), upBf("cvt.f32.bf16 %d, %a"),
      downBf("cvt.rn.bf16.f32 %d, %a");
  for (uint32_t code = 0; code < 0x10000; ++code) {
    bool nan = (code & 0x7fff) > 0x7c00, nanBf = (code & 0x7fff) > 0x7f80;
    ASSERT_EQ(down(up(code).value).value, nan ? 0x7fff : code);
    ASSERT_EQ(downBf(upBf(code).value).value, nanBf ? 0x7fff : code);
    ASSERT_EQ(upBf(code).value, code << 16);
  }
}

TEST(Convert, F32ToHalvesMatchesTheCompiler) {
  Form half("cvt.rn.f16.f32 %d, %a"), pair("cvt.rn.bf16x2.f32 %d, %a, %b"), single("cvt.rn.bf16.f32 %d, %a");
  Random random{12};
  for (int i = 0; i < 50000; ++i) {
    uint64_t a = sample(random, 32), b = sample(random, 32);
    float value = std::bit_cast<float>(uint32_t(a));
    _Float16 expected = _Float16(value);
    uint16_t bits;
    static_assert(sizeof bits == sizeof expected);
    __builtin_memcpy(&bits, &expected, sizeof bits);
    ASSERT_EQ(half(a).value, std::isnan(value) ? 0x7fff : bits) << std::hex << a;
    // bf16 by the well-known addition to the bits.
    uint32_t u = uint32_t(a), bf = std::isnan(value) ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
    ASSERT_EQ(single(a).value, bf) << std::hex << a;
    ASSERT_EQ(pair(a, b).value, single(a).value << 16 | single(b).value);
  }
}

TEST(Convert, Fp8RoundTripsThroughF16) {
  for (std::string type : {"e4m3", "e5m2"}) {
    Form up("cvt.rn.f16x2." + type + "x2 %d, %a"), down("cvt.rn.satfinite." + type + "x2.f16x2 %d, %a");
    ASSERT_EQ(up.error() + down.error(), "");
    const FloatFormat &format = type == "e4m3" ? formatE4m3 : formatE5m2;
    for (uint32_t code = 0; code < 0x10000; ++code) {
      uint64_t wide = up(code).value, back = down(wide).value;
      for (unsigned half = 0; half < 2; ++half) {
        uint32_t byte = code >> (8 * half) & 0xff;
        double value = decode(format, byte), seen = decode(formatF16, uint32_t(wide >> (16 * half) & 0xffff));
        ASSERT_TRUE(std::isnan(value) ? std::isnan(seen) : value == seen) << byte;
        uint32_t expected = std::isnan(value) ? 0x7f : std::isinf(value) ? (format.largest() | (byte & 0x80)) : byte;
        ASSERT_EQ(back >> (8 * half) & 0xff, expected);
      }
    }
  }
}

TEST(Convert, NarrowFormatsOfBlackwellSaturate) {
  Form e2m1("cvt.rn.satfinite.e2m1x2.f32 %d, %a, %b"), e2m3("cvt.rn.satfinite.e2m3x2.f32 %d, %a, %b"),
      back("cvt.rn.f16x2.e2m1x2 %d, %a");
  ASSERT_EQ(e2m1.error() + e2m3.error() + back.error(), "");
  auto bits = [](float v) { return uint64_t(std::bit_cast<uint32_t>(v)); };
  EXPECT_EQ(e2m1(bits(6), bits(-100)).value, 0x7fu);
  EXPECT_EQ(e2m1(bits(0.25f), bits(NAN)).value, 0x07u); // a tie to even; NaN becomes the largest value
  EXPECT_EQ(e2m3(bits(7.5f), bits(1)).value, 0x1f08u);
  EXPECT_EQ(back(0x7f).value, 0x4600c600u);
}

TEST(Convert, SaturationAndReluHaveNoNegativeZero) {
  EXPECT_EQ(Form("cvt.sat.f32.f32 %d, %a")(0x80000000).value, 0u);
  EXPECT_EQ(Form("cvt.sat.f32.f32 %d, %a")(0x7fc00000).value, 0u);
  EXPECT_EQ(Form("cvt.sat.f32.f32 %d, %a")(0x40000000).value, 0x3f800000u);
  EXPECT_EQ(Form("cvt.rn.relu.f16.f32 %d, %a")(0x80000000).value, 0u);
  EXPECT_EQ(Form("cvt.rn.relu.f16.f32 %d, %a")(0x7fc00000).value, 0x7fffu);
  EXPECT_EQ(Form("cvt.rn.satfinite.f16.f32 %d, %a")(0x7f800000).value, 0x7bffu);
  EXPECT_EQ(Form("cvt.rna.tf32.f32 %d, %a")(0x3f801000).value, 0x3f802000u);
  EXPECT_EQ(Form("cvt.rn.tf32.f32 %d, %a")(0x3f801000).value, 0x3f800000u);
}

} // namespace
} // namespace interlock::emu::alu
