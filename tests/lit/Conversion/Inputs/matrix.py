# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The golden matrix: operation x order x scope x chip, and the qualifiers that the PTX must carry, no others.

`matrix.py make CHIP` prints a module with a kernel for each combination that the dialect has; `matrix.py check CHIP` reads the
PTX that was made of it and compares each kernel's instruction with what was asked for.
"""

import re
import sys

SCOPES = ["cta", "cluster", "gpu", "sys"]


class Case:
    def __init__(self, op, sem, scope, body, instruction, expected):
        self.op, self.sem, self.scope, self.body = op, sem, scope, body
        self.instruction, self.expected = instruction, expected

    def __str__(self):
        return f"{self.op} {self.sem} {self.scope}"


def cases(chip):
    hopper = chip != "sm_80"

    def on_chip(scope):
        """A chip without clusters has the next wider scope."""
        return scope if hopper or scope != "cluster" else "gpu"

    for scope in SCOPES:
        wide = on_chip(scope)
        for sem in ("relaxed", "release"):
            yield Case("signal_set", sem, scope, f"sync.signal_set {sem} {scope} %g, %w : i64", "st", [sem, wide])
            yield Case("signal_add", sem, scope, f"sync.signal_add {sem} {scope} %g, %w : i64", "red", [sem, wide])
        for sem in ("relaxed", "acquire"):
            yield Case("signal_load", sem, scope, f"%x = sync.signal_load {sem} {scope} %g : i64\n    ep.store %x, %o : i64, !sync.ptr<global>", "ld", [sem, wide])
        for sem in ("relaxed", "acquire", "release", "acq_rel"):
            yield Case("atomic add", sem, scope, f"%x = sync.atomic add {sem} {scope} %g, %w : !sync.ptr<global>, i64", "atom", [sem, wide])
        for sem in ("acquire", "release", "acq_rel", "sc"):
            # PTX ISA "membar/fence": one-sided fences need sm_90.
            strong = "acq_rel" if sem in ("acquire", "release") and not hopper else sem
            yield Case("fence", sem, scope, f"sync.fence {sem} {scope}", "fence", [strong, wide])
    for scope in ("cta", "cluster"):
        for sem in ("relaxed", "release"):
            # The form of PTX ISA 7.0 has no qualifiers and releases at CTA scope.
            asked = [sem, scope] if hopper else ["release", "cta"]
            yield Case("barrier_arrive", sem, scope, f"sync.barrier_arrive {sem} {scope} %b", "mbarrier.arrive", asked)
            if hopper:
                yield Case("barrier_arrive rank", sem, scope, f"sync.barrier_arrive {sem} {scope} %b rank %v", "mbarrier.arrive", asked)
                yield Case("barrier_expect_tx", sem, scope, f"sync.barrier_expect_tx {sem} {scope} %b, bytes = 4", "mbarrier.arrive", asked)
        for sem in ("relaxed", "acquire"):
            asked = [sem, scope] if hopper else ["acquire", "cta"]
            yield Case("barrier_try_wait", sem, scope, f"%x = sync.barrier_try_wait {sem} {scope} %b, %v : i1\n    %y = arith.extui %x : i1 to i64\n    ep.store %y, %o : i64, !sync.ptr<global>",
                       "mbarrier.try_wait" if hopper else "mbarrier.test_wait", asked)
    if hopper:
        yield Case("fence restrict", "acquire", "cluster", "sync.fence acquire cluster restrict", "fence", ["acquire", "sync_restrict::shared::cluster", "cluster"])
        yield Case("fence restrict", "release", "cluster", "sync.fence release cluster restrict", "fence", ["release", "sync_restrict::shared::cta", "cluster"])
        yield Case("cluster_arrive", "relaxed", "cluster", "sync.cluster_arrive relaxed", "barrier.cluster.arrive", ["relaxed"])
        yield Case("cluster_arrive", "release", "cluster", "sync.cluster_arrive release", "barrier.cluster.arrive", ["release"])
        yield Case("init_fence", "release", "cluster", "sync.init_fence", "fence", ["mbarrier_init", "release", "cluster"])


def make(chip):
    cluster = ", ep.cluster = 2 : i32" if chip != "sm_80" else ""
    for number, case in enumerate(cases(chip)):
        print(f"""  func.func @k{number}(%a: i64, %c: i64, %w: i64, %v: i32) attributes {{ep.kernel, ep.block_threads = 32 : i32{cluster}}} {{
    %g = ep.global_ptr %a : !sync.ptr<global>
    %o = ep.global_ptr %c : !sync.ptr<global>
    %b = sync.barrier_alloc : !sync.barrier
    {case.body}
    return
  }}""")


# What of an instruction's modifiers says how it orders; spaces, types, shapes and operations do not.
ORDER = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mbarrier_init", "sync_restrict::shared::cluster",
         "sync_restrict::shared::cta", *SCOPES}


# What an instruction without qualifiers means (PTX ISA "mbarrier.arrive", "mbarrier.test_wait, mbarrier.try_wait",
# "barrier.cluster").
DEFAULTS = {
    "mbarrier.arrive": ["release", "cta"],
    "mbarrier.try_wait": ["acquire", "cta"],
    "mbarrier.test_wait": ["acquire", "cta"],
    "barrier.cluster.arrive": ["release"],
}


def instructions(text, opcode):
    for line in text.splitlines():
        for statement in re.split(r"[;{}]", line):
            words = statement.split()
            words = words[1:] if words and words[0].startswith("@") else words
            if words and (words[0] == opcode or words[0].startswith(opcode + ".")) and not words[0].startswith("ld.param"):
                yield words[0][len(opcode):]


def check(chip):
    text = sys.stdin.read()
    kernels = {name: body for name, body in re.findall(r"\.entry (k\d+)\((.*?)(?=\.visible|\Z)", text, re.S)}
    wrong, count = 0, 0
    for number, case in enumerate(cases(chip)):
        count += 1
        found = [[m for m in re.split(r"\.(?!.*\()", rest) if m in ORDER] for rest in instructions(kernels[f"k{number}"], case.instruction)]
        found = [each or DEFAULTS.get(case.instruction, []) for each in found]
        if found != [case.expected]:
            wrong += 1
            print(f"{chip}: {case}: expected {case.instruction} with {case.expected}, got {found}")
    print(f"{chip}: {count} combinations, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(make(sys.argv[2]) if sys.argv[1] == "make" else check(sys.argv[2]))
