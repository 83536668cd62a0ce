// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The table of chips, and the PTX ISA's "Target ISA Notes" as far as the emulator runs the instruction.
#include "analysis/Emulator/Chip.h"

#include <fmt/format.h>

#include <charconv>

namespace interlock::emu {
namespace {

struct Row {
  uint32_t capability, sharedLimit;
};
constexpr Row rows[] = {{70, 98304},   {72, 98304},   {75, 65536},   {80, 166912},  {86, 101376},
                        {87, 166912},  {88, 101376},  {89, 101376},  {90, 232448},  {100, 232448},
                        {101, 232448}, {103, 232448}, {110, 232448}, {120, 101376}, {121, 101376}};

/// Splits sm_103a; false if it is no sm_ name.
bool split(std::string_view name, uint32_t &capability, char &suffix) {
  if (name.substr(0, 3) != "sm_")
    return false;
  auto r = std::from_chars(name.data() + 3, name.data() + name.size(), capability);
  if (r.ec != std::errc{} || r.ptr == name.data() + 3)
    return false;
  size_t rest = size_t(name.data() + name.size() - r.ptr);
  suffix = rest ? *r.ptr : 0;
  return rest == 0 || (rest == 1 && (suffix == 'a' || suffix == 'f'));
}

} // namespace

Result<Chip> findChip(std::string_view name) {
  Chip chip;
  chip.name = name;
  if (const gcn::Target *amd = gcn::findTarget(name)) {
    chip.amd = amd;
    chip.sharedLimit = amd->ldsBytes;
    chip.clusters = amd->clusters;
    return chip;
  }
  if (split(name, chip.capability, chip.suffix))
    for (const Row &row : rows)
      if (row.capability == chip.capability) {
        chip.sharedLimit = row.sharedLimit;
        chip.clusters = chip.capability >= 90;
        return chip;
      }
  return tl::unexpected(Error{ErrorKind::badInput,
                              fmt::format("expected a chip such as sm_80, sm_90a, sm_100a or gfx942, found {}", name)});
}

Result<void> checkTarget(const Chip &chip, const ptx::Module &module) {
  auto refuse = [](std::string message) { return tl::unexpected(Error{ErrorKind::unsupported, std::move(message)}); };
  if (module.version < 60 || module.version >= 100)
    return refuse(
        fmt::format("expected PTX ISA 6.0 to 9.x, found .version {}.{}", module.version / 10, module.version % 10));
  if (module.addressSize != 64)
    return refuse(fmt::format("expected .address_size 64, found {}", module.addressSize));
  for (std::string_view target : module.targets) {
    uint32_t capability = 0;
    char suffix = 0;
    if (!split(target, capability, suffix))
      continue; // texmode_…, debug
    if (capability > chip.capability)
      return refuse(
          fmt::format("expected PTX for {} or older, found .target {}; emulate that chip instead", chip.name, target));
    // "Architecture-specific" PTX runs on exactly that chip, "family-specific" PTX on its family.
    bool family = suffix == 'f' && capability / 10 == chip.capability / 10;
    if (suffix && !family && (capability != chip.capability || chip.suffix != 'a'))
      return refuse(fmt::format("expected PTX that {} can run, found .target {}, which only runs on {}", chip.name,
                                target, target));
  }
  return {};
}

std::string lacks(const Chip &chip, const ptx::Instruction &in) {
  auto below = [&](uint32_t need) {
    return chip.capability < need
               ? fmt::format("{} needs sm_{}, the emulated chip is {}", in.mnemonic(), need, chip.name)
               : std::string();
  };
  std::string_view op = in.opcode;
  bool cluster = false;
  for (std::string_view mod : in.mods)
    cluster |= mod.find("cluster") != std::string_view::npos;
  if (op == "mapa" || op == "getctarank" || op == "griddepcontrol" || op == "elect" || op == "clusterlaunchcontrol")
    return below(op == "clusterlaunchcontrol" ? 100 : 90);
  if (op == "st" && in.has("async"))
    return below(in.has("global") ? 100 : 90);
  if (op == "red" && in.has("async"))
    return below(in.has("global") ? 100 : 90);
  if (op == "cp" && in.has("bulk"))
    return below(90);
  if (op == "cp" && in.has("async"))
    return below(80);
  if (op == "mbarrier" && (in.has("try_wait") || in.has("expect_tx") || in.has("complete_tx")))
    return below(90);
  if (op == "mbarrier")
    return below(cluster ? 90 : 80);
  if (op == "fence" && (in.has("acquire") || in.has("release")))
    return below(90);
  if (op == "fence")
    for (std::string_view mod : in.mods)
      if (mod.substr(0, 5) == "proxy" && mod.find("alias") == std::string_view::npos)
        return below(90);
  if (op == "redux")
    return below(in.has("f32") ? 100 : 80);
  return cluster ? below(90) : std::string();
}

} // namespace interlock::emu
