// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What decides between a finding and none: counters that are not zero, addresses that are computed, roles that the text
// only hints at, paths that meet.
#include "tests/unit/lint-amdgcn/Check.h"

namespace interlock::lint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A kernel for gfx942 whose arguments are loaded: s[0:1] data, s[2:3] flag, s[6:7] out.
std::string kernel(const std::string &body) {
  return R"(	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type	k,@function
k:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	v_mov_b32_e32 v1, 0
	s_waitcnt lgkmcnt(0)
)" + body +
         R"(
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel k
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
)";
}

std::vector<std::string> found(const std::string &body) {
  std::vector<std::string> out;
  for (const scope::Finding &f : checkAssembly(kernel(body)).findings)
    if (f.severity > scope::Severity::note)
      out.push_back(fmt::format("{} {}", f.rule, scope::name(f.severity)));
  return out;
}

const std::string store = "\tglobal_store_dword v0, v2, s[0:1]\n", writeBack = "\tbuffer_wbl2 sc0 sc1\n",
                  wait = "\ts_waitcnt vmcnt(0)\n", flag = "\tglobal_store_dword v1, v3, s[2:3] sc0 sc1\n",
                  load = "\tglobal_load_dword v5, v0, s[6:7]\n";

TEST(Judgement, AWaitForSomeMayBeEnough) {
  EXPECT_THAT(found(store + writeBack + wait + flag), IsEmpty());
  EXPECT_THAT(found(store + writeBack + load + load + "\ts_waitcnt vmcnt(2)\n" + flag), IsEmpty())
      << "the write-back is older than both loads";
  EXPECT_THAT(found(store + writeBack + load + "\ts_waitcnt vmcnt(2)\n" + flag), ElementsAre("AM02 error"));
}

TEST(Judgement, AStoreBehindTheWriteBackIsNotCovered) {
  EXPECT_THAT(found(writeBack + wait + store + flag), ElementsAre("AM01 error"));
  EXPECT_THAT(found(store + writeBack + wait + store + wait + flag), ElementsAre("AM01 error"));
}

TEST(Judgement, APathAroundTheReleaseCounts) {
  std::string jump = "\ts_cmp_eq_u32 s8, 0\n\ts_cbranch_scc1 .L1\n";
  EXPECT_THAT(found(store + jump + writeBack + wait + ".L1:\n" + flag), ElementsAre("AM01 error"));
  EXPECT_THAT(found(store + jump + ".L1:\n" + writeBack + wait + flag), IsEmpty());
  EXPECT_THAT(found(jump + store + ".L1:\n" + writeBack + wait + flag), IsEmpty());
}

TEST(Judgement, DataThatGoesPastTheCachesIsOnlyWaitedFor) {
  std::string far = "\tglobal_store_dwordx4 v0, v[8:11], s[0:1] sc0 sc1\n";
  EXPECT_THAT(found(far + wait + flag), IsEmpty());
  EXPECT_THAT(found(store + wait + far), IsEmpty()) << "what is wider than a word is no flag";
}

TEST(Judgement, CountersAndResetsAreMilderThanFlags) {
  EXPECT_THAT(found(store + "\tglobal_atomic_add v1, v3, s[2:3] sc1\n"), IsEmpty());
  EXPECT_THAT(found(store + "\tglobal_store_dword v1, v1, s[2:3] sc0 sc1\n"), ElementsAre("AM01 warning"));
  EXPECT_THAT(found(store + "\tglobal_store_dword v1, v3, s[2:3]\n"), IsEmpty());
}

