// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the renderers share.
#include "analysis/Lint/Render.h"

#include <fmt/format.h>

namespace interlock::lint {

std::string Unusable::str() const {
  return at.line ? fmt::format("{}:{}:{}: {}", at.file, at.line, at.column, message)
                 : fmt::format("{}: {}", at.file.empty() ? input : at.file, message);
}

void Summary::count(const Report &report) {
  for (const scope::Finding &finding : report.findings)
    ++(finding.severity == scope::Severity::error     ? errors
       : finding.severity == scope::Severity::warning ? warnings
                                                      : notes);
  waived += uint32_t(report.waived.size());
  warnings += uint32_t(report.unusedWaivers.size());
}

int Summary::exitCode() const {
  if (unusable)
    return 2;
  bool fails = errors || (failOn <= scope::Severity::warning && (warnings || !unusedWaivers.empty())) ||
               (failOn == scope::Severity::note && notes);
  return fails ? 1 : 0;
}

std::string unusedWaiverMessage(const Waiver &waiver) {
  return fmt::format("expected a finding of {} that this waiver covers, found none", waiver.rule);
}

std::string isaName(uint32_t isa) { return fmt::format("{}.{}", isa / 10, isa % 10); }

} // namespace interlock::lint
