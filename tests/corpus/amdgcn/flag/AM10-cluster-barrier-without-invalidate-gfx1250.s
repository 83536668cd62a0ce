; expect: AM10: the other workgroup ran on another compute unit
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
	.text
	.type	cluster,@function
cluster:
	s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1
	s_clause 0x1
	s_load_b32 s6, s[4:5], 0x10
	s_load_b128 s[0:3], s[4:5], 0x0
	v_and_b32_e32 v0, 0x3ff, v0
	s_cmp_eq_u32 0, 0
	s_wait_kmcnt 0x0
	v_mov_b32_e32 v1, s6
	global_store_b32 v0, v1, s[0:1] scale_offset
	s_wait_storecnt 0x0
	s_barrier_signal_isfirst -1
	s_barrier_wait -1
	s_cselect_b32 s4, -1, 0
	s_wait_xcnt 0x0
	s_and_not1_b32 vcc_lo, exec_lo, s4
	s_cbranch_vccnz .LBB0_2
	s_barrier_signal -3
.LBB0_2:
	v_lshl_or_b32 v1, v0, 2, 0x1000
	s_barrier_wait -3
	global_load_b32 v1, v1, s[0:1]
	s_wait_loadcnt 0x0
	global_store_b32 v0, v1, s[2:3] scale_offset
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel cluster
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
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
        .name:           out
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .name:           v
        .offset:         16
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .max_flat_workgroup_size: 1024
    .name:           cluster
    .private_segment_fixed_size: 0
    .sgpr_count:     9
    .symbol:         cluster.kd
    .vgpr_count:     2
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1250
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
