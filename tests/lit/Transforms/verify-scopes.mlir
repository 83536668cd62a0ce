// RUN: interlock-opt %s --sync-verify-scopes -verify-diagnostics -split-input-file

// Both directions at cluster scope: clean.
func.func @clean(%i: i32, %v: i32) {
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.consumer_release %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cluster) : !sync.handoff<i32>
  return
}

// -----

// Within one CTA its own scope is enough: each side is compared with the distance, not with the other side.
func.func @clean_single(%i: i32, %v: i32) {
  %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cta) : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] scope(cta) : !sync.handoff<i32>
  sync.consumer_release %h[%i] scope(cta) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cta) : !sync.handoff<i32>
  return
}

// -----

func.func @narrow_wait(%i: i32, %v: i32) {
  // expected-note @below {{producer and consumers are CTAs of a cluster of 2}}
  %h = sync.handoff cluster = 2 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<i32>
  // expected-note @below {{released here}}
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  // expected-error @below {{expected the acquire of the full direction to have at least scope cluster, got cta}}
  %r = sync.consumer_wait %h[%i] scope(cta) : !sync.handoff<i32>
  sync.consumer_release %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cluster) : !sync.handoff<i32>
  return
}

// -----

func.func @narrow_release(%i: i32, %v: i32) {
  // expected-note @below {{producer and consumers are CTAs of a cluster of 8}}
  %h = sync.handoff cluster = 8 stages = 1 : !sync.handoff<i32>
  // expected-note @below {{acquired here}}
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<i32>
  // expected-error @below {{expected the release of the empty direction to have at least scope cluster, got cta}}
  sync.consumer_release %h[%i] scope(cta) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cluster) : !sync.handoff<i32>
  return
}

// -----

func.func @narrow_tail(%i: i32, %v: i32) {
  // expected-note @below {{producer and consumers are CTAs of a cluster of 4}}
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<i32>
  // expected-note @below {{released here}}
  sync.consumer_release %h[%i] scope(cluster) : !sync.handoff<i32>
  // expected-error @below {{expected the acquire of the empty direction to have at least scope cluster, got cta}}
  sync.producer_tail %h[%i] scope(cta) : !sync.handoff<i32>
  return
}

// -----

func.func @never_freed(%i: i32, %v: i32) {
  // expected-note @below {{see the hand-off here}}
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  // expected-error @below {{expected a consumer_release after this wait, got none: the producer would wait for ever}}
  %r = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cluster) : !sync.handoff<i32>
  return
}

// -----

func.func @never_drained(%i: i32, %v: i32) {
  // expected-note @below {{see the hand-off here}}
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<i32>
  // expected-error @below {{expected a producer_tail after this publish, got none: the leader may exit while its peers still arrive on its barrier}}
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.consumer_release %h[%i] scope(cluster) : !sync.handoff<i32>
  return
}

// -----

func.func @not_inferred(%i: i32, %v: i32) {
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
  // expected-error @below {{expected a scope on this side of the empty direction, got none: run sync-infer-scopes first}}
  sync.producer_acquire %h[%i] : !sync.handoff<i32>
  return
}
