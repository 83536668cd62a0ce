#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Checks that #include arrows between the rooms point down only (rooms.py). Exit 1 and a sentence for each that does not."""

import argparse
import pathlib
import re
import sys

import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".h", ".hpp", ".cpp", ".c", ".inc", ".def"}
CODE_ROOTS = ("runtime", "analysis", "dialects", "compiler", "templates")


def target_of(root, source, name):
    """The path (relative to the root) that an include names, or None if it is none of ours. A generated file counts as
    lying where its source would."""
    for base in (source.parent, root, root / rooms.PUBLIC):
        path = (base / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return name if rooms.room_of(name) else None


def check_file(root, source):
    problems = []
    path = source.relative_to(root).as_posix()
    room = rooms.room_of(path)
    if room is None:
        return [f"{path}: lies in no room: move it into one, or add its folder to tests/layering/rooms.py"]
    allowed = rooms.reach(room)
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where, name = f"{path}:{number}", match.group(2)
        for prefixes, places, reason in rooms.FOREIGN:
            if name.startswith(prefixes) and path.startswith(tuple(place + "/" for place in places)):
                problems.append(f"{where}: {room} includes {name}, but {reason}")
        target = target_of(root, source, name)
        if target is None:
            continue
        other = rooms.room_of(target)
        if other is None:
            problems.append(f"{where}: {room} includes {target}, which lies in no room: move it into one")
        elif other not in allowed:
            below = ", ".join(sorted(allowed - {room})) or "nothing of ours"
            problems.append(f"{where}: {room} includes {target} of {other}, but it may include {below}: move the code to the room that may")
    return problems


def check_tree(root):
    """(problems, number of files read)"""
    problems, count = [], 0
    for top in CODE_ROOTS:
        for source in sorted((root / top).rglob("*")):
            if source.suffix in SOURCES and source.is_file():
                problems += check_file(root, source)
                count += 1
    return problems, count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path, help="the source tree")
    root = parser.parse_args().root.resolve()
    problems, count = check_tree(root)
    if not count:
        problems.append(f"{root}: expected sources in {', '.join(CODE_ROOTS)}, found none")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} files read, {len(problems)} arrows point up")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
