#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Checks docs/reports.md: every test that it names exists, and every test that is named after a report stands in it."""

import pathlib
import re
import sys

NAMED = re.compile(r"`(\w+)\.(\w+)`")
DEFINED = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")
OF_REPORT = re.compile(r"^(?:[A-D]\d\d)+[A-Z]")


def main():
    root = pathlib.Path(sys.argv[1])
    named = set(NAMED.findall((root / "docs" / "reports.md").read_text()))
    defined = {name for path in (root / "tests").rglob("*.cpp") for name in DEFINED.findall(path.read_text())}
    ctest = {("layering", "binaries")}
    problems = [f"docs/reports.md names {suite}.{name}, which is no test" for suite, name in sorted(named - defined - ctest)]
    problems += [
        f"{suite}.{name} is named after a report, but docs/reports.md does not name it"
        for suite, name in sorted(defined - named)
        if OF_REPORT.match(name)
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(named)} tests of reports, {len(problems)} problems")
    return 1 if problems or not named else 0


if __name__ == "__main__":
    sys.exit(main())
