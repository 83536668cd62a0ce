// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s -verify-diagnostics -split-input-file

func.func @acquire_store(%g: !sync.ptr<global>, %v: i64) {
  // expected-error @+1 {{'sync.signal_set' op expected memory order relaxed or release, got acquire}}
  sync.signal_set acquire sys %g, %v : i64
  return
}

// -----

func.func @release_load(%g: !sync.ptr<global>) {
  // expected-error @+1 {{'sync.signal_load' op expected memory order relaxed or acquire, got release}}
  %v = sync.signal_load release sys %g : i64
  return
}

// -----

func.func @release_wait(%g: !sync.ptr<global>, %v: i64) {
  // expected-error @+1 {{'sync.signal_wait' op expected memory order relaxed or acquire, got release}}
  %ok = sync.signal_wait release sys %g, %v, %v : i64
  return
}

// -----

func.func @acquire_add(%g: !sync.ptr<global>, %v: i64) {
  // expected-error @+1 {{'sync.signal_add' op expected memory order relaxed or release, got acq_rel}}
  sync.signal_add acq_rel sys %g, %v : i64
  return
}

// -----

func.func @sc_atomic(%g: !sync.ptr<global>, %v: i64) {
  // expected-error @+1 {{'sync.atomic' op expected memory order relaxed or acquire or release or acq_rel, got sc}}
  %old = sync.atomic add sc sys %g, %v : !sync.ptr<global>, i64
  return
}

// -----

func.func @relaxed_fence() {
  // expected-error @+1 {{'sync.fence' op expected memory order acquire or release or acq_rel or sc, got relaxed}}
  sync.fence relaxed gpu
  return
}

// -----

func.func @acquire_arrive(%b: !sync.barrier) {
  // expected-error @+1 {{'sync.barrier_arrive' op expected memory order relaxed or release, got acquire}}
  sync.barrier_arrive acquire cta %b
  return
}

// -----

func.func @gpu_arrive(%b: !sync.barrier) {
  // expected-error @+1 {{'sync.barrier_arrive' op expected scope cta or cluster, got gpu: a barrier lies in shared memory, which nobody outside the cluster reaches}}
  sync.barrier_arrive release gpu %b
  return
}

// -----

func.func @sys_wait(%b: !sync.barrier, %parity: i32) {
  // expected-error @+1 {{'sync.barrier_wait' op expected scope cta or cluster, got sys}}
  sync.barrier_wait acquire sys %b, %parity
  return
}

// -----

func.func @release_try_wait(%b: !sync.barrier, %parity: i32) {
  // expected-error @+1 {{'sync.barrier_try_wait' op expected memory order relaxed or acquire, got release}}
  %ok = sync.barrier_try_wait release cta %b, %parity : i1
  return
}

// -----

func.func @acquire_expect(%b: !sync.barrier) {
  // expected-error @+1 {{'sync.barrier_expect_tx' op expected memory order relaxed or release, got acquire}}
  sync.barrier_expect_tx acquire cta %b, bytes = 4
  return
}

// -----

func.func @acquire_cluster_arrive() {
  // expected-error @+1 {{'sync.cluster_arrive' op expected memory order relaxed or release, got acquire}}
  sync.cluster_arrive acquire
  return
}

// -----

func.func @relaxed_cluster_wait() {
  // expected-error @+1 {{'sync.cluster_wait' op expected memory order acquire, got relaxed}}
  sync.cluster_wait relaxed
  return
}

// -----

func.func @parity(%b: !sync.barrier) {
  // expected-note @+1 {{see the constant here; a phase number's parity is its lowest bit}}
  %two = arith.constant 2 : i32
  // expected-error @+1 {{'sync.barrier_wait' op expected a parity of 0 or 1, got 2}}
  sync.barrier_wait acquire cta %b, %two
  return
}

// -----

func.func @restrict_order() {
  // expected-error @+1 {{'sync.fence' op expected memory order acquire or release on a restricted fence, got acq_rel}}
  sync.fence acq_rel cluster restrict
  return
}

// -----

func.func @restrict_scope() {
  // expected-error @+1 {{'sync.fence' op expected scope cluster on a restricted fence, got gpu}}
  sync.fence acquire gpu restrict
  return
}

// -----

func.func @same_proxy() {
  // expected-error @+1 {{'sync.proxy_fence' op expected two different proxies, got async twice: within one proxy sync.fence orders}}
  sync.proxy_fence async async
  return
}

// -----

func.func @odd_cluster() {
  // expected-error @+1 {{'sync.handoff' op expected a cluster of 1, 2, 4 or 8 CTAs, got 3}}
  %h = sync.handoff cluster = 3 stages = 1 : !sync.handoff<i32>
  return
}

// -----

func.func @no_stages() {
  // expected-error @+1 {{'sync.handoff' op expected stages to be at least 1, got 0}}
  %h = sync.handoff cluster = 2 stages = 0 : !sync.handoff<i32>
  return
}

// -----

// expected-error @+1 {{expected a payload of i32, i64 or a vector of 4, 8, … 64 i32, got 'f32'}}
func.func private @payload(%h: !sync.handoff<f32>)

// -----

// expected-error @+1 {{expected a payload of i32, i64 or a vector of 4, 8, … 64 i32, got 'vector<6xi32>'}}
func.func private @payload(%h: !sync.handoff<vector<6xi32>>)

// -----

func.func @no_bytes() {
  // expected-error @+1 {{'sync.shared_alloc' op expected bytes to be at least 1, got 0}}
  %p = sync.shared_alloc bytes = 0 align = 4 : !sync.ptr<shared>
  return
}

