#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Runs the commands that a Markdown page shows, in order and in one folder: each line of an indented block that begins with one
of our programs. `# exit code N` behind a command is what it must end with (0 otherwise). `tests/` leads to the source's."""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = re.compile(r"^(?:build/bin/)?(interlock|interlock-opt|scope-lint)( [^|>]*)?$")
EXIT_CODE = re.compile(r"# exit code (\d+)$")


def commands(text):
    """(line number, argument list, exit code) of every command in the page's indented blocks, continued lines joined."""
    lines, found, index = text.splitlines(), [], 0
    while index < len(lines):
        number, line = index + 1, lines[index]
        index += 1
        if not line.startswith("    "):
            continue
        while line.endswith("\\") and index < len(lines):
            line = line[:-1] + lines[index].strip()
            index += 1
        match = PROGRAM.match(line.strip())
        if match:
            code = EXIT_CODE.search(line)
            arguments = shlex.split(match[2] or "", comments=True)
            found.append((number, [match[1]] + arguments, int(code[1]) if code else 0))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where the programs are")
    parser.add_argument("page", type=pathlib.Path)
    options = parser.parse_args()
    found = commands(options.page.read_text())
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, INTERLOCK_CACHE_DIR=os.path.join(folder, "cache"))
        os.symlink(ROOT / "tests", os.path.join(folder, "tests"))
        for number, arguments, code in found:
            program = options.bin.resolve() / arguments[0]
            if not program.is_file():
                print(f"{options.page.name}:{number}: expected {program}, which is not built", file=sys.stderr)
                failures += 1
                continue
            done = subprocess.run([program, *arguments[1:]], cwd=folder, env=environment, capture_output=True, text=True)
            if "expected NVRTC" in done.stderr:
                print(f"{options.page.name}:{number}: skipped, {done.stderr.strip()}")
            elif done.returncode != code:
                print(f"{options.page.name}:{number}: {shlex.join(arguments)}: exit code {done.returncode}\n{done.stderr}", file=sys.stderr)
                failures += 1
    print(f"{len(found)} commands, {failures} failed")
    return 1 if failures or not found else 0


if __name__ == "__main__":
    sys.exit(main())
