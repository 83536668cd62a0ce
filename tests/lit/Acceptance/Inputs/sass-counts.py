# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Reads SASS from standard input and prints how often each instruction that orders memory stands in it."""

import re
import sys

text = sys.stdin.read()
if not re.search(r"\bEXIT\b", text):
    sys.exit("expected SASS of a kernel on standard input, found no EXIT in it")
for name in ("CCTL.IVALL", "ERRBAR", "MEMBAR.ALL.CTA", "MEMBAR.ALL.GPU"):
    # CGAERRBAR is another instruction, which goes with ERRBAR.
    print(name, len(re.findall(rf"(?<![\w.]){re.escape(name)}\b", text)))
