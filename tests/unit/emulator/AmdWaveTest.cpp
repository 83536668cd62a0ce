// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Waves of AMD chips: how they begin, what EXEC does, lanes, LDS, scratch memory, calls, barriers, and errors.
#include "tests/unit/emulator/AmdHarness.h"

#include <numeric>

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

class AmdWave : public MachineTest {
protected:
  void useChip(const std::string &chip) {
    options.chip = chip;
    open();
  }
  bool old() const { return options.chip.starts_with("gfx9"); }
  /// Loads a 64-bit argument to s[4:5] and v2 = 4 * global thread number, of blocks of 2^shift threads.
  std::string head(unsigned shift) const {
    std::string workgroup = options.chip.starts_with("gfx12") ? "ttmp9" : "s2";
    return (old() ? "s_load_dwordx2 s[4:5], s[0:1], 0x0\n" : "s_load_b64 s[4:5], s[0:1], 0x0\n") +
           ("v_and_b32 v1, 0x3ff, v0\nv_mov_b32 v2, " + workgroup + "\nv_lshlrev_b32 v2, " + std::to_string(shift) +
            ", v2\nv_or_b32 v1, v1, v2\nv_lshlrev_b32 v2, 2, v1\n") +
           (old()                       ? "s_waitcnt lgkmcnt(0)\n"
            : options.chip == "gfx1100" ? "s_waitcnt lgkmcnt(0)\n"
                                        : "s_wait_kmcnt 0\n");
  }
  std::string store(const std::string &reg) const {
    return (old() ? "\nglobal_store_dword v2, " : "\nglobal_store_b32 v2, ") + reg + ", s[4:5]\n";
  }
  std::vector<uint32_t> results(const std::string &body, LaunchConfig config, unsigned lds = 0, unsigned scratch = 0) {
    size_t n = size_t(config.grid.x) * config.block.x * config.block.y * config.block.z;
    uint64_t out = zeros(4 * n);
    run(amdKernel(options.chip, body, 1, lds, scratch), config, {out});
    return download<uint32_t>(out, n);
  }
};

TEST_F(AmdWave, ThreadsKnowWhoTheyAre) {
  for (const char *chip : amdChips) {
    useChip(chip);
    auto got = results(head(6) + store("v1"), grid(3, 64));
    for (uint32_t i = 0; i < 192; ++i)
      ASSERT_EQ(got[i], i) << chip;
    // Three dimensions are packed into one register.
    LaunchConfig config = grid(1, 4);
    config.block.y = 3;
    config.block.z = 2;
    std::string at = "v_bfe_u32 v3, v0, 10, 10\nv_bfe_u32 v4, v0, 20, 10\nv_and_b32 v1, 0x3ff, v0\n"
                     "v_mul_u32_u24 v5, v4, 3\nv_add3_u32 v5, v5, v3, 0\nv_lshl_add_u32 v5, v5, 2, v1\n"
                     "v_lshlrev_b32 v2, 2, v5\n";
    got = results(head(6) + at + store("v0"), config);
    for (uint32_t i = 0; i < 24; ++i)
      ASSERT_EQ(got[i], i % 4 | (i / 4 % 3) << 10 | (i / 12) << 20) << chip;
  }
}

