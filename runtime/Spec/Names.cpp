// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names of enumerators as users write them, and the tables behind targets() and models().
#include "interlock/spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace interlock {
namespace {

template <typename T> struct Named {
  T value;
  std::string_view name;
};

constexpr auto dtypes = std::to_array<Named<DType>>({
#define ILK_DTYPE(enumerator, name, bytes, combines) {DType::enumerator, name},
#include "runtime/Spec/DTypes.def"
#undef ILK_DTYPE
});
constexpr auto kinds = std::to_array<Named<KernelKind>>({{KernelKind::dispatch, "dispatch"},
                                                         {KernelKind::combine, "combine"},
                                                         {KernelKind::dispatchEpilogue, "dispatch_epilogue"},
                                                         {KernelKind::combinePrologue, "combine_prologue"},
                                                         {KernelKind::packExperts, "pack_experts"}});
constexpr auto schedules = std::to_array<Named<Schedule>>(
    {{Schedule::gridStride, "grid_stride"}, {Schedule::claimed, "claimed"}, {Schedule::clc, "clc"}});
constexpr auto strategies = std::to_array<Named<WaitStrategy>>(
    {{WaitStrategy::relaxedFence, "relaxed-fence"}, {WaitStrategy::acquire, "acquire"}});

constexpr auto launchModes = std::to_array<Named<LaunchMode>>({{LaunchMode::any, "any"},
                                                               {LaunchMode::cluster, "cluster"},
                                                               {LaunchMode::forward, "forward"},
                                                               {LaunchMode::peers, "peers"},
                                                               {LaunchMode::cooperative, "cooperative"}});
constexpr auto f8Kinds = std::to_array<Named<F8>>({{F8::none, "none"}, {F8::ocp, "ocp"}, {F8::fnuz, "fnuz"}});

/// Version 6 adds generic targets, which are not used here, and older loaders refuse it.
constexpr uint32_t codeObjectVersion = 5;

// Constants and not objects made at their first use: a fork in that moment would leave the child a half-made one.
constexpr TargetInfo targetTable[] = {
#define ILK_NVPTX(name, capability, isa, clusters, async, restricted, shared, f8)                                      \
  TargetInfo{name, "nvptx", capability, 32, isa, clusters, async, restricted, shared, clusters, "", 0, f8},
#define ILK_AMDGCN(name, wave, features, clusters, shared, f8)                                                         \
  TargetInfo{name, "amdgcn", 0, wave, 0, clusters, false, false, shared, false, features, codeObjectVersion, f8},
#include "runtime/Spec/Targets.def"
#undef ILK_NVPTX
#undef ILK_AMDGCN
};
constexpr ModelPreset modelTable[] = {
#define ILK_MODEL(...) ModelPreset{__VA_ARGS__},
#include "runtime/Spec/Models.def"
#undef ILK_MODEL
};

template <typename T, size_t n> std::string_view nameOf(const std::array<Named<T>, n> &table, T value) {
  for (const Named<T> &entry : table)
    if (entry.value == value)
      return entry.name;
  return "?";
}

template <typename Table> std::string listNames(const Table &table) {
  std::vector<std::string_view> names;
  for (const auto &entry : table)
    names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

template <typename Table>
Result<typename Table::value_type> find(const Table &table, std::string_view what, std::string_view name) {
  for (const auto &entry : table)
    if (entry.name == name)
      return entry;
  return makeError(Code::badInput, fmt::format("expected {} of {}, got '{}'", what, listNames(table), name));
}

template <typename T, size_t n>
Result<T> parse(const std::array<Named<T>, n> &table, std::string_view what, std::string_view name) {
  ILK_ASSIGN_OR_RETURN(Named<T> entry, find(table, what, name));
  return entry.value;
}

} // namespace

std::string_view name(DType value) { return nameOf(dtypes, value); }
std::string_view name(KernelKind value) { return nameOf(kinds, value); }
std::string_view name(Schedule value) { return nameOf(schedules, value); }
std::string_view name(WaitStrategy value) { return nameOf(strategies, value); }
std::string_view name(LaunchMode value) { return nameOf(launchModes, value); }
std::string_view name(F8 value) { return nameOf(f8Kinds, value); }
Result<DType> parseDType(std::string_view text) { return parse(dtypes, "a dtype", text); }
Result<KernelKind> parseKernelKind(std::string_view text) { return parse(kinds, "a kernel", text); }
Result<Schedule> parseSchedule(std::string_view text) { return parse(schedules, "a schedule", text); }
Result<WaitStrategy> parseWaitStrategy(std::string_view text) { return parse(strategies, "a wait strategy", text); }
Result<LaunchMode> parseLaunchMode(std::string_view text) { return parse(launchModes, "a launch mode", text); }

uint32_t byteSize(DType dtype) {
  switch (dtype) {
#define ILK_DTYPE(enumerator, name, bytes, combines)                                                                   \
  case DType::enumerator:                                                                                              \
    return bytes;
#include "runtime/Spec/DTypes.def"
#undef ILK_DTYPE
  }
  return 0;
}

std::span<const TargetInfo> targets() { return targetTable; }

Result<TargetInfo> findTarget(std::string_view name) { return find(targets(), "a target", name); }

std::span<const ModelPreset> models() { return modelTable; }

Result<ModelPreset> findModel(std::string_view name) { return find(models(), "a model", name); }

} // namespace interlock
