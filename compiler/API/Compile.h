// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The whole compiler as one function: a spec, or a module that was printed or written by hand, in; the parts of an
// artefact out.
#pragma once

#include "interlock/spec.hpp"

#include <map>
#include <set>
#include <string>

namespace interlock {

struct CompileRequest {
  KernelSpec spec;
  /// MLIR text of a module with one stage or one kernel, which takes the place of the spec: any product of the pipeline
  /// down to `verified`, or what a person wrote. It names its chip by `ep.target`.
  std::string module;
  std::string moduleFile = "<module>"; ///< its name in messages
  std::string templateDir;             ///< overrides embedded templates, if not empty
  std::set<std::string> parts;         ///< of partNames()
  /// Where the caller will write the part `expanded`: PTX and cubin say by .file and .loc which of its lines each
  /// instruction came from. Empty: they say nothing.
  std::string lineFile;
};

/// stages, expanded, verified, lowered, llvm, ptx, cubin, asm, hsaco, meta: in the order of the pipeline. ptx and cubin
/// are products of NVIDIA chips, asm and hsaco of AMD chips.
const std::vector<std::string> &partNames();

/// The parts that were asked for, by name. `cubin` is missing where no assembler was found; `meta` then says so.
/// Errors carry the compiler's diagnostics. Any thread may call it.
Result<std::map<std::string, std::string>> compile(const CompileRequest &request);

/// What the cache key needs to know of this compiler, as JSON (see runtime/Spec/CompilerPlugin.h).
const std::string &compilerIdentity();

} // namespace interlock
