// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that another process writes too. Each case forks: both processes have a machine of their own and the same
// pages, as two ranks in two processes have.
#include "tests/unit/emulator/Harness.h"

#include <chrono>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

class SharedMemory : public MachineTest {
protected:
  static constexpr size_t bytes = 4096;

  void SetUp() override {
    void *memory = mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    host = static_cast<uint8_t *>(memory);
    MachineTest::SetUp();
  }
  void TearDown() override {
    machine.reset();
    munmap(host, 2 * bytes);
  }
  uint64_t map(bool shared = true) {
    HostMemory piece{0, bytes, host, shared};
    auto address = machine->map(std::span(&piece, 1));
    EXPECT_TRUE(address) << address.error().message;
    return address ? *address : 0;
  }
  /// Runs `work` in this process and in another; both must end without a failure.
  template <typename Work> void inBoth(Work work) {
    pid_t other = fork();
    ASSERT_GE(other, 0);
    options.seed = other == 0;
    open();
    // Both start at once, or one could be done before the other begins.
    auto *arrived = reinterpret_cast<uint32_t *>(host + 2 * bytes - sizeof(uint32_t));
    __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) % 2)
      usleep(10);
    work(other == 0 ? 1u : 0u);
    if (other == 0)
      _exit(HasFailure());
    int status = 0;
    ASSERT_EQ(waitpid(other, &status, 0), other);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  uint8_t *host = nullptr;
};

TEST_F(SharedMemory, AtomicsOfTwoProcessesLoseNothing) {
  constexpr uint64_t rounds = 10'000;
  const std::string text = kernelText("mov.u32 %r1, 0;\n"
                                      "again:\n"
                                      "atom.add.release.sys.global.u64 %rd1, [%rd100], 1;\n"
                                      "red.add.relaxed.sys.global.u32 [%rd100+8], 3;\n"
                                      "red.max.relaxed.sys.global.u32 [%rd100+12], %r1;\n"
                                      "retry:\n"
                                      "ld.relaxed.sys.global.u32 %r2, [%rd100+16];\n"
                                      "add.u32 %r3, %r2, 2;\n"
                                      "atom.cas.acq_rel.sys.global.b32 %r4, [%rd100+16], %r2, %r3;\n"
                                      "setp.ne.u32 %p2, %r4, %r2;\n"
                                      "@%p2 bra retry;\n"
                                      "add.u32 %r1, %r1, 1;\n"
                                      "setp.lt.u32 %p1, %r1, " +
                                          std::to_string(rounds) + ";\n@%p1 bra again;",
                                      1);
  inBoth([&](uint32_t) { run(text, grid(2, 4), {map()}); });
  const auto *words = reinterpret_cast<const uint32_t *>(host);
  uint64_t threads = 2 * 8; // processes by threads
  EXPECT_EQ(*reinterpret_cast<const uint64_t *>(host), threads * rounds);
  EXPECT_EQ(words[2], uint32_t(3 * threads * rounds));
  EXPECT_EQ(words[3], rounds - 1);
  EXPECT_EQ(words[4], uint32_t(2 * threads * rounds));
}

