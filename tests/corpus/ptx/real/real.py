#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The PTX that real compilers made of the sources here, and what scope-lint has to say of it (manifest.json).

Each entry of the manifest has the command that made a PTX, the faults that are in it, by kernel, with the reason, and
mutants: lines to leave out, and the faults that come of it.

    real.py check --lint build/bin/scope-lint       each stored PTX gets exactly the findings of the manifest
    real.py recompile --lint build/bin/scope-lint   so does what the compiler that is installed makes of the sources now
    real.py store [FILE.ptx …]                      compiles again and stores the result

Notes are not compared: they are advice. Exit code 77 (skipped) where the compiler is not installed.
"""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SECTION = re.compile(r"^\s*\.section[^{]*\{[^}]*\}\n", re.MULTILINE)
BYTES = re.compile(r"^\s*\.b8\s+([\d, ]+)", re.MULTILINE)
LIBRARY = re.compile(r'(\.file\s+\d+\s+")[^"]*?/(include|site-packages)/')
OWN = re.compile(r'(\.file\s+\d+\s+")[^"]*/([^"/]+)(")')


def portable(text):
    """Without the folders of the machine that compiled it: a library's header from its include folder on, a source by its
    name, no debug section that spells a path."""
    lines = []
    for line in text.splitlines(keepends=True):
        shorter = LIBRARY.sub(r"\1\2/", line)
        lines.append(shorter if shorter != line else OWN.sub(r"\1\2\3", line))

    def without_paths(section):
        values = (int(value) for row in BYTES.findall(section.group()) for value in row.split(",") if value.strip())
        return "" if b"/" in bytes(value & 255 for value in values) else section.group()

    return SECTION.sub(without_paths, "".join(lines))


def compiled(entry):
    """The PTX that the entry's command makes."""
    command = shlex.split(entry["command"])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command + ["-o", f"{folder}/out.ptx"], cwd=HERE, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{entry['command']}: exit code {done.returncode}\n{done.stderr}")
        return portable(pathlib.Path(folder, "out.ptx").read_text())


def lacks(entry):
    """What the entry's command needs and this machine lacks, or nothing."""
    program = shlex.split(entry["command"])[0]
    if not shutil.which(program):
        return program
    module = entry.get("module")
    if module and subprocess.run([program, "-c", f"import {module}"], capture_output=True).returncode:
        return f"Python's {module}"
    return None


def without(text, pattern):
    """The text without the lines that the pattern matches; there must be one."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not re.search(pattern, line)]
    if len(kept) == len(lines):
        raise RuntimeError(f"expected a line that matches {pattern}")
    return "".join(kept)


def verdicts(lint, ptx, entry, *options):
    """{function: [rule, …]} of errors and warnings."""
    command = [lint, "--format", "json", *entry.get("options", []), *options, "-"]
    done = subprocess.run(command, input=ptx, capture_output=True, text=True)
    if done.returncode == 2:
        raise RuntimeError(f"{entry['ptx']}: {done.stderr}")
    found = {}
    for finding in json.loads(done.stdout)["inputs"][0]["findings"]:
        if finding["severity"] != "note":
            found.setdefault(finding["function"], set()).add(finding["rule"])
    return {function: sorted(rules) for function, rules in found.items()}


def differences(faults, found, what):
    wanted = {function: sorted(fault["rules"]) for function, fault in faults.items()}
    for function in sorted(wanted.keys() | found.keys()):
        if wanted.get(function, []) != found.get(function, []):
            yield f"{what}: {function}: expected {wanted.get(function, [])}, found {found.get(function, [])}"


def problems_of(lint, entry, text):
    """Of the text itself, and of its mutants: without one fence, a file that is clean no longer is."""
    faults = entry.get("faults", {})
    yield from differences(faults, verdicts(lint, text, entry), entry["ptx"])
    yield from differences(faults | entry.get("strict", {}), verdicts(lint, text, entry, "--strict"), f"{entry['ptx']} --strict")
    for mutant in entry.get("mutants", []):
        what = f"{entry['ptx']} without '{mutant['without']}'"
        yield from differences(mutant["faults"], verdicts(lint, without(text, mutant["without"]), entry), what)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["check", "recompile", "store"])
    parser.add_argument("--lint", type=pathlib.Path, help="the scope-lint program")
    parser.add_argument("ptx", nargs="*", help="only these (store)")
    options = parser.parse_args()
    entries = json.loads((HERE / "manifest.json").read_text())
    problems, count, missing = [], 0, set()
    for entry in entries:
        if options.ptx and entry["ptx"] not in options.ptx:
            continue
        lacking = lacks(entry) if options.action != "check" else None
        if lacking:
            missing.add(lacking)
            continue
        count += 1
        if options.action == "store":
            (HERE / entry["ptx"]).write_text(compiled(entry))
            continue
        text = compiled(entry) if options.action == "recompile" else (HERE / entry["ptx"]).read_text()
        problems += problems_of(options.lint.resolve(), entry, text)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} files, {len(problems)} problems")
    if not count:
        print(f"skipped: {', '.join(sorted(missing))} not found", file=sys.stderr)
        return 77
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
