// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Instructions of AMD chips, one by one, against what they are to compute, said in another way than the emulator does.
#include "tests/unit/emulator/AmdHarness.h"

#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace interlock::emu::test {
namespace {

using Oracle = std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)>;

/// An instruction of the form `mnemonic dst, a, b, c`, and its result.
struct Row {
  std::string text; ///< `$d`, `$a`, `$b`, `$c`: registers of one word; `$D`, `$A`, `$B`, `$C`: of two
  unsigned bits;    ///< of the result that count
  Oracle oracle;
  enum Nan { exact, anyNan } nan = exact; ///< anyNan: which NaN it is does not matter
};

float f32(uint64_t v) { return std::bit_cast<float>(uint32_t(v)); }
double f64(uint64_t v) { return std::bit_cast<double>(v); }
uint64_t b32(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t b64(double v) { return std::bit_cast<uint64_t>(v); }
int64_t s32(uint64_t v) { return int32_t(uint32_t(v)); }

/// Numbers that matter for integers and floats of every width, and some that do not.
std::vector<uint64_t> samples() {
  std::vector<uint64_t> out;
  const uint64_t special[] = {0,
                              1,
                              2,
                              31,
                              33,
                              0x7fffffff,
                              0x80000000,
                              0xffffffff,
                              0x3f800000,
                              0xbf800000,
                              0x7f800000,
                              0x00000001,
                              0x80000001,
                              0x7fc00001,
                              0x4b000001,
                              0x3c003c00,
                              0x12345678,
                              0xfff0123400000000,
                              0x7ff0000000000000,
                              0x3ff0000000000000,
                              0xbfe5555555555555,
                              0x8000000000000000,
                              0x7fffffffffffffff,
                              0xffffffffffffffff};
  std::mt19937_64 random(7);
  for (uint64_t a : special)
    for (uint64_t b : {special[random() % std::size(special)], special[random() % std::size(special)], random()}) {
      out.push_back(a);
      out.push_back(b);
      out.push_back(random() % 2 ? random() : special[random() % std::size(special)]);
    }
  while (out.size() < 3 * 128)
    out.push_back(random() >> random() % 60);
  return out;
}

class AmdAlu : public MachineTest {
protected:
  void useChip(const std::string &chip) {
    options.chip = chip;
    open();
  }
  bool old() const { return options.chip.starts_with("gfx9"); }

  static std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>> &names) {
    for (const auto &[from, to] : names)
      for (size_t at; (at = text.find(from)) != text.npos;)
        text.replace(at, from.size(), to);
    return text;
  }

  /// Runs each lane's three values through the instruction.
  std::vector<uint64_t> vectorResults(const std::string &instruction, const std::vector<uint64_t> &in) {
    auto lanes = uint32_t(in.size() / 3);
    std::vector<uint64_t> padded;
    for (size_t i = 0; i < in.size(); i += 3)
      padded.insert(padded.end(), {in[i], in[i + 1], in[i + 2], 0});
    uint64_t from = upload(padded), to = zeros(lanes * 8);
    std::string body = (old() ? "s_load_dwordx4 s[4:7], s[0:1], 0x0\n" : "s_load_b128 s[4:7], s[0:1], 0x0\n");
    body += "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 5, v0\nv_lshlrev_b32 v2, 3, v0\n";
    body += old() ? "s_waitcnt lgkmcnt(0)\nglobal_load_dwordx4 v[4:7], v1, s[4:5]\n"
                    "global_load_dwordx2 v[8:9], v1, s[4:5] offset:16\ns_waitcnt vmcnt(0)\n"
                  : "global_load_b128 v[4:7], v1, s[4:5]\nglobal_load_b64 v[8:9], v1, s[4:5] offset:16\n";
    body += "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\n";
    body += filled(instruction, {{"$d", "v10"},
                                 {"$a", "v4"},
                                 {"$b", "v6"},
                                 {"$c", "v8"},
                                 {"$D", "v[10:11]"},
                                 {"$A", "v[4:5]"},
                                 {"$B", "v[6:7]"},
                                 {"$C", "v[8:9]"}});
    body += old() ? "\nglobal_store_dwordx2 v2, v[10:11], s[6:7]" : "\nglobal_store_b64 v2, v[10:11], s[6:7]";
    run(amdKernel(options.chip, body, 2), grid(1, lanes), {from, to});
    return download<uint64_t>(to, lanes);
  }

  void expectRows(const std::vector<Row> &rows) {
    static const std::vector<uint64_t> in = samples();
    for (const Row &row : rows) {
      auto got = vectorResults(row.text, in);
      uint64_t mask = row.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << row.bits) - 1;
      for (size_t i = 0; i < got.size(); ++i) {
        uint64_t want = row.oracle(in[3 * i], in[3 * i + 1], in[3 * i + 2]) & mask, have = got[i] & mask;
        bool bothNan = row.nan == Row::anyNan && (row.bits == 64 ? f64(want) != f64(want) && f64(have) != f64(have)
                                                                 : f32(want) != f32(want) && f32(have) != f32(have));
        ASSERT_TRUE(want == have || bothNan)
            << options.chip << ": " << row.text << std::hex << " of " << in[3 * i] << ", " << in[3 * i + 1] << ", "
            << in[3 * i + 2] << ": expected " << want << ", got " << have;
      }
    }
  }

  /// A scalar instruction over samples, with SCC as bit 64 of the result: in a vector of pairs.
  void expectScalar(const std::string &text, unsigned bits,
                    const std::function<std::pair<uint64_t, int>(uint64_t, uint64_t)> &oracle) {
    static const std::vector<uint64_t> in = samples();
    constexpr size_t pairs = 60;
    std::vector<uint64_t> values;
    for (size_t i = 0; i < pairs; ++i)
      values.insert(values.end(), {in[3 * i], in[3 * i + 1]});
    uint64_t from = upload(values), to = zeros(pairs * 16);
    std::string body = old() ? "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, 0\n"
                             : "s_load_b128 s[4:7], s[0:1], 0x0\nv_mov_b32 v1, 0\n";
    for (size_t i = 0; i < pairs; ++i) {
      std::string offset = std::to_string(16 * i);
      body += (old() ? "s_load_dwordx4 s[8:11], s[4:5], " : "s_load_b128 s[8:11], s[4:5], ") + offset + "\n";
      body += old() ? "s_waitcnt lgkmcnt(0)\n" : "";
      body += "s_mov_b64 s[12:13], 0\ns_cmp_eq_u32 s12, 1\n";
      body += filled(
          text, {{"$d", "s12"}, {"$a", "s8"}, {"$b", "s10"}, {"$D", "s[12:13]"}, {"$A", "s[8:9]"}, {"$B", "s[10:11]"}});
      body += "\ns_cselect_b32 s14, 1, 0\nv_mov_b32 v2, s12\nv_mov_b32 v3, s13\nv_mov_b32 v4, s14\n";
      body +=
          (old() ? "global_store_dwordx3 v1, v[2:4], s[6:7] offset:" : "global_store_b96 v1, v[2:4], s[6:7] offset:") +
          offset + "\n";
    }
    run(amdKernel(options.chip, body, 2), grid(1, 1), {from, to});
    auto got = download<uint64_t>(to, 2 * pairs);
    uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    for (size_t i = 0; i < pairs; ++i) {
      auto [value, scc] = oracle(values[2 * i], values[2 * i + 1]);
      ASSERT_EQ(got[2 * i] & mask, value & mask)
          << text << std::hex << " of " << values[2 * i] << ", " << values[2 * i + 1];
      if (scc >= 0) {
        ASSERT_EQ(got[2 * i + 1] & 1, uint64_t(scc))
            << text << std::hex << " of " << values[2 * i] << ", " << values[2 * i + 1];
      }
    }
  }
};

