// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// DEFINE: %{chip} =
// DEFINE: %{isa} =
// DEFINE: %{check} =
// DEFINE: %{ptx} = interlock-opt %s --convert-interlock-to-nvvm=chip=%{chip} | mlir-translate --mlir-to-llvmir | llc -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} -mattr=+ptx%{isa} | FileCheck %s --check-prefixes=%{check}

// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{isa} = 86
// REDEFINE: %{check} = CHECK,NEW
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_100a
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_103a
// REDEFINE: %{isa} = 88
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_120a
// REDEFINE: %{isa} = 87
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_80
// REDEFINE: %{isa} = 70
// REDEFINE: %{check} = CHECK,OLD
// RUN: %{ptx}

// One-sided fences need sm_90; before it each is acq_rel. A chip without clusters gets gpu for cluster.
// CHECK-LABEL: .entry fences
func.func @fences() attributes {ep.kernel, ep.block_threads = 32 : i32} {
  // NEW: fence.acquire.cta;
  // OLD: fence.acq_rel.cta;
  sync.fence acquire cta
  // NEW-NEXT: fence.acquire.cluster;
  // OLD-NEXT: fence.acq_rel.gpu;
  sync.fence acquire cluster
  // NEW-NEXT: fence.acquire.gpu;
  // OLD-NEXT: fence.acq_rel.gpu;
  sync.fence acquire gpu
  // NEW-NEXT: fence.acquire.sys;
  // OLD-NEXT: fence.acq_rel.sys;
  sync.fence acquire sys
  // NEW-NEXT: fence.release.cta;
  // OLD-NEXT: fence.acq_rel.cta;
  sync.fence release cta
  // NEW-NEXT: fence.release.cluster;
  // OLD-NEXT: fence.acq_rel.gpu;
  sync.fence release cluster
  // NEW-NEXT: fence.release.gpu;
  // OLD-NEXT: fence.acq_rel.gpu;
  sync.fence release gpu
  // NEW-NEXT: fence.release.sys;
  // OLD-NEXT: fence.acq_rel.sys;
  sync.fence release sys
  // CHECK-NEXT: fence.acq_rel.cta;
  sync.fence acq_rel cta
  // NEW-NEXT: fence.acq_rel.cluster;
  // OLD-NEXT: fence.acq_rel.gpu;
  sync.fence acq_rel cluster
  // CHECK-NEXT: fence.acq_rel.gpu;
  sync.fence acq_rel gpu
  // CHECK-NEXT: fence.acq_rel.sys;
  sync.fence acq_rel sys
  // CHECK-NEXT: fence.sc.cta;
  sync.fence sc cta
  // NEW-NEXT: fence.sc.cluster;
  // OLD-NEXT: fence.sc.gpu;
  sync.fence sc cluster
  // CHECK-NEXT: fence.sc.gpu;
  sync.fence sc gpu
  // CHECK-NEXT: fence.sc.sys;
  sync.fence sc sys
  // NEW-NEXT: fence.acquire.sync_restrict::shared::cluster.cluster;
  // OLD-NEXT: fence.acq_rel.gpu;
  sync.fence acquire cluster restrict
  // NEW-NEXT: fence.release.sync_restrict::shared::cta.cluster;
  // OLD-NEXT: fence.acq_rel.gpu;
  sync.fence release cluster restrict
  // CHECK-NEXT: ret;
  return
}