// -----

func.func @odd_alignment() {
  // expected-error @+1 {{'sync.shared_alloc' op expected an alignment that is a power of two, got 12}}
  %p = sync.shared_alloc bytes = 4 align = 12 : !sync.ptr<shared>
  return
}

// -----

func.func @no_arrivals(%b: !sync.barrier) {
  // expected-error @+1 {{'sync.barrier_init' op expected a count from 1 to 1048575, got 0}}
  sync.barrier_init %b, count = 0
  return
}

// -----

func.func @too_many_bytes(%b: !sync.barrier) {
  // expected-error @+1 {{'sync.barrier_expect_tx' op expected from 0 to 1048575 bytes in a phase, got 1048576}}
  sync.barrier_expect_tx relaxed cta %b, bytes = 1048576
  return
}

// -----

func.func @copy_within(%s: !sync.ptr<shared>, %n: i32) {
  // expected-error @+1 {{'sync.bulk_copy' op expected a copy between global and shared memory, got shared to shared}}
  sync.bulk_copy %s, %s, %n : !sync.ptr<shared>, !sync.ptr<shared>
  return
}

// -----

func.func @copy_without_barrier(%s: !sync.ptr<shared>, %g: !sync.ptr<global>, %n: i32) {
  // expected-error @+1 {{'sync.bulk_copy' op expected a barrier that a copy into shared memory completes on, got none}}
  sync.bulk_copy %s, %g, %n : !sync.ptr<shared>, !sync.ptr<global>
  return
}

// -----

func.func @copy_with_barrier(%s: !sync.ptr<shared>, %g: !sync.ptr<global>, %n: i32) {
  // expected-note @+1 {{see the barrier here}}
  %b = sync.barrier_alloc : !sync.barrier
  // expected-error @+1 {{'sync.bulk_copy' op expected no barrier on a copy out of shared memory, which completes by its bulk group (sync.bulk_commit, sync.bulk_wait), got one}}
  sync.bulk_copy %g, %s, %n on %b : !sync.ptr<global>, !sync.ptr<shared>
  return
}

// -----

func.func @copy_odd_bytes(%s: !sync.ptr<shared>, %g: !sync.ptr<global>) {
  %n = arith.constant 24 : i32
  // expected-error @+1 {{'sync.bulk_copy' op expected a multiple of 16 bytes, got 24}}
  sync.bulk_copy %g, %s, %n : !sync.ptr<global>, !sync.ptr<shared>
  return
}

// -----

func.func @pending() {
  // expected-error @+1 {{'sync.bulk_wait' op expected pending groups to be at least 0, got -1}}
  sync.bulk_wait -1
  return
}

// -----

func.func @no_order(%g: !sync.ptr<global>, %v: i64) {
  // expected-error @+1 {{expected a memory order of relaxed, acquire, release, acq_rel, sc, got sys}}
  sync.signal_set sys %g, %v : i64
  return
}

// -----

func.func @no_scope() {
  // expected-error @+1 {{expected a scope of cta, cluster, gpu, sys, got world}}
  sync.fence acquire world
  return
}

// -----

func.func @wrong_alias() {
  // expected-error @+1 {{expected a scope of cta, cluster, gpu, sys, got #sync.sem<acquire>}}
  sync.fence acquire #sync.sem<acquire>
  return
}

// -----

func.func @publish_type(%it: i32, %v: i64) {
  %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<i32>
  // expected-error @+1 {{failed to verify that value has the hand-off's payload type}}
  "sync.publish"(%h, %it, %v) : (!sync.handoff<i32>, i32, i64) -> ()
  return
}

// -----

func.func @signal_in_shared(%s: !sync.ptr<shared>, %v: i64) {
  // expected-error @+1 {{operand #0 must be pointer to device memory, but got '!sync.ptr<shared>'}}
  "sync.signal_set"(%s, %v) {sem = #sync.sem<release>, scope = #sync.scope<sys>} : (!sync.ptr<shared>, i64) -> ()
  return
}

// -----

// expected-error @+1 {{expected `sync.shared_only` on sync.barrier_arrive or sync.barrier_wait, got it on func.func}}
func.func private @shared_only() attributes {sync.shared_only}

// -----

func.func @shared_only_value(%b: !sync.barrier) {
  // expected-error @+1 {{expected `sync.shared_only` to be a unit attribute, got 1 : i32}}
  sync.barrier_arrive release cta %b {sync.shared_only = 1 : i32}
  return
}

// -----

// expected-error @+1 {{expected `sync.shared_only`, the only attribute of the sync dialect, got `sync.shared`}}
func.func private @unknown_attribute() attributes {sync.shared}

// -----

func.func @cancel_payload(%it: i32) {
  %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<i32>
  // expected-error @+1 {{expected a hand-off of vector<4xi32>, which an answer to try_cancel is, got '!sync.handoff<i32>'}}
  sync.publish_cancel %h[%it] : !sync.handoff<i32>
  return
}

// -----

func.func @cancel_and_publish(%it: i32, %v: vector<4xi32>) {
  %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<vector<4xi32>>
  // expected-error @+1 {{expected a hand-off that is filled in one way, got publish_cancel and publish}}
  sync.publish_cancel %h[%it] : !sync.handoff<vector<4xi32>>
  // expected-note @+1 {{published here}}
  sync.publish %h[%it], %v : !sync.handoff<vector<4xi32>>
  return
}
