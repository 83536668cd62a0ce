// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a text cannot say of itself: who else sees the memory behind a parameter, and which findings its author has
// weighed. Contracts come from a file or from comment lines of the text, in one form for PTX and AMDGCN.
#pragma once

#include "analysis/PTX/Module.h"

#include <tl/expected.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace interlock::lint {

/// How far away the furthest agent is that accesses the memory that a parameter points to.
enum class Peers : uint8_t { cta, cluster, gpu, sys, nic };

/// Where a statement of a contract stands: in a contract file, or in the text itself. Both count from 1.
struct Origin {
  std::string file;
  uint32_t line = 0, column = 0;
};

/// What is known of one parameter, counted from 0.
struct ParamContract {
  std::optional<Peers> peers;
  bool readOnlyDuringKernel = false; ///< nobody writes it while the kernel runs: non-coherent loads are right
  bool pairsAcrossKernels = false;   ///< the other half of its releases or acquires is in another kernel
  bool signal = false;               ///< AMDGCN: stores to it announce other data; their opcodes are those of any store
  Origin writtenAt;                  ///< of the last statement about it
};

/// "This finding is known, and why it stands": of one rule, on one line of the text or (line 0) anywhere in the
/// function or (function empty) in the file.
struct Waiver {
  std::string rule, function, reason;
  uint32_t line = 0; ///< of the instruction that is waived
  Origin writtenAt;
};

struct Contract {
  using Params = std::map<std::string, std::map<uint32_t, ParamContract>, std::less<>>;
  /// By kernel name; "" holds for every kernel that has no entry of its own.
  Params params;
  Params kernargs; ///< AMDGCN: by the byte of the kernarg segment instead of the number
  std::vector<Waiver> waivers;
};

struct ContractError {
  Origin at;
  std::string message; ///< one lower-case sentence
  /// `file:line:column: message`.
  std::string str() const;
};

/// Reads a contract file: one statement a line. `#` starts a comment, but not in the reason of a waiver.
///
///     param 0 peers=sys                    # of every kernel
///     kernel dispatch param 3 ro-during-kernel
///     kernel dispatch param 5 peers=sys, pairs-across-kernels
///     kernel dispatch kernarg 24 peers=sys, signal
///     waive SL27 kernel dispatch: all CTAs are resident, the launcher checks it
[[nodiscard]] tl::expected<Contract, ContractError> readContract(std::string_view text, std::string_view file);
/// The same statements in a PTX text, of which `module` was read, each on a comment line `// contract: …`. One inside a
/// function, or on the lines right before it, holds for that function; a waiver without a kernel in a body holds for
/// the instruction on its own line or, where it has a line of its own, for the next one. Elsewhere they hold for the
/// file.
[[nodiscard]] tl::expected<Contract, ContractError> contractOfComments(std::string_view ptx, const ptx::Module &module,
                                                                       std::string_view file);
/// What `more` says is added to `contract` and wins over it.
void merge(Contract &contract, Contract more);

/// The first statement about a parameter that its kernel does not have; one about every kernel needs one that has it.
/// Kernels that the module lacks are passed over.
[[nodiscard]] std::optional<ContractError> findMissingParameter(const Contract &contract, const ptx::Module &module);
/// The first statement that names a function that is none of these.
[[nodiscard]] std::optional<ContractError> findMissingFunction(const Contract &contract,
                                                               const std::set<std::string, std::less<>> &functions);

} // namespace interlock::lint
