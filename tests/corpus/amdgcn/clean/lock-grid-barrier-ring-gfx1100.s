; near: AM01 AM02 AM04 AM06 AM11
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.type	lock,@function
lock:
	s_load_b128 s[0:3], s[4:5], 0x0
	v_dual_mov_b32 v0, 1 :: v_dual_mov_b32 v1, 0
	s_mov_b32 s4, 0
.LBB0_1:
	s_waitcnt lgkmcnt(0)
	global_atomic_cmpswap_b32 v2, v1, v[0:1], s[2:3] glc
	s_waitcnt vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_cmp_eq_u32_e32 vcc_lo, 0, v2
	s_or_b32 s4, vcc_lo, s4
	s_delay_alu instid0(SALU_CYCLE_1)
	s_and_not1_b32 exec_lo, exec_lo, s4
	s_cbranch_execnz .LBB0_1
	s_or_b32 exec_lo, exec_lo, s4
	v_mov_b32_e32 v0, 0
	global_load_b32 v1, v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_nc_u32_e32 v1, 1, v1
	global_store_b32 v0, v1, s[0:1]
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v0, v0, s[2:3]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel lock
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
		.amdhsa_workgroup_processor_mode 1
	.end_amdhsa_kernel
	.text
	.type	grid,@function
grid:
	s_load_b128 s[0:3], s[4:5], 0x0
	v_and_b32_e32 v2, 0x3ff, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v3, 2, v2
	s_waitcnt lgkmcnt(0)
	v_add_co_u32 v0, s6, s0, v3
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v1, null, s1, 0, s6
	global_store_b32 v3, v2, s[0:1]
	s_mov_b32 s0, exec_lo
	s_waitcnt_vscnt null, 0x0
	s_barrier
	v_cmpx_eq_u32_e32 0, v2
	s_cbranch_execz .LBB1_5
	s_mov_b32 s6, exec_lo
	s_mov_b32 s1, exec_lo
	v_mbcnt_lo_u32_b32 v2, s6, 0
	s_delay_alu instid0(VALU_DEP_1)
	v_cmpx_eq_u32_e32 0, v2
	s_cbranch_execz .LBB1_3
	s_bcnt1_i32_b32 s6, s6
	s_delay_alu instid0(SALU_CYCLE_1)
	v_dual_mov_b32 v2, 0 :: v_dual_mov_b32 v3, s6
	global_atomic_add_u32 v2, v3, s[2:3]
	s_waitcnt_vscnt null, 0x0
	buffer_gl1_inv
	buffer_gl0_inv
.LBB1_3:
	s_or_b32 exec_lo, exec_lo, s1
	s_load_b32 s1, s[4:5], 0x10
	v_mov_b32_e32 v2, 0
.LBB1_4:
	global_load_b32 v3, v2, s[2:3] glc
	s_waitcnt vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_u32_e32 vcc_lo, s1, v3
	s_cbranch_vccnz .LBB1_4
.LBB1_5:
	s_or_b32 exec_lo, exec_lo, s0
	s_barrier
	buffer_gl1_inv
	buffer_gl0_inv
	global_load_b32 v2, v[0:1], off offset:308
	v_add_co_u32 v0, vcc_lo, 0x7000, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v1, null, 0, v1, vcc_lo
	s_waitcnt vmcnt(0)
	global_store_b32 v[0:1], v2, off offset:2436
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel grid
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
		.amdhsa_workgroup_processor_mode 1
	.end_amdhsa_kernel
	.text
	.type	ring,@function
ring:
	s_clause 0x1
	s_load_b256 s[8:15], s[4:5], 0x0
	s_load_b32 s4, s[4:5], 0x20
	v_and_b32_e32 v0, 0x3ff, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_dual_mov_b32 v0, 0 :: v_dual_lshlrev_b32 v3, 2, v0
	s_waitcnt lgkmcnt(0)
	v_add_co_u32 v1, s0, s8, v3
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_co_ci_u32_e64 v2, null, s9, 0, s0
	v_add_co_u32 v3, s0, s14, v3
	v_add_co_ci_u32_e64 v4, null, s15, 0, s0
	s_mov_b32 s0, 0
.LBB2_1:
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_and_b32 s5, s0, 3
	s_lshl_b32 s1, s5, 2
	s_delay_alu instid0(SALU_CYCLE_1)
	s_add_u32 s2, s12, s1
	s_addc_u32 s3, s13, 0
