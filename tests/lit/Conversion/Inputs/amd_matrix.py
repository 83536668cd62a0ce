# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The golden matrix for AMD chips: operation x order x scope x chip, and what in the assembly orders.

`amd_matrix.py make` prints a module with a kernel for each combination that the dialect has; `amd_matrix.py check CHIP`
reads the assembly that was made of it and compares the instructions that order, in their order, with what the memory model asks
for (LLVM, "User Guide for AMDGPU Backend", "Memory Model"). Every kernel stores first, so that a release has something to release.
"""

import re
import sys

SCOPES = ["cta", "cluster", "gpu", "sys"]


class Chip:
    """A chip's memory model: the cache operations of each fence, and what says how far an access reaches."""

    def __init__(self, name):
        self.clusters = name == "gfx1250"
        rows = FENCES[name]
        self.releases = {scope: row[0] for scope, row in rows.items()}
        self.acquires = {scope: row[1] for scope, row in rows.items()}
        self.reaches = {scope: row[2] for scope, row in rows.items()}

    def scope(self, scope):
        """A chip without clusters has the next wider scope."""
        return scope if self.clusters or scope != "cluster" else "gpu"


# By chip and scope: cache operations of a release fence, of an acquire fence, and the modifiers of a load, of a store, and of an
# atomic that returns nothing (one that returns adds RETURNS).
GFX942 = {
    "cta": ([], [], ("sc0", "sc0", "")),
    "gpu": (["buffer_wbl2 sc1"], ["buffer_inv sc1"], ("sc1", "sc1", "")),
    "sys": (["buffer_wbl2 sc0 sc1"], ["buffer_inv sc0 sc1"], ("sc0 sc1", "sc0 sc1", "sc1")),
}
FENCES = {
    "gfx90a": {
        "cta": ([], [], ("", "", "")),
        "gpu": ([], ["buffer_wbinvl1_vol"], ("glc", "", "")),
        "sys": (["buffer_wbl2"], ["buffer_invl2", "buffer_wbinvl1_vol"], ("glc", "", "")),
    },
    "gfx942": GFX942,
    "gfx950": GFX942,
    "gfx1100": {
        "cta": ([], ["buffer_gl0_inv"], ("glc", "", "")),
        "gpu": ([], ["buffer_gl1_inv", "buffer_gl0_inv"], ("glc", "", "")),
        "sys": ([], ["buffer_gl1_inv", "buffer_gl0_inv"], ("glc", "", "")),
    },
    "gfx1201": {
        "cta": ([], ["global_inv scope:SCOPE_SE"], ("scope:SCOPE_SE",) * 3),
        "gpu": ([], ["global_inv scope:SCOPE_DEV"], ("scope:SCOPE_DEV",) * 3),
        "sys": (["global_wb scope:SCOPE_SYS"], ["global_inv scope:SCOPE_SYS"], ("scope:SCOPE_SYS",) * 3),
    },
    "gfx1250": {
        "cta": ([], [], ("", "", "")),
        "cluster": ([], ["global_inv scope:SCOPE_SE"], ("scope:SCOPE_SE",) * 3),
        "gpu": (["global_wb scope:SCOPE_DEV"], ["global_inv scope:SCOPE_DEV"], ("scope:SCOPE_DEV",) * 3),
        "sys": (["global_wb scope:SCOPE_SYS"], ["global_inv scope:SCOPE_SYS"], ("scope:SCOPE_SYS",) * 3),
    },
}
RETURNS = {"gfx90a": "glc", "gfx942": "sc0", "gfx950": "sc0", "gfx1100": "glc", "gfx1201": "th:TH_ATOMIC_RETURN", "gfx1250": "th:TH_ATOMIC_RETURN"}


class Case:
    def __init__(self, op, sem, scope, body, access, returns=False):
        self.op, self.sem, self.scope, self.body = op, sem, scope, body
        self.access, self.returns = access, returns

    def __str__(self):
        return f"{self.op} {self.sem} {self.scope}"

    def releases(self):
        return self.sem in ("release", "acq_rel", "sc")

    def acquires(self):
        return self.sem in ("acquire", "acq_rel", "sc")

    def loops(self, name):
        """Where a bus may lie between a chip and its memory, LLVM looks first and then exchanges if nothing has changed."""
        return name in ("gfx90a", "gfx1100") and self.op in ("atomic max", "atomic or")

    def expected(self, name):
        """Cache operations and the access, in order."""
        chip = Chip(name)
        scope = chip.scope(self.scope)
        access = []
        if self.access:
            words = [chip.reaches[scope][("load", "store", "atomic").index(self.access)]]
            words = [RETURNS[name]] + words if self.returns else words
            access = [" ".join(word for word in [self.access] + words if word)]
            if self.loops(name):
                access = ["load"] + access
        # A sequentially consistent fence is a release and then a fence that is both.
        both = chip.releases[scope] if self.sem == "sc" else []
        return (chip.releases[scope] if self.releases() else []) + access + both + (chip.acquires[scope] if self.acquires() else [])