TEST(Judgement, AnAtomicThatIsWaitedForIsAFlag) {
  std::string poll = ".L2:\n\tglobal_load_dword v4, v1, s[2:3] sc1\n" + wait +
                     "\tv_cmp_ne_u32_e32 vcc, v4, v3\n\ts_cbranch_vccnz .L2\n\tbuffer_inv sc1\n";
  EXPECT_THAT(found(store + "\tglobal_atomic_add v1, v3, s[2:3]\n" + poll), ElementsAre("AM01 error"));
  EXPECT_THAT(found(store + "\tbuffer_wbl2 sc1\n" + wait + "\tglobal_atomic_add v1, v3, s[2:3]\n" + poll), IsEmpty());
  EXPECT_THAT(found(store + "\tglobal_atomic_add v1, v3, s[2:3] offset:8\n" + poll), IsEmpty())
      << "another word behind the same pointer";
}

TEST(Judgement, ABarrierAmongWavesThatAllAnnounceNeedsNoDrain) {
  EXPECT_THAT(found(store + "\ts_barrier\n" + writeBack + wait + flag), IsEmpty());
  EXPECT_THAT(found(store + "\ts_barrier\n\ts_and_saveexec_b64 s[8:9], vcc\n" + writeBack + wait + flag),
              ElementsAre("AM06 error"));
  EXPECT_THAT(found(store + wait + "\ts_barrier\n\ts_and_saveexec_b64 s[8:9], vcc\n" + writeBack + wait + flag),
              IsEmpty());
  EXPECT_THAT(found(store + "\ts_barrier\n" + wait + "\ts_barrier\n\ts_and_saveexec_b64 s[8:9], vcc\n" + writeBack +
                    wait + flag),
              IsEmpty())
      << "every wave waits before the second barrier";
}

std::string pollOf(const std::string &address) {
  return ".L3:\n\tglobal_load_dword v4, " + address + " sc0 sc1\n" + wait +
         "\tv_cmp_eq_u32_e32 vcc, 0, v4\n\ts_cbranch_vccnz .L3\n";
}

TEST(Judgement, DivergentAndMaskedPolls) {
  std::string masked = "\ts_mov_b64 s[8:9], 0\n.L4:\n\tglobal_load_dword v4, v[6:7], off sc0 sc1\n" + wait +
                       "\tv_cmp_eq_u32_e32 vcc, 0, v4\n\ts_or_b64 s[8:9], vcc, s[8:9]\n"
                       "\ts_andn2_b64 exec, exec, s[8:9]\n\ts_cbranch_execnz .L4\n";
  std::string address = "\tv_mov_b32_e32 v7, s3\n\tv_add_co_u32_e32 v6, vcc, s2, v0\n"
                        "\tv_addc_co_u32_e32 v7, vcc, 0, v7, vcc\n";
  // The same pointer at another place: what the writer of the flag writes too.
  std::string data = "\tglobal_load_dword v5, v0, s[2:3] offset:64\n";
  EXPECT_THAT(found(address + masked + data), ElementsAre("AM04 error"));
  EXPECT_THAT(found(address + masked + "\tbuffer_inv sc0 sc1\n" + data), IsEmpty());
}

TEST(Judgement, AWalkThroughMemoryIsNoPoll) {
  std::string walk = ".L5:\n\tglobal_load_dword v4, v6, s[2:3] sc0 sc1\n" + wait +
                     "\tv_add_u32_e32 v6, 4, v6\n\tv_cmp_eq_u32_e32 vcc, 0, v4\n\ts_cbranch_vccnz .L5\n";
  EXPECT_THAT(found(walk + "\tglobal_load_dword v5, v0, s[2:3]\n"), IsEmpty());
  // Neither is an update that is tried again.
  std::string update = ".L6:\n\tv_add_u32_e32 v8, 1, v9\n\tglobal_atomic_cmpswap v4, v1, v[8:9], s[2:3] sc0\n" + wait +
                       "\tv_cmp_eq_u32_e32 vcc, v4, v9\n\tv_mov_b32_e32 v9, v4\n\ts_cbranch_vccz .L6\n";
  EXPECT_THAT(found(update + "\tglobal_load_dword v5, v0, s[2:3]\n"), IsEmpty());
}

