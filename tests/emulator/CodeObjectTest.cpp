// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The emulator runs code objects: ours as it runs their text, and kernels of other origin, which other compilers made,
// compared with the host.
#include "interlock/device.hpp"
#include "tests/emulator/ForeignHost.h"
#include "tests/plugin/Objects.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/cache/Processes.h"
#include "tests/unit/tool/Command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

namespace interlock {
namespace {

using testing::HasSubstr;

EmulatorOptions machine(const std::string &chip, EmulatorMemory memory = EmulatorMemory::sequential) {
  EmulatorOptions options;
  options.target = chip;
  options.memory = memory;
  options.disassembler = pluginDisassembler(INTERLOCK_PLUGIN);
  return options;
}

/// The code objects of foreign/kernels.hip by one compiler, or nothing where it is not installed or knows no such chip.
std::string compiledBy(const std::string &compiler, const std::string &chip) {
  test::TempFolder folder;
  std::string made = folder.string("k.hsaco");
  std::vector<std::string> command = {"/usr/bin/env",           compiler,    "-x",        "hip", "--cuda-device-only",
                                      "--offload-arch=" + chip, "-nogpulib", "-nogpuinc", "-O2", "-std=c++17"};
  if (compiler != "clang-14") // which bundles by itself; a newer one takes another package for that
    command.push_back("--no-gpu-bundle-output");
  command.insert(command.end(), {"-o", made, INTERLOCK_SOURCE "/tests/emulator/foreign/kernels.hip"});
  return test::runProgram(command).code == 0 ? test::slurp(made) : std::string();
}

/// The same by hiprtc, in a process of its own, which it aborts for chips that it does not know.
std::string compiledByHiprtc(const std::string &chip) {
  test::TempFolder folder;
  std::string source = test::slurp(INTERLOCK_SOURCE "/tests/emulator/foreign/kernels.hip");
  int code = test::exitCodeOf(test::inProcess([&] {
    void *library = dlopen("libamdhip64.so.5", RTLD_NOW);
    if (!library)
      return 1;
    auto find = [&](const char *name) { return dlsym(library, name); };
    auto create = reinterpret_cast<int (*)(void **, const char *, const char *, int, const char **, const char **)>(
        find("hiprtcCreateProgram"));
    auto compile = reinterpret_cast<int (*)(void *, int, const char **)>(find("hiprtcCompileProgram"));
    auto codeSize = reinterpret_cast<int (*)(void *, size_t *)>(find("hiprtcGetCodeSize"));
    auto getCode = reinterpret_cast<int (*)(void *, char *)>(find("hiprtcGetCode"));
    if (!create || !compile || !codeSize || !getCode)
      return 2;
    void *program = nullptr;
    std::string option = "--offload-arch=" + chip;
    const char *options[] = {option.c_str(), "-O2", "-std=c++17"};
    size_t size = 0;
    if (create(&program, source.c_str(), "kernels.hip", 0, nullptr, nullptr) || compile(program, 3, options) ||
        codeSize(program, &size))
      return 3;
    std::string object(size, '\0');
    if (getCode(program, object.data()))
      return 4;
    test::spill(folder.string("k.hsaco"), object);
    return 0;
  }));
  return code == 0 ? test::slurp(folder.string("k.hsaco")) : std::string();
}

/// Runs a case and gives back what it wrote.
Result<std::vector<uint32_t>> ran(Driver &driver, const std::string &object, const test::ForeignCase &each) {
  ILK_ASSIGN_OR_RETURN(KernelId kernel, driver.load(0, {.binary = object, .entry = each.kernel}));
  ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(0));
  ILK_ASSIGN_OR_RETURN(DeviceAddress in, driver.allocate(0, each.in.size() * 4));
  ILK_ASSIGN_OR_RETURN(DeviceAddress out, driver.allocate(0, each.before.size() * 4));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, in, each.in.data(), each.in.size() * 4));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, out, each.before.data(), each.before.size() * 4));
  struct {
    uint64_t out, in;
    uint32_t n;
  } arguments = {out, in, each.n};
  ILK_RETURN_IF_ERROR(driver.launch(stream, kernel, {.grid = (each.n + 127) / 128, .block = 128},
                                    {reinterpret_cast<const std::byte *>(&arguments), 20}));
  std::vector<uint32_t> after(each.after.size());
  ILK_RETURN_IF_ERROR(driver.copyOut(stream, after.data(), out, after.size() * 4));
  ILK_RETURN_IF_ERROR(driver.synchronize(stream));
  return after;
}

class Foreign : public testing::TestWithParam<std::string> {
protected:
  void expectRight(const std::string &object, EmulatorMemory memory) {
    auto driver = openEmulator(machine(GetParam(), memory));
    ASSERT_TRUE(driver) << driver.error().message;
    for (const test::ForeignCase &each : test::foreignCases(300)) {
      auto after = ran(**driver, object, each);
      ASSERT_TRUE(after) << each.kernel << ": " << after.error().message;
      EXPECT_EQ(*after, each.after) << each.kernel;
    }
  }
};