TEST_F(AmdWave, ImplicitArgumentsAndTheDispatchPacket) {
  useChip("gfx942");
  std::string text = amdKernel("gfx942",
                               "s_load_dwordx2 s[8:9], s[2:3], 0x0\ns_load_dword s10, s[0:1], 0xc\n"
                               "s_load_dwordx4 s[12:15], s[2:3], 0x8\nv_mov_b32 v1, 0\nv_mov_b32 v2, s10\n"
                               "v_mov_b32 v3, s12\nv_mov_b32 v4, s14\nv_mov_b32 v5, s15\n"
                               "global_store_dwordx4 v1, v[2:5], s[8:9]",
                               0);
  auto put = [&](const std::string &before, const std::string &what) { text.insert(text.find(before), what); };
  put(".amdhsa_user_sgpr_count 2", ".amdhsa_user_sgpr_dispatch_ptr 1\n");
  text.replace(text.find("sgpr_count 2"), 12, "sgpr_count 4");
  put("    .name: k", "      - .offset: 0\n        .size: 8\n        .value_kind: global_buffer\n"
                      "      - .offset: 8\n        .size: 4\n        .value_kind: hidden_block_count_x\n"
                      "      - .offset: 16\n        .size: 2\n        .value_kind: hidden_group_size_x\n"
                      "      - .offset: 18\n        .size: 2\n        .value_kind: hidden_group_size_y\n"
                      "      - .offset: 20\n        .size: 4\n        .value_kind: hidden_dynamic_lds_size\n");
  uint64_t out = zeros(16);
  LaunchConfig config = grid(5, 32, 1, 512);
  config.block.y = 2;
  run(text, config, {out});
  auto got = download<uint32_t>(out, 4);
  EXPECT_EQ(got[0], 5u * 32); // of the packet: work-items along x
  EXPECT_EQ(got[1], 5u);
  EXPECT_EQ(got[2], 32u | 2u << 16);
  EXPECT_EQ(got[3], 512u);
}

TEST_F(AmdWave, OnlyActiveLanesWrite) {
  for (const char *chip : amdChips) {
    useChip(chip);
    bool wide = waveLanes(chip) == 64;
    std::string save = wide ? "s_and_saveexec_b64 s[8:9], vcc\n" : "s_and_saveexec_b32 s8, vcc_lo\n";
    std::string vcc = wide ? "vcc" : "vcc_lo", restore = wide ? "s_mov_b64 exec, s[8:9]\n" : "s_mov_b32 exec_lo, s8\n";
    auto got = results(head(5) + "v_mov_b32 v3, 7\nv_and_b32 v4, 1, v1\nv_cmp_eq_u32 " + vcc + ", 1, v4\n" + save +
                           "v_mov_b32 v3, 9\n" + restore + store("v3"),
                       grid(1, 20));
    for (uint32_t i = 0; i < 20; ++i)
      ASSERT_EQ(got[i], i % 2 ? 9u : 7u) << chip;
  }
}

