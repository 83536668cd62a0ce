# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The pages of docs/rules: what scope-lint explains of each rule, and a table of the rules with their tests."""

import json
import pathlib
import re
import subprocess

HEADING = re.compile(r"^# (SL\d\d): (.*)$", re.MULTILINE)
FACTS = re.compile(r'^(\w+) · PTX ISA, "(.*)"$', re.MULTILINE)
FLAGGED = re.compile(r"^// expect: (SL\d\d)")
CLEAN = re.compile(r"^// near: (SL\d\d(?: SL\d\d)*)$", re.MULTILINE)


def explained(lint):
    """{id: page} as the program prints it."""
    text = subprocess.run([lint, "--explain", "all"], check=True, capture_output=True, text=True).stdout
    starts = [match.start() for match in HEADING.finditer(text)] + [len(text)]
    return {text[start + 2 : start + 6]: text[start:end].strip("\n") + "\n" for start, end in zip(starts, starts[1:])}


def tests(corpus):
    """({rule: [flagged file]}, {rule: [clean file]}, problems)"""
    flagged, clean, problems = {}, {}, []
    for path in sorted((corpus / "flag").glob("*.ptx")) + sorted((corpus / "note").glob("*.ptx")):
        match = FLAGGED.match(path.read_text())
        if match:
            flagged.setdefault(match[1], []).append(path)
        else:
            problems.append(f"{path.name}: expected a first line such as '// expect: SL01: why'")
    for path in sorted((corpus / "clean").glob("*.ptx")):
        match = CLEAN.search(path.read_text())
        if match:
            for rule in match[1].split():
                clean.setdefault(rule, []).append(path)
        else:
            problems.append(f"{path.name}: expected a line such as '// near: SL01', which names the rules that it must not break")
    real = corpus / "real" / "manifest.json"
    for entry in json.loads(real.read_text()) if real.is_file() else []:
        for fault in entry.get("faults", {}).values():
            for rule in fault["rules"]:
                if real.parent / entry["ptx"] not in flagged.setdefault(rule, []):
                    flagged[rule].append(real.parent / entry["ptx"])
    return flagged, clean, problems


def table(pages, flagged, clean, root):
    def links(example, paths):
        shown = [f"[example]({example})"]
        shown += [f"[{path.stem.removeprefix(example[:4] + '-')}](../../{path.relative_to(root).as_posix()})" for path in paths]
        return ", ".join(shown)

    rows = []
    for rule, page in sorted(pages.items()):
        title, (severity, section) = HEADING.search(page)[2], FACTS.search(page).groups()
        rows.append(
            f"| [{rule}]({rule}.md) | {title} | {severity} | {section} "
            f"| {links(rule + '.md#flagged', flagged.get(rule, []))} | {links(rule + '.md#not-flagged', clean.get(rule, []))} |"
        )
    return rows


def generate(lint, root, folder):
    """Writes the pages into the folder; returns problems."""
    pages = explained(lint)
    flagged, clean, problems = tests(root / "tests" / "corpus" / "ptx")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for rule, page in pages.items():
        (folder / f"{rule}.md").write_text(page)
    head = [
        "# The rules of scope-lint",
        "",
        "Made from the rule table and the corpus (`scripts/check-docs --fix`). The severity is that of the plain case: a",
        "finding may be milder, and says why. The evidence is a section of the PTX ISA, by its title. Each rule has tests",
        "that it flags and near ones that it must not.",
        "",
        "| rule | what is wrong | severity | evidence | flagged | not flagged |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    (folder / "README.md").write_text("\n".join(head + table(pages, flagged, clean, root)) + "\n")
    return problems