TEST_P(Foreign, KernelsOfClang22) {
  std::string object = compiledBy("clang-22", GetParam());
  if (object.empty())
    GTEST_SKIP() << "needs clang-22 in PATH";
  expectRight(object, EmulatorMemory::sequential);
  expectRight(object, EmulatorMemory::cached);
}

// Older compilers, which know one of the chips: other instructions, code object version 4.
class ForeignOlder : public Foreign {};

TEST_P(ForeignOlder, KernelsOfClang14) {
  std::string object = compiledBy("clang-14", GetParam());
  if (object.empty())
    GTEST_SKIP() << "needs clang-14 in PATH";
  expectRight(object, EmulatorMemory::sequential);
}

TEST_P(ForeignOlder, KernelsOfHiprtc) {
  std::string object = compiledByHiprtc(GetParam());
  if (object.empty())
    GTEST_SKIP() << "needs libamdhip64.so.5 with hiprtc";
  expectRight(object, EmulatorMemory::sequential);
}

INSTANTIATE_TEST_SUITE_P(CodeObjects, Foreign, testing::ValuesIn(test::amdChips()),
                         [](const auto &info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(CodeObjects, ForeignOlder, testing::Values("gfx90a"),
                         [](const auto &info) { return info.param; });

constexpr const char *writesSeven = R"(
@seven = internal addrspace(4) constant [2 x i32] [i32 0, i32 7]
@where = addrspace(1) global ptr addrspace(4) getelementptr (i8, ptr addrspace(4) @seven, i64 4)
define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %i) {
  %q = load ptr addrspace(4), ptr addrspace(1) @where
  %v = load i32, ptr addrspace(4) %q
  store i32 %v, ptr addrspace(1) %out
  ret void
})";

// An address that the loader stores, of a constant that has no symbol of its own.
TEST(CodeObjects, StoredAddressesAreFilledIn) {
  for (const std::string &chip : test::amdChips()) {
    auto driver = openEmulator(machine(chip));
    ASSERT_TRUE(driver) << driver.error().message;
    auto after = ran(**driver, test::compiledIr(writesSeven, chip), {"k", {0}, {0}, {7}, 1});
    ASSERT_TRUE(after) << chip << ": " << after.error().message;
    EXPECT_EQ(after->front(), 7u) << chip;
  }
}

std::string textOf(const std::string &body) {
  return R"(	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	k
	.p2align	8
	.type	k,@function
k:
)" + body +
         R"(
	s_endpgm
	.size	k, .-k
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel k
		.amdhsa_kernarg_size 20
		.amdhsa_next_free_vgpr 8
		.amdhsa_accum_offset 8
		.amdhsa_next_free_sgpr 8
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
)";
}

TEST(CodeObjects, AnInstructionThatIsNotKnownIsNamed) {
  auto driver = openEmulator(machine("gfx942"));
  ASSERT_TRUE(driver);
  auto unknown = ran(**driver, test::linked(textOf("\tv_mfma_f32_32x32x1_2b_f32 v[0:31], v0, v1, v[0:31]"), "gfx942"),
                     {"k", {0}, {0}, {0}, 1});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::unsupported) << unknown.error().message;
  EXPECT_THAT(unknown.error().message, HasSubstr("v_mfma_f32_32x32x1_2b_f32"));
  auto none = ran(**driver, test::linked(textOf("\t.long 0xffffffff"), "gfx942"), {"k", {0}, {0}, {0}, 1});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr(".long"));
}

TEST(CodeObjects, WhatCannotBeLoadedIsRefused) {
  std::string object = test::compiledIr(writesSeven, "gfx942");
  auto refusal = [](EmulatorOptions options, const KernelImage &image) {
    auto driver = openEmulator(options);
    if (!driver)
      return driver.error().message;
    auto loaded = (*driver)->load(0, image);
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_THAT(refusal(machine("gfx942"), {.binary = "junk", .entry = "k"}), HasSubstr("expected a code object"));
  EXPECT_THAT(refusal(machine("gfx950"), {.binary = object, .entry = "k"}),
              HasSubstr("expected a code object for gfx950, found gfx942"));
  EXPECT_THAT(refusal(machine("gfx942"), {.binary = object, .entry = "other"}),
              HasSubstr("expected a kernel of other, which has k"));
  EXPECT_THAT(refusal(machine("gfx942"), {.entry = "k"}), HasSubstr("expected a text or a binary of kernel k"));
  EmulatorOptions without = machine("gfx942");
  without.disassembler = {};
  EXPECT_THAT(refusal(without, {.binary = object, .entry = "k"}), HasSubstr("with a disassembler would do"));
  without.loads = EmulatorLoads::binary;
  EXPECT_THAT(refusal(without, {.binary = object, .entry = "k"}), HasSubstr("got no disassembler"));
  EmulatorOptions nvidia = machine("sm_90a");
  nvidia.loads = EmulatorLoads::binary;
  EXPECT_THAT(refusal(nvidia, {.text = "x", .entry = "k"}), HasSubstr("expected an AMD chip"));
  EmulatorOptions missing = machine("gfx942");
  missing.disassembler = pluginDisassembler("/nowhere/plugin.so");
  EXPECT_THAT(refusal(missing, {.binary = object, .entry = "k"}), HasSubstr("expected the compiler plugin"));
}

} // namespace
} // namespace interlock
