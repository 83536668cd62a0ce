// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The lint of AMDGCN: an assembly module in, findings out, as analysis/Lint does for PTX. The findings, contracts,
// waivers and renderers are those of analysis/Lint.
#pragma once

#include "analysis/AMDGCN/Module.h"
#include "analysis/Lint/Lint.h"

#include <tl/expected.hpp>

namespace interlock::lint {

/// Judges every function. The error is one lower-case sentence: the text is for no processor that the rules know. Time
/// and memory grow in proportion to the size of the module. Options::clusterSize has no meaning here.
[[nodiscard]] tl::expected<Report, std::string> check(const amdgcn::Module &module, const Options &options = {});

/// The statements in the comments of an assembly text (`; contract: …` or `// contract: …`): in a function, or on the
/// lines right before it, they hold for that function, and a waiver for its instruction, as in PTX; elsewhere for the
/// file.
[[nodiscard]] tl::expected<Contract, ContractError> contractOfComments(const amdgcn::Module &module,
                                                                       std::string_view file);
/// As for PTX: the first statement about an argument that its kernel does not have.
[[nodiscard]] std::optional<ContractError> findMissingParameter(const Contract &contract, const amdgcn::Module &module);

} // namespace interlock::lint
