// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Assembly as LLVM writes it, with every form of statement and operand, for the reader's tests and its fuzzing.
#pragma once

#include <string_view>
#include <vector>

namespace interlock::amdgcn::corpus {

inline constexpr std::string_view kernel = R"(	.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
	.amdhsa_code_object_version 6
	.text
	.file	1 "/src" "a.hip"
	.globl	k                               ; -- Begin function k
	.p2align	8
	.type	k,@function
k:                                      ; @k
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	.loc	1 12 7 is_stmt 1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_dwordx4 v[6:9], v1, s[0:1] offset:-16 sc0 sc1 nt
	global_load_dword v2, v[6:7], off offset:4
	v_pk_fma_f32 v[10:11], v[10:11], s[6:7], v[10:11] op_sel:[0,1,0] neg_lo:[1,0,0]
	v_add_f32_e64 v3, -|v2|, 1.0 clamp
	v_mov_b32_dpp v4, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
	v_add_f32_sdwa v5, sext(v4), v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
	ds_swizzle_b32 v5, v4 offset:swizzle(SWAP,16)
	v_accvgpr_write_b32 a3, v5 ; spilled
	s_getreg_b32 s8, hwreg(HW_REG_IB_STS2, 6, 4)
	; handoff: write back before the flag
	buffer_wbl2 sc0 sc1
	s_and_saveexec_b64 s[6:7], vcc
	s_cbranch_execz .LBB0_2
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+4
	s_addc_u32 s5, s5, table@rel32@hi+12
	s_add_u32 s8, s8, (.LBB0_2-.Lpost_getpc0)&4294967295
	v_mul_f32_e32 v0, 0.15915494, v0
	v_mov_b32_e32 v0, lit(0x40)
	ds_write_b32 v6, v4 offset:64
.LBB0_2:
	s_endpgm
.Lfunc_end0:
	.size	k, .Lfunc_end0-k
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 256
		.amdhsa_private_segment_fixed_size k.private_seg_size
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1)
	.end_amdhsa_kernel
	.text
	.type	helper,@function
helper:
	s_setpc_b64 s[30:31]
	.set k.num_vgpr, max(28, helper.num_vgpr)
	.set k.num_agpr, 4
	.set k.private_seg_size, 0+16
	.set helper.num_vgpr, 33
	.section	.AMDGPU.csdata,"",@progbits
	.long 77
	.text
	.p2alignl 6, 3212836864
	.fill 256, 4, 3212836864
	.type	table,@object                   ; @table
	.section	.rodata,"a",@progbits
	.p2align	2, 0x0
table:
	.long	1                               ; 0x1
	.quad	table+8
	.asciz	"a;b\n\001"
	.zero	6
	.byte	1, 0x2, -1
	.size	table, 16
	.amdgpu_lds tile, 4096, 16
	.section	.bss,"aw",@nobits
big:
	.zero	1024
	.later_directive 1, 2
	.section	".note.GNU-stack","",@progbits
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     4
    .args:
      - .address_space:  global
        .name:           out
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .name:           n
        .offset:         8
        .size:           4
        .value_kind:     by_value
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
    .group_segment_fixed_size: 256
    .language_version:
      - 2
      - 0
    .name:           k
    .symbol:         k.kd
    .uses_dynamic_stack: false
    .vgpr_count:     33
    .wavefront_size: 64
amdhsa.target:   'amdgcn-amd-amdhsa--gfx942'
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
)";

inline constexpr std::string_view newer = R"(	.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
	.text
	.type	k,@function
k:
	s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1
	s_clause 0x1
	global_load_b128 v[4:7], v0 /*v256*/, s[0:1] scale_offset scope:SCOPE_SYS th:TH_LOAD_NT
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_dual_fmac_f32 v11, s9, v11 :: v_dual_and_b32 v10, 0xffff0000, v6
	v_mov_b16_e32 v7.l, v2.h
	s_wait_alu depctr_va_vcc(0)
	s_barrier_signal -1
	global_wb scope:SCOPE_DEV
	v_add_co_ci_u32_e64 v5, null, s1, v1, vcc_lo
	s_add_nc_u64 s[2:3], s[2:3], table@rel64+4
	s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)
	s_endpgm
)";

inline std::vector<std::string_view> all() { return {kernel, newer}; }

} // namespace interlock::amdgcn::corpus
