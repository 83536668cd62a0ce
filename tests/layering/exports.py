#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Checks that libinterlock.so exports what its C header declares, C++ names of namespace interlock, and nothing else.

Exit 1 and a sentence for each that is not so.
"""

import pathlib
import re
import subprocess
import sys

DECLARED = re.compile(r"^ILK_API\s+[\w\s]*?[\s*](ilk_\w+)\(", re.MULTILINE)
CPP = re.compile(r"^(typeinfo for |typeinfo name for |vtable for )?interlock::")


def main():
    header, library = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    declared = set(DECLARED.findall(header.read_text()))
    if len(declared) != header.read_text().count("\nILK_API "):
        print(f"{header.name}: expected every ILK_API to declare a function", file=sys.stderr)
        return 1
    lines = subprocess.run(
        ["nm", "-D", "-C", "--defined-only", str(library)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    names = {line.split(maxsplit=2)[2].split("@")[0] for line in lines if len(line.split()) >= 3}
    c_names = {name for name in names if name.startswith("ilk_")}
    problems = [f"{library.name}: does not export {name}, which {header.name} declares" for name in sorted(declared - c_names)]
    problems += [f"{library.name}: exports {name}, which {header.name} does not declare" for name in sorted(c_names - declared)]
    problems += [
        f"{library.name}: exports {name}, which is neither C of {header.name} nor of namespace interlock: runtime/exports.map hides it"
        for name in sorted(names - c_names)
        if not CPP.match(name)
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(names)} exported names, {len(declared)} of them C; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