const std::vector<Row> integers = {
    {"v_add3_u32 $d, $a, $b, $c", 32, [](auto a, auto b, auto c) { return a + b + c; }},
    {"v_lshl_add_u32 $d, $a, $b, $c", 32, [](auto a, auto b, auto c) { return (a << (b & 31)) + c; }},
    {"v_and_or_b32 $d, $a, $b, $c", 32, [](auto a, auto b, auto c) { return (a & b) | c; }},
    {"v_mul_lo_u32 $d, $a, $b", 32, [](auto a, auto b, auto) { return a * b; }},
    {"v_mul_hi_u32 $d, $a, $b", 32, [](auto a, auto b, auto) { return uint64_t(uint32_t(a)) * uint32_t(b) >> 32; }},
    {"v_mul_hi_i32 $d, $a, $b", 32, [](auto a, auto b, auto) { return uint64_t(s32(a) * s32(b) >> 32); }},
    {"v_mul_u32_u24 $d, $a, $b", 32, [](auto a, auto b, auto) { return (a % (1 << 24)) * (b % (1 << 24)); }},
    {"v_mad_u64_u32 $D, vcc, $a, $b, $C", 64,
     [](auto a, auto b, auto c) { return uint64_t(uint32_t(a)) * uint32_t(b) + c; }},
    {"v_lshlrev_b64 $D, $a, $B", 64, [](auto a, auto b, auto) { return b << a % 64; }},
    {"v_ashrrev_i64 $D, $a, $B", 64, [](auto a, auto b, auto) { return uint64_t(int64_t(b) >> a % 64); }},
    {"v_bfe_u32 $d, $a, $b, $c", 32,
     [](auto a, auto b, auto c) {
       uint64_t r = 0;
       for (unsigned i = 0; i < c % 32; ++i)
         if (b % 32 + i < 32)
           r |= (a >> (b % 32 + i) & 1) << i;
       return r;
     }},
    {"v_bfe_i32 $d, $a, $b, $c", 32,
     [](auto a, auto b, auto c) {
       uint64_t r = 0, width = c % 32, top = 0;
       for (unsigned i = 0; i < 32 && width; ++i) {
         if (i < width && b % 32 + i < 32)
           top = a >> (b % 32 + i) & 1;
         r |= top << i;
       }
       return r;
     }},
    {"v_bfi_b32 $d, $a, $b, $c", 32, [](auto a, auto b, auto c) { return c ^ (a & (b ^ c)); }},
    {"v_alignbit_b32 $d, $a, $b, $c", 32,
     [](auto a, auto b, auto c) {
       unsigned s = c % 32;
       return s ? uint32_t(a) << (32 - s) | uint32_t(b) >> s : uint32_t(b);
     }},
    {"v_perm_b32 $d, $a, $b, $c", 32,
     [](auto a, auto b, auto c) {
       uint64_t r = 0;
       for (unsigned i = 0; i < 4; ++i) {
         unsigned k = unsigned(c >> 8 * i) & 255;
         uint8_t bytes[16];
         for (unsigned n = 0; n < 4; ++n)
           bytes[n] = uint8_t(b >> 8 * n), bytes[4 + n] = uint8_t(a >> 8 * n);
         bytes[8] = bytes[1] & 128 ? 255 : 0, bytes[9] = bytes[3] & 128 ? 255 : 0;
         bytes[10] = bytes[5] & 128 ? 255 : 0, bytes[11] = bytes[7] & 128 ? 255 : 0;
         bytes[12] = 0;
         r |= uint64_t(k > 12 ? 255 : bytes[k]) << 8 * i;
       }
       return r;
     }},
    {"v_bfrev_b32 $d, $a", 32,
     [](auto a, auto, auto) {
       uint64_t r = 0;
       for (unsigned i = 0; i < 32; ++i)
         r = r << 1 | (a >> i & 1);
       return r;
     }},
    {"v_min_i32 $d, $a, $b", 32, [](auto a, auto b, auto) { return uint64_t(std::min(s32(a), s32(b))); }},
    {"v_med3_u32 $d, $a, $b, $c", 32,
     [](auto a, auto b, auto c) {
       uint32_t v[] = {uint32_t(a), uint32_t(b), uint32_t(c)};
       std::sort(v, v + 3);
       return uint64_t(v[1]);
     }},
    {"v_bcnt_u32_b32 $d, $a, $b", 32,
     [](auto a, auto b, auto) { return b + uint64_t(__builtin_popcount(uint32_t(a))); }},
    {"v_cndmask_b32 $d, $a, $b, vcc", 32, [](auto a, auto, auto) { return a; }},
    {"v_cmp_lt_u32 vcc, $a, $b\nv_cndmask_b32 $d, 0, 1, vcc", 32,
     [](auto a, auto b, auto) { return uint64_t(uint32_t(a) < uint32_t(b)); }},
    {"v_cmp_ge_i64 vcc, $A, $B\nv_cndmask_b32 $d, 0, 1, vcc", 32,
     [](auto a, auto b, auto) { return uint64_t(int64_t(a) >= int64_t(b)); }},
    {"v_pk_mul_lo_u16 $d, $a, $b", 32,
     [](auto a, auto b, auto) {
       return ((a & 0xffff) * (b & 0xffff) & 0xffff) | (a >> 16 & 0xffff) * (b >> 16 & 0xffff) << 16;
     }},
    {"v_pk_add_u16 $d, $a, $b op_sel:[1,0] op_sel_hi:[0,1]", 32,
     [](auto a, auto b, auto) { return (((a >> 16) + b) & 0xffff) | ((a + (b >> 16)) & 0xffff) << 16; }},
    {"v_add_co_u32 $d, vcc, $a, $b\nv_cndmask_b32 $d, 0, 1, vcc", 32,
     [](auto a, auto b, auto) { return (uint64_t(uint32_t(a)) + uint32_t(b)) >> 32; }},
    {"v_mov_b32 $d, -16\nv_mov_b32 v11, 0x1234", 64, [](auto, auto, auto) { return 0x1234fffffff0; }},
};

