#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Writes LLVM IR: a message from one thread to another, at each scope and between each pair of places.

The tests take away, or exchange, what stands between two markers (`; release begins`, `; release ends`). LLVM 22.1 drops
the wait behind a buffer_wbl2 when nothing else is outstanding (llvm-project PR 178316), so there is an explicit one.
"""

HEAD = """target triple = "amdgcn-amd-amdhsa"
@tile = internal addrspace(3) global [64 x i32] poison
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.wavefrontsize()
declare void @llvm.amdgcn.s.sleep(i32)
declare void @llvm.amdgcn.s.barrier()
"""

# data[lane] and data[lane + 1024 words], a line for each lane; the flag; what was read.
BODY = """
define amdgpu_kernel void @message_{place}_{name}(ptr addrspace(1) %data, ptr addrspace(1) %flag, ptr addrspace(1) %out, i32 %which) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %w = call i32 @llvm.amdgcn.wavefrontsize()
  %m = sub i32 %w, 1
  %lane = and i32 %t, %m
  %second = icmp uge i32 %t, %w
  %wave = zext i1 %second to i32
  %p0 = getelementptr [16 x i32], ptr addrspace(1) %data, i32 %lane
  %p1 = getelementptr i32, ptr addrspace(1) %p0, i32 1024
  %q0 = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  %q1 = getelementptr i32, ptr addrspace(1) %q0, i32 64
  %q2 = getelementptr i32, ptr addrspace(1) %q0, i32 128
  %sends = icmp eq i32 {role}, 0
  br i1 %sends, label %send, label %receive
send:
  %v = add i32 %lane, 1000
  store i32 %v, ptr addrspace(1) %p0
  store i32 %v, ptr addrspace(1) %p1
  {local[0]}
  call void asm sideeffect "; release begins", "~{{memory}}"()
  fence {scope} release
  {wait}
  call void asm sideeffect "; release ends", "~{{memory}}"()
  store atomic i32 1, ptr addrspace(1) %flag {scope} monotonic, align 4
  ret void
receive:
  %early = load i32, ptr addrspace(1) %p1
  store i32 %early, ptr addrspace(1) %q2
  br label %poll
poll:
  %f = load atomic i32, ptr addrspace(1) %flag {scope} monotonic, align 4
  %c = icmp eq i32 %f, 1
  br i1 %c, label %done, label %again
again:
  call void @llvm.amdgcn.s.sleep(i32 1)
  br label %poll
done:
  call void asm sideeffect "; acquire begins", "~{{memory}}"()
  fence {scope} acquire
  call void asm sideeffect "; acquire ends", "~{{memory}}"()
  %v0 = load i32, ptr addrspace(1) %p0
  %v1 = load i32, ptr addrspace(1) %p1
  store i32 %v0, ptr addrspace(1) %q0
  store i32 %v1, ptr addrspace(1) %q1
  {local[1]}
  ret void
}}
"""

# Waves of a workgroup hand on something in LDS too.
LOCAL = (
    """%l = getelementptr i32, ptr addrspace(3) @tile, i32 %lane
  store i32 %v, ptr addrspace(3) %l""",
    """%l2 = getelementptr i32, ptr addrspace(3) @tile, i32 %lane
  %v2 = load i32, ptr addrspace(3) %l2
  %q3 = getelementptr i32, ptr addrspace(1) %q0, i32 192
  store i32 %v2, ptr addrspace(1) %q3""",
)

# Which thread sends, and the scopes: the right one last, a narrower one before it.
PLACES = {
    "waves": ("%wave", ("wavefront", "workgroup")),
    "groups": ("%g", ("workgroup", "agent")),
    "devices": ("%which", ("agent", "system")),
}


def main():
    import sys

    gfx9 = len(sys.argv) > 1 and sys.argv[1] in ("gfx90a", "gfx942", "gfx950")
    wait = "call void @llvm.amdgcn.s.waitcnt(i32 3952) ; vmcnt(0)" if gfx9 else ""
    print(HEAD + ("declare void @llvm.amdgcn.s.waitcnt(i32)\n" if gfx9 else ""))
    for place, (role, scopes) in PLACES.items():
        for name in scopes:
            print(
                BODY.format(
                    place=place,
                    role=role,
                    name=name,
                    scope=f'syncscope("{name}")' if name != "system" else "",
                    wait=wait if name == "system" else "",
                    local=LOCAL if place == "waves" else ("", ""),
                )
            )


if __name__ == "__main__":
    main()
