; expect: AM09: a volatile store takes nothing along
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
	.text
	.type	volatile,@function
volatile:
	s_clause 0x1
	s_load_b32 s6, s[4:5], 0x10
	s_load_b128 s[0:3], s[4:5], 0x0
	v_dual_mov_b32 v1, 0 :: v_dual_and_b32 v0, 0x3ff, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_dual_mov_b32 v3, 1 :: v_dual_lshlrev_b32 v0, 2, v0
	s_wait_kmcnt 0x0
	v_mov_b32_e32 v2, s6
	global_store_b32 v0, v2, s[0:1]
	s_wait_storecnt 0x0
	global_store_b32 v1, v3, s[2:3] scope:SCOPE_SYS
	s_wait_storecnt 0x0
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel volatile
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_reserve_vcc 0
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
        .name:           flag
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
    .name:           volatile
    .private_segment_fixed_size: 0
    .sgpr_count:     7
    .symbol:         volatile.kd
    .vgpr_count:     4
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1201
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
