; expect: AM04 (warning): who takes the last ticket reads what all have stored, from a cache that may be old
	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.text
	.type	ticket,@function
ticket:
	s_load_dwordx2 s[4:5], s[8:9], 0x10
	s_load_dwordx4 s[0:3], s[8:9], 0x0
	v_and_b32_e32 v0, 0x3ff, v0
	v_lshlrev_b32_e32 v1, 2, v0
	v_cmp_eq_u32_e32 vcc, 0, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s4
	global_store_dword v1, v2, s[0:1]
	s_waitcnt vmcnt(0)
	s_barrier
	s_and_saveexec_b64 s[6:7], vcc
	s_cbranch_execz .LBB0_5
	s_mov_b64 s[8:9], exec
	v_mbcnt_lo_u32_b32 v0, s8, 0
	v_mbcnt_hi_u32_b32 v0, s9, v0
	v_cmp_eq_u32_e32 vcc, 0, v0
	s_and_saveexec_b64 s[6:7], vcc
	s_cbranch_execz .LBB0_3
	s_bcnt1_i32_b64 s4, s[8:9]
	v_mov_b32_e32 v1, 0
	v_mov_b32_e32 v2, s4
	global_atomic_add v1, v1, v2, s[2:3] glc
	s_waitcnt vmcnt(0)
.LBB0_3:
	s_or_b64 exec, exec, s[6:7]
	v_readfirstlane_b32 s2, v1
	v_add_u32_e32 v0, s2, v0
	v_cmp_eq_u32_e32 vcc, s5, v0
	s_and_b64 exec, exec, vcc
	s_cbranch_execz .LBB0_5
	v_mov_b32_e32 v0, 0
	v_mov_b32_e32 v1, 0x4000
	global_load_dword v2, v0, s[0:1]
	global_load_dword v3, v1, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_u32_e32 v1, v2, v3
	global_store_dword v0, v1, s[0:1]
.LBB0_5:
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel ticket
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 14
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_flat_scratch_init 1
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
        .name:           counter
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .name:           v
        .offset:         16
        .size:           4
        .value_kind:     by_value
      - .name:           last
        .offset:         20
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .max_flat_workgroup_size: 256
    .name:           ticket
    .private_segment_fixed_size: 0
    .sgpr_count:     14
    .symbol:         ticket.kd
    .vgpr_count:     4
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