TEST_F(AmdWave, LanesExchangeValues) {
  for (const char *chip : amdChips) {
    useChip(chip);
    unsigned lanes = waveLanes(chip);
    std::string begin = head(lanes == 64 ? 6 : 5),
                wait = std::string(chip).starts_with("gfx12") ? "s_wait_dscnt 0\n" : "s_waitcnt lgkmcnt(0)\n";
    auto add = [&](std::string text) {
      if (!old())
        for (size_t at; (at = text.find("v_add_u32")) != text.npos;)
          text.replace(at, 9, "v_add_nc_u32");
      return text;
    };
    auto run1 = [&](const std::string &body, auto want) {
      auto got = results(add(begin + "v_add_u32 v3, 100, v1\n" + body) + store("v5"), grid(1, lanes));
      for (uint32_t i = 0; i < lanes; ++i)
        ASSERT_EQ(got[i], want(i)) << chip << ": " << body << ", lane " << i;
    };
    run1("v_xor_b32 v4, 3, v1\nv_lshlrev_b32 v4, 2, v4\nds_bpermute_b32 v5, v4, v3\n" + wait,
         [](uint32_t i) { return 100 + (i ^ 3); });
    run1("v_lshlrev_b32 v4, 2, v1\nv_add_u32 v4, 4, v4\nds_permute_b32 v5, v4, v3\n" + wait,
         [&](uint32_t i) { return 100 + (i + lanes - 1) % lanes; });
    run1("ds_swizzle_b32 v5, v3 offset:swizzle(SWAP,8)\n" + wait, [](uint32_t i) { return 100 + (i ^ 8); });
    run1("ds_swizzle_b32 v5, v3 offset:swizzle(QUAD_PERM,3,2,1,0)\n" + wait, [](uint32_t i) { return 100 + (i ^ 3); });
    run1("ds_swizzle_b32 v5, v3 offset:swizzle(BITMASK_PERM,\"01pip\")\n" + wait,
         [](uint32_t i) { return 100 + ((i & ~31u) | 8 | ((i & 7) ^ 2)); });
    run1("s_mov_b32 s8, 7\nv_readlane_b32 s9, v3, s8\nv_mov_b32 v5, s9\n", [](uint32_t) { return 107u; });
    run1("v_readfirstlane_b32 s9, v3\nv_mov_b32 v5, s9\ns_mov_b32 s10, 55\nv_writelane_b32 v5, s10, 6\n",
         [](uint32_t i) { return i == 6 ? 55u : 100u; });
    run1("v_mov_b32 v5, 1\nv_mov_b32_dpp v5, v3 row_shr:1 row_mask:0xf bank_mask:0xf\n",
         [](uint32_t i) { return i % 16 ? 99 + i : 1; });
    run1("v_mov_b32 v5, 1\nv_mov_b32_dpp v5, v3 row_shl:2 row_mask:0x1 bank_mask:0xf bound_ctrl:1\n", [](uint32_t i) {
      return i >= 16 ? 1 : i < 14 ? 102 + i : 0;
    });
    run1("v_mov_b32_dpp v5, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n",
         [](uint32_t i) { return 100 + (i ^ 1); });
    run1("v_mov_b32_dpp v5, v3 row_half_mirror row_mask:0xf bank_mask:0xf\n",
         [](uint32_t i) { return 100 + ((i & ~7u) | (7 - (i & 7))); });
    run1("s_mov_b32 s8, 0xf0f0f0f0\nv_mbcnt_lo_u32_b32 v5, s8, 3\n", [](uint32_t i) {
      return 3 + uint32_t(__builtin_popcount(0xf0f0f0f0u & uint32_t((uint64_t(1) << std::min(i, 32u)) - 1)));
    });
    if (old()) {
      run1("v_mov_b32 v5, 1\nv_mov_b32_dpp v5, v3 row_bcast:15 row_mask:0xa bank_mask:0xf\n",
           [](uint32_t i) { return i / 16 % 2 ? 100 + (i & ~15u) - 1 : 1; });
      run1("s_mov_b32 s8, -1\nv_mbcnt_lo_u32_b32 v5, s8, 0\nv_mbcnt_hi_u32_b32 v5, s8, v5\n",
           [](uint32_t i) { return i; });
    } else {
      run1("v_mov_b32_dpp v5, v3 row_share:5 row_mask:0xf bank_mask:0xf\n",
           [](uint32_t i) { return 100 + (i & ~15u) + 5; });
      run1("v_mov_b32_dpp v5, v3 row_xmask:6 row_mask:0xf bank_mask:0xf\n", [](uint32_t i) { return 100 + (i ^ 6); });
      run1("v_mov_b32_dpp v5, v3 dpp8:[7,6,5,4,3,2,1,0]\n", [](uint32_t i) { return 100 + (i ^ 7); });
      run1("s_mov_b32 s8, 0x76543210\ns_mov_b32 s9, 0xfedcba98\nv_permlanex16_b32 v5, v3, s8, s9\n",
           [](uint32_t i) { return 100 + (i ^ 16); });
    }
  }
}

