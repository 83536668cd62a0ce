// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Text in, findings out, for tests.
#pragma once

#include "analysis/Lint/Lint.h"
#include "analysis/PTX/Reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

namespace interlock::lint {

/// The contract that a text states in comments, as far as the tests use it.
inline Contract contractIn(const std::string &text) {
  Contract contract;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    unsigned param = 0;
    char word[32] = {};
    if (std::sscanf(line.c_str(), "// contract: param %u %31s", &param, word) != 2)
      continue;
    static const std::pair<std::string, Peers> peers[] = {{"cta", Peers::cta},
                                                          {"cluster", Peers::cluster},
                                                          {"gpu", Peers::gpu},
                                                          {"sys", Peers::sys},
                                                          {"nic", Peers::nic}};
    std::string said = word;
    for (auto &[name, value] : peers)
      if (said == "peers=" + name)
        contract.params[""][param].peers = value;
    if (said == "ro-during-kernel")
      contract.params[""][param].readOnlyDuringKernel = true;
    if (said == "pairs-across-kernels")
      contract.params[""][param].pairsAcrossKernels = true;
  }
  return contract;
}

inline Report checkText(const std::string &text, Options options = {}) {
  auto module = ptx::read(text, "test.ptx");
  EXPECT_TRUE(module) << (module ? "" : module.error().str());
  if (!module)
    return {};
  options.contract = contractIn(text);
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