const std::vector<Row> floats = {
    {"v_add_f32 $d, $a, $b", 32, [](auto a, auto b, auto) { return b32(f32(a) + f32(b)); }, Row::anyNan},
    {"v_mul_f32 $d, -$a, |$b|", 32, [](auto a, auto b, auto) { return b32(-f32(a) * std::fabs(f32(b))); }, Row::anyNan},
    {"v_fma_f32 $d, $a, $b, $c", 32, [](auto a, auto b, auto c) { return b32(std::fma(f32(a), f32(b), f32(c))); },
     Row::anyNan},
    {"v_add_f32 $d, $a, $b clamp", 32,
     [](auto a, auto b, auto) {
       float r = f32(a) + f32(b);
       return b32(r >= 1 ? 1.0f : r > 0 ? r : 0.0f);
     }},
    {"v_mul_f32 $d, $a, $b mul:4", 32, [](auto a, auto b, auto) { return b32(f32(a) * f32(b) * 4); }, Row::anyNan},
    {"v_add_f32 $d, 0.5, $a", 32, [](auto a, auto, auto) { return b32(0.5f + f32(a)); }, Row::anyNan},
    {"v_floor_f32 $d, $a", 32, [](auto a, auto, auto) { return b32(std::floor(f32(a))); }, Row::anyNan},
    {"v_rndne_f32 $d, $a", 32, [](auto a, auto, auto) { return b32(std::rint(f32(a))); }, Row::anyNan},
    {"v_ldexp_f32 $d, $a, 3", 32, [](auto a, auto, auto) { return b32(f32(a) * 8); }, Row::anyNan},
    {"v_cvt_u32_f32 $d, $a", 32,
     [](auto a, auto, auto) {
       double v = double(f32(a));
       return uint64_t(v > 4294967295.0 ? 4294967295u : v > 0 ? uint32_t(v) : 0u);
     }},
    {"v_cvt_f32_u32 $d, $a", 32, [](auto a, auto, auto) { return b32(float(uint32_t(a))); }},
    {"v_cvt_f32_ubyte2 $d, $a", 32, [](auto a, auto, auto) { return b32(float(a >> 16 & 255)); }},
    {"v_add_f64 $D, $A, $B", 64, [](auto a, auto b, auto) { return b64(f64(a) + f64(b)); }, Row::anyNan},
    {"v_fma_f64 $D, $A, $B, -$C", 64, [](auto a, auto b, auto c) { return b64(std::fma(f64(a), f64(b), -f64(c))); },
     Row::anyNan},
    {"v_cvt_f64_f32 $D, $a", 64, [](auto a, auto, auto) { return b64(double(f32(a))); }, Row::anyNan},
    {"v_cvt_f32_f64 $d, $A", 32, [](auto a, auto, auto) { return b32(float(f64(a))); }, Row::anyNan},
    {"v_cmp_nlt_f32 vcc, $a, $b\nv_cndmask_b32 $d, 0, 1, vcc", 32,
     [](auto a, auto b, auto) { return uint64_t(!(f32(a) < f32(b))); }},
    {"v_cmp_u_f64 vcc, $A, $B\nv_cndmask_b32 $d, 0, 1, vcc", 32,
     [](auto a, auto b, auto) { return uint64_t(std::isunordered(f64(a), f64(b))); }},
    {"v_cmp_class_f32 vcc, $a, 3\nv_cndmask_b32 $d, 0, 1, vcc", 32,
     [](auto a, auto, auto) { return uint64_t(std::isnan(f32(a))); }},
    {"v_pk_fma_f32 $D, $A, $B, $C op_sel_hi:[0,1,1]", 64,
     [](auto a, auto b, auto c) {
       return b32(std::fma(f32(a), f32(b), f32(c))) | b32(std::fma(f32(a), f32(b >> 32), f32(c >> 32))) << 32;
     }},
};

