#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Runs the commands that a Markdown page shows, in order and in one folder: each `interlock…` line of an indented block."""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PROGRAM = re.compile(r"^(?:build/bin/)?(interlock(?:-opt)?)\b(.*)$")


def commands(text):
    """(line number, argument list) of every command in the page's indented blocks, continued lines joined."""
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
            found.append((number, [match.group(1)] + shlex.split(match.group(2), comments=True)))
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
        for number, arguments in found:
            program = options.bin.resolve() / arguments[0]
            if not program.is_file():
                print(f"{options.page.name}:{number}: expected {program}, which is not built", file=sys.stderr)
                failures += 1
                continue
            done = subprocess.run([program, *arguments[1:]], cwd=folder, env=environment, capture_output=True, text=True)
            if done.returncode:
                print(f"{options.page.name}:{number}: {shlex.join(arguments)}: exit code {done.returncode}\n{done.stderr}", file=sys.stderr)
                failures += 1
    print(f"{len(found)} commands, {failures} failed")
    return 1 if failures or not found else 0


if __name__ == "__main__":
    sys.exit(main())
