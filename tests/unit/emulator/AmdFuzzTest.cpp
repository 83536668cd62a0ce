// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A bounded, deterministic run of the emulator's fuzz target over assembly that LLVM made, mutated.
#include "tests/fuzz/Mutations.h"
#include "tests/unit/emulator/AmdHarness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace interlock::emu::test {
namespace {

/// A kernel that has an instruction of every kind, with operands for a mutation to spoil.
constexpr const char *everyKind =
    "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32_dpp v5, v0 row_shr:1 row_mask:0xf\n"
    "v_lshlrev_b32 v1, 2, v0\nglobal_load_dwordx4 v[4:7], v1, s[4:5] offset:16\nglobal_store_dwordx2 v1, v[4:5], "
    "s[4:5]\n"
    "global_atomic_cmpswap v8, v1, v[4:5], s[4:5] sc0\nscratch_store_dword off, v1, off offset:8\nv_readlane_b32 s8, "
    "v0, s9\n"
    "v_writelane_b32 v9, s8, 3\nv_mad_u64_u32 v[10:11], s[8:9], v0, v1, v[4:5]\nv_cndmask_b32 v2, v3, v4, vcc\n"
    "v_cmp_lt_u32 s[10:11], v0, v1\nds_write2_b32 v1, v2, v3 offset0:1 offset1:2\nds_read_b128 v[12:15], v1\n"
    "ds_bpermute_b32 v2, v1, v0\nds_append v3 offset:4\nv_pk_fma_f32 v[10:11], v[10:11], s[6:7], v[10:11] "
    "op_sel:[0,1,0]\n"
    "v_div_scale_f64 v[2:3], vcc, v[4:5], v[6:7], v[8:9]\nv_swap_b32 v1, v2\nv_perm_b32 v1, v2, v3, s4\n"
    "buffer_load_dword v1, v2, s[4:7], 0 offen offset:4\ns_mov_b64 exec, -1\ns_bfe_u64 s[8:9], s[10:11], 0x100004\n"
    "v_add_f32_sdwa v5, v4, v3 dst_sel:WORD_1 src0_sel:BYTE_1\nflat_load_dword v1, v[2:3]\nbuffer_wbl2 sc0 sc1\n"
    "buffer_inv sc1\ns_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 4)\ns_memrealtime s[8:9]\nv_cvt_pk_fp8_f32 v1, v2, v3\n"
    "v_accvgpr_write_b32 a3, v1\nv_permlane32_swap_b32 v1, v2\n";

TEST(AmdFuzz, MutatedProgramsEnd) {
  std::vector<std::string> texts;
  for (const char *chip : amdChips)
    texts.push_back(amdText("message_passing." + std::string(chip) + ".s"));
  for (int copies = 0; copies < 18; ++copies)
    texts.push_back(amdKernel("gfx942", everyKind, 4, 1024, 64));
  std::vector<std::string_view> corpus(texts.begin(), texts.end());
  std::mt19937_64 random(3);
  for (int round = 0; round < 4000; ++round) {
    std::string text = fuzz::mutated(corpus, random, round % 4 != 0);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  }
}

} // namespace
} // namespace interlock::emu::test
