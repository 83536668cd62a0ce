# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#
# How lit runs this folder. A test is a .mlir or .test file with RUN lines; %S/Inputs holds what it reads.
#
#   interlock, interlock-opt, FileCheck, not, split-file, mlir-opt, mlir-translate are on the PATH of every test
#   %interlock_build the build tree
#   %interlock_src   the source tree           %ptxas   ptxas, with the feature of the same name
# Features: compiler (interlock-opt and the plugin were built), ptxas, nvdisasm (on the PATH, in the toolkit, or of the wheel
# that scripts/test brings), nvjitlink (the toolkit's library can be loaded).

import ctypes
import glob
import os
import shutil
import sys

import lit.formats

config.name = "Interlock"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py.in"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.interlock_build, "tests", "lit")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.interlock_build, "bin"), config.llvm_tools, os.environ.get("PATH", "")]
)
# A test neither reads nor fills the cache of whoever runs it.
config.environment["INTERLOCK_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=annotation"

config.substitutions.append(("%interlock_src", config.interlock_source))
config.substitutions.append(("%interlock_build", config.interlock_build))
config.substitutions.append(("%python", sys.executable))

if config.has_compiler:
    config.available_features.add("compiler")
if config.ptxas and not config.ptxas.endswith("-NOTFOUND"):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", config.ptxas))


def find_nvdisasm():
    on_path = shutil.which("nvdisasm") or shutil.which("nvdisasm", path="/usr/local/cuda/bin")
    folders = [os.path.join(config.interlock_build, "wheels"), *sys.path]
    wheels = [name for folder in folders for name in glob.glob(os.path.join(folder, "nvidia", "*", "bin", "nvdisasm"))]
    return on_path or next(iter(wheels), None)


def can_load(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


nvdisasm = find_nvdisasm()
if nvdisasm:
    config.available_features.add("nvdisasm")
    config.environment["PATH"] += os.pathsep + os.path.dirname(nvdisasm)
if any(can_load(f"libnvJitLink.so.{version}") for version in (13, 12)):
    config.available_features.add("nvjitlink")