/// What the smaller of two floats is, NaNs left out where they can be.
uint64_t lesser(uint64_t a, uint64_t b) {
  if (std::isnan(f32(a)) || std::isnan(f32(b)))
    return std::isnan(f32(a)) ? b : a;
  if (f32(a) == f32(b))
    return uint32_t(a) | uint32_t(b); // -0 below 0
  return f32(a) < f32(b) ? a : b;
}

TEST_F(AmdAlu, Integers) {
  useChip("gfx942");
  expectRows(integers);
  expectRows(
      {{"v_add_u32 $d, $a, $b clamp", 32,
        [](auto a, auto b, auto) { return std::min<uint64_t>(uint64_t(uint32_t(a)) + uint32_t(b), 0xffffffff); }},
       {"v_lshl_add_u64 $D, $A, 3, $B", 64, [](auto a, auto b, auto) { return a * 8 + b; }},
       {"v_add_u16 $d, $a, $b", 32, [](auto a, auto b, auto) { return (a + b) & 0xffff; }},
       {"v_add_u32_sdwa $d, $a, sext($b) dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_0", 32,
        [](auto a, auto b, auto) { return ((a >> 8 & 255) + uint64_t(int64_t(int16_t(b)))) << 16; }}});
}

TEST_F(AmdAlu, IntegersOfLaterChips) {
  for (const char *chip : {"gfx1100", "gfx1201", "gfx1250"}) {
    useChip(chip);
    std::vector<Row> rows;
    for (Row row : integers) // where a mask is one register
      rows.push_back({filled(row.text, {{"vcc", "VCC"}, {"VCC", "vcc_lo"}}), row.bits, row.oracle});
    expectRows(rows);
    expectRows({{"v_add_nc_u32 $d, $a, $b", 32, [](auto a, auto b, auto) { return a + b; }},
                {"v_xor3_b32 $d, $a, $b, $c", 32, [](auto a, auto b, auto c) { return a ^ b ^ c; }},
                {"v_mov_b32 $d, $c\nv_mov_b16 v10.h, v4.l", 32,
                 [](auto a, auto, auto c) { return (c & 0xffff) | (a & 0xffff) << 16; }},
                {"v_dual_mov_b32 v10, v4 :: v_dual_add_nc_u32 v11, v10, v6", 64,
                 [](auto a, auto b, auto) { return (a & 0xffffffff) | b << 32; }}}); // v10 is read before it is written
  }
}