TEST_F(AmdWave, LdsAndBarriers) {
  for (const char *chip : amdChips) {
    useChip(chip);
    std::string name = chip;
    std::string write = old() ? "ds_write_b32" : "ds_store_b32", read = old() ? "ds_read_b32" : "ds_load_b32";
    std::string wait = name.starts_with("gfx12") ? "s_wait_dscnt 0\n" : "s_waitcnt lgkmcnt(0)\n";
    std::string barrier = name.starts_with("gfx12") ? "s_barrier_signal -1\ns_barrier_wait -1\n" : "s_barrier\n";
    // Reversed through LDS, across waves, three times.
    std::string body = head(8) + "v_mov_b32 v3, v1\nv_lshlrev_b32 v4, 2, v1\nv_sub_u32 v5, 0x3fc, v4\n";
    if (!old())
      body.replace(body.find("v_sub_u32"), 9, "v_sub_nc_u32");
    for (int round = 0; round < 3; ++round)
      body += write + " v4, v3 offset:64\n" + wait + barrier + read + " v3, v5 offset:64\n" + wait + barrier;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      options.seed = seed;
      open();
      auto got = results(body + store("v3"), grid(1, 256), 1088);
      for (uint32_t i = 0; i < 256; ++i)
        ASSERT_EQ(got[i], 255 - i) << chip;
    }
  }
  // Two pieces at once, and read-modify-writes.
  useChip("gfx942");
  auto got = results(head(6) +
                         "v_lshlrev_b32 v4, 3, v1\nv_mov_b32 v6, v1\nv_mov_b32 v7, 5\n"
                         "ds_write2_b32 v4, v6, v7 offset1:1\nds_add_rtn_u32 v8, v4, v7 offset:4\n"
                         "ds_read2_b32 v[10:11], v4 offset1:1\ns_waitcnt lgkmcnt(0)\n"
                         "v_lshl_add_u32 v3, v11, 8, v10\nv_lshl_add_u32 v3, v8, 16, v3\n" +
                         store("v3"),
                     grid(1, 64), 512);
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(got[i], i | 10 << 8 | 5 << 16);
}

TEST_F(AmdWave, TheFirstToSignalKnows) {
  useChip("gfx1201");
  uint64_t out = zeros(4);
  std::string body = "s_load_b64 s[4:5], s[0:1], 0x0\ns_barrier_signal_isfirst -1\ns_cselect_b32 s6, 1, 0\n"
                     "s_barrier_wait -1\nv_mov_b32 v1, 0\nv_mov_b32 v2, s6\ns_mov_b32 exec_lo, 1\n"
                     "global_atomic_add_u32 v1, v2, s[4:5]";
  run(amdKernel("gfx1201", body, 1), grid(1, 256), {out});
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 1u);
}

TEST_F(AmdWave, ClustersMeet) {
  useChip("gfx1250");
  // One wave of each workgroup signals the cluster; all wait; then every workgroup reads what the others wrote.
  std::string body =
      "s_load_b64 s[4:5], s[0:1], 0x0\ns_getreg_b32 s8, hwreg(HW_REG_IB_STS2, 6, 4)\n"
      "s_and_b32 s9, ttmp6, 15\ns_lshl_b32 s10, ttmp9, 2\ns_add_co_i32 s10, s10, s9\n" // workgroup
      "s_wait_kmcnt 0\nv_and_b32 v1, 0x3ff, v0\nv_mov_b32 v2, s10\nv_lshlrev_b32 v3, 2, v2\n"
      "v_add_nc_u32 v2, 1, v2\nglobal_store_b32 v3, v2, s[4:5] scope:SCOPE_SE\ns_wait_storecnt 0\n"
      "s_barrier_signal_isfirst -1\ns_barrier_wait -1\ns_cbranch_scc0 .Lnot\ns_barrier_signal -3\n.Lnot:\n"
      "s_barrier_wait -3\nglobal_inv scope:SCOPE_SE\n"
      "s_xor_b32 s11, s10, 3\ns_lshl_b32 s11, s11, 2\nv_mov_b32 v4, s11\n"
      "global_load_b32 v5, v4, s[4:5] scope:SCOPE_SE\ns_wait_loadcnt 0\nv_lshl_or_b32 v5, s8, 16, v5\n"
      "v_add_nc_u32 v3, 64, v3\nglobal_store_b32 v3, v5, s[4:5]";
  for (MemoryMode mode : {MemoryMode::sequential, MemoryMode::cached})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      options.memory = mode;
      options.seed = seed;
      open();
      uint64_t out = zeros(128);
      run(amdKernel("gfx1250", body, 1), grid(8, 64, 4), {out});
      auto got = download<uint32_t>(out, 32);
      for (uint32_t i = 0; i < 8; ++i)
        ASSERT_EQ(got[16 + i], ((i ^ 3) + 1) | 3u << 16) << seed;
    }
  EXPECT_THAT(errorOf(amdKernel("gfx1250", "s_barrier_signal 5", 0), grid(1, 32), {}),
              HasSubstr("expected barrier -1"));
  useChip("gfx942");
  EXPECT_THAT(errorOf(amdKernel("gfx942", "", 0), grid(4, 64, 2), {}),
              HasSubstr("expected no cluster, gfx942 has none"));
}

