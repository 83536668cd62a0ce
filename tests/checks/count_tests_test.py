# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The counter of scripts/test on result files of every kind, among them those that a crash leaves."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

COUNTER = sys.argv.pop(1)


def gtest_case(name, **more):
    return {"name": name, "status": "RUN", "result": "COMPLETED", **more}


class CountTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "gtest").mkdir()
        (self.root / "lit").mkdir()

    def ctest(self, **statuses):
        cases = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in statuses.items())
        (self.root / "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")

    def gtest(self, name, *cases):
        (self.root / "gtest" / f"{name}.json").write_text(json.dumps({"testsuites": [{"name": "S", "testsuite": cases}]}))

    def lit(self, name, *codes):
        tests = [{"name": f"t{index}", "code": code} for index, code in enumerate(codes)]
        (self.root / "lit" / f"{name}.json").write_text(json.dumps({"tests": tests}))

    def count(self):
        done = subprocess.run([sys.executable, "-B", COUNTER, self.root], capture_output=True, text=True)
        return done.stdout.splitlines()[-1], done.returncode

    def test_a_test_without_a_file_is_one_case(self):
        self.ctest(a="run", b="fail", c="notrun")
        self.assertEqual(self.count(), ("1 passed, 1 failed, 1 skipped", 1))

    def test_cases_of_files_are_summed(self):
        self.ctest(unit="run", lit="run", script="run")
        self.gtest("unit", gtest_case("a"), gtest_case("b"), gtest_case("c", result="SKIPPED"))
        self.lit("lit", "PASS", "XFAIL", "UNSUPPORTED")
        self.assertEqual(self.count(), ("5 passed, 0 failed, 2 skipped", 0))

    def test_failures_are_counted_once(self):
        self.ctest(unit="fail", lit="fail")
        self.gtest("unit", gtest_case("a"), gtest_case("b", failures=[{}]))
        self.lit("lit", "PASS", "FAIL", "TIMEOUT", "XPASS")
        self.assertEqual(self.count(), ("2 passed, 4 failed", 1))

    def test_a_crash_after_good_cases_is_a_failure(self):
        self.ctest(unit="fail")
        self.gtest("unit", gtest_case("a"))
        self.assertEqual(self.count(), ("1 passed, 1 failed", 1))

    def test_a_file_that_was_cut_off_is_a_failure(self):
        self.ctest(unit="fail")
        (self.root / "gtest" / "unit.json").write_text('{"testsui')
        self.assertEqual(self.count(), ("0 passed, 1 failed", 1))

    def test_no_test_at_all_is_no_success(self):
        self.ctest()
        self.assertEqual(self.count(), ("0 passed, 0 failed", 1))

    def test_no_results_at_all(self):
        self.assertEqual(self.count(), ("0 passed, 1 failed", 1))


if __name__ == "__main__":
    unittest.main()