TEST_F(AmdAlu, Floats) {
  for (const char *chip : {"gfx90a", "gfx942", "gfx1250"}) {
    useChip(chip);
    std::vector<Row> rows;
    for (Row row : floats)
      rows.push_back(
          {old() ? row.text : filled(row.text, {{"vcc", "VCC"}, {"VCC", "vcc_lo"}}), row.bits, row.oracle, row.nan});
    rows.pop_back(); // packed, below
    expectRows(rows);
  }
  useChip("gfx942");
  expectRows({{"v_min_f32 $d, $a, $b", 32, [](auto a, auto b, auto) { return lesser(a, b); }, Row::anyNan}});
}

TEST_F(AmdAlu, PackedFloats) {
  useChip("gfx942");
  Row packed = floats.back();
  static const std::vector<uint64_t> in = [] {
    std::vector<uint64_t> v = samples();
    for (uint64_t &x : v) // numbers in both halves
      x = (x & 0x4fffffff4fffffff) | 0x2000000020000000;
    return v;
  }();
  auto got = vectorResults(packed.text, in);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], packed.oracle(in[3 * i], in[3 * i + 1], in[3 * i + 2])) << i;
}

/// A 16-bit float from a double by trying all codes: the nearest, the even one of two.
uint16_t nearestCode(double v, int exponentBits, int mantissaBits) {
  auto value = [&](unsigned code) {
    int e = int(code >> mantissaBits), m = int(code & ((1u << mantissaBits) - 1)), bias = (1 << (exponentBits - 1)) - 1;
    return e ? std::ldexp(double(m + (1 << mantissaBits)), e - bias - mantissaBits)
             : std::ldexp(double(m), 1 - bias - mantissaBits);
  };
  unsigned infinity = ((1u << exponentBits) - 1) << mantissaBits, best = 0;
  unsigned low = 0, high = infinity;
  double a = std::fabs(v);
  while (high - low > 1) {
    unsigned middle = (low + high) / 2;
    (value(middle) <= a ? low : high) = middle;
  }
  double below = a - value(low), above = value(high) - a; // of infinity: what it would be with one more exponent
  best = below < above || (below == above && low % 2 == 0) ? low : high;
  return uint16_t(best | (std::signbit(v) ? 1u << (exponentBits + mantissaBits) : 0));
}

