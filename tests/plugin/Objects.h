// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Code objects for tests: of our kernels, of assembly and of LLVM IR that somebody else wrote; and files that hold
// some.
#pragma once

#include "interlock/spec.hpp"
#include "runtime/Cache/Compiler.h"

#include <string>
#include <utility>
#include <vector>

namespace interlock::test {

/// The AMD chips of targets().
std::vector<std::string> amdChips();

/// Dispatch, combine and both local kernels for a chip.
std::vector<KernelSpec> kernelsFor(const std::string &chip);

/// The parts of a kernel; a failure of the test where it does not compile.
std::map<std::string, std::string> partsOf(const KernelSpec &spec, const std::vector<std::string> &parts);

/// Assembles and links by llvm-mc and ld.lld; a failure of the test, and nothing, where they refuse.
std::string linked(const std::string &assembly, const std::string &chip);
/// Compiles LLVM IR by llc, and links it.
std::string compiledIr(const std::string &ir, const std::string &chip);

/// An offload bundle of entries: name and bytes.
std::string bundleOf(const std::vector<std::pair<std::string, std::string>> &entries);
/// An ELF file for x86-64 with one section of that name.
std::string programWith(const std::string &section, const std::string &bytes);

/// The one text in a code object; a failure of the test where it cannot be read.
std::string disassembled(const std::string &object);

} // namespace interlock::test
