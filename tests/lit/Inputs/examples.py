# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Makes one module per example of a dialect's reference page, so that interlock-opt can run the examples.

usage: examples.py PAGE NAME=TYPE…

An example may use the given names without defining them: it is put into a function that has them as arguments. Examples
that stand in a module (stages) are left as they are. Fails if an operation, attribute or type of the page has none.
"""
import re
import sys

page, names = sys.argv[1], dict(pair.split("=", 1) for pair in sys.argv[2:])
text = open(page, encoding="utf-8").read()

number = 0
for section in re.split(r"^## ", text, flags=re.M)[1:]:
    if section.split("\n", 1)[0] not in ("Operations", "Attributes", "Types"):
        continue
    for entry in re.split(r"^### ", section, flags=re.M)[1:]:
        title = entry.split("\n", 1)[0]
        examples = re.findall(r"^```mlir\n(.*?)^```", entry, flags=re.M | re.S)
        if not examples:
            sys.exit(f"expected an example of {title} in {page}, got none")
        if title.startswith("`") and not any(title.split("`")[1] in example for example in examples):
            sys.exit(f"expected the example of {title} in {page} to show it, got another operation")
        for example in examples:
            results = re.findall(r"^\s*((?:%\w+, )*%\w+) = ", example, flags=re.M)
            defined = set(re.findall(r"%(\w+)", " ".join(results))) | set(re.findall(r"for_each_tile %(\w+)", example))
            unknown = set(re.findall(r"%(\w+)", example)) - defined - names.keys()
            if unknown:
                sys.exit(f"expected the example of {title} to use {sorted(names)} or names of its own, got {sorted(unknown)}")
            if number:
                print("// -----")
            number += 1
            if re.match(r"ep\.(dispatch|combine|dispatch_epilogue|combine_prologue|pack_experts) ", example):
                print(example)
                continue
            arguments = ", ".join(f"%{name}: {kind}" for name, kind in names.items() if name not in defined)
            print(f"func.func @example_{number}({arguments}) {{\n{example}return\n}}")