TEST_F(AmdAlu, SixteenBitFloats) {
  auto finite = [](uint64_t a) { return std::isfinite(f32(a)); };
  for (const char *chip : {"gfx942", "gfx950", "gfx1201"}) {
    useChip(chip);
    expectRows({{"v_cvt_f16_f32 $d, $a\nv_and_b32 $d, 0xffff, $d", 32, [&](auto a, auto, auto) -> uint64_t {
                   if (std::isnan(f32(a)))
                     return (a >> 16 & 0x8000) | 0x7e00 | (a >> 13 & 0x3ff);
                   return finite(a) ? nearestCode(double(f32(a)), 5, 10) : (a >> 16 & 0x8000) | 0x7c00;
                 }}});
    if (std::string(chip) == "gfx950")
      expectRows({{"v_cvt_pk_bf16_f32 $d, $a, $b", 32, [&](auto a, auto b, auto) -> uint64_t {
                     auto one = [&](uint64_t v) -> uint64_t {
                       if (std::isnan(f32(v)))
                         return (v >> 16 | 0x40) & 0xffff;
                       return finite(v) ? nearestCode(double(f32(v)), 8, 7) : v >> 16 & 0xffff;
                     };
                     return one(a) | one(b) << 16;
                   }}});
  }
}

TEST_F(AmdAlu, Fp8OfBothKinds) {
  // Every code there and back, and what the formats disagree about.
  for (const char *chip : {"gfx942", "gfx950", "gfx1201"}) {
    useChip(chip);
    bool fnuz = std::string(chip) == "gfx942";
    std::vector<uint64_t> in;
    for (uint64_t code = 0; code < 256; ++code)
      in.insert(in.end(), {code, 0, 0});
    for (bool bf8 : {false, true}) {
      std::string name = bf8 ? "bf8" : "fp8";
      auto values = vectorResults("v_cvt_f32_" + name + " $d, $a", in);
      std::vector<uint64_t> back;
      int mantissa = bf8 ? 2 : 3, bias = (bf8 ? 15 : 7) + (fnuz ? 1 : 0);
      for (uint64_t code = 0; code < 256; ++code) {
        float v = f32(values[code]);
        unsigned magnitude = code & 0x7f, e = magnitude >> mantissa, m = magnitude & ((1u << mantissa) - 1);
        bool nan = fnuz ? code == 0x80 : bf8 ? magnitude > 0x7c : magnitude == 0x7f;
        bool infinite = !fnuz && bf8 && magnitude == 0x7c;
        EXPECT_EQ(std::isnan(v), nan) << chip << " " << name << " " << code;
        EXPECT_EQ(std::isinf(v), infinite) << chip << " " << name << " " << code;
        if (!nan && !infinite) {
          double want = e ? std::ldexp(1.0 + double(m) / (1 << mantissa), int(e) - bias)
                          : std::ldexp(double(m) / (1 << mantissa), 1 - bias);
          EXPECT_EQ(double(v), code & 0x80 ? -want : want) << chip << " " << name << " " << code;
        }
        back.insert(back.end(), {values[code], b32(1e30f), 0});
      }
      auto codes = vectorResults("v_cvt_pk_" + name + "_f32 $d, $a, $b", back);
      uint64_t largest = fnuz ? 0x7f : bf8 ? 0x7b : 0x7e;
      for (uint64_t code = 0; code < 256; ++code) {
        bool nan = std::isnan(f32(values[code]));
        if (!nan) {
          EXPECT_EQ(codes[code] & 0xff, code) << chip << " " << name;
        } else {
          EXPECT_EQ(codes[code] & 0x7f, fnuz ? 0u : 0x7fu) << chip << " " << name << " " << code;
        }
        EXPECT_EQ(codes[code] >> 8 & 0xff, largest) << chip << " " << name;
      }
    }
  }
}