TEST_F(AmdWave, ScratchMemoryAndGenericAddresses) {
  useChip("gfx942");
  // Through scratch instructions, and through a generic pointer into each of the three spaces.
  auto got = results(head(6) +
                         "scratch_store_dword off, v1, off offset:8\ns_waitcnt vmcnt(0)\n"
                         "s_mov_b64 s[8:9], src_private_base\nv_mov_b32 v4, 8\nv_mov_b32 v5, s9\n"
                         "flat_load_dword v6, v[4:5]\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
                         "s_mov_b64 s[10:11], src_shared_base\nv_lshlrev_b32 v8, 2, v1\nv_mov_b32 v9, s11\n"
                         "flat_store_dword v[8:9], v6\ns_waitcnt vmcnt(0) lgkmcnt(0)\nds_read_b32 v3, v8\n"
                         "s_waitcnt lgkmcnt(0)\nv_add_u32 v3, 1000, v3\n" +
                         store("v3"),
                     grid(1, 64), 256, 16);
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(got[i], 1000 + i);
  EXPECT_THAT(errorOf(amdKernel("gfx942", "scratch_store_dword off, v0, off offset:16", 0, 0, 16), grid(1, 64), {}),
              HasSubstr("inside the 16 bytes of scratch memory"));
  // gfx90a addresses its scratch memory through a buffer.
  useChip("gfx90a");
  std::string text =
      amdKernel("gfx90a",
                "buffer_store_dword v0, off, s[0:3], 0 offset:4\ns_waitcnt vmcnt(0)\nv_mov_b32 v1, 4\n"
                "buffer_load_dword v3, v1, s[0:3], 0 offen\ns_load_dwordx2 s[8:9], s[4:5], 0x0\n"
                "v_lshlrev_b32 v2, 2, v0\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v2, v3, s[8:9]",
                1, 0, 8);
  text.replace(text.find("sgpr_count 2"), 12, "sgpr_count 6\n.amdhsa_user_sgpr_private_segment_buffer 1");
  uint64_t out = zeros(256);
  run(text, grid(1, 64), {out});
  auto there = download<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(there[i], i);
}

TEST_F(AmdWave, CallsAndData) {
  useChip("gfx942");
  std::string body = head(6) +
                     "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, helper@rel32@lo+4\ns_addc_u32 s9, s9, helper@rel32@hi+12\n"
                     "s_swappc_b64 s[30:31], s[8:9]\n"
                     "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, table@gotpcrel32@lo+4\n"
                     "s_addc_u32 s9, s9, table@gotpcrel32@hi+12\ns_load_dwordx2 s[8:9], s[8:9], 0x0\n"
                     "s_waitcnt lgkmcnt(0)\ns_load_dword s10, s[8:9], 0x4\ns_waitcnt lgkmcnt(0)\n"
                     "v_add_u32 v3, s10, v3\n" +
                     store("v3") + "s_endpgm\nhelper:\nv_mov_b32 v3, 40\ns_setpc_b64 s[30:31]";
  std::string text = amdKernel("gfx942", body, 1) + ".rodata\ntable:\n.long 1\n.long 2\n";
  uint64_t out = zeros(256);
  run(text, grid(1, 64), {out});
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 42u);
  auto m = machine->load(0, text, "test.s");
  EXPECT_EQ(download<uint32_t>(*machine->symbol(*m, "table"), 2)[1], 2u);
}

