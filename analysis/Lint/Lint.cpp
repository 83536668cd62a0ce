// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Judges each function of a module, then what concerns several of them, and takes out what is waived.
#include "analysis/Lint/Lint.h"

#include "analysis/Lint/Decode.h"
#include "analysis/Lint/Extract.h"
#include "analysis/Lint/Versions.h"
#include "analysis/Lint/Waivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace interlock::lint {
namespace {

using scope::Finding;

/// A kernel is judged together with what it calls, up to so many instructions more than its own.
constexpr size_t maxInlined = 20'000;

struct Kernel {
  std::string name;
  Boundary boundary;
};

/// What a kernel stores before its end is for the next one on the stream, unless that was told to start early.
void checkBoundaries(const std::vector<Kernel> &kernels, std::vector<Finding> &findings) {
  for (const Kernel &producer : kernels) {
    if (!producer.boundary.launchesDependents)
      continue;
    for (const Kernel &consumer : kernels)
      for (const auto &[variable, place] : consumer.boundary.readsEarly) {
        if (&consumer == &producer || !producer.boundary.writes.count(variable))
          continue;
        Finding finding;
        finding.rule = "SL26";
        finding.severity = scope::Severity::error;
        finding.function = consumer.name;
        finding.place = place;
        finding.message = fmt::format(
            "expected griddepcontrol.wait before this read of {}, which {} writes and which may still be running, "
            "since it launches its dependents early",
            variable, producer.name);
        finding.fix = "put griddepcontrol.wait before the read: launch_dependents makes nothing visible";
        findings.push_back(std::move(finding));
      }
  }
}

/// By place; one finding where several kernels show the same fault of a function that they share.
void tidy(std::vector<Finding> &findings) {
  auto where = [](const Finding &f) { return std::tuple(f.place.line, f.place.column, -int(f.severity), f.rule); };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding &a, const Finding &b) { return where(a) < where(b); });
  std::set<std::tuple<uint32_t, uint32_t, std::string_view>> seen;
  std::erase_if(findings, [&](const Finding &f) { return !seen.emplace(f.place.line, f.place.column, f.rule).second; });
}

} // namespace

Report check(const ptx::Module &module, const Options &options) {
  Report report;
  std::vector<bool> inlined(module.functions.size());
  std::vector<Kernel> kernels;
  size_t total = 0;
  for (const ptx::Function &function : module.functions)
    total += function.instructions.size();
  // All inlining together stays in proportion to the module.
  size_t spare = total + maxInlined;
  auto judgeOne = [&](const ptx::Function &function) {
    size_t own = function.instructions.size(), budget = own + std::min(spare, maxInlined);
    Extraction extraction = extract(module, function, options, budget, inlined);
    size_t made = extraction.instructions;
    spare -= std::min(spare, made > own ? made - own : 0);
    for (Finding &finding : scope::judge(extraction.program))
      report.findings.push_back(std::move(finding));
    if (function.entry)
      kernels.push_back({std::string(function.name), std::move(extraction.boundary)});
  };
  for (const ptx::Function &function : module.functions) {
    if (!function.defined)
      continue;
    report.functions++;
    report.instructions += uint32_t(function.instructions.size());
    for (const ptx::Instruction &in : function.instructions)
      if (!isKnownOpcode(in.opcode))
        report.unknownOpcodes[std::string(in.opcode)]++;
    if (function.entry)
      judgeOne(function);
  }
  for (size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].defined && !module.functions[i].entry && !inlined[i])
      judgeOne(module.functions[i]);
  checkBoundaries(kernels, report.findings);
  checkVersions(module, report.findings);
  tidy(report.findings);
  applyWaivers(report, options.contract);
  return report;
}

} // namespace interlock::lint
