# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Compiles both kernels in every form for every AMD chip, and looks at what came out.

`amd_kernels.py FOLDER COMMAND`: COMMAND is the `interlock` command, FOLDER gets the products.
"""

import json
import os
import re
import subprocess
import sys

CHIPS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1250": 32, "gfx1100": 32, "gfx1201": 32}
LAYER = ["--model", "deepseek-v3", "--ranks", "8", "--tokens", "4096"]
FORMS = [[], ["--schedule", "claimed"], ["--dtype", "f16"], ["--dtype", "f32"], ["--dtype", "f8e4m3fnuz", "--scale-bytes", "224"], ["--expert-rows"]]
folder, command = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
own = os.path.join(folder, "tmp")
os.makedirs(own, exist_ok=True)
wrong = []


def run(*arguments):
    done = subprocess.run([command, *arguments], capture_output=True, text=True, env={**os.environ, "TMPDIR": own})
    if done.returncode:
        wrong.append(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def look(chip, text):
    """What no kernel may have, whatever its form."""
    lines = [line.split(";")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(".") and not line.endswith(":")]
    for number, line in enumerate(lines):
        if re.match(r"(flat|scratch)_", line):
            yield f"flat or scratch access: {line}"
        # The wait that the back end drops (compiler/Conversion/OrderROCDL.cpp).
        if line.startswith("buffer_wbl2") and not re.match(r"s_waitcnt .*vmcnt\(0\)", lines[number + 1]):
            yield f"no wait behind {line}"
    # Memory that peers write is not read through the scalar cache once anything was acquired.
    acquired = next((n for n, line in enumerate(lines) if re.match(r"buffer_inv|buffer_wbinvl1|buffer_gl1_inv|global_inv scope:SCOPE_SYS", line)), None)
    if acquired is None:
        yield "nothing is acquired"
        return
    for line in lines[acquired:]:
        # The grid's size is in the dispatch packet, which nobody writes.
        if line.startswith("s_load") and "0xc" not in line:
            yield f"scalar load behind an acquire: {line}"


for chip, wave in CHIPS.items():
    forms = FORMS + ([["--cluster", "4"], ["--cluster", "4", "--schedule", "claimed"]] if chip == "gfx1250" else [])
    for kernel in ("dispatch", "combine"):
        for form in forms:
            spec = ["compile", "--kernel", kernel, "--target", chip, *LAYER, *form]
            name = os.path.join(folder, f"{kernel}.{chip}")
            run(*spec, "--emit", "hsaco", "-o", name + ".hsaco")
            run(*spec, "--emit", "asm", "-o", name + ".s")
            meta = json.loads(run(*spec, "--emit", "meta") or "{}")
            with open(name + ".hsaco", "rb") as file:
                head = file.read(20)
            what = f"{kernel} {' '.join(form)} for {chip}"
            if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") != 224:
                wrong.append(f"{what}: expected an ELF file for AMDGPU")
            if meta.get("wave_width") != wave or meta.get("kernarg", {}).get("bytes") != 80 or meta.get("scratch_bytes") != 0:
                wrong.append(f"{what}: unexpected meta {meta}")
            with open(name + ".s") as file:
                wrong += [f"{what}: {complaint}" for complaint in look(chip, file.read())]
if left := os.listdir(own):
    wrong.append(f"expected no temporary files, found {left}")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
