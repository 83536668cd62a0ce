#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The PTX that real compilers made of the sources here, and what scope-lint has to say of it (manifest.json).

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
LIBRARY = re.compile(r'(\.file\s+\d+\s+")[^"]*?/(include|site-packages)/')
OWN = re.compile(r'(\.file\s+\d+\s+")[^"]*/([^"/]+)(")')


def portable(text):
    """Without the folders of the machine that compiled it: a library's header from its include folder on, a source by name."""
    lines = []
    for line in text.splitlines(keepends=True):
        shorter = LIBRARY.sub(r"\1\2/", line)
        lines.append(shorter if shorter != line else OWN.sub(r"\1\2\3", line))
    return "".join(lines)


def compiled(entry):
    """The PTX that the entry's command makes."""
    command = shlex.split(entry["command"])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command + ["-o", f"{folder}/out.ptx"], cwd=HERE, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{entry['command']}: exit code {done.returncode}\n{done.stderr}")
        return portable(pathlib.Path(folder, "out.ptx").read_text())


def verdicts(lint, ptx, entry):
    """{function: [rule, …]} of errors and warnings."""
    command = [lint, "--format", "json", *entry.get("options", []), "-"]
    done = subprocess.run(command, input=ptx, capture_output=True, text=True)
    if done.returncode == 2:
        raise RuntimeError(f"{entry['ptx']}: {done.stderr}")
    found = {}
    for finding in json.loads(done.stdout)["inputs"][0]["findings"]:
        if finding["severity"] != "note":
            found.setdefault(finding["function"], set()).add(finding["rule"])
    return {function: sorted(rules) for function, rules in found.items()}


def expected(entry):
    return {function: sorted(fault["rules"]) for function, fault in entry.get("faults", {}).items() if fault["rules"]}


def differences(entry, found):
    wanted = expected(entry)
    for function in sorted(wanted.keys() | found.keys()):
        if wanted.get(function, []) != found.get(function, []):
            yield f"{entry['ptx']}: {function}: expected {wanted.get(function, [])}, found {found.get(function, [])}"


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
        compiler = shlex.split(entry["command"])[0]
        if options.action != "check" and (entry.get("recompile") is False or not shutil.which(compiler)):
            missing.add(compiler)
            continue
        count += 1
        if options.action == "store":
            (HERE / entry["ptx"]).write_text(compiled(entry))
            continue
        text = compiled(entry) if options.action == "recompile" else (HERE / entry["ptx"]).read_text()
        problems += differences(entry, verdicts(options.lint.resolve(), text, entry))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} files, {len(problems)} problems")
    if not count:
        print(f"skipped: {', '.join(sorted(missing))} not found", file=sys.stderr)
        return 77
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
