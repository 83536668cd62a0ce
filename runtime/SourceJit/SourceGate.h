// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The gate of kernels that are given as source: the PTX or the assembly that the compiler made is judged before anybody
// gets it.
#pragma once

#include "analysis/Lint/Contract.h"
#include "analysis/PTX/Module.h"
#include "interlock/source.hpp"

#include <nlohmann/json.hpp>

#include <functional>

namespace interlock {

/// What a contract's text says; `badInput` with its place where it cannot be read.
Result<lint::Contract> contractOf(const SourceKernel &kernel);

/// Findings of scope-lint as JSON objects (rule, severity, line, instruction, message, fix, source where it is known;
/// waived, with the reason, where the contract says so). An error that the contract does not waive refuses the kernel.
/// `withLines` gives the same module with .loc; it is only asked for where there is something to say.
Result<nlohmann::json> judge(const SourceKernel &kernel, const ptx::Module &module, const lint::Contract &contract,
                             const std::function<Result<ptx::Module>()> &withLines);

/// The same of AMDGCN assembly. Lines are those of the assembly.
Result<nlohmann::json> judgeAssembly(const SourceKernel &kernel, const std::string &assembly,
                                     const lint::Contract &contract);

/// What identifies the judgement in cache keys: another set of rules may refuse what this one lets through.
std::string gateIdentity();

} // namespace interlock
