// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Integer, bit and selection instructions against oracles in 128-bit arithmetic or bit by bit.
#include "tests/unit/alu/Form.h"
#include "tests/unit/alu/Samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace interlock::emu::alu {
namespace {

using Wide = __int128;
using Raw = unsigned __int128;
using Oracle = std::function<Wide(Wide a, Wide b, Wide c, Wide e)>;

/// An instruction whose operands have a width and a sign, and its exact result, which is cut to the result's width.
struct Case {
  std::string text;
  std::vector<int> operands; ///< bits; negative: signed
  unsigned resultBits;
  Oracle oracle;
};
void PrintTo(const Case &c, std::ostream *out) { *out << c.text; }

class Integer : public testing::TestWithParam<Case> {};

TEST_P(Integer, MatchesExactArithmetic) {
  const Case &c = GetParam();
  Form form(c.text);
  ASSERT_EQ(form.error(), "");
  Random random{1};
  for (int i = 0; i < 4000; ++i) {
    uint64_t raw[4] = {};
    Wide value[4] = {};
    for (size_t k = 0; k < c.operands.size(); ++k) {
      unsigned bits = unsigned(std::abs(c.operands[k]));
      raw[k] = sample(random, bits);
      value[k] = c.operands[k] < 0 ? Wide(int64_t(raw[k] << (64 - bits)) >> (64 - bits)) : Wide(raw[k]);
    }
    uint64_t mask = c.resultBits == 64 ? ~uint64_t(0) : (uint64_t(1) << c.resultBits) - 1;
    uint64_t expected = uint64_t(c.oracle(value[0], value[1], value[2], value[3])) & mask;
    ASSERT_EQ(form(raw[0], raw[1], raw[2], raw[3]).value, expected)
        << std::hex << c.text << ": " << raw[0] << ", " << raw[1] << ", " << raw[2] << ", " << raw[3];
  }
}

Wide clampTo32(Wide value) { return std::clamp<Wide>(value, INT32_MIN, INT32_MAX); }

std::vector<Case> arithmetic() {
  std::vector<Case> cases;
  for (int bits : {16, 32, 64})
    for (int sign : {1, -1}) {
      int w = bits * sign;
      unsigned r = unsigned(bits);
      std::string type = (sign < 0 ? "s" : "u") + std::to_string(bits);
      auto two = [&](const std::string &op, Oracle oracle) {
        cases.push_back({op + "." + type + " %d, %a, %b", {w, w}, r, oracle});
      };
      auto three = [&](const std::string &op, Oracle oracle) {
        cases.push_back({op + "." + type + " %d, %a, %b, %c", {w, w, w}, r, oracle});
      };
      two("add", [](Wide a, Wide b, Wide, Wide) { return a + b; });
      two("sub", [](Wide a, Wide b, Wide, Wide) { return a - b; });
      two("mul.lo", [](Wide a, Wide b, Wide, Wide) { return Wide(Raw(a) * Raw(b)); });
      two("mul.hi", [bits](Wide a, Wide b, Wide, Wide) {
        // The product of two unsigned 64-bit values fills all 128 bits.
        return a >= 0 && b >= 0 ? Wide(Raw(a) * Raw(b) >> bits) : a * b >> bits;
      });
      two("div", [](Wide a, Wide b, Wide, Wide) { return b ? a / b : -1; });
      two("rem", [](Wide a, Wide b, Wide, Wide) { return b ? a % b : -1; });
      two("min", [](Wide a, Wide b, Wide, Wide) { return std::min(a, b); });
      two("max", [](Wide a, Wide b, Wide, Wide) { return std::max(a, b); });
      three("mad.lo", [](Wide a, Wide b, Wide c, Wide) { return Wide(Raw(a) * Raw(b) + Raw(c)); });
      three("sad", [](Wide a, Wide b, Wide c, Wide) { return c + (a < b ? b - a : a - b); });
      if (bits < 64) {
        cases.push_back(
            {"mul.wide." + type + " %d, %a, %b", {w, w}, 2 * r, [](Wide a, Wide b, Wide, Wide) { return a * b; }});
        cases.push_back(
            {"mad.wide." + type + " %d, %a, %b, %c", {w, w, 2 * w}, 2 * r, [](Wide a, Wide b, Wide c, Wide) {
               return a * b + c;
             }});
        three("mad.hi", [bits](Wide a, Wide b, Wide c, Wide) { return (a * b >> bits) + c; });
      }
      if (sign < 0) {
        cases.push_back({"neg." + type + " %d, %a", {w}, r, [](Wide a, Wide, Wide, Wide) { return -a; }});
        cases.push_back({"abs." + type + " %d, %a", {w}, r, [](Wide a, Wide, Wide, Wide) { return a < 0 ? -a : a; }});
      }
    }
  cases.push_back(
      {"add.sat.s32 %d, %a, %b", {-32, -32}, 32, [](Wide a, Wide b, Wide, Wide) { return clampTo32(a + b); }});
  cases.push_back(
      {"sub.sat.s32 %d, %a, %b", {-32, -32}, 32, [](Wide a, Wide b, Wide, Wide) { return clampTo32(a - b); }});
  cases.push_back({"mad.hi.sat.s32 %d, %a, %b, %c", {-32, -32, -32}, 32, [](Wide a, Wide b, Wide c, Wide) {
                     return clampTo32((a * b >> 32) + c);
                   }});
  cases.push_back({"min.relu.s32 %d, %a, %b", {-32, -32}, 32, [](Wide a, Wide b, Wide, Wide) {
                     return std::max<Wide>(0, std::min(a, b));
                   }});
  return cases;
}

Wide bit(Wide value, unsigned at) { return at < 64 ? value >> at & 1 : 0; }

std::vector<Case> bits() {
  std::vector<Case> cases;
  for (unsigned w : {32u, 64u}) {
    int s = int(w);
    std::string b = ".b" + std::to_string(w);
    cases.push_back({"popc" + b + " %d, %a", {s}, 32, [w](Wide a, Wide, Wide, Wide) {
                       Wide n = 0;
                       for (unsigned i = 0; i < w; ++i)
                         n += bit(a, i);
                       return n;
                     }});
    cases.push_back({"clz" + b + " %d, %a", {s}, 32, [w](Wide a, Wide, Wide, Wide) {
                       Wide n = 0;
                       while (n < w && !bit(a, unsigned(w - 1 - n)))
                         ++n;
                       return n;
                     }});
    cases.push_back({"brev" + b + " %d, %a", {s}, w, [w](Wide a, Wide, Wide, Wide) {
                       Wide r = 0;
                       for (unsigned i = 0; i < w; ++i)
                         r |= bit(a, i) << (w - 1 - i);
                       return r;
                     }});
    for (bool sign : {false, true}) {
      std::string type = (sign ? ".s" : ".u") + std::to_string(w);
      cases.push_back({"bfe" + type + " %d, %a, %b, %c", {s, 16, 16}, w, [w, sign](Wide a, Wide b, Wide c, Wide) {
                         unsigned at = unsigned(w == 32 ? b & 0xff : std::min<Wide>(b, 255));
                         unsigned length = unsigned(w == 32 ? c & 0xff : std::min<Wide>(c, 255));
                         Wide fill = sign && length ? bit(a, std::min(at + length - 1, w - 1)) : 0, r = 0;
                         for (unsigned i = 0; i < w; ++i)
                           r |= (i < length && at + i < w ? bit(a, at + i) : fill) << i;
                         return r;
                       }});
      cases.push_back({"shr" + type + " %d, %a, %b", {sign ? -s : s, 32}, w, [](Wide a, Wide b, Wide, Wide) {
                         return a >> std::min<Wide>(b, 100);
                       }});
    }
    cases.push_back({"bfi" + b + " %d, %a, %b, %c, %e", {s, s, 16, 16}, w, [w](Wide a, Wide b, Wide c, Wide e) {
                       unsigned at = unsigned(w == 32 ? c & 0xff : std::min<Wide>(c, 255));
                       unsigned length = unsigned(w == 32 ? e & 0xff : std::min<Wide>(e, 255));
                       for (unsigned i = 0; i < length && at + i < w; ++i)
                         b = (b & ~(Wide(1) << (at + i))) | bit(a, i) << (at + i);
                       return b;
                     }});
    cases.push_back({"shl" + b + " %d, %a, %b", {s, 32}, w, [w](Wide a, Wide b, Wide, Wide) {
                       return b < w ? Wide(Raw(a) << b) : 0;
                     }});
    cases.push_back({"cnot" + b + " %d, %a", {s}, w, [](Wide a, Wide, Wide, Wide) { return Wide(a == 0); }});
  }
  for (unsigned table = 0; table < 256; table += 5)
    cases.push_back(
        {"lop3.b32 %d, %a, %b, %c, " + std::to_string(table), {32, 32, 32}, 32, [table](Wide a, Wide b, Wide c, Wide) {
           Wide r = 0;
           for (unsigned i = 0; i < 32; ++i)
             r |= Wide(table >> unsigned(bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) & 1) << i;
           return r;
         }});
  for (bool wrap : {false, true}) {
    auto amount = [wrap](Wide by) { return wrap ? by & 31 : std::min<Wide>(by, 32); };
    std::string mode = wrap ? "wrap" : "clamp";
    cases.push_back({"shf.l." + mode + ".b32 %d, %a, %b, %c", {32, 32, 32}, 32, [amount](Wide a, Wide b, Wide c, Wide) {
                       return ((b << 32 | a) << amount(c)) >> 32;
                     }});
    cases.push_back({"shf.r." + mode + ".b32 %d, %a, %b, %c", {32, 32, 32}, 32, [amount](Wide a, Wide b, Wide c, Wide) {
                       return (b << 32 | a) >> amount(c);
                     }});
    cases.push_back({"bmsk." + mode + ".b32 %d, %a, %b", {32, 32}, 32, [amount](Wide a, Wide b, Wide, Wide) {
                       return ((Wide(1) << amount(b)) - 1) << amount(a);
                     }});
  }
  cases.push_back({"prmt.b32 %d, %a, %b, %c", {32, 32, 32}, 32, [](Wide a, Wide b, Wide c, Wide) {
                     Wide r = 0;
                     for (unsigned i = 0; i < 4; ++i) {
                       unsigned nibble = unsigned(c >> (4 * i) & 15);
                       Wide byte = (b << 32 | a) >> (8 * (nibble & 7)) & 0xff;
                       r |= (nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * i);
                     }
                     return r;
                   }});
  cases.push_back({"dp4a.s32.u32 %d, %a, %b, %c", {32, 32, 32}, 32, [](Wide a, Wide b, Wide c, Wide) {
                     for (unsigned i = 0; i < 32; i += 8)
                       c += Wide(int8_t(a >> i)) * Wide(uint8_t(b >> i));
                     return c;
                   }});
  cases.push_back({"cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c", {-32, -32, 32}, 32, [](Wide a, Wide b, Wide c, Wide) {
                     auto byte = [](Wide v) { return std::clamp<Wide>(v, -128, 127) & 0xff; };
                     return c << 16 | byte(a) << 8 | byte(b);
                   }});
  cases.push_back({"selp.b64 %d, %a, %b, %c", {64, 64, 1}, 64, [](Wide a, Wide b, Wide c, Wide) { return c ? a : b; }});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Arithmetic, Integer, testing::ValuesIn(arithmetic()));
INSTANTIATE_TEST_SUITE_P(Bits, Integer, testing::ValuesIn(bits()));

TEST(Extended, CarriesMakeWideSums) {
  Form low("add.cc.u32 %d, %a, %b"), high("addc.cc.u32 %d, %a, %b");
  Form lowSub("sub.cc.u64 %d, %a, %b"), highSub("subc.u64 %d, %a, %b");
  Form madLow("mad.lo.cc.u32 %d, %a, %b, %c"), madHigh("madc.hi.u32 %d, %a, %b, %c");
  for (const Form *form : {&low, &high, &lowSub, &highSub, &madLow, &madHigh})
    ASSERT_EQ(form->error(), "");
  Random random{2};
  for (int i = 0; i < 4000; ++i) {
    uint64_t a = sample(random, 64), b = sample(random, 64), c = sample(random, 64), e = sample(random, 64);
    Outcome l = low(uint32_t(a), uint32_t(b)), h = high(a >> 32, b >> 32, l.second);
    ASSERT_EQ(h.value << 32 | l.value, a + b);
    ASSERT_EQ(h.second, uint64_t(a + b < a));
    Outcome ls = lowSub(a, b), hs = highSub(c, e, ls.second);
    auto difference = ((unsigned __int128)c << 64 | a) - ((unsigned __int128)e << 64 | b);
    ASSERT_EQ(hs.value, uint64_t(difference >> 64));
    ASSERT_EQ(ls.value, uint64_t(difference));
    Outcome ml = madLow(uint32_t(a), uint32_t(b), uint32_t(c));
    Outcome mh = madHigh(uint32_t(a), uint32_t(b), c >> 32, ml.second);
    ASSERT_EQ(mh.value << 32 | ml.value, uint64_t(uint32_t(a)) * uint32_t(b) + c);
  }
}

TEST(Compare, PredicatesAndTheirOpposites) {
  Form form("setp.lt.and.s32 %p|%q, %a, %b, %c"), same("setp.hs.u32 %p|%q, %a, %b");
  Random random{3};
  for (int i = 0; i < 4000; ++i) {
    uint64_t a = sample(random, 32), b = sample(random, 32), c = random() & 1;
    bool less = int32_t(a) < int32_t(b);
    Outcome outcome = form(a, b, c);
    ASSERT_EQ(outcome.value, uint64_t(less && c));
    ASSERT_EQ(outcome.second, uint64_t(!less && c));
    ASSERT_EQ(same(a, b).value, uint64_t(a >= b));
    ASSERT_EQ(same(a, b).second, uint64_t(a < b));
  }
}

} // namespace
} // namespace interlock::emu::alu
