// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One statement of a contract, before it is known which function it holds for.
#pragma once

#include "analysis/Lint/Contract.h"

#include <variant>

namespace interlock::lint {

struct ParamStatement {
  uint32_t index = 0;
  bool isKernarg = false; ///< `index` is a byte of the kernarg segment
  ParamContract facts;
};

struct Statement {
  std::string function; ///< as it names it, or empty
  std::variant<ParamStatement, Waiver> what;
};

/// Reads `[kernel NAME] param N FACT…`, `[kernel NAME] kernarg N FACT…` or `waive SLnn [kernel NAME]: REASON`.
[[nodiscard]] tl::expected<Statement, ContractError> readStatement(std::string_view text, const Origin &at);
/// Adds a statement to what the same source says already, which it may not contradict.
[[nodiscard]] tl::expected<void, ContractError> add(Contract &contract, Statement statement);

} // namespace interlock::lint
