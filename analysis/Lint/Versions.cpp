// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The table of forms, after the "PTX ISA Notes" and "Target ISA Notes" of each instruction.
#include "analysis/Lint/Versions.h"

#include "analysis/Lint/Extract.h"

#include <fmt/format.h>

namespace interlock::lint {
namespace {

using ptx::Instruction;

bool scoped(const Instruction &in) { return in.has("cta") || in.has("cluster"); }
bool isMbarrier(const Instruction &in) { return in.opcode == "mbarrier"; }
bool isFence(const Instruction &in) { return in.opcode == "fence"; }
bool bulk(const Instruction &in) { return in.opcode == "cp" && in.has("bulk"); }
bool starts(const Instruction &in, std::string_view with) {
  for (std::string_view m : in.mods)
    if (m.substr(0, with.size()) == with)
      return true;
  return false;
}

struct Row {
  std::string_view form;
  unsigned version, target;
  bool lenient; ///< assemblers let it pass below
  bool (*is)(const Instruction &);
};
constexpr Row table[] = {
    {"fence", 60, 70, false, [](const Instruction &in) { return isFence(in); }},
    {"the scope .cluster", 78, 90, false,
     [](const Instruction &in) { return in.has("cluster") && in.opcode != "barrier"; }},
    {"barrier.cluster", 78, 90, false,
     [](const Instruction &in) { return in.opcode == "barrier" && in.has("cluster"); }},
    {"barrier.cluster with .release, .relaxed or .acquire", 80, 90, false,
     [](const Instruction &in) {
       return in.opcode == "barrier" && in.has("cluster") &&
              (in.has("release") || in.has("relaxed") || in.has("acquire"));
     }},
    {"fence.acquire and fence.release", 86, 90, true,
     [](const Instruction &in) {
       return isFence(in) && !in.has("proxy") && !in.has("mbarrier_init") && (in.has("acquire") || in.has("release"));
     }},
    {".sync_restrict", 86, 90, false, [](const Instruction &in) { return starts(in, "sync_restrict"); }},
    {"fence.mbarrier_init", 80, 90, false,
     [](const Instruction &in) { return isFence(in) && in.has("mbarrier_init"); }},
    {"fence.proxy.alias", 75, 70, false,
     [](const Instruction &in) { return isFence(in) && in.has("proxy") && in.has("alias"); }},
    {"fence.proxy.async", 80, 90, false,
     [](const Instruction &in) { return isFence(in) && in.has("proxy") && starts(in, "async"); }},
    {"fence.proxy.tensormap", 83, 90, false,
     [](const Instruction &in) { return isFence(in) && starts(in, "tensormap"); }},
    {"mbarrier", 70, 80, false, isMbarrier},
    {"mbarrier.try_wait", 78, 90, false, [](const Instruction &in) { return isMbarrier(in) && in.has("try_wait"); }},
    {"mbarrier on .shared::cluster", 80, 90, false,
     [](const Instruction &in) { return isMbarrier(in) && in.has("shared::cluster"); }},
    {"mbarrier with a scope", 80, 80, false, [](const Instruction &in) { return isMbarrier(in) && scoped(in); }},
    {"mbarrier with .relaxed", 86, 90, false,
     [](const Instruction &in) {
       return isMbarrier(in) && in.has("relaxed") && !in.has("expect_tx") && !in.has("complete_tx");
     }},
    {"mbarrier.expect_tx", 80, 90, false,
     [](const Instruction &in) { return isMbarrier(in) && (in.has("expect_tx") || in.has("complete_tx")); }},
    {"st.async", 81, 90, false, [](const Instruction &in) { return in.opcode == "st" && in.has("async"); }},
    {"red.async", 81, 90, false, [](const Instruction &in) { return in.opcode == "red" && in.has("async"); }},
    {"st.async and red.async on .global", 87, 100, false,
     [](const Instruction &in) {
       return (in.opcode == "st" || in.opcode == "red") && in.has("async") && in.has("global");
     }},
    {"cp.async.bulk", 80, 90, false, bulk},
    {"mapa", 78, 90, false, [](const Instruction &in) { return in.opcode == "mapa"; }},
    {"griddepcontrol", 78, 90, false, [](const Instruction &in) { return in.opcode == "griddepcontrol"; }},
    {"multimem", 81, 90, false, [](const Instruction &in) { return in.opcode == "multimem"; }},
    {"clusterlaunchcontrol", 86, 100, false, [](const Instruction &in) { return in.opcode == "clusterlaunchcontrol"; }},
    {".mmio", 82, 70, false, [](const Instruction &in) { return in.has("mmio"); }},
    {"ld and st of .b128", 83, 70, false,
     [](const Instruction &in) { return (in.opcode == "ld" || in.opcode == "st") && in.has("b128"); }},
};

std::string dotted(unsigned version) { return fmt::format("{}.{}", version / 10, version % 10); }

} // namespace

void checkVersions(const ptx::Module &module, std::vector<scope::Finding> &findings) {
  unsigned target = targetOf(module);
  for (const ptx::Function &function : module.functions)
    for (const Instruction &in : function.instructions) {
      if (in.mods.empty() && in.opcode != "mapa")
        continue;
      const Row *worst = nullptr;
      for (const Row &row : table)
        if (((module.version && module.version < row.version) || (target && target < row.target)) && row.is(in) &&
            (!worst || (worst->lenient && !row.lenient)))
          worst = &row;
      if (!worst)
        continue;
      scope::Finding finding;
      finding.rule = "SL21";
      finding.severity = worst->lenient ? scope::Severity::warning : scope::Severity::error;
      finding.function = std::string(function.name);
      finding.place = placeOf(module, in);
      finding.message =
          fmt::format("expected .version {} and .target sm_{} or later for {}, got {} and {}", dotted(worst->version),
                      worst->target, worst->form, module.version ? dotted(module.version) : "none",
                      target ? fmt::format("sm_{}", target) : "none");
      finding.fix = worst->lenient ? "raise them, or use fence.acq_rel, which is older"
                                   : "raise them, or use a form that they have";
      findings.push_back(std::move(finding));
    }
}

} // namespace interlock::lint
