// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where code objects come in, and what is none: every byte of junk ends in one sentence.
#include "tests/plugin/Objects.h"

#include "analysis/AMDGCN/Reader.h"
#include "tests/fuzz/Mutations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const PluginOptions plugin = {.path = INTERLOCK_PLUGIN};

std::string objectFor(const std::string &chip) { return test::partsOf(test::kernelsFor(chip)[3], {"hsaco"})["hsaco"]; }

std::vector<std::string> targetsOf(const std::string &bytes, const std::string &chip = {}) {
  auto made = disassemble(plugin, bytes, chip);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  std::vector<std::string> targets;
  if (made)
    for (const Disassembly &each : *made)
      targets.push_back(each.target);
  return targets;
}

std::string refusalOf(const std::string &bytes, const std::string &chip = {}) {
  auto made = disassemble(plugin, bytes, chip);
  EXPECT_FALSE(made);
  if (made)
    return {};
  EXPECT_EQ(made.error().code, Code::badInput);
  return made.error().message;
}

class Containers : public testing::Test {
protected:
  const std::string first = objectFor("gfx90a"), second = objectFor("gfx1100");
  const std::string bundle = test::bundleOf({{"host-x86_64-unknown-linux--", ""},
                                             {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", first},
                                             {"hipv4-amdgcn-amd-amdhsa--gfx1100", second}});
};

TEST_F(Containers, GiveEveryCodeObjectInTheirOrder) {
  EXPECT_THAT(targetsOf(first), ElementsAre("amdgcn-amd-amdhsa--gfx90a"));
  EXPECT_THAT(targetsOf(bundle), ElementsAre("amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1100"));
  EXPECT_THAT(targetsOf(test::programWith(".hip_fatbin", bundle)),
              ElementsAre("amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1100"));
  // A program of several sources has a bundle of each, at a page's beginning.
  std::string padded = bundle;
  padded.resize((bundle.size() + 4095) / 4096 * 4096);
  EXPECT_THAT(targetsOf(test::programWith(".hip_fatbin", padded + bundle)),
              ElementsAre("amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1100", "amdgcn-amd-amdhsa--gfx90a",
                          "amdgcn-amd-amdhsa--gfx1100"));
}

TEST_F(Containers, GiveThoseOfOneChip) {
  EXPECT_THAT(targetsOf(bundle, "gfx1100"), ElementsAre("amdgcn-amd-amdhsa--gfx1100"));
  EXPECT_EQ(refusalOf(bundle, "gfx942"), "expected a code object for gfx942, found gfx90a, gfx1100");
  // Others that nobody knows are no hindrance.
  std::string unknown = first;
  unknown[48] = 0x22; // e_flags: gfx700
  std::string mixed =
      test::bundleOf({{"hipv4-amdgcn-amd-amdhsa--gfx700", unknown}, {"hipv4-amdgcn-amd-amdhsa--gfx1100", second}});
  EXPECT_THAT(targetsOf(mixed, "gfx1100"), ElementsAre("amdgcn-amd-amdhsa--gfx1100"));
  EXPECT_EQ(refusalOf(mixed, "gfx942"), "expected a code object for gfx942, found an unknown one, gfx1100");
}

TEST_F(Containers, ThatHaveNoneAreRefused) {
  EXPECT_THAT(refusalOf(""), HasSubstr("found something else"));
  EXPECT_THAT(refusalOf("#include <hip/hip_runtime.h>"), HasSubstr("found something else"));
  EXPECT_THAT(refusalOf("\x7f"
                        "ELF"),
              HasSubstr("ends in its header"));
  EXPECT_THAT(refusalOf(test::programWith(".text", "\xc3")), HasSubstr("found neither"));
  EXPECT_THAT(refusalOf(test::programWith(".hip_fatbin", "CCOB\x02")), HasSubstr("-no-offload-compress would do"));
  EXPECT_THAT(refusalOf(test::bundleOf({{"host-x86_64-unknown-linux--", "\x7f"
                                                                        "ELF"}})),
              HasSubstr("expected a code object for an AMD GPU in the offload bundle, found none"));
}

TEST_F(Containers, CodeObjectsOfOtherVersionsAndChipsAreRefused) {
  std::string other = first;
  other[8] = 0; // EI_ABIVERSION
  EXPECT_THAT(refusalOf(other), HasSubstr("expected a code object of version 3 to 6, found ABI version 0"));
  other = first;
  other[48] = 0x22; // e_flags: gfx700
  EXPECT_THAT(refusalOf(other), HasSubstr("found machine 0x22 in its header"));
  other = first;
  other[16] = 1; // e_type: an object file
  EXPECT_THAT(refusalOf(other), HasSubstr("ld.lld -shared would do"));
}

// What is read as a code object all the same is assembly that the reader takes.
TEST_F(Containers, JunkIsRefusedInOneSentence) {
  std::mt19937_64 random(7);
  unsigned refused = 0, read = 0;
  auto look = [&](const std::string &bytes) {
    auto made = disassemble(plugin, bytes);
    if (!made) {
      ++refused;
      ASSERT_EQ(made.error().code, Code::badInput);
      ASSERT_THAT(made.error().message, testing::StartsWith("expected "));
      ASSERT_THAT(made.error().message, Not(HasSubstr("\n")));
      return;
    }
    for (const Disassembly &each : *made) {
      auto module = amdgcn::read(each.text, "junk.s");
      ASSERT_TRUE(module) << module.error().str();
      ++read;
    }
  };
  // With functions and data that are found by name and by address.
  const std::string linked = test::compiledIr(R"(
@counter = addrspace(1) global i32 42
@places = internal addrspace(1) global [2 x ptr addrspace(1)] [ptr addrspace(1) @counter, ptr addrspace(1) null]
define void @helper(ptr addrspace(1) %p) noinline {
  store i32 7, ptr addrspace(1) %p
  ret void
}
define amdgpu_kernel void @k(i32 %i) {
  %p = getelementptr [2 x ptr addrspace(1)], ptr addrspace(1) @places, i32 0, i32 %i
  %w = load ptr addrspace(1), ptr addrspace(1) %p
  call void @helper(ptr addrspace(1) %w)
  ret void
})",
                                              "gfx90a");
  for (const std::string *whole : {&second, &bundle, &linked}) {
    for (size_t size = 0; size < whole->size(); size += 61)
      look(whole->substr(0, size));
    for (int n = 0; n < 400; ++n)
      look(fuzz::mutated({*whole}, random, /*lines=*/false));
    // A few bytes of the tables, which is where most of the meaning is.
    for (int n = 0; n < 1000; ++n) {
      std::string bytes = *whole;
      for (unsigned k = 1 + unsigned(random() % 3); k--;) {
        size_t region = random() % 3;
        size_t at = region == 0   ? random() % 64
                    : region == 1 ? bytes.size() - 1 - random() % std::min<size_t>(bytes.size(), 1600)
                                  : random() % std::min<size_t>(bytes.size(), 2048);
        bytes[at] = char(random());
      }
      look(bytes);
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(read, 100u);
}

} // namespace
} // namespace interlock
