#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Checks what the built binaries link and export.

The runtime (libinterlock.so, the command, the static libraries) has no LLVM in it, the plugin exports ilk_compiler_* and
nothing else, scope-lint loads nothing at all, and no product links a shared LLVM. What a child of a fork may use at once
makes no object of ours at its first use. Exit 1 and a sentence for each that is not so.
"""

import argparse
import pathlib
import re
import subprocess
import sys

# Itanium-mangled names in namespace llvm or mlir, and LLVM's C API.
LLVM_SYMBOL = re.compile(r"^(_Z\w*?N[KVrRO]*4(llvm|mlir)|_ZT[VISCW]N?4(llvm|mlir)|LLVM[A-Z]|mlir[A-Z])")
SHARED_LLVM = re.compile(r"lib(LLVM|MLIR|clang|lld)[\w.+-]*\.so\S*")
# The guard of a function's static object in namespace interlock.
GUARD = re.compile(r"^_ZGVZ+N[KVrRO]*9interlock")
PLUGIN_SYMBOL = re.compile(r"^ilk_compiler_\w+$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def dynamic_exports(path):
    """Names that a shared object defines for others, without version."""
    lines = run("nm", "-D", "--defined-only", "--format=posix", str(path)).splitlines()
    return [line.split()[0].split("@")[0] for line in lines if line.strip()]


def archive_symbols(path):
    """Names that a static library defines or needs."""
    lines = run("nm", "--format=posix", str(path)).splitlines()
    return [line.split()[0] for line in lines if len(line.split()) >= 2]


def check_no_shared_llvm(path):
    found = SHARED_LLVM.search(run("ldd", str(path)))
    if found:
        return [f"{path.name}: links {found.group(0)}: link LLVM's components statically by interlock_link_mlir (cmake/InterlockMLIR.cmake)"]
    return []


def check_static(path):
    """A program that loads nothing, so that it runs on any Linux."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True)
    if done.returncode == 0 or "not a dynamic executable" not in done.stdout + done.stderr:
        return [f"{path.name}: is linked dynamically: link it with -static, and nothing that is there as a shared library only"]
    return []


def check_no_llvm_inside(path, names):
    found = [name for name in names if LLVM_SYMBOL.match(name)]
    if found:
        return [f"{path.name}: has {len(found)} LLVM symbols ({found[0]}, …) where the runtime has none: move that code to compiler/"]
    return []


def check_no_first_use(path, names):
    """A fork while another thread makes such an object leaves the child one that nobody finishes, and a wait for it."""
    found = [name for name in names if GUARD.match(name)]
    if found:
        return [f"{path.name}: makes {len(found)} static objects at their first use ({found[0]}, …): a constexpr table would do"]
    return []


def check_plugin_exports(path):
    names = dynamic_exports(path)
    problems = []
    others = [name for name in names if not PLUGIN_SYMBOL.match(name)]
    if others:
        problems.append(f"{path.name}: exports {len(others)} names besides ilk_compiler_* ({others[0]}, …): hide them in its version script")
    if not any(PLUGIN_SYMBOL.match(name) for name in names):
        problems.append(f"{path.name}: exports no ilk_compiler_*: list them in its version script")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runtime", type=pathlib.Path, action="append", default=[], help="shared libraries and programs without LLVM")
    parser.add_argument("--archive", type=pathlib.Path, action="append", default=[], help="static libraries without LLVM")
    parser.add_argument("--forked", type=pathlib.Path, action="append", default=[], help="static libraries of what a child of a fork may use at once")
    parser.add_argument("--plugin", type=pathlib.Path, help="libinterlock_compiler.so")
    parser.add_argument("--static", type=pathlib.Path, action="append", default=[], help="programs that load nothing, without LLVM")
    parser.add_argument("--static-llvm", type=pathlib.Path, action="append", default=[], help="programs with LLVM inside")
    options = parser.parse_args()
    problems, count = [], 0
    for path in options.runtime:
        problems += check_no_shared_llvm(path) + check_no_llvm_inside(path, dynamic_exports(path))
        count += 1
    for path in options.archive:
        problems += check_no_llvm_inside(path, archive_symbols(path))
        count += 1
    for path in options.forked:
        problems += check_no_first_use(path, archive_symbols(path))
        count += 1
    for path in options.static:
        problems += check_static(path) + check_no_llvm_inside(path, archive_symbols(path))
        count += 1
    for path in options.static_llvm:
        problems += check_no_shared_llvm(path)
        count += 1
    if options.plugin:
        problems += check_no_shared_llvm(options.plugin) + check_plugin_exports(options.plugin)
        count += 1
    if not count:
        problems.append("expected binaries to check, got none")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} binaries read, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
