// A step's name is what callers call it, then what it is called where it stands.
// RUN: interlock-opt %s --pass-pipeline='builtin.module(ep-expand-stages,inline,symbol-dce,func.func(sync-name-steps))' | FileCheck %s

module attributes {ep.target = "sm_90a"} {
  func.func private @await(%p: !sync.ptr<global>, %v: i64, %t: i64) -> i1 {
    %ok = sync.signal_wait acquire sys %p, %v, %t {sync.step = "await"} : i64
    sync.cta_barrier
    return %ok : i1
  }
  func.func private @both(%p: !sync.ptr<global>, %v: i64, %t: i64) {
    %a = func.call @await(%p, %v, %t) {sync.step = "first"} : (!sync.ptr<global>, i64, i64) -> i1
    %b = func.call @await(%p, %v, %t) : (!sync.ptr<global>, i64, i64) -> i1
    return
  }

  // CHECK-LABEL: func.func @kernel
  // CHECK: sync.signal_wait acquire sys {{.*}} {sync.step = "outer.first.await"} : i64
  // CHECK-NEXT: sync.cta_barrier {sync.step = "outer.first"}
  // CHECK-NEXT: sync.signal_wait acquire sys {{.*}} {sync.step = "outer.await"} : i64
  // CHECK-NEXT: sync.cta_barrier {sync.step = "outer"}
  // CHECK-NEXT: sync.fence acquire gpu{{$}}
  // CHECK-NEXT: sync.fence release gpu {sync.step = "own"}
  func.func @kernel(%a: i64, %v: i64, %t: i64) attributes {ep.kernel} {
    %p = ep.global_ptr %a : !sync.ptr<global>
    func.call @both(%p, %v, %t) {sync.step = "outer"} : (!sync.ptr<global>, i64, i64) -> ()
    sync.fence acquire gpu
    sync.fence release gpu {sync.step = "own"}
    return
  }
}
