// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel that the compiler emitted, with one scope narrowed, one fence dropped or one order relaxed at a time: each
// such mutant of its hand-offs between the CTAs of a cluster, and of its signals between ranks, is found.
#include "tests/unit/lint/Check.h"

#include <fstream>

namespace interlock::lint {
namespace {

struct Mutation {
  const char *name;
  const char *from; ///< in the first line behind `after` that has it
  const char *to;
  const char *after; ///< a text that stands before the place, or ""
  const char *rule;
};

constexpr Mutation mutations[] = {
    {"init_fence_dropped", "fence.mbarrier_init.release.cluster;", "", "", "SL14"},
    {"entry_barrier_dropped", "barrier.cluster.wait;", "", "", "SL14"},
    {"producer_wait_cta", "try_wait.parity.relaxed.cluster", "try_wait.parity.relaxed.cta", "", "SL08"},
    {"producer_wait_acquire_cta", "try_wait.parity.relaxed.cluster", "try_wait.parity.acquire.cta", "", "SL08"},
    {"producer_fence_dropped", "fence.acquire.sync_restrict::shared::cluster.cluster;", "", "", "SL04"},
    {"consumer_wait_cta", "try_wait.parity.relaxed.cluster", "try_wait.parity.relaxed.cta", "expect_tx.relaxed",
     "SL08"},
    {"consumer_wait_acquire_cta", "try_wait.parity.relaxed.cluster", "try_wait.parity.acquire.cta", "expect_tx.relaxed",
     "SL08"},
    {"consumer_fence_dropped", "fence.acquire.sync_restrict::shared::cluster.cluster;", "", "expect_tx.relaxed",
     "SL04"},
    {"consumer_barrier_dropped", "bar.sync \t0;", "", "expect_tx.relaxed", "SL03"},
    {"consumer_release_fence_dropped", "fence.release.sync_restrict::shared::cta.cluster;", "", "", "SL03"},
    {"consumer_release_cta", "mbarrier.arrive.relaxed.cluster", "mbarrier.arrive.relaxed.cta", "", "SL07"},
    {"consumer_release_default", "mbarrier.arrive.relaxed.cluster", "mbarrier.arrive.release.cta", "", "SL07"},
    {"signal_relaxed", "st.release.sys.global.b64 \t[%rd147]", "st.relaxed.sys.global.b64 \t[%rd147]", "", "SL03"},
    {"signal_gpu", "st.release.sys.global.b64 \t[%rd147]", "st.release.gpu.global.b64 \t[%rd147]", "", "SL18"},
    {"signal_wait_fence_dropped", "fence.acquire.sys;", "", "[%rd147]", "SL05"},
};

class Mutant : public testing::TestWithParam<Mutation> {};

TEST_P(Mutant, IsFound) {
  std::ifstream in(std::string(ILK_PTX_CORPUS) + "/clean/emitted-dispatch-sm_90a-claimed2.ptx");
  std::string text(std::istreambuf_iterator<char>(in), {});
  Mutation m = GetParam();
  size_t start = text.find(m.after);
  ASSERT_NE(start, std::string::npos) << m.after;
  size_t at = text.find(m.from, start);
  ASSERT_NE(at, std::string::npos) << m.from;
  uint32_t line = uint32_t(1 + std::count(text.begin(), text.begin() + long(at), '\n'));
  text.replace(at, std::string(m.from).size(), m.to);
  Report report = checkText(text);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].rule, m.rule) << report.findings[0].message;
  // A missing fence is reported at what it should have stood beside.
  EXPECT_LE(std::abs(int(report.findings[0].place.line) - int(line)), 80);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, Mutant, testing::ValuesIn(mutations),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace interlock::lint
