// A kernel that indexes memory of its own by a value that is not known.
module attributes {ep.target = "gfx942"} {
  func.func @scratch(%a: i64, %i: i32, %v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32} {
    %n = llvm.mlir.constant(64 : i32) : i32
    %own = llvm.alloca %n x i32 : (i32) -> !llvm.ptr<5>
    %at = llvm.getelementptr %own[%i] : (!llvm.ptr<5>, i32) -> !llvm.ptr<5>, i32
    llvm.store volatile %v, %at : i32, !llvm.ptr<5>
    %x = llvm.load volatile %own : !llvm.ptr<5> -> i32
    %g = ep.global_ptr %a : !sync.ptr<global>
    ep.store %x, %g : i32, !sync.ptr<global>
    return
  }
}