TEST_F(AmdAlu, Scalars) {
  using R = std::pair<uint64_t, int>;
  auto nonZero = [](uint64_t v) { return R{v, v != 0}; };
  for (const char *chip : {"gfx90a", "gfx1201"}) {
    useChip(chip);
    expectScalar(old() ? "s_add_u32 $d, $a, $b" : "s_add_co_u32 $d, $a, $b", 32, [](auto a, auto b) {
      uint64_t r = uint64_t(uint32_t(a)) + uint32_t(b);
      return R{r, int(r >> 32)};
    });
    expectScalar("s_add_u32 $d, $a, $b\ns_addc_u32 s13, s9, s11", 64,
                 [](auto a, auto b) { return R{a + b, a + b < a}; });
    expectScalar("s_sub_u32 $d, $a, $b\ns_subb_u32 s13, s9, s11", 64, [](auto a, auto b) { return R{a - b, b > a}; });
    expectScalar("s_sub_i32 $d, $a, $b", 32, [](auto a, auto b) {
      int64_t r = s32(a) - s32(b);
      return R{uint64_t(r), r != int32_t(r)};
    });
    expectScalar("s_mul_hi_i32 $d, $a, $b", 32, [](auto a, auto b) { return R{uint64_t(s32(a) * s32(b) >> 32), 0}; });
    expectScalar("s_lshl_b64 $D, $A, $b", 64, [&](auto a, auto b) { return nonZero(a << b % 64); });
    expectScalar("s_ashr_i32 $d, $a, $b", 32, [&](auto a, auto b) { return nonZero(uint32_t(s32(a) >> b % 32)); });
    expectScalar("s_ashr_i64 $D, $A, $b", 64, [&](auto a, auto b) { return nonZero(uint64_t(int64_t(a) >> b % 64)); });
    expectScalar(old() ? "s_andn2_b64 $D, $A, $B" : "s_and_not1_b64 $D, $A, $B", 64,
                 [&](auto a, auto b) { return nonZero(a & ~b); });
    expectScalar("s_xnor_b32 $d, $a, $b", 32, [&](auto a, auto b) { return nonZero(uint32_t(~a ^ b)); });
    expectScalar("s_bfe_u32 $d, $a, 0x50003", 32, [&](auto a, auto) { return nonZero(a >> 3 & 31); });
    expectScalar("s_bfe_i64 $D, $A, 0x200000", 64, [&](auto a, auto) { return nonZero(uint64_t(s32(a))); });
    expectScalar("s_bfm_b32 $d, 5, 8", 32, [](auto, auto) { return R{0x1f00, 0}; });
    expectScalar("s_bcnt1_i32_b64 $d, $A", 32,
                 [&](auto a, auto) { return nonZero(uint64_t(__builtin_popcountll(a))); });
    expectScalar(old() ? "s_ff1_i32_b64 $d, $A" : "s_ctz_i32_b64 $d, $A", 32,
                 [](auto a, auto) { return R{a ? uint64_t(__builtin_ctzll(a)) : ~uint64_t(0), 0}; });
    expectScalar(old() ? "s_flbit_i32_b32 $d, $a" : "s_clz_i32_u32 $d, $a", 32,
                 [](auto a, auto) { return R{uint32_t(a) ? uint64_t(__builtin_clz(uint32_t(a))) : ~uint64_t(0), 0}; });
    expectScalar("s_sext_i32_i16 $d, $a", 32, [](auto a, auto) { return R{uint64_t(int64_t(int16_t(a))), 0}; });
    expectScalar("s_min_i32 $d, $a, $b", 32,
                 [](auto a, auto b) { return R{uint64_t(std::min(s32(a), s32(b))), s32(a) < s32(b)}; });
    expectScalar("s_absdiff_i32 $d, $a, $b", 32,
                 [&](auto a, auto b) { return nonZero(uint32_t(std::llabs(s32(a) - s32(b)))); });
    expectScalar("s_pack_lh_b32_b16 $d, $a, $b", 32,
                 [](auto a, auto b) { return R{(a & 0xffff) | (b & 0xffff0000), 0}; });
    expectScalar("s_cmp_lt_i32 $a, $b", 32, [](auto a, auto b) { return R{0, s32(a) < s32(b)}; });
    expectScalar("s_cmp_lg_u64 $A, $B", 32, [](auto a, auto b) { return R{0, a != b}; });
    expectScalar("s_cmpk_gt_u32 $a, 0x8000", 32, [](auto a, auto) { return R{0, uint32_t(a) > 0x8000}; });
    expectScalar("s_cmpk_lt_i32 $a, 0x8000", 32, [](auto a, auto) { return R{0, s32(a) < -32768}; });
    expectScalar("s_bitcmp1_b64 $A, $b", 32, [](auto a, auto b) { return R{0, int(a >> b % 64 & 1)}; });
    expectScalar("s_movk_i32 $d, 0x8001", 32, [](auto, auto) { return R{0xffff8001, 0}; });
    expectScalar("s_mov_b32 $d, $a\ns_addk_i32 $d, 0x7fff", 32,
                 [](auto a, auto) { return R{a + 0x7fff, s32(a) + 0x7fff != int32_t(s32(a) + 0x7fff)}; });
    expectScalar("s_mov_b64 $D, $A\ns_bitset0_b64 $D, 40", 64,
                 [](auto a, auto) { return R{a & ~(uint64_t(1) << 40), 0}; });
  }
  useChip("gfx1201");
  expectScalar("s_mul_u64 $D, $A, $B", 64, [](auto a, auto b) { return R{a * b, 0}; });
  expectScalar("s_add_f32 $d, $a, 1.0\ns_cmp_eq_u32 0, 1", 32, [](auto a, auto) {
    float r = f32(a) + 1.0f;
    return R{std::isnan(r) ? uint64_t(uint32_t(a) | 0x400000) : b32(r), 0};
  });
  useChip("gfx942");
  expectScalar("s_mov_b64 s[20:21], exec\ns_or_saveexec_b64 $D, $A\ns_mov_b64 $D, exec\ns_mov_b64 exec, s[20:21]", 64,
               [](auto a, auto) { return R{a | 1, 1}; });
}

} // namespace
} // namespace interlock::emu::test
