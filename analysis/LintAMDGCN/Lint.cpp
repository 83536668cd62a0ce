// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Judges each function of a module, and takes out what is waived.
#include "analysis/LintAMDGCN/Lint.h"

#include "analysis/Lint/Waivers.h"
#include "analysis/LintAMDGCN/Judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace interlock::lint {
namespace {

using scope::Finding;

/// Memory that no row of the table speaks of.
bool isUnknown(const amdgcn::Instruction &in, gcn::Family family) {
  constexpr std::string_view memory[] = {"global_", "flat_", "buffer_",  "tbuffer_",
                                         "image_",  "ds_",   "scratch_", "tensor_"};
  if (in.opcode == ".long")
    return true;
  gcn::Effect effect = gcn::decode(in, family);
  return effect.kind == gcn::Kind::none && effect.counter == gcn::Counter::none &&
         std::any_of(std::begin(memory), std::end(memory),
                     [&](std::string_view prefix) { return in.opcode.starts_with(prefix); });
}

} // namespace

tl::expected<Report, std::string> check(const amdgcn::Module &module, const Options &options) {
  std::string_view processor = module.processor();
  auto family = gcn::familyOf(processor);
  if (!family)
    return tl::unexpected(
        processor.empty()
            ? fmt::format("expected .amdgcn_target to name one of {}, found none", gcn::knownProcessors())
            : fmt::format("expected assembly for one of {}, got {}", gcn::knownProcessors(), processor.substr(0, 64)));
  Report report;
  for (size_t f = 0; f < module.functions.size(); ++f) {
    const amdgcn::Function &function = module.functions[f];
    if (function.begin >= function.end)
      continue;
    report.functions++;
    report.instructions += function.end - function.begin;
    auto kernel = std::find_if(module.kernels.begin(), module.kernels.end(),
                               [&](const amdgcn::Kernel &k) { return k.function && *k.function == f; });
    for (const amdgcn::Instruction &in : module.code(function))
      if (isUnknown(in, *family))
        report.unknownOpcodes[std::string(in.opcode)]++;
    gcn::Judge judge(module, function, kernel == module.kernels.end() ? nullptr : &*kernel, *family, options.contract);
    for (Finding &finding : judge.run())
      report.findings.push_back(std::move(finding));
  }
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const Finding &a, const Finding &b) {
    auto where = [](const Finding &f) { return std::tuple(f.place.line, f.place.column, -int(f.severity), f.rule); };
    return where(a) < where(b);
  });
  applyWaivers(report, options.contract);
  return report;
}

} // namespace interlock::lint
