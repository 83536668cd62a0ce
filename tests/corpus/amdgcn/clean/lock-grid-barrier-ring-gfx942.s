; near: AM01 AM02 AM04 AM06 AM11
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.type	lock,@function
lock:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_mov_b64 s[4:5], 0
	v_mov_b32_e32 v0, 1
	v_mov_b32_e32 v1, 0
.LBB0_1:
	s_waitcnt lgkmcnt(0)
	global_atomic_cmpswap v2, v1, v[0:1], s[2:3] sc0
	s_waitcnt vmcnt(0)
	buffer_inv sc1
	v_cmp_eq_u32_e32 vcc, 0, v2
	s_or_b64 s[4:5], vcc, s[4:5]
	s_andn2_b64 exec, exec, s[4:5]
	s_cbranch_execnz .LBB0_1
	s_or_b64 exec, exec, s[4:5]
	v_mov_b32_e32 v0, 0
	global_load_dword v1, v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_u32_e32 v1, 1, v1
	global_store_dword v0, v1, s[0:1]
	buffer_wbl2 sc1
	s_waitcnt vmcnt(0)
	global_store_dword v0, v0, s[2:3] sc1
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel lock
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
	.type	grid,@function
grid:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_and_b32_e32 v2, 0x3ff, v0
	v_mov_b32_e32 v1, 0
	v_lshlrev_b32_e32 v0, 2, v2
	v_cmp_eq_u32_e32 vcc, 0, v2
	s_waitcnt lgkmcnt(0)
	global_store_dword v0, v2, s[0:1]
	buffer_wbl2 sc1
	s_waitcnt vmcnt(0)
	s_barrier
	s_and_saveexec_b64 s[6:7], vcc
	s_cbranch_execz .LBB1_5
	s_mov_b64 s[10:11], exec
	v_mbcnt_lo_u32_b32 v2, s10, 0
	v_mbcnt_hi_u32_b32 v2, s11, v2
	v_cmp_eq_u32_e32 vcc, 0, v2
	s_and_saveexec_b64 s[8:9], vcc
	s_cbranch_execz .LBB1_3
	s_bcnt1_i32_b64 s10, s[10:11]
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, s10
	buffer_wbl2 sc1
	global_atomic_add v2, v3, s[2:3]
	s_waitcnt vmcnt(0)
	buffer_inv sc1
.LBB1_3:
	s_or_b64 exec, exec, s[8:9]
	s_load_dword s4, s[4:5], 0x10
	v_mov_b32_e32 v2, 0
.LBB1_4:
	global_load_dword v3, v2, s[2:3] sc1
	s_waitcnt vmcnt(0)
	buffer_inv sc1
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_u32_e32 vcc, s4, v3
	s_cbranch_vccnz .LBB1_4
.LBB1_5:
	s_or_b64 exec, exec, s[6:7]
	v_lshl_add_u64 v[0:1], s[0:1], 0, v[0:1]
	s_barrier
	buffer_inv sc1
	global_load_dword v2, v[0:1], off offset:308
	v_add_co_u32_e32 v0, vcc, 0x7000, v0
	s_nop 1
	v_addc_co_u32_e32 v1, vcc, 0, v1, vcc
	s_waitcnt vmcnt(0)
	global_store_dword v[0:1], v2, off offset:2436
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel grid
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
	.type	ring,@function
ring:
	s_load_dwordx8 s[8:15], s[4:5], 0x0
	s_load_dword s6, s[4:5], 0x20
	v_and_b32_e32 v0, 0x3ff, v0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mov_b32_e32 v1, 0
	s_mov_b32 s1, 0
	s_waitcnt lgkmcnt(0)
	v_lshl_add_u64 v[2:3], s[8:9], 0, v[0:1]
	v_lshl_add_u64 v[4:5], s[14:15], 0, v[0:1]
	s_mov_b32 s2, s1
.LBB2_1:
	s_and_b32 s7, s2, 3
	s_lshl_b32 s0, s7, 2
	s_add_u32 s4, s12, s0
	s_addc_u32 s5, s13, 0
.LBB2_2:
	global_load_dword v0, v1, s[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_gt_u32_e32 vcc, s2, v0
	s_cbranch_vccnz .LBB2_2
	s_ashr_i32 s3, s2, 31
	s_lshl_b64 s[4:5], s[2:3], 8
	v_lshl_add_u64 v[6:7], v[4:5], 0, s[4:5]
	buffer_inv sc0 sc1
	global_load_dword v8, v[6:7], off
	s_lshl_b32 s0, s7, 8
	s_lshl_b32 s3, s7, 2
	s_add_i32 s2, s2, 1
	v_lshl_add_u64 v[6:7], v[2:3], 0, s[0:1]
	s_cmp_lt_u32 s2, s6
	v_mov_b32_e32 v0, s3
	v_mov_b32_e32 v9, s2
	s_waitcnt vmcnt(0)
	global_store_dword v[6:7], v8, off
	buffer_wbl2 sc0 sc1
	s_waitcnt vmcnt(0)
	global_store_dword v0, v9, s[10:11] sc0 sc1
	s_cbranch_scc1 .LBB2_1
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel ring
		.amdhsa_kernarg_size 296
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
		.amdhsa_reserve_vcc 1
	.end_amdhsa_kernel
	.text
	.type	reduce,@function
reduce:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_and_b32_e32 v0, 0x3ff, v0
	v_lshlrev_b32_e32 v1, 2, v0
	s_mov_b64 s[6:7], exec
	v_bfrev_b32_e32 v2, 1
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v1, s[0:1]
.LBB3_1:
	s_ff1_i32_b64 s0, s[6:7]
	s_waitcnt vmcnt(0)
	v_readlane_b32 s4, v1, s0
	s_lshl_b64 s[0:1], 1, s0
	s_andn2_b64 s[6:7], s[6:7], s[0:1]
	v_add_f32_e32 v2, s4, v2
	s_cbranch_scc1 .LBB3_1
	v_mbcnt_lo_u32_b32 v3, exec_lo, 0
	v_mbcnt_hi_u32_b32 v3, exec_hi, v3
	v_cmp_eq_u32_e32 vcc, 0, v3
	s_and_saveexec_b64 s[0:1], vcc
	s_xor_b64 s[0:1], exec, s[0:1]
	s_cbranch_execz .LBB3_4
	v_mov_b32_e32 v3, 0
	global_atomic_add_f32 v3, v2, s[2:3]
.LBB3_4:
	s_or_b64 exec, exec, s[0:1]
	s_mov_b64 s[0:1], exec
	v_lshlrev_b32_e32 v0, 2, v0
	global_store_dword v0, v1, s[2:3]
	v_mbcnt_lo_u32_b32 v0, s0, 0
	v_mbcnt_hi_u32_b32 v0, s1, v0
	v_cmp_eq_u32_e32 vcc, 0, v0
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_6
	s_bcnt1_i32_b64 s0, s[0:1]
	v_mov_b32_e32 v0, 0
	v_mov_b32_e32 v1, s0
	global_atomic_add v0, v1, s[2:3]
.LBB3_6:
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel reduce
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 8
		.amdhsa_reserve_vcc 1
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
    .sgpr_count:     12
    .symbol:         lock.kd
    .vgpr_count:     3
    .wavefront_size: 64
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
    .sgpr_count:     18
    .symbol:         grid.kd
    .vgpr_count:     4
    .wavefront_size: 64
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
    .sgpr_count:     22
    .symbol:         ring.kd
    .vgpr_count:     10
    .wavefront_size: 64
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
    .sgpr_count:     14
    .symbol:         reduce.kd
    .vgpr_count:     4
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
