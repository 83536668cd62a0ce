// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// PTX texts that the reader's tests share. Each is valid for ptxas where its target allows.
#pragma once

#include <string_view>
#include <vector>

namespace interlock::ptx::corpus {

inline constexpr std::string_view kernel = R"ptx(
// a comment
.version 8.6
.target sm_90a, debug
.address_size 64
.extern .func (.param .b32 r) other (.param .b32 a, .param .align 8 .b8 b[24]);
.global .align 4 .u32 counter = 7;
.const .align 4 .b8 table[8] = {0, 0, 128, 63, 0xff};
.global .align 8 .u64 links[3] = {counter, generic(table)+4, 5};
.global .f32 matrix[2][3] = {{1.0, 0f40000000}, {3.0, 4.0, 5.0}};
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(
  .param .u64 .ptr .global .align 16 k_p0,
  .param .u32 k_p1,
  .param .align 8 .b8 k_p2[24]
)
.maxntid 256, 1, 1
.reqnctapercluster 4, 1, 1
.explicitcluster
.minnctapersm 2
{
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<5>;
  .reg .v4 .f32 %v;
  .reg .f32 %f1, %f2;
  .shared .align 8 .b8 bar[16];
  .loc 1 12 3
  ld.param.u64 %rd1, [k_p0];
  mov.u32 %r1, %tid.x;
  setp.lt.and.s32 %p1|%p2, %r1, -4, !%p3;
  @!%p1 bra $L__end;
  .loc 1 13 5, function_name $info + 4, inlined_at 1 2 3
  ld.global.relaxed.gpu.v4.f32 {%f1, _, %f2, %f1}, [%rd1+-16];
  fence.acquire.sync_restrict::shared::cluster.cluster;
  {
    .reg .b32 %r1;
    mov.u32 %r1, 0x10U;
    bra again;
again:
    mov.b32 %r1, %v.x;
  }
  {
again:
    mov.u32 %r1, (1 << 4) + 2;
    @%p1 bra again;
  }
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [bar], [%rd1, {%r1, %r2}], [bar+8];
  st.shared.u32 [dyn+4], 1;
  fma.rn.f32 %f1, %f2, -1.5, 0fBF800000;
  frobnicate.x::y.z %r1, [%rd1], {%r2, 3};
ts: .branchtargets $L__end, $L__b;
  brx.idx %r1, ts;
$L__b:
  { .param .b32 ret; .param .b32 a0; .param .align 8 .b8 a1[24];
    st.param.b32 [a0+0], %r1;
    call.uni (ret), other, (a0, a1);
    ld.param.b32 %r3, [ret+0];
  }
$L__end:
  ret;
}
)ptx";

inline constexpr std::string_view old = R"ptx(.version 6.0
.target sm_70
.address_size 64
.func (.reg .u32 out) twice (.reg .u32 in) { add.u32 out, in, in; ret; }
.entry e { .reg .u32 a, b; .pragma "nounroll"; call (a), twice, (b); exit; }
.section .debug_info { .b8 1, 2 .b32 .debug_abbrev L: }
)ptx";

inline constexpr std::string_view sections = R"ptx(.version 9.0
.target sm_103a
.address_size 64
.file 1 "/src/a.cu", 123, 45
.visible .func f() .noreturn;
.weak .func f() { trap; }
@@DWARF dwarf-1
.alias g, f;
.unknown_directive 1 2 3
.unknown_block { { x ( y ) } }
)ptx";

inline std::vector<std::string_view> all() { return {kernel, old, sections}; }

} // namespace interlock::ptx::corpus
