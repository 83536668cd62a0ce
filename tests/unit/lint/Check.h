// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Text in, findings out, for tests.
#pragma once

#include "analysis/Lint/Lint.h"
#include "analysis/PTX/Reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace interlock::lint {

inline Report checkText(const std::string &text, Options options = {}) {
  auto module = ptx::read(text, "test.ptx");
  EXPECT_TRUE(module) << (module ? "" : module.error().str());
  if (!module)
    return {};
  auto contract = contractOfComments(text, *module, "test.ptx");
  EXPECT_TRUE(contract) << (contract ? "" : contract.error().str());
  if (!contract)
    return {};
  options.contract = *contract;
  return check(*module, options);
}

/// "SL01 error 12", …
inline std::vector<std::string> summary(const Report &report, scope::Severity least = scope::Severity::note) {
  std::vector<std::string> out;
  for (const scope::Finding &f : report.findings)
    if (f.severity >= least)
      out.push_back(fmt::format("{} {} line {}: {}", f.rule, scope::name(f.severity), f.place.line, f.message));
  return out;
}

} // namespace interlock::lint