// Each process in turn writes weak data, then a flag; the other waits for the flag and must find the data.
TEST_F(SharedMemory, ReleaseAndAcquireCarryDataAcross) {
  const std::string text = kernelText("mov.u64 %rd1, 0; mov.u64 %rd2, 0;\n" // round, errors
                                      "next:\n"
                                      "add.u64 %rd1, %rd1, 1;\n"
                                      "setp.ne.u64 %p1, %rd101, 0;\n"
                                      "@%p1 bra wait;\n"
                                      "send:\n"
                                      "st.global.v2.u64 [%rd100+256], {%rd1, %rd1};\n"
                                      "st.global.u64 [%rd100+1024], %rd1;\n"
                                      "st.release.sys.global.u64 [%rd100], %rd1;\n"
                                      "@%p1 bra done;\n"
                                      "wait:\n"
                                      "@!%p1 bra answer;\n"
                                      "ask:\n"
                                      "ld.acquire.sys.global.u64 %rd3, [%rd100];\n"
                                      "setp.lt.u64 %p2, %rd3, %rd1;\n"
                                      "@%p2 bra ask;\n"
                                      "ld.global.v2.u64 {%rd4, %rd5}, [%rd100+256];\n"
                                      "ld.global.u64 %rd6, [%rd100+1024];\n"
                                      "xor.b64 %rd4, %rd4, %rd1; xor.b64 %rd5, %rd5, %rd1; xor.b64 %rd6, %rd6, %rd1;\n"
                                      "or.b64 %rd4, %rd4, %rd5; or.b64 %rd4, %rd4, %rd6; or.b64 %rd2, %rd2, %rd4;\n"
                                      "st.release.sys.global.u64 [%rd100+128], %rd1;\n"
                                      "bra done;\n"
                                      "answer:\n"
                                      "ld.relaxed.sys.global.u64 %rd3, [%rd100+128];\n"
                                      "setp.lt.u64 %p2, %rd3, %rd1;\n"
                                      "@%p2 bra answer;\n"
                                      "fence.acq_rel.sys;\n"
                                      "done:\n"
                                      "setp.lt.u64 %p3, %rd1, 300;\n"
                                      "@%p3 bra next;\n"
                                      "st.global.u64 [%rd102], %rd2;",
                                      3);
  inBoth([&](uint32_t process) {
    uint64_t errors = upload<uint64_t>({77});
    run(text, grid(1, 1), {map(), process, errors});
    EXPECT_EQ(download<uint64_t>(errors, 1)[0], 0u);
  });
}

// A wait for somebody who never comes is bounded by the kernel's own clock, which goes as the one on the wall does.
TEST_F(SharedMemory, AWaitTakesAsLongAsItSays) {
  const std::string text = kernelText("mov.u64 %rd1, %globaltimer;\n"
                                      "again:\n"
                                      "ld.relaxed.sys.global.u32 %r1, [%rd100];\n"
                                      "setp.ne.u32 %p1, %r1, 0;\n"
                                      "@%p1 bra done;\n"
                                      "mov.u64 %rd2, %globaltimer;\n"
                                      "sub.u64 %rd2, %rd2, %rd1;\n"
                                      "setp.lt.u64 %p1, %rd2, 150000000;\n"
                                      "@%p1 bra again;\n"
                                      "done:\n",
                                      1);
  auto spent = [&](bool shared) {
    open();
    uint64_t at = map(shared);
    auto begin = std::chrono::steady_clock::now();
    run(text, grid(1, 32), {at});
    EXPECT_TRUE(machine->unmap(at));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  EXPECT_GE(spent(true), 0.1);
  EXPECT_LT(spent(true), 5.0);
  EXPECT_LT(spent(false), 0.1) << "alone in the machine, nobody is waited for";
}

TEST_F(SharedMemory, PiecesLieSideBySideAndGoTogether) {
  std::vector<HostMemory> pieces{{0, bytes, host, true}, {0, bytes, host + bytes, false}};
  auto base = machine->map(pieces);
  ASSERT_TRUE(base);
  run(kernelText("st.global.u32 [%rd100], 1; st.global.u32 [%rd100+4096], 2; st.global.u32 [%rd100+8188], 3;", 1),
      grid(1, 1), {*base});
  EXPECT_EQ(host[0], 1);
  EXPECT_EQ(host[bytes], 2);
  EXPECT_EQ(host[2 * bytes - 4], 3);
  EXPECT_FALSE(machine->release(*base)) << "it is no allocation";
  EXPECT_FALSE(machine->unmap(*base + bytes)) << "it is no start";
  EXPECT_THAT(errorOf(kernelText("st.global.u32 [%rd100], 1;", 1), grid(1, 1), {*base + 2 * bytes}),
              HasSubstr("past the end"));
  EXPECT_TRUE(machine->unmap(*base));
  EXPECT_FALSE(machine->unmap(*base));
  for (uint64_t at : {*base, *base + bytes})
    EXPECT_THAT(errorOf(kernelText("st.global.u32 [%rd100], 1;", 1), grid(1, 1), {at}), HasSubstr("expected"));
}

TEST_F(SharedMemory, WhatCannotBeMappedIsRefused) {
  EXPECT_FALSE(machine->map({}));
  for (const HostMemory &piece :
       {HostMemory{7, bytes, host, false}, HostMemory{0, 0, host, false}, HostMemory{0, bytes, nullptr, false}})
    EXPECT_FALSE(machine->map(std::span(&piece, 1)));
}

} // namespace
} // namespace interlock::emu::test