.LBB2_2:
	global_load_b32 v5, v0, s[2:3] glc
	s_waitcnt vmcnt(0)
	v_cmp_gt_u32_e32 vcc_lo, s0, v5
	s_cbranch_vccnz .LBB2_2
	s_ashr_i32 s1, s0, 31
	buffer_gl1_inv
	buffer_gl0_inv
	s_lshl_b64 s[2:3], s[0:1], 8
	s_lshl_b32 s1, s5, 8
	v_add_co_u32 v5, vcc_lo, v3, s2
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
	v_add_co_ci_u32_e64 v6, null, s3, v4, vcc_lo
	s_lshl_b32 s2, s5, 2
	s_add_i32 s0, s0, 1
	v_dual_mov_b32 v8, s2 :: v_dual_mov_b32 v9, s0
	global_load_b32 v7, v[5:6], off
	v_add_co_u32 v5, vcc_lo, v1, s1
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v6, null, 0, v2, vcc_lo
	s_cmp_lt_u32 s0, s4
	s_waitcnt vmcnt(0)
	global_store_b32 v[5:6], v7, off
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v8, v9, s[10:11]
	s_cbranch_scc1 .LBB2_1
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel ring
		.amdhsa_kernarg_size 296
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
		.amdhsa_workgroup_processor_mode 1
	.end_amdhsa_kernel
	.text
	.type	reduce,@function
reduce:
	s_load_b128 s[0:3], s[4:5], 0x0
	v_and_b32_e32 v2, 0x3ff, v0
	v_bfrev_b32_e32 v4, 1
	s_mov_b32 s6, exec_lo
	s_delay_alu instid0(VALU_DEP_2)
	v_lshlrev_b32_e32 v0, 2, v2
	s_waitcnt lgkmcnt(0)
	global_load_b32 v3, v0, s[0:1]
.LBB3_1:
	s_ctz_i32_b32 s0, s6
	s_waitcnt vmcnt(0)
	v_readlane_b32 s1, v3, s0
	s_lshl_b32 s0, 1, s0
	s_delay_alu instid0(SALU_CYCLE_1)
	s_and_not1_b32 s6, s6, s0
	v_add_f32_e32 v4, s1, v4
	s_cbranch_scc1 .LBB3_1
	v_mbcnt_lo_u32_b32 v0, exec_lo, 0
	s_mov_b32 s1, 0
	s_mov_b32 s0, exec_lo
	s_delay_alu instid0(VALU_DEP_1)
	v_cmpx_eq_u32_e32 0, v0
	s_xor_b32 s0, exec_lo, s0
	s_cbranch_execz .LBB3_6
	s_load_b32 s4, s[2:3], 0x0
	v_mov_b32_e32 v5, 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v1, s4
.LBB3_4:
	s_delay_alu instid0(VALU_DEP_1)
	v_add_f32_e32 v0, v1, v4
	global_atomic_cmpswap_b32 v0, v5, v[0:1], s[2:3] glc
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc_lo, v0, v1
	v_mov_b32_e32 v1, v0
	s_or_b32 s1, vcc_lo, s1
	s_delay_alu instid0(SALU_CYCLE_1)
	s_and_not1_b32 exec_lo, exec_lo, s1
	s_cbranch_execnz .LBB3_4
	s_or_b32 exec_lo, exec_lo, s1
.LBB3_6:
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_or_b32 exec_lo, exec_lo, s0
	s_mov_b32 s0, exec_lo
	v_lshlrev_b32_e32 v1, 2, v2
	v_mbcnt_lo_u32_b32 v0, s0, 0
	s_mov_b32 s1, exec_lo
	global_store_b32 v1, v3, s[2:3]
	v_cmpx_eq_u32_e32 0, v0
	s_cbranch_execz .LBB3_8
	s_bcnt1_i32_b32 s0, s0
	s_delay_alu instid0(SALU_CYCLE_1)
	v_dual_mov_b32 v0, 0 :: v_dual_mov_b32 v1, s0
	global_atomic_add_u32 v0, v1, s[2:3]
.LBB3_8:
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel reduce
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 1
		.amdhsa_workgroup_processor_mode 1
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .name:           data
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           lock
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .max_flat_workgroup_size: 1024
    .name:           lock
    .private_segment_fixed_size: 0
    .sgpr_count:     8
    .symbol:         lock.kd
    .vgpr_count:     3
    .wavefront_size: 32
  - .args:
      - .address_space:  global
        .name:           data
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           count
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .name:           n
        .offset:         16
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .max_flat_workgroup_size: 1024
    .name:           grid
    .private_segment_fixed_size: 0
    .sgpr_count:     9
    .symbol:         grid.kd
    .vgpr_count:     4
    .wavefront_size: 32
  - .args:
      - .address_space:  global
        .name:           slots
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           full
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           empty
        .offset:         16
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           src
        .offset:         24
        .size:           8
        .value_kind:     global_buffer
      - .name:           n
        .offset:         32
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 296
    .max_flat_workgroup_size: 1024
    .name:           ring
    .private_segment_fixed_size: 0
    .sgpr_count:     18
    .symbol:         ring.kd
    .vgpr_count:     10
    .wavefront_size: 32
  - .args:
      - .address_space:  global
        .name:           in
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           out
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .max_flat_workgroup_size: 1024
    .name:           reduce
    .private_segment_fixed_size: 0
    .sgpr_count:     9
    .symbol:         reduce.kd
    .vgpr_count:     6
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1100
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
