// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Waivers against findings.
#include "analysis/Lint/Waivers.h"

namespace interlock::lint {
namespace {

bool covers(const Waiver &waiver, const scope::Finding &finding) {
  return waiver.rule == finding.rule && (waiver.function.empty() || waiver.function == finding.function) &&
         (waiver.line == 0 || waiver.line == finding.place.line);
}

} // namespace

void applyWaivers(Report &report, const Contract &contract) {
  std::vector<bool> used(contract.waivers.size());
  std::vector<scope::Finding> kept;
  for (scope::Finding &finding : report.findings) {
    const Waiver *by = nullptr;
    for (size_t i = 0; i < contract.waivers.size(); ++i)
      if (covers(contract.waivers[i], finding)) {
        used[i] = true;
        by = by ? by : &contract.waivers[i];
      }
    if (by)
      report.waived.push_back({std::move(finding), *by});
    else
      kept.push_back(std::move(finding));
  }
  report.findings = std::move(kept);
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      report.unusedWaivers.push_back(contract.waivers[i]);
}

} // namespace interlock::lint
