#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Counts test cases from result files and prints `N passed, M failed[, K skipped]`; exits 1 if one failed or none ran.

The folder holds ctest.xml (ctest --output-junit), gtest/NAME.json (GTEST_OUTPUT) and lit/NAME.json (lit --output). A
ctest test whose own result file is there counts as that file's cases; without one it is a single case. A ctest test
that failed though no case of its file did (a crash on the way out, a time limit) counts as one failure more.
"""

import argparse
import json
import pathlib
import sys
import xml.etree.ElementTree as ET

LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


class Counts:
    """Cases that passed and were skipped, and the names of those that failed."""

    def __init__(self, passed=0):
        self.passed = passed
        self.skipped = []
        self.failed = []

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failed += other.failed


def count_gtest(path):
    counts = Counts()
    for suite in json.loads(path.read_text())["testsuites"]:
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            if case.get("failures"):
                counts.failed.append(name)
            elif case["result"] == "SKIPPED" or case["status"] == "NOTRUN":
                counts.skipped.append(name)
            else:
                counts.passed += 1
    return counts


def count_lit(path):
    counts = Counts()
    for case in json.loads(path.read_text())["tests"]:
        if case["code"] in LIT_PASSED:
            counts.passed += 1
        elif case["code"] in LIT_SKIPPED:
            counts.skipped.append(case["name"])
        else:
            counts.failed.append(case["name"])
    return counts


def own_results(folder, name):
    """The cases in the result file that the ctest test `name` left, or None."""
    for kind, count in (("gtest", count_gtest), ("lit", count_lit)):
        path = folder / kind / f"{name}.json"
        if path.is_file():
            try:
                return count(path)
            except (ValueError, KeyError):  # cut off by a crash: ctest's own verdict stands
                return None
    return None


def count_all(folder):
    total = Counts()
    for case in ET.parse(folder / "ctest.xml").getroot().iter("testcase"):
        name, failed = case.get("name"), case.get("status") == "fail"
        skipped = case.get("status") in ("notrun", "disabled")
        own = own_results(folder, name)
        if own is None:
            own = Counts(passed=0 if failed or skipped else 1)
            if failed or skipped:
                (own.failed if failed else own.skipped).append(name)
        elif failed and not own.failed:
            own.failed.append(f"{name} (its cases passed, the program failed: see its output)")
        total.add(own)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="the folder of result files: build/test-results")
    folder = parser.parse_args().folder
    try:
        total = count_all(folder)
    except (OSError, ET.ParseError) as error:
        print(f"count-tests: expected ctest's results in {folder}/ctest.xml: {error}", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    for title, names in (("failed", total.failed), ("skipped", total.skipped)):
        for name in names:
            print(f"{title}: {name}")
    line = f"{total.passed} passed, {len(total.failed)} failed"
    print(line + (f", {len(total.skipped)} skipped" if total.skipped else ""))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
