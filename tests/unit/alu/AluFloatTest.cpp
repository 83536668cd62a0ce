// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Floating-point arithmetic: f32 and f64 against the host in its rounding modes, halves against exact sums.
#include "analysis/Emulator/FloatFormat.h"
#include "tests/unit/alu/Form.h"
#include "tests/unit/alu/Samples.h"

#include <gtest/gtest.h>

#include <cfenv>

namespace interlock::emu::alu {
namespace {

struct Mode {
  const char *name;
  int host;
};
constexpr Mode modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

template <typename T> struct Host;
template <> struct Host<float> {
  using Bits = uint32_t;
  static constexpr const char *type = "f32";
  static uint64_t canonical(float v) { return std::isnan(v) ? 0x7fffffff : std::bit_cast<uint32_t>(v); }
};
template <> struct Host<double> {
  using Bits = uint64_t;
  static constexpr const char *type = "f64";
  static uint64_t canonical(double v) { return std::isnan(v) ? 0xfff8000000000000 : std::bit_cast<uint64_t>(v); }
};

/// What the host makes of an operation in a rounding mode.
template <typename T> uint64_t onHost(const std::string &op, int mode, T x, T y, T z) {
  volatile T a = x, b = y, c = z, r = 0;
  std::fesetround(mode);
  if (op == "add")
    r = a + b;
  else if (op == "sub")
    r = a - b;
  else if (op == "mul")
    r = a * b;
  else if (op == "div")
    r = a / b;
  else if (op == "fma")
    r = std::fma(a, b, c);
  else if (op == "sqrt")
    r = std::sqrt(a);
  else
    r = T(1) / a;
  std::fesetround(FE_TONEAREST);
  return Host<T>::canonical(r);
}

template <typename T> void compareWithHost() {
  using H = Host<T>;
  for (const Mode &mode : modes)
    for (std::string op : {"add", "sub", "mul", "div", "fma", "sqrt", "rcp"}) {
      std::string tail = op == "fma" ? ", %b, %c" : op == "sqrt" || op == "rcp" ? "" : ", %b";
      Form form(op + "." + mode.name + "." + H::type + " %d, %a" + tail);
      ASSERT_EQ(form.error(), "");
      Random random{5};
      for (int i = 0; i < 5000; ++i) {
        uint64_t bits[3];
        T value[3];
        bool nan = false;
        for (int k = 0; k < 3; ++k) {
          bits[k] = sample(random, sizeof(T) * 8);
          value[k] = std::bit_cast<T>(typename H::Bits(bits[k]));
          nan = nan || std::isnan(value[k]);
        }
        if (nan && sizeof(T) == 8) // f64 hands NaNs on, to the record of the hardware test
          continue;
        ASSERT_EQ(form(bits[0], bits[1], bits[2]).value, onHost<T>(op, mode.host, value[0], value[1], value[2]))
            << std::hex << op << "." << mode.name << " " << bits[0] << ", " << bits[1] << ", " << bits[2];
      }
    }
}

TEST(Float, F32MatchesTheHostInEveryRoundingMode) { compareWithHost<float>(); }
TEST(Float, F64MatchesTheHostInEveryRoundingMode) { compareWithHost<double>(); }

/// Halves: every product is exact in 113 bits, and a sum is one number of 113 bits with the rest that it lost. The
/// neighbours of a candidate decide.
using Quad = __float128;

uint32_t nearest(const FloatFormat &format, Quad value, Quad lost) {
  // The double next to the exact value is good to find a candidate; its neighbours decide.
  uint32_t candidate = encode(format, double(value), Rounding::rz), best = candidate;
  if (std::isnan(double(value)) || std::isinf(double(value)) || value == 0)
    return encode(format, double(value), Rounding::rn);
  if (std::fabs(double(value)) > 2 * decode(format, format.largest())) // too far for distances in 113 bits
    return format.infinity() | (value < 0 ? format.signBit() : 0);
  uint32_t magnitude = candidate & (format.signBit() - 1), sign = candidate & format.signBit();
  Quad bestDistance = -1;
  for (uint32_t m = magnitude ? magnitude - 1 : 0; m <= magnitude + 2 && m <= format.infinity(); ++m) {
    // Infinity stands where the next value would.
    Quad at =
        m == format.infinity() ? Quad(2) * decode(format, m - 1) - decode(format, m - 2) : Quad(decode(format, m));
    Quad distance = at - (value < 0 ? -value : value);
    distance = distance < 0 ? -distance : distance;
    // A tie goes to the side of what was lost, else to the even code.
    bool outward = lost != 0 ? (lost > 0) == (value > 0) : m % 2 == 0;
    if (bestDistance < 0 || distance < bestDistance || (distance == bestDistance && outward)) {
      bestDistance = distance;
      best = m | sign;
    }
  }
  return best;
}

TEST(Float, HalvesRoundOnce) {
  struct Kind {
    const char *type;
    const FloatFormat *format;
  };
  for (const Kind &kind : {Kind{"f16", &formatF16}, Kind{"bf16", &formatBf16}})
    for (std::string op : {"add", "sub", "mul", "fma"}) {
      std::string tail = op == "fma" ? ", %b, %c" : ", %b";
      Form single(op + ".rn." + kind.type + " %d, %a" + tail), both(op + ".rn." + kind.type + "x2 %d, %a" + tail);
      ASSERT_EQ(single.error() + both.error(), "");
      Random random{6};
      for (int i = 0; i < 10000; ++i) {
        uint64_t a = sample(random, 16), b = sample(random, 16), c = sample(random, 16);
        double x = decode(*kind.format, uint32_t(a)), y = decode(*kind.format, uint32_t(b)),
               z = decode(*kind.format, uint32_t(c));
        Quad first = op == "add" || op == "sub" ? Quad(x) : Quad(x) * Quad(y);
        Quad second = op == "add" ? Quad(y) : op == "sub" ? -Quad(y) : op == "mul" ? -Quad(0) : Quad(z);
        Quad sum = first + second, part = sum - first, lost = (first - (sum - part)) + (second - part);
        uint64_t expected = std::isnan(double(sum)) ? 0x7fff : nearest(*kind.format, sum, lost);
        if (op == "mul" && first == 0) // the sign of a zero product is lost in a sum
          expected = std::signbit(x) != std::signbit(y) ? 0x8000 : 0;
        ASSERT_EQ(single(a, b, c).value, expected) << std::hex << op << " " << a << ", " << b << ", " << c;
        uint64_t one = kind.format == &formatF16 ? 0x3c00 : 0x3f80; // the upper half computes with 1, 1, 1
        uint64_t upper = both(one << 16 | a, one << 16 | b, one << 16 | c).value;
        ASSERT_EQ(upper & 0xffff, expected);
        ASSERT_EQ(decode(*kind.format, uint32_t(upper >> 16)), op == "sub" ? 0 : op == "mul" ? 1 : 2);
      }
    }
}

TEST(Float, PackedF32IsTwoOfThem) {
  for (std::string op : {"add", "mul", "fma"}) {
    std::string tail = op == "fma" ? ", %b, %c" : ", %b";
    Form packed(op + ".rn.f32x2 %d, %a" + tail), single(op + ".rn.f32 %d, %a" + tail);
    ASSERT_EQ(packed.error(), "");
    Random random{7};
    for (int i = 0; i < 5000; ++i) {
      uint64_t v[6];
      for (uint64_t &value : v)
        value = sample(random, 32);
      uint64_t expected = single(v[1], v[3], v[5]).value << 32 | single(v[0], v[2], v[4]).value;
      ASSERT_EQ(packed(v[1] << 32 | v[0], v[3] << 32 | v[2], v[5] << 32 | v[4]).value, expected);
    }
  }
}

TEST(Float, MixedPrecisionRoundsOnce) {
  Form fma("fma.rn.f32.bf16 %d, %a, %b, %c"), add("add.rn.f32.f16 %d, %a, %b"), plain("fma.rn.f32 %d, %a, %b, %c");
  ASSERT_EQ(fma.error() + add.error(), "");
  Random random{8};
  for (int i = 0; i < 5000; ++i) {
    uint64_t a = sample(random, 16), b = sample(random, 16), c = sample(random, 32);
    ASSERT_EQ(fma(a, b, c).value, plain(a << 16, b << 16, c).value);
    uint64_t wide = encode(formatF32, decode(formatF16, uint32_t(a)), Rounding::rn);
    ASSERT_EQ(add(a, c).value, plain(wide, 0x3f800000, c).value);
  }
}

TEST(Float, MinAndMaxOrderZerosAndNans) {
  constexpr uint64_t nan = 0x7fc00000, one = 0x3f800000, two = 0x40000000, minus = 0x80000000;
  EXPECT_EQ(Form("min.f32 %d, %a, %b")(0, minus).value, minus);
  EXPECT_EQ(Form("max.f32 %d, %a, %b")(minus, 0).value, 0u);
  EXPECT_EQ(Form("min.f32 %d, %a, %b")(nan, one).value, one);
  EXPECT_EQ(Form("min.NaN.f32 %d, %a, %b")(nan, one).value, 0x7fffffffu);
  EXPECT_EQ(Form("max.xorsign.abs.f32 %d, %a, %b")(one | minus, two).value, two | minus);
  EXPECT_EQ(Form("max.xorsign.abs.f32 %d, %a, %b")(two | minus, one | minus).value, two);
  EXPECT_EQ(Form("max.f32 %d, %a, %b, %c")(one, two, one).value, two);
  EXPECT_EQ(Form("min.f32 %d, %a, %b, %c")(two, two, one).value, one);
}

TEST(Float, FlushesAfterRounding) {
  // 2^-126 less a little: rounds to the smallest normal number, and stays.
  EXPECT_EQ(Form("fma.rn.ftz.f32 %d, %a, %b, %c")(0x11c70e0b, 0x91c70e0b, 0x00800000).value, 0x00800000u);
  EXPECT_EQ(Form("mul.rn.ftz.f32 %d, %a, %b")(0x00800000, 0x3f000000).value, 0u);
  EXPECT_EQ(Form("mul.rn.f32 %d, %a, %b")(0x00800000, 0x3f000000).value, 0x00400000u);
  EXPECT_EQ(Form("add.rn.ftz.f32 %d, %a, %b")(0x80000001, 0x80000001).value, 0x80000000u);
}

/// The bounds are the ISA's for 2^x, log2 and so on, taken generously: results are rounded once from double.
TEST(Float, ApproximationsAreClose) {
  struct Kind {
    const char *text;
    double (*exact)(double);
  };
  const Kind kinds[] = {{"ex2.approx.f32 %d, %a", std::exp2},
                        {"lg2.approx.f32 %d, %a", std::log2},
                        {"sin.approx.f32 %d, %a", std::sin},
                        {"cos.approx.f32 %d, %a", std::cos},
                        {"tanh.approx.f32 %d, %a", std::tanh},
                        {"rcp.approx.f32 %d, %a", [](double v) { return 1 / v; }},
                        {"rsqrt.approx.f32 %d, %a", [](double v) { return 1 / std::sqrt(v); }},
                        {"sqrt.approx.f32 %d, %a", [](double v) { return std::sqrt(v); }}};
  for (const Kind &kind : kinds) {
    Form form(kind.text);
    ASSERT_EQ(form.error(), "");
    for (float x = 0.001f; x < 60; x *= 1.0173f) {
      double found = std::bit_cast<float>(uint32_t(form(std::bit_cast<uint32_t>(x)).value)), exact = kind.exact(x);
      ASSERT_NEAR(found, exact, std::fabs(exact) * 0x1p-23) << kind.text << " " << x;
    }
  }
}

} // namespace
} // namespace interlock::emu::alu
