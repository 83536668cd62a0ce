; expect: AM06: LDS is read behind the barrier
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
	.text
	.type	tile_sum,@function
tile_sum:
	s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1
	s_load_b128 s[0:3], s[4:5], 0x0
	v_and_b32_e32 v1, 0x3ff, v0
	s_wait_kmcnt 0x0
	global_load_b32 v2, v1, s[0:1] scale_offset
	s_wait_xcnt 0x0
	s_movk_i32 s0, 0x41
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_bitop3_b32 v0, v0, s0, 0x3ff bitop3:0x6c
	v_dual_lshlrev_b32 v3, 2, v1 :: v_dual_lshlrev_b32 v0, 2, v0
	s_wait_loadcnt 0x0
	ds_store_b32 v3, v2
	s_barrier_signal -1
	s_barrier_wait -1
	ds_load_b32 v0, v0
	s_wait_dscnt 0x0
	global_store_b32 v1, v0, s[2:3] scale_offset
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel tile_sum
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 0
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.kernels:
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
    .group_segment_fixed_size: 1024
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .max_flat_workgroup_size: 256
    .name:           tile_sum
    .private_segment_fixed_size: 0
    .sgpr_count:     6
    .symbol:         tile_sum.kd
    .vgpr_count:     4
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1250
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
