// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Target/Gate.h"

#include "analysis/AMDGCN/Reader.h"
#include "analysis/Lint/Lint.h"
#include "analysis/LintAMDGCN/Lint.h"
#include "analysis/PTX/Reader.h"

#include <fmt/format.h>

namespace interlock::target {
namespace {

/// `what`: "the PTX", "the assembly".
Result<nlohmann::json> toJson(const lint::Report &report, std::string_view what) {
  nlohmann::json findings = nlohmann::json::array();
  std::string refused;
  for (const scope::Finding &finding : report.findings) {
    findings.push_back({{"rule", finding.rule},
                        {"severity", scope::name(finding.severity)},
                        {"line", finding.place.line},
                        {"instruction", finding.place.text},
                        {"message", finding.message},
                        {"fix", finding.fix}});
    if (finding.severity == scope::Severity::error)
      refused += fmt::format("{}line {} of {}, `{}`: {} [{}]; {}", refused.empty() ? "" : "\n", finding.place.line,
                             what, finding.place.text, finding.message, finding.rule, finding.fix);
  }
  if (!refused.empty())
    return makeError(Code::compile, "the kernel that was emitted is not ordered: " + refused);
  return findings;
}

} // namespace

Result<nlohmann::json> gatePtx(const std::string &ptx, uint32_t clusterSize) {
  auto module = ptx::read(ptx, "<emitted ptx>");
  if (!module)
    return makeError(Code::internal,
                     fmt::format("expected to read the PTX that was emitted, got: {}", module.error().str()));
  lint::Options options;
  options.clusterSize = clusterSize;
  return toJson(lint::check(*module, options), "the PTX");
}

Result<nlohmann::json> gateAmdgcn(const std::string &assembly) {
  auto module = amdgcn::read(assembly, "<emitted assembly>");
  if (!module)
    return makeError(Code::internal,
                     fmt::format("expected to read the assembly that was emitted, got: {}", module.error().str()));
  auto report = lint::check(*module);
  if (!report)
    return makeError(Code::internal, std::move(report.error()));
  return toJson(*report, "the assembly");
}

} // namespace interlock::target
