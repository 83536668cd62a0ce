#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Shows that the layering checks can fail: faults planted in trees and binaries made for the purpose are found."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import binaries
import includes
import rooms


class Includes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("runtime/include/interlock/spec.hpp", "")
        self.write("runtime/Ops/Operation.h", "")
        self.write("analysis/PTX/Module.h", "")
        self.write("analysis/Emulator/Machine.h", '#include "analysis/PTX/Module.h"\n')

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def problems(self):
        return includes.check_tree(self.root)[0]

    def plant(self, path, text):
        self.write(path, text)
        found = self.problems()
        self.assertEqual(len(found), 1, found)
        self.assertIn(path, found[0])
        return found[0]

    def test_downward_arrows_pass(self):
        self.write("runtime/Driver/Emulator.cpp", '#include "interlock/spec.hpp"\n#include "analysis/Emulator/Machine.h"\n')
        self.write("runtime/tools/Run.cpp", '#include "runtime/Ops/Operation.h"\n#include "interlock/spec.hpp"\n#include <vector>\n')
        self.assertEqual(self.problems(), [])

    def test_upward_arrow(self):
        message = self.plant("runtime/Cache/Store.cpp", '#include <string>\n#include "runtime/Ops/Operation.h"\n')
        self.assertIn("Store.cpp:2: runtime/Cache includes runtime/Ops/Operation.h", message)

    def test_upward_arrow_by_a_relative_path(self):
        self.plant("runtime/Memory/Arena.cpp", '#include "../Ops/Operation.h"\n')

    def test_sideways_arrow(self):
        self.write("runtime/Cache/KernelCache.h", "")
        self.plant("runtime/Driver/Cuda.cpp", '#include "runtime/Cache/KernelCache.h"\n')

    def test_analysis_includes_nothing_of_ours(self):
        self.assertIn("nothing of ours", self.plant("analysis/PTX/Parser.cpp", '#include "interlock/spec.hpp"\n'))

    def test_generated_header_counts_where_its_source_lies(self):
        self.plant("runtime/Ops/Generated.cpp", '#include "dialects/EP/EPOps.h.inc"\n')

    def test_llvm_in_the_runtime(self):
        self.assertIn("never links LLVM", self.plant("runtime/Ops/Json.cpp", '#include "llvm/Support/JSON.h"\n'))

    def test_vendor_header(self):
        self.plant("runtime/Driver/Cuda.cpp", "#include <cuda.h>\n")

    def test_target_dialect_above_conversion(self):
        self.plant("compiler/Transforms/Infer.cpp", '#include "mlir/Dialect/LLVMIR/NVVMDialect.h"\n')
        self.write("compiler/Transforms/Infer.cpp", "")
        self.write("compiler/Conversion/ToNVVM.cpp", '#include "mlir/Dialect/LLVMIR/NVVMDialect.h"\n')
        self.assertEqual(self.problems(), [])

    def test_file_in_no_room(self):
        self.assertIn("no room", self.plant("runtime/Stray/A.cpp", ""))

    def test_a_file_right_in_a_folder(self):
        self.write("runtime/Version.cpp", '#include "runtime/Ops/Operation.h"\n')
        self.assertEqual(self.problems(), [])
        self.plant("runtime/Ops/Operation.cpp", '#include "runtime/Version.cpp"\n')

    def test_the_table_has_no_circle(self):
        for room, below in rooms.ARROWS.items():
            for other in below:
                self.assertNotIn(room, rooms.reach(other), f"{room} and {other} reach each other")


@unittest.skipUnless(shutil.which("c++") and shutil.which("nm"), "needs a compiler and nm")
class Binaries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.llvm = cls.build("libLLVM-22.so", "namespace llvm { int f() { return 1; } }")
        cls.user = cls.build("libinterlock.so", "namespace llvm { int f(); } int g() { return llvm::f(); }", str(cls.llvm))
        cls.holder = cls.build("libinterlock2.so", "namespace llvm { struct A { virtual ~A(); }; A::~A() {} }")
        cls.plugin = cls.build("libplugin.so", 'extern "C" int ilk_compiler_abi() { return 1; }')
        cls.loose = cls.build("libloose.so", 'extern "C" int ilk_compiler_abi() { return 1; } int leak() { return 2; }')
        cls.mute = cls.build("libmute.so", "static int f() { return 1; } int (*volatile keep)() __attribute__((visibility(\"hidden\"))) = f;")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def build(cls, name, text, *libraries):
        source, out = cls.root / "a.cpp", cls.root / name
        source.write_text(text)
        subprocess.run(["c++", "-shared", "-fPIC", "-o", out, source, *libraries], check=True)
        return out

    def test_shared_llvm_is_found(self):
        self.assertIn("libLLVM-22.so", binaries.check_no_shared_llvm(self.user)[0])
        self.assertEqual(binaries.check_no_shared_llvm(self.plugin), [])

    def test_llvm_inside_is_found(self):
        names = binaries.dynamic_exports(self.holder)
        self.assertEqual(len(binaries.check_no_llvm_inside(self.holder, names)), 1)
        names = binaries.dynamic_exports(self.loose)
        self.assertEqual(binaries.check_no_llvm_inside(self.loose, names), [])

    def test_a_dynamic_program_is_not_static(self):
        source = self.root / "main.cpp"
        source.write_text("int main() {}")
        for name, flags, problems in (("dynamic", [], 1), ("static", ["-static"], 0)):
            subprocess.run(["c++", *flags, "-o", self.root / name, source], check=True)
            self.assertEqual(len(binaries.check_static(self.root / name)), problems)

    def test_an_object_made_at_its_first_use_is_found(self):
        table = "namespace interlock { int size() { static const T table = {}; return table.n; } }"
        inner = "namespace interlock { int size() { return [] { static const T table = {}; return table.n; }(); } }"
        late, constant = "struct T { int n; T(); };", "struct T { int n; };"
        for name, text, problems in (("late", late + table, 1), ("inner", late + inner, 1), ("constant", constant + table, 0)):
            library = self.build(f"lib{name}.so", text)
            self.assertEqual(len(binaries.check_no_first_use(library, binaries.archive_symbols(library))), problems)

    def test_plugin_exports(self):
        self.assertEqual(binaries.check_plugin_exports(self.plugin), [])
        self.assertIn("besides", binaries.check_plugin_exports(self.loose)[0])
        self.assertIn("exports no", binaries.check_plugin_exports(self.mute)[0])


if __name__ == "__main__":
    unittest.main()