def cases():
    keep = "\n    ep.store %x, %o : i64, !sync.ptr<global>"
    for scope in SCOPES:
        for sem in ("relaxed", "release"):
            yield Case("signal_set", sem, scope, f"sync.signal_set {sem} {scope} %g, %w : i64", "store")
            yield Case("signal_add", sem, scope, f"sync.signal_add {sem} {scope} %g, %w : i64", "atomic")
        for sem in ("relaxed", "acquire"):
            yield Case("signal_load", sem, scope, f"%x = sync.signal_load {sem} {scope} %g : i64{keep}", "load")
        for kind in ("add", "max", "or", "exch"):
            for sem in ("relaxed", "acquire", "release", "acq_rel"):
                # At system scope max and or are such a loop on every chip (see loops).
                if kind in ("add", "exch") or scope != "sys":
                    yield Case(f"atomic {kind}", sem, scope, f"%x = sync.atomic {kind} {sem} {scope} %g, %w : !sync.ptr<global>, i64{keep}", "atomic", True)
        for sem in ("acquire", "release", "acq_rel", "sc"):
            yield Case("fence", sem, scope, f"sync.fence {sem} {scope}", None)


def make():
    for number, case in enumerate(cases()):
        print(f"""  func.func @k{number}(%a: i64, %c: i64, %d: i64, %w: i64) attributes {{ep.kernel, ep.block_threads = 128 : i32}} {{
    %g = ep.global_ptr %a : !sync.ptr<global>
    %o = ep.global_ptr %c : !sync.ptr<global>
    %p = ep.global_ptr %d : !sync.ptr<global>
    ep.store %w, %p : i64, !sync.ptr<global>
    {case.body}
    return
  }}""")


WAITS = {
    "stores": r"s_waitcnt .*\bvmcnt\(0\)|s_waitcnt_vscnt null, 0x0|s_wait_storecnt(_dscnt)? 0x0",
    "loads": r"s_waitcnt .*\bvmcnt\(0\)|s_wait_loadcnt(_dscnt)? 0x0",
}


def read(body):
    """The body as (word, what was waited for just before it), the kernel's own stores left out."""
    found, waited = [], set()
    for line in body.splitlines():
        line = line.split(";")[0].strip()
        for what, pattern in WAITS.items():
            if re.fullmatch(pattern, line):
                waited.add(what)
        access = re.match(r"global_(store|load|atomic)", line)
        if re.match(r"buffer_(wb|inv|gl[01]_inv)|global_(wb|inv)", line):
            found.append((" ".join(line.split()), waited))
        elif access:
            found.append((" ".join([access.group(1)] + re.findall(r"\b(?:sc[01]|glc|scope:\w+|th:\w+)", line)), waited))
        else:
            continue
        waited = set()
    return found[1:], waited


def judge(case, name, body):
    found, last = read(body)
    # What the loads and atomics return is stored at the end.
    if (case.returns or case.access == "load") and found and found[-1][0] == "store":
        last = found.pop()[1]
    words = [word for word, _ in found]
    if words != case.expected(name):
        return f"expected {case.expected(name)}, got {words}"
    chip = Chip(name)
    scope = chip.scope(case.scope)
    released = len(chip.releases[scope]) if case.releases() else 0
    behind = found[released][1] if released < len(found) else last
    if case.releases() and "stores" not in behind:
        return "expected the stores to be waited for before what publishes, got no wait"
    if case.access in ("load", "atomic") and case.acquires() and chip.acquires[scope]:
        if "loads" not in found[released + 1 + case.loops(name)][1]:
            return "expected the access to be waited for before what comes after it, got no wait"
    return None


def check(name):
    text = sys.stdin.read()
    wrong, count = 0, 0
    for number, case in enumerate(cases()):
        count += 1
        complaint = judge(case, name, re.search(rf"^k{number}:(.*?)s_endpgm", text, re.S | re.M).group(1))
        if complaint:
            wrong += 1
            print(f"{name}: {case}: {complaint}")
    print(f"{name}: {count} combinations, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1] == "make" else check(sys.argv[2]))
