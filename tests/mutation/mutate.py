#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Weakens the synchronisation of a kernel, one place at a time, and asks the verifier.

Takes one kernel as `interlock compile --emit verified` prints it, with --lower after its hand-offs and waits were lowered to
barriers and fences, and makes every mutant of it: a narrower scope, a weaker order, a barrier, fence, wait or release left out, a fence or barrier moved behind
the access that follows it. Each goes through sync-verify-scopes; one that passes has survived. Survivors must be those of the list,
each with its reason, and every entry of the list must survive.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

SCOPES = ["cta", "cluster", "gpu", "sys"]
WEAKER = {"acq_rel": ["acquire", "release", "relaxed"], "acquire": ["relaxed"], "release": ["relaxed"], "relaxed": []}
# Operations with `sem scope` in their text, and those that order something without saying how.
ORDERED = re.compile(
    r"(sync\.(?:signal_set|signal_add|signal_load|signal_wait|barrier_arrive|barrier_wait|barrier_try_wait|fence|"
    r"atomic \w+)) (relaxed|acquire|release|acq_rel|sc) (cta|cluster|gpu|sys)\b"
)
CLUSTER = re.compile(r"(sync\.cluster_(?:arrive)) (release)\b")
DECLARED = re.compile(r"(sync\.(?:producer_acquire|publish|consumer_wait|consumer_release|producer_tail)\b.*) scope\((\w+)\)")
DROPPED = re.compile(
    r"^\s*sync\.(cta_barrier|warp_barrier|fence|proxy_fence|init_fence|cluster_arrive|cluster_wait|barrier_wait|barrier_arrive|"
    r"producer_acquire|consumer_release|producer_tail|bulk_wait)\b"
)
MOVED = re.compile(r"^\s*sync\.(cta_barrier|fence|proxy_fence|init_fence|warp_barrier|cluster_arrive|cluster_wait)\b")


def legal(op, sem, scope):
    """Whether the dialect has the form at all: what it refuses by itself is no mutant."""
    if op.startswith("sync.barrier"):
        return scope in ("cta", "cluster")
    if op == "sync.fence":
        return sem != "relaxed"
    return True


def statement_end(lines, first):
    """The line behind the statement that begins at `first`: a whole region, if it opens one."""
    indent = len(lines[first]) - len(lines[first].lstrip())
    if not lines[first].rstrip().endswith("{"):
        return first + 1
    for at in range(first + 1, len(lines)):
        here = len(lines[at]) - len(lines[at].lstrip())
        if here == indent and lines[at].lstrip().startswith("}") and not lines[at].rstrip().endswith("{"):
            return at + 1
    return len(lines)


