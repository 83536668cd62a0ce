# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""The pages of docs/rules: what scope-lint explains of each rule, and a table of the rules with their tests."""

import json
import pathlib
import re
import subprocess

HEADING = re.compile(r"^# ((?:SL|AM)\d\d): (.*)$", re.MULTILINE)
FACTS = re.compile(r'^(\w+) · [^"\n]*, "(.*)"$', re.MULTILINE)
FLAGGED = re.compile(r"^(?://|;) expect: ((?:SL|AM)\d\d)")
CLEAN = re.compile(r"^(?://|;) near: ((?:SL|AM)\d\d(?: (?:SL|AM)\d\d)*)$", re.MULTILINE)
CHIP = re.compile(r"^(.*)-(gfx\w+)$")


def explained(lint):
    """{id: page} as the program prints it."""
    text = subprocess.run([lint, "--explain", "all"], check=True, capture_output=True, text=True).stdout
    starts = [match.start() for match in HEADING.finditer(text)] + [len(text)]
    return {text[start + 2 : start + 6]: text[start:end].strip("\n") + "\n" for start, end in zip(starts, starts[1:])}


def tests(corpus):
    """({rule: [flagged file]}, {rule: [clean file]}, problems)"""
    flagged, clean, problems = {}, {}, []
    files = {kind: sorted((corpus / kind).glob("*.ptx")) + sorted((corpus / kind).glob("*.s")) for kind in ("flag", "note", "strict", "clean")}
    for path in files["flag"] + files["note"] + files["strict"]:
        match = FLAGGED.match(path.read_text())
        if match:
            flagged.setdefault(match[1], []).append(path)
        else:
            problems.append(f"{path.name}: expected a first line such as 'expect: SL01: why' in a comment")
    for path in files["clean"]:
        match = CLEAN.search(path.read_text())
        if match:
            for rule in match[1].split():
                clean.setdefault(rule, []).append(path)
        else:
            problems.append(f"{path.name}: expected a line such as 'near: SL01' in a comment, which names the rules that it must not break")
    real = corpus / "real" / "manifest.json"
    for entry in json.loads(real.read_text()) if real.is_file() else []:
        mutants = [fault for mutant in entry.get("mutants", []) for fault in mutant["faults"].values()]
        for fault in [*entry.get("faults", {}).values(), *mutants]:
            for rule in fault["rules"]:
                if real.parent / entry["ptx"] not in flagged.setdefault(rule, []):
                    flagged[rule].append(real.parent / entry["ptx"])
    return flagged, clean, problems


def table(pages, flagged, clean, root):
    def links(example, paths):
        """One case on several chips is one name with a link a chip."""
        shown, chips = [f"[example]({example})"], {}
        for path in paths:
            name, link = path.stem.removeprefix(example[:4] + "-"), f"../../{path.relative_to(root).as_posix()}"
            if chip := CHIP.match(name):
                chips.setdefault(chip[1], []).append(f"[{chip[2]}]({link})")
            else:
                shown.append(f"[{name}]({link})")
        shown += [f"{name} ({', '.join(on)})" for name, on in sorted(chips.items())]
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
    of_amdgcn = tests(root / "tests" / "corpus" / "amdgcn")
    flagged, clean, problems = flagged | of_amdgcn[0], clean | of_amdgcn[1], problems + of_amdgcn[2]
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
        "that it flags and near ones that it must not. SL30 to SL32 are the verifier's; scope-lint judges by them with `--strict`.",
        "",
    ]
    columns = ["| rule | what is wrong | severity | evidence | flagged | not flagged |", "| --- | --- | --- | --- | --- | --- |"]
    ptx = columns + table({rule: page for rule, page in pages.items() if rule.startswith("SL")}, flagged, clean, root)
    amdgcn = columns + table({rule: page for rule, page in pages.items() if rule.startswith("AM")}, flagged, clean, root)
    between = [
        "",
        "## AMDGCN",
        "",
        "The evidence is a section of LLVM's User Guide for AMDGPU Backend, whose tables say what each generation needs; the",
        "tests are what llc 22.1.8 emits, whole or with one thing taken away, on each chip where the code differs.",
        "",
    ]
    (folder / "README.md").write_text("\n".join(head + ptx + between + amdgcn) + "\n")
    return problems
