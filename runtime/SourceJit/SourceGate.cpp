// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/SourceJit/SourceGate.h"

#include "analysis/AMDGCN/Reader.h"
#include "analysis/Lint/Lint.h"
#include "analysis/LintAMDGCN/Lint.h"
#include "analysis/ScopeModel/Rules.h"
#include "runtime/Cache/Digest.h"
#include "runtime/SourceJit/SourceForm.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock {

namespace {
/// Goes up when a rule is judged in another way under the same name.
constexpr const char *gateVersion = "2";

std::string sourceOf(const scope::Place &place) {
  return place.sourceLine ? fmt::format("{}:{}", place.sourceFile, place.sourceLine) : std::string();
}

nlohmann::json asJson(const scope::Finding &finding) {
  nlohmann::json object = {{"rule", finding.rule},       {"severity", scope::name(finding.severity)},
                           {"line", finding.place.line}, {"instruction", finding.place.text},
                           {"message", finding.message}, {"fix", finding.fix}};
  if (std::string source = sourceOf(finding.place); !source.empty())
    object["source"] = source;
  return object;
}

std::string asSentence(const scope::Finding &finding) {
  std::string source = sourceOf(finding.place);
  return fmt::format("{}{}`{}`: {} [{}]; {}", source, source.empty() ? "" : ": ", finding.place.text, finding.message,
                     finding.rule, finding.fix);
}
/// Copies the places in the source from a report on the same instructions, in the same order.
void addSources(lint::Report &report, const lint::Report &lined) {
  auto copy = [](scope::Finding &to, const scope::Finding &from) {
    if (to.rule == from.rule && to.place.text == from.place.text) {
      to.place.sourceFile = from.place.sourceFile;
      to.place.sourceLine = from.place.sourceLine;
    }
  };
  for (size_t i = 0; i < std::min(report.findings.size(), lined.findings.size()); ++i)
    copy(report.findings[i], lined.findings[i]);
  for (size_t i = 0; i < std::min(report.waived.size(), lined.waived.size()); ++i)
    copy(report.waived[i].finding, lined.waived[i].finding);
}
} // namespace

Result<lint::Contract> contractOf(const SourceKernel &kernel) {
  auto contract = lint::readContract(kernel.contract, kernel.source.name + ".contract");
  if (!contract)
    return makeError(Code::badInput, contract.error().str());
  return std::move(*contract);
}

namespace {
/// The findings, or the errors among them as one refusal.
Result<nlohmann::json> verdict(const SourceKernel &kernel, const lint::Report &report) {
  nlohmann::json findings = nlohmann::json::array();
  std::string refused;
  for (const scope::Finding &finding : report.findings) {
    findings.push_back(asJson(finding));
    if (finding.severity == scope::Severity::error)
      refused += (refused.empty() ? "" : "\n") + asSentence(finding);
  }
  for (const lint::WaivedFinding &waived : report.waived) {
    findings.push_back(asJson(waived.finding));
    findings.back()["waived"] = waived.waiver.reason;
  }
  if (!refused.empty())
    return makeError(Code::compile, fmt::format("{} is not ordered: {}", nameOf(kernel), refused));
  return findings;
}
} // namespace

Result<nlohmann::json> judge(const SourceKernel &kernel, const ptx::Module &module, const lint::Contract &contract,
                             const std::function<Result<ptx::Module>()> &withLines) {
  lint::Options options;
  options.contract = contract;
  lint::Report report = lint::check(module, options);
  if (!report.findings.empty() || !report.waived.empty()) {
    ILK_ASSIGN_OR_RETURN(ptx::Module lined, withLines());
    addSources(report, lint::check(lined, options));
  }
  return verdict(kernel, report);
}

Result<nlohmann::json> judgeAssembly(const SourceKernel &kernel, const std::string &assembly,
                                     const lint::Contract &contract) {
  auto module = amdgcn::read(assembly, kernel.source.name + ".s");
  if (!module)
    return makeError(Code::compile, fmt::format("expected assembly of {} that can be judged, got: {}", nameOf(kernel),
                                                module.error().str()));
  lint::Options options;
  options.contract = contract;
  auto report = lint::check(*module, options);
  if (!report)
    return makeError(Code::compile,
                     fmt::format("expected assembly of {} that can be judged, but {}", nameOf(kernel), report.error()));
  return verdict(kernel, *report);
}

std::string gateIdentity() {
  std::vector<std::string> fields{gateVersion};
  for (const scope::Rule &rule : scope::rules()) {
    fields.emplace_back(rule.id);
    fields.emplace_back(scope::name(rule.severity));
  }
  return digestOfFields(fields);
}

} // namespace interlock
