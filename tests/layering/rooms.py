# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The rooms of the house and the arrows between them: the one table that tests/layering enforces.

A room is a folder; the longest prefix of a path names its room (`folder/.` is the files right in it). A room may include itself, every room its arrows reach
directly or through others, and nothing else of ours.
"""

PUBLIC = "runtime/include"

ARROWS = {
    # room: the rooms it stands on
    PUBLIC: [],
    "runtime/Spec": [PUBLIC],
    "analysis/PTX": [],
    "analysis/AMDGCN": [],
    "analysis/ScopeModel": [],
    "analysis/Lint": ["analysis/PTX", "analysis/AMDGCN", "analysis/ScopeModel"],
    "analysis/LintAMDGCN": ["analysis/AMDGCN", "analysis/Lint"],
    "analysis/Lint/tool": ["analysis/Lint", "analysis/LintAMDGCN"],
    "analysis/Emulator": ["analysis/PTX", "analysis/AMDGCN"],
    "runtime/Driver": ["runtime/Spec", "analysis/Emulator"],
    "runtime/Cache": ["runtime/Spec"],
    "runtime/Memory": ["runtime/Spec"],
    "templates": [],
    "templates/cuda": ["templates"],
    "templates/hip": ["templates"],
    "runtime/SourceJit": ["runtime/Cache", "runtime/Driver", "analysis/LintAMDGCN", "templates/cuda", "templates/hip"],
    "runtime/Ops": ["runtime/Cache", "runtime/Driver", "runtime/Memory", "runtime/SourceJit"],
    "runtime/CApi": ["runtime/Ops"],
    "runtime/.": ["runtime/CApi"],  # what makes libinterlock.so of the rooms
    "runtime/tools": ["runtime/."],
    "dialects/compat": [],
    "dialects/Sync": ["runtime/Spec", "dialects/compat"],
    "dialects/EP": ["dialects/Sync"],
    "compiler/Transforms": ["dialects/EP", "analysis/ScopeModel", "templates"],
    "compiler/Conversion": ["dialects/EP"],
    "compiler/Target": ["runtime/Spec", "analysis/LintAMDGCN"],
    "compiler/Pipeline": ["compiler/Transforms", "compiler/Conversion"],
    "compiler/Disassembly": ["runtime/Spec"],
    "compiler/API": ["compiler/Pipeline", "compiler/Target", "compiler/Disassembly"],
    "compiler/tools": ["compiler/API"],
}

# Rooms in which no header of these may be included, each with the reason that the message gives.
FOREIGN = [
    (("llvm/", "mlir/", "lld/"), ("runtime", "analysis"), "the runtime never links LLVM: it belongs to dialects/ and compiler/"),
    (
        ("cuda.h", "cuda_runtime", "nvrtc", "nvJitLink", "hip/", "hsa/"),
        ("runtime", "analysis", "dialects", "compiler"),
        "vendor libraries are opened at run time: declare what is used in a private header",
    ),
    (
        ("mlir/Dialect/LLVMIR/NVVM", "mlir/Dialect/LLVMIR/ROCDL", "mlir/Dialect/NVGPU", "mlir/Dialect/AMDGPU"),
        ("dialects", "compiler/Transforms", "templates"),
        "nothing of a target's dialect above compiler/Conversion",
    ),
]


def room_of(path):
    """The room that a path (relative to the root, with `/`) lies in, or None."""
    own = path.rpartition("/")[0] + "/."
    best = own if own in ARROWS else None
    for room in ARROWS:
        if (path == room or path.startswith(room + "/")) and (best is None or len(room) > len(best)):
            best = room
    return best


def reach(room):
    """The room and all rooms that its arrows lead to."""
    seen, todo = set(), [room]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += ARROWS[here]
    return seen