TEST_F(AmdWave, MemoryOfEveryWidth) {
  useChip("gfx942");
  uint64_t in = upload<uint8_t>({0x80, 0xff, 0x01, 0xfe, 0x88, 0x77, 0x66, 0x95, 1, 2, 3, 4, 5, 6, 7, 8});
  uint64_t out = zeros(64);
  run(amdKernel("gfx942",
                "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_mov_b32 v9, -1\ns_waitcnt lgkmcnt(0)\n"
                "global_load_ubyte v2, v1, s[4:5]\nglobal_load_sbyte v3, v1, s[4:5]\nglobal_load_ushort v4, v1, s[4:5] "
                "offset:2\n"
                "global_load_sshort v5, v1, s[4:5] offset:2\nglobal_load_short_d16_hi v9, v1, s[4:5] offset:4\n"
                "global_load_dwordx3 v[6:8], v1, s[4:5] offset:4\ns_waitcnt vmcnt(0)\n"
                "global_store_dwordx4 v1, v[2:5], s[6:7]\nglobal_store_dwordx4 v1, v[6:9], s[6:7] offset:16\n"
                "global_store_byte v1, v3, s[6:7] offset:33\nglobal_store_short_d16_hi v1, v9, s[6:7] offset:36",
                2),
      grid(1, 1), {in, out});
  auto w = download<uint32_t>(out, 10);
  EXPECT_EQ(w[0], 0x80u);
  EXPECT_EQ(w[1], 0xffffff80u);
  EXPECT_EQ(w[2], 0xfe01u);
  EXPECT_EQ(w[3], 0xfffffe01u);
  EXPECT_EQ(w[4], 0x95667788u);
  EXPECT_EQ(w[6], 0x08070605u);
  EXPECT_EQ(w[7], 0x7788ffffu);
  EXPECT_EQ(w[8], 0x8000u);
  EXPECT_EQ(w[9], 0x7788u);
}

TEST_F(AmdWave, AtomicsOfAllLanesAddUp) {
  for (const char *chip : amdChips)
    for (MemoryMode mode : {MemoryMode::sequential, MemoryMode::cached}) {
      options.memory = mode;
      useChip(chip);
      uint64_t out = zeros(16);
      std::string add = old() ? "global_atomic_add" : "global_atomic_add_u32";
      run(amdKernel(chip, head(7) + "v_mov_b32 v3, 0\nv_mov_b32 v4, 3\n" + add + " v3, v4, s[4:5]\n", 1), grid(4, 128),
          {out});
      EXPECT_EQ(download<uint32_t>(out, 1)[0], 4 * 128 * 3u) << chip;
    }
}