TEST(Judgement, AddressesAreFollowedThroughWhatLlvmComputesThemWith) {
  for (const char *address :
       {"\ts_add_u32 s8, s2, s10\n\ts_addc_u32 s9, s3, s11\n\tv_mov_b32_e32 v6, s8\n\tv_mov_b32_e32 v7, s9\n",
        "\tv_mad_u64_u32 v[6:7], s[8:9], v0, 48, s[2:3]\n", "\tv_lshl_add_u64 v[6:7], v[8:9], 3, s[2:3]\n",
        "\tv_lshl_add_u64 v[6:7], s[2:3], 0, v[8:9]\n",
        "\ts_add_u32 s8, s2, 64\n\ts_addc_u32 s9, s3, 0\n\tv_mov_b64_e32 v[6:7], s[8:9]\n"}) {
    std::string data = std::string(address) + "\tglobal_load_dword v5, v[6:7], off\n";
    EXPECT_THAT(found(pollOf("v1, s[2:3]") + data), ElementsAre("AM04 error")) << address;
  }
  // Another argument, which nobody is known to write: a doubt.
  EXPECT_THAT(found(pollOf("v1, s[2:3]") + "\tglobal_load_dword v5, v0, s[0:1]\n"), ElementsAre("AM04 warning"));
}

TEST(Judgement, PointersFromMemoryBelongToTheirTable) {
  std::string table = "\ts_load_dwordx2 s[8:9], s[6:7], 0x18\n\ts_waitcnt lgkmcnt(0)\n";
  std::string contract = "; contract: kernarg 16 peers=sys\n";
  std::string text = kernel(table + pollOf("v1, s[2:3]") + "\tglobal_load_dword v5, v0, s[8:9]\n");
  EXPECT_EQ(checkAssembly(contract + text).findings.at(0).severity, scope::Severity::error);
  EXPECT_EQ(checkAssembly(text).findings.at(0).severity, scope::Severity::warning);
}

TEST(Judgement, PathsThatBringDifferentPointersMakeNone) {
  std::string either = "\ts_cmp_eq_u32 s10, 0\n\ts_cbranch_scc1 .L7\n\ts_mov_b64 s[8:9], s[0:1]\n\ts_branch .L8\n"
                       ".L7:\n\ts_mov_b64 s[8:9], s[2:3]\n.L8:\n";
  EXPECT_THAT(found(either + pollOf("v1, s[2:3]") + "\tglobal_load_dword v5, v0, s[8:9]\n"),
              ElementsAre("AM04 warning"));
}

TEST(Judgement, FindingsNameTheSourceThatTheTextNames) {
  Report report =
      checkAssembly(kernel("\t.file\t3 \"/src\" \"a.hip\"\n\t.loc\t3 40 7\n" + store + "\t.loc\t3 41 7\n" + flag));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].place.sourceFile, "/src/a.hip");
  EXPECT_EQ(report.findings[0].place.sourceLine, 41u);
  ASSERT_EQ(report.findings[0].related.size(), 1u);
  EXPECT_EQ(report.findings[0].related[0].place.sourceLine, 40u);
}

TEST(Judgement, ACallIsNotSeenThrough) {
  EXPECT_THAT(found(store + "\ts_swappc_b64 s[30:31], s[12:13]\n" + flag), IsEmpty());
}

TEST(Judgement, StrangeTextsAreBorne) {
  for (const char *body : {"", ".L9:\n\ts_branch .L9\n", "\ts_branch .Lnowhere\n", "\ts_setpc_b64 s[30:31]\n",
                           "\tglobal_store_dword\n", "\tglobal_atomic_add v1\n", "\ts_load_dwordx4 s[0:3]\n",
                           "\tv_add_co_u32_e32 v4095\n", "\tbuffer_load_dword v0, off, s[0:3], 0 offen sc1\n",
                           "\ts_waitcnt\n\ts_waitcnt_vscnt null\n\ts_wait_storecnt\n\ts_barrier_signal\n"})
    EXPECT_THAT(found(body), IsEmpty()) << body;
}

} // namespace
} // namespace interlock::lint
