// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What single instructions are taken for, on each generation that spells them.
#include "analysis/LintAMDGCN/Decode.h"
#include "tests/unit/lint-amdgcn/Check.h"

namespace interlock::lint::gcn {
namespace {

Effect effectOf(const std::string &line, Family family) {
  auto module = amdgcn::read("\t" + line + "\n", "test.s");
  EXPECT_TRUE(module && module->instructions.size() == 1) << line;
  return module && !module->instructions.empty() ? decode(module->instructions[0], family) : Effect{};
}

TEST(Decode, ScopesAsEachGenerationSpellsThem) {
  struct Case {
    const char *line;
    Family family;
    Scope reach;
    bool scoped;
  };
  for (const Case &c : {Case{"global_store_dword v0, v1, s[0:1]", Family::gfx940, Scope::thread, false},
                        Case{"global_store_dword v0, v1, s[0:1] sc0", Family::gfx940, Scope::cta, true},
                        Case{"global_store_dword v0, v1, s[0:1] sc1", Family::gfx940, Scope::gpu, true},
                        Case{"global_store_dword v0, v1, s[0:1] sc0 sc1", Family::gfx940, Scope::sys, true},
                        Case{"global_atomic_add v0, v1, s[0:1]", Family::gfx940, Scope::gpu, false},
                        Case{"global_atomic_add v2, v0, v1, s[0:1] sc0", Family::gfx940, Scope::gpu, false},
                        Case{"global_atomic_add v2, v0, v1, s[0:1] sc0 sc1", Family::gfx940, Scope::sys, true},
                        Case{"global_load_dword v2, v0, s[0:1] glc", Family::gfx90a, Scope::sys, true},
                        Case{"global_load_dword v2, v0, s[0:1]", Family::gfx90a, Scope::thread, false},
                        Case{"global_load_b32 v2, v0, s[0:1] scope:SCOPE_SE", Family::gfx12, Scope::cta, true},
                        Case{"global_load_b32 v2, v0, s[0:1] scope:SCOPE_SE", Family::gfx1250, Scope::cluster, true},
                        Case{"global_load_b32 v2, v0, s[0:1]", Family::gfx1250, Scope::cta, false},
                        Case{"flat_store_b32 v[0:1], v2 scope:SCOPE_SYS", Family::gfx1250, Scope::sys, true}}) {
    Effect e = effectOf(c.line, c.family);
    EXPECT_EQ(e.reach, c.reach) << c.line;
    EXPECT_EQ(e.scoped, c.scoped) << c.line;
  }
}

TEST(Decode, CachePartsGrowWithTheScope) {
  struct Case {
    const char *line;
    Family family;
    Scope enough; ///< the furthest distance that it serves
  };
  for (const Case &c :
       {Case{"buffer_inv sc1", Family::gfx940, Scope::gpu}, Case{"buffer_inv sc0 sc1", Family::gfx940, Scope::sys},
        Case{"global_inv scope:SCOPE_SE", Family::gfx1250, Scope::cluster},
        Case{"global_inv scope:SCOPE_DEV", Family::gfx1250, Scope::gpu},
        Case{"global_inv scope:SCOPE_SYS", Family::gfx12, Scope::sys},
        Case{"buffer_gl0_inv", Family::gfx11, Scope::cta}, Case{"buffer_wbinvl1_vol", Family::gfx90a, Scope::gpu}}) {
    Effect e = effectOf(c.line, c.family);
    EXPECT_EQ(e.kind, Kind::invalidate) << c.line;
    for (Scope scope : {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys}) {
      uint8_t missing = demandOf(c.family, scope).invalidate & uint8_t(~e.parts);
      EXPECT_EQ(missing == 0, scope <= c.enough) << c.line << ' ' << scope::name(scope);
    }
  }
  EXPECT_EQ(effectOf("buffer_wbl2 sc1", Family::gfx940).parts, demandOf(Family::gfx940, Scope::gpu).writeBack);
  EXPECT_EQ(effectOf("buffer_wbl2 sc0 sc1", Family::gfx940).parts, demandOf(Family::gfx940, Scope::sys).writeBack);
  EXPECT_EQ(effectOf("buffer_wbl2 sc0", Family::gfx940).parts, 0);
  EXPECT_EQ(effectOf("global_wb scope:SCOPE_SE", Family::gfx1250).parts, 0);
}

TEST(Decode, Waits) {
  auto atMost = [](const char *line, Family family, Counter counter) {
    return int(effectOf(line, family).atMost[size_t(counter)]);
  };
  constexpr int any = 255;
  EXPECT_EQ(atMost("s_waitcnt vmcnt(3)", Family::gfx940, Counter::loads), 3);
  EXPECT_EQ(atMost("s_waitcnt vmcnt(3)", Family::gfx940, Counter::stores), 3) << "one counter on gfx9";
  EXPECT_EQ(atMost("s_waitcnt vmcnt(3)", Family::gfx11, Counter::stores), any);
  EXPECT_EQ(atMost("s_waitcnt lgkmcnt(0)", Family::gfx940, Counter::loads), any);
  EXPECT_EQ(atMost("s_waitcnt vmcnt(0) & lgkmcnt(1)", Family::gfx940, Counter::lds), 1);
  EXPECT_EQ(atMost("s_waitcnt 0xf70", Family::gfx940, Counter::loads), 0) << "llvm.amdgcn.s.waitcnt(i32 3952)";
  EXPECT_EQ(atMost("s_waitcnt 0xf70", Family::gfx940, Counter::lds), 15);
  EXPECT_EQ(atMost("s_waitcnt 0", Family::gfx11, Counter::loads), 0);
  EXPECT_EQ(atMost("s_waitcnt_vscnt null, 0x0", Family::gfx11, Counter::stores), 0);
  EXPECT_EQ(atMost("s_wait_storecnt 0x0", Family::gfx1250, Counter::stores), 0);
  EXPECT_EQ(atMost("s_wait_storecnt_dscnt 0x102", Family::gfx1250, Counter::stores), 1);
  EXPECT_EQ(atMost("s_wait_storecnt_dscnt 0x102", Family::gfx1250, Counter::lds), 2);
  EXPECT_EQ(atMost("s_wait_storecnt_dscnt 0x0", Family::gfx1250, Counter::loads), any);
  EXPECT_EQ(atMost("s_wait_loadcnt_dscnt 0x0", Family::gfx12, Counter::loads), 0);
  EXPECT_EQ(atMost("s_wait_xcnt 0x0", Family::gfx1250, Counter::stores), any);
  EXPECT_EQ(atMost("s_wait_idle", Family::gfx1250, Counter::async), 0);
}

} // namespace
} // namespace interlock::lint::gcn