TEST_F(AmdWave, ErrorsNameThePlace) {
  useChip("gfx942");
  auto error = [&](const std::string &body) { return errorOf(amdKernel("gfx942", body, 0), grid(1, 64), {}); };
  EXPECT_EQ(error("v_frobnicate_b32 v0, v1"),
            "test.ptx:5:1: v_frobnicate_b32 v0, v1: the emulator does not know v_frobnicate_b32; in k on device 0, "
            "workgroup 0, wave 0");
  EXPECT_EQ(error("s_branch .Lend\nv_frobnicate_b32 v0, v1\n.Lend:\ns_nop 0"), "no error"); // nobody reaches it
  EXPECT_THAT(error("v_mov_b32 v1, 0\nv_mov_b32 v2, 0\nglobal_load_dword v3, v[1:2], off offset:8"),
              HasSubstr("expected 4 allocated bytes at 0x8, which is a null pointer plus an offset; in k on device 0, "
                        "workgroup 0, wave 0, lane 0"));
  EXPECT_THAT(error("v_mov_b32 v1, 0\nds_read_b32 v2, v1"), HasSubstr("inside the 0 bytes of LDS"));
  EXPECT_THAT(error("s_mov_b64 s[4:5], 0\ns_setpc_b64 s[4:5]"), HasSubstr("expected the address of an instruction"));
  EXPECT_THAT(error("s_trap 2"), HasSubstr("expected a kernel to reach no trap"));
  EXPECT_THAT(error("s_mov_b32 s0, nowhere@abs32@lo"),
              HasSubstr("expected a symbol that the text defines, found nowhere"));
  EXPECT_THAT(error("s_add_u32 s0, v1, s2"), HasSubstr("expected a scalar register as a source"));
  EXPECT_THAT(error("v_add_u32 v0, v1"), HasSubstr("expected 2 sources, found 1"));
  EXPECT_THAT(error("s_mov_b32 s200, 0"), HasSubstr("expected scalar registers that exist"));
  EXPECT_THAT(errorOf(amdKernel("gfx90a", "", 0), grid(1, 64), {}),
              HasSubstr("expected code for gfx942, found .amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\""));
  EXPECT_THAT(errorOf("?", grid(1, 64), {}), HasSubstr("test.ptx:1:1: expected a label"));
  EXPECT_THAT(errorOf(amdKernel("gfx942", "", 2), grid(1, 64), {1}),
              HasSubstr("expected 16 bytes of parameters, found 8"));
  EXPECT_THAT(errorOf(amdKernel("gfx942", "", 0, 70000), grid(1, 64), {}), HasSubstr("at most 65536 bytes of LDS"));
}

TEST_F(AmdWave, DeadlocksAreReported) {
  useChip("gfx942");
  std::string text = amdKernel("gfx942",
                               "v_readfirstlane_b32 s4, v0\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 .Lskip\n"
                               "s_barrier\ns_barrier\ns_branch .Lend\n.Lskip:\ns_barrier\n.Lspin:\n"
                               "s_sleep 1\ns_branch .Lspin\n.Lend:\ns_nop 0",
                               0);
  std::string error = errorOf(text, grid(1, 128), {});
  EXPECT_THAT(error, HasSubstr("deadlock"));
  EXPECT_THAT(error, HasSubstr("waits at the workgroup's barrier, 1 of 2 waves are there (line 9: s_barrier)"));
}

TEST_F(AmdWave, InfoGraphsAndUnloading) {
  useChip("gfx1100");
  std::string text = amdKernel("gfx1100", head(5) + "v_mov_b32 v3, 7\nglobal_atomic_add_u32 v2, v3, s[4:5]", 1, 128);
  auto m = machine->load(0, text, "test.s");
  ASSERT_TRUE(m);
  auto k = machine->kernel(*m, "k");
  ASSERT_TRUE(k);
  auto info = machine->info(*k);
  EXPECT_EQ(info->name, "k");
  EXPECT_EQ(info->paramBytes, 8u);
  EXPECT_EQ(info->staticSharedBytes, 128u);
  EXPECT_EQ(info->registers, 64u);
  EXPECT_EQ(info->warpWidth, 32u);
  uint64_t out = zeros(128);
  ASSERT_TRUE(machine->beginCapture(streams[0]));
  ASSERT_TRUE(enqueue(*k, grid(1, 32), {out}));
  auto graph = machine->endCapture(streams[0]);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(machine->launchGraph(streams[0], *graph));
  EXPECT_FALSE(machine->unload(*m));
  ASSERT_TRUE(machine->synchronizeAll());
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 21u);
  ASSERT_TRUE(machine->destroyGraph(*graph));
  EXPECT_TRUE(machine->unload(*m));
}

} // namespace
} // namespace interlock::emu::test