def next_effect(lines, at):
    """The next statement of the same block that touches memory or another thread, or holds ones that do."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    for after in range(at + 1, len(lines)):
        here = len(lines[after]) - len(lines[after].lstrip())
        if here < indent:
            return None
        if here == indent and re.search(r"\b(sync\.(?!shared_alloc|barrier_alloc)|ep\.(load|store|packet|ballot)|scf\.(if|for|while))", lines[after]):
            return after
    return None


def mutants(lines):
    """(what was done, the text) of every mutant, in the order of the text."""
    for at, line in enumerate(lines):

        def replaced(new):
            return "".join(lines[:at] + [new] + lines[at + 1 :])

        ordered = ORDERED.search(line)
        if ordered:
            op, sem, scope = ordered.groups()
            for weaker in WEAKER.get(sem, []):
                if legal(op, weaker, scope):
                    new = line[: ordered.start()] + f"{op} {weaker} {scope}" + line[ordered.end() :]
                    yield at, f"{op} {sem} {scope} -> {weaker}", replaced(new)
            for narrower in SCOPES[: SCOPES.index(scope)]:
                # A restricted fence exists at one scope only.
                if legal(op, sem, narrower) and "restrict" not in line:
                    new = line[: ordered.start()] + f"{op} {sem} {narrower}" + line[ordered.end() :]
                    yield at, f"{op} {sem} {scope} -> {narrower}", replaced(new)
        cluster = CLUSTER.search(line)
        if cluster:
            yield at, f"{cluster[1]} {cluster[2]} -> relaxed", replaced(line.replace(cluster[2], "relaxed"))
        declared = DECLARED.search(line)
        if declared and declared[2] != "cta":
            what = declared[1].split()[-0].split()[0]
            yield at, f"{what} scope({declared[2]}) -> cta", replaced(line.replace(f"scope({declared[2]})", "scope(cta)"))
        dropped = DROPPED.search(line)
        if dropped:
            yield at, f"sync.{dropped[1]} dropped", replaced("")
        moved = MOVED.search(line)
        target = next_effect(lines, at) if moved else None
        if target is not None:
            end = statement_end(lines, target)
            yield at, f"sync.{moved[1]} moved behind the next access", "".join(
                lines[:at] + lines[at + 1 : end] + [line] + lines[end:]
            )


def verify(opt, text):
    """The verifier's first error, or None if it accepts; a text that does not parse is a fault of this script."""
    run = subprocess.run(
        [opt, "--pass-pipeline=builtin.module(func.func(sync-verify-scopes))", "-o", os.devnull, "-"],
        input=text, capture_output=True, text=True,
    )
    if run.returncode == 0:
        return None
    errors = [line for line in run.stderr.splitlines() if "error:" in line]
    if not errors or run.returncode not in (1,):
        sys.exit(f"expected a diagnostic, got exit code {run.returncode}:\n{run.stderr}")
    return errors[0].split("error: ", 1)[1]


def output(command, text=None):
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"expected `{' '.join(command)}` to work, got exit code {run.returncode}:\n{run.stderr}")
    return run.stdout


def numbered(found):
    """Equal mutations are told apart by their number in the text, so that a list outlives other lines' changes."""
    seen = {}
    for _, what, text in found:
        seen[what] = seen.get(what, 0) + 1
        yield f"{what} #{seen[what]}", text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of interlock and interlock-opt")
    parser.add_argument("--lower", action="store_true", help="mutate barriers, waits and fences instead of hand-offs")
    parser.add_argument("--survivors", help="lines `mutation: reason`; without it survivors are only listed")
    parser.add_argument("-v", action="store_true", help="say of each mutant why it was refused")
    parser.add_argument("compile", nargs="+", help="options of `interlock compile`")
    arguments = parser.parse_args()
    opt = os.path.join(arguments.bin, "interlock-opt")
    text = output([os.path.join(arguments.bin, "interlock"), "compile", "--emit", "verified", *arguments.compile])
    if arguments.lower:
        text = output([opt, "--pass-pipeline=builtin.module(func.func(sync-lower-handoffs,sync-lower-waits))", "-"], text)
    if (fault := verify(opt, text)) is not None:
        sys.exit(f"expected a kernel that is right to begin with, got: {fault}")
    known = {}
    if arguments.survivors:
        for line in pathlib.Path(arguments.survivors).read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                what, _, reason = line.partition(": ")
                if not reason:
                    sys.exit(f"{arguments.survivors}: expected `mutation: reason`, got `{line}`")
                known[what] = reason
    todo = list(numbered(mutants(text.splitlines(keepends=True))))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda mutant: verify(opt, mutant[1]), todo))
    survived = [what for (what, _), verdict in zip(todo, verdicts) if verdict is None]
    for (what, _), verdict in zip(todo, verdicts):
        if verdict is None:
            print(f"survived: {what}: {known.get(what, 'no reason is on the list')}")
        elif arguments.v:
            print(f"refused:  {what}: {verdict[:200]}")
    print(f"{len(todo)} mutants, {len(todo) - len(survived)} refused, {len(survived)} survived")
    wrong = [what for what in survived if what not in known] if arguments.survivors else []
    stale = [what for what in known if what not in survived]
    for what in wrong:
        print(f"unexpected survivor: {what}")
    for what in stale:
        print(f"on the list, but refused or gone: {what}")
    return 1 if wrong or stale or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
