// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What chips with clusters and asynchronous copies have.
// DEFINE: %{chip} =
// DEFINE: %{isa} =
// DEFINE: %{ptx} = interlock-opt %s --convert-interlock-to-nvvm=chip=%{chip} | mlir-translate --mlir-to-llvmir | llc -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} -mattr=+ptx%{isa} | FileCheck %s
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{isa} = 86
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_100a
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_120a
// REDEFINE: %{isa} = 87
// RUN: %{ptx}

// CHECK-LABEL: .entry remote
// CHECK: .reqntid 64
// CHECK: .reqnctapercluster 4
func.func @remote(%rank: i32, %w: i32, %v: i64)
    attributes {ep.kernel, ep.block_threads = 64 : i32, ep.cluster = 4 : i32} {
  %b = sync.barrier_alloc : !sync.barrier
  %s = sync.shared_alloc bytes = 16 align = 16 : !sync.ptr<shared>
  // CHECK: mbarrier.init.shared.b64
  sync.barrier_init %b, count = 1
  // CHECK: fence.mbarrier_init.release.cluster;
  sync.init_fence
  // CHECK: barrier.cluster.arrive.relaxed;
  sync.cluster_arrive relaxed
  // CHECK: barrier.cluster.wait;
  sync.cluster_wait acquire
  // CHECK: mapa.shared::cluster.u64 %[[BAR:rd[0-9]+]],
  // CHECK: mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%[[BAR]]], %r
  sync.barrier_arrive release cluster %b rank %rank
  // CHECK: mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%{{.*}}], %r
  sync.barrier_arrive relaxed cluster %b rank %rank
  // CHECK: mbarrier.arrive.expect_tx.relaxed.cta.shared.b64 %{{.*}}, [remote_shared_{{[0-9]+}}], %r
  sync.barrier_expect_tx relaxed cta %b, bytes = 4
  // CHECK: mbarrier.arrive.expect_tx.release.cluster.shared.b64 %
  sync.barrier_expect_tx release cluster %b, bytes = 8
  // CHECK: st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%rd{{[0-9]+}}], %r{{[0-9]+}}, [%rd{{[0-9]+}}];
  sync.store_async %w, %s, %b rank %rank : i32
  // CHECK: st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%rd{{[0-9]+}}], %rd{{[0-9]+}}, [%rd{{[0-9]+}}];
  sync.store_async %v, %s, %b rank %rank : i64
  // CHECK: barrier.cluster.arrive;
  sync.cluster_arrive release
  // CHECK: barrier.cluster.wait;
  sync.cluster_wait acquire
  // CHECK: ret;
  return
}

// CHECK-LABEL: .entry bulk
func.func @bulk(%a: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  %b = sync.barrier_alloc : !sync.barrier
  %s = sync.shared_alloc bytes = 1024 align = 16 : !sync.ptr<shared>
  // CHECK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd{{[0-9]+}}], [%rd{{[0-9]+}}], %r{{[0-9]+}}, [bulk_shared_{{[0-9]+}}];
  sync.bulk_copy %s, %g, %n on %b : !sync.ptr<shared>, !sync.ptr<global>
  // CHECK-NEXT: fence.proxy.async;
  sync.proxy_fence generic async
  // CHECK-NEXT: fence.proxy.async.shared::cta;
  sync.proxy_fence generic async shared
  // CHECK-NEXT: fence.proxy.async.global;
  sync.proxy_fence async generic global
  // CHECK-NEXT: cp.async.bulk.global.shared::cta.bulk_group [%rd{{[0-9]+}}], [bulk_shared_{{[0-9]+}}], %r{{[0-9]+}};
  sync.bulk_copy %g, %s, %n : !sync.ptr<global>, !sync.ptr<shared>
  // CHECK-NEXT: cp.async.bulk.commit_group;
  sync.bulk_commit
  // CHECK-NEXT: cp.async.bulk.wait_group.read 1;
  sync.bulk_wait 1 read
  // CHECK-NEXT: cp.async.bulk.wait_group 0;
  sync.bulk_wait 0
  // CHECK: ret;
  return
}

// Where a CTA is: in a kernel with clusters …
// CHECK-LABEL: .entry places
func.func @places(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  // CHECK-DAG: mov.u32 %{{.*}}, %clusterid.x;
  // CHECK-DAG: mov.u32 %{{.*}}, %nclusterid.x;
  // CHECK-DAG: mov.u32 %{{.*}}, %cluster_ctarank;
  %id = ep.cluster_id : i32
  %count = ep.cluster_count : i32
  %rank = ep.cluster_rank : i32
  sync.signal_set relaxed gpu %g, %id : i32
  sync.signal_set relaxed gpu %g, %count : i32
  sync.signal_set relaxed gpu %g, %rank : i32
  // CHECK: ret;
  return
}

// … and in one without.
// CHECK-LABEL: .entry lone_places
// CHECK-NOT: cluster
func.func @lone_places(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 1 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  // CHECK-DAG: mov.u32 %{{.*}}, %ctaid.x;
  // CHECK-DAG: mov.u32 %{{.*}}, %nctaid.x;
  %id = ep.cluster_id : i32
  %count = ep.cluster_count : i32
  %rank = ep.cluster_rank : i32
  sync.signal_set relaxed gpu %g, %id : i32
  sync.signal_set relaxed gpu %g, %count : i32
  // CHECK: st.relaxed.gpu.global.b32 [%{{.*}}], 0;
  sync.signal_set relaxed gpu %g, %rank : i32
  // CHECK: ret;
  return
}
