// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/RunReport.h"

#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::tool {

namespace {
using nlohmann::json;
constexpr size_t mostFindings = 16;

double gigabytesPerSecond(const PhaseReport &phase) { return phase.ns > 0 ? double(phase.bytes) / phase.ns : 0; }

/// The quicker run's figures, with what either of them met.
void keepBest(PhaseReport &kept, const PhaseReport &next) {
  OperationResult before = kept.result;
  if (gigabytesPerSecond(next) > gigabytesPerSecond(kept))
    kept = next;
  for (const OperationResult &met : {before, next.result}) {
    kept.result.overflow |= met.overflow;
    kept.result.peerLost |= met.peerLost;
    kept.result.badId |= met.badId;
    kept.result.lost |= met.lost;
  }
}

const char *statusOf(const OperationResult &result) {
  return result.peerLost ? "peer lost" : result.overflow ? "overflow" : result.badId ? "bad id" : "ok";
}

json phaseJson(const PhaseReport &phase) {
  const OperationResult &r = phase.result;
  return {{"bytes", phase.bytes},   {"ns", phase.ns},       {"gb_per_s", gigabytesPerSecond(phase)},
          {"status", statusOf(r)},  {"dropped", r.dropped}, {"lost", r.lost},
          {"received", r.received}, {"wanted", r.wanted}};
}

json kernelJson(const KernelReport &kernel) {
  return {{"kernel", name(kernel.spec.kernel)},
          {"target", kernel.spec.target},
          {"cache", kernel.outcome == "miss" ? "miss" : "hit"},
          {"from", kernel.outcome},
          {"reason", kernel.reason},
          {"ms", kernel.milliseconds},
          {"grid", kernel.grid},
          {"block_threads", kernel.spec.blockThreads},
          {"tile_tokens", kernel.spec.tileTokens},
          {"cluster", kernel.spec.cluster},
          {"schedule", name(kernel.spec.schedule)},
          {"wait", name(kernel.spec.wait)}};
}
} // namespace

void RunReport::add(StepReport step) {
  if (steps++ == 0) {
    total = std::move(step);
    return;
  }
  total.mismatches += step.mismatches;
  for (std::string &finding : step.findings)
    if (total.findings.size() < mostFindings)
      total.findings.push_back(std::move(finding));
  for (size_t rank = 0; rank < step.ranks.size(); ++rank) {
    total.ranks[rank].mismatches += step.ranks[rank].mismatches;
    keepBest(total.ranks[rank].dispatch, step.ranks[rank].dispatch);
    keepBest(total.ranks[rank].combine, step.ranks[rank].combine);
  }
}

json RunReport::json(const Driver &driver, const DeviceInfo &info, RoundTrip &trip) const {
  nlohmann::json ranks = nlohmann::json::array();
  for (uint32_t rank : trip.own()) {
    const RankReport &r = total.ranks[rank];
    ranks.push_back({{"rank", rank},
                     {"tokens", r.tokens},
                     {"dispatch", phaseJson(r.dispatch)},
                     {"combine", phaseJson(r.combine)},
                     {"mismatches", r.mismatches}});
    if (r.packing)
      ranks.back()["packing"] = {{"overflow", r.packing->overflow},
                                 {"received", r.packing->received},
                                 {"rows", r.packing->rows},
                                 {"wanted", r.packing->wanted},
                                 {"dropped", r.packing->dropped}};
  }
  nlohmann::json kernels = nlohmann::json::array();
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::packExperts, KernelKind::dispatchEpilogue,
                          KernelKind::combinePrologue, KernelKind::combine})
    if (const KernelReport &kernel = trip.operation().kernel(kind); kernel.grid)
      kernels.push_back(kernelJson(kernel));
  const LayerSpec &layer = trip.layer();
  return {{"device", driver.kind()},
          {"device_name", info.name},
          {"target", info.target},
          {"layer",
           {{"ranks", layer.ranks},
            {"experts", layer.experts},
            {"topk", layer.topk},
            {"hidden", layer.hidden},
            {"dtype", name(layer.dtype)}}},
          {"steps", steps},
          {"processes", 1},
          {"kernels", kernels},
          {"ranks", ranks},
          {"mismatches", total.mismatches},
          {"findings", total.findings}};
}

nlohmann::json mergeRuns(std::vector<nlohmann::json> runs) {
  nlohmann::json merged = std::move(runs.front());
  for (size_t process = 1; process < runs.size(); ++process) {
    for (nlohmann::json &rank : runs[process]["ranks"])
      merged["ranks"].push_back(std::move(rank));
    for (nlohmann::json &finding : runs[process]["findings"])
      if (merged["findings"].size() < mostFindings)
        merged["findings"].push_back(std::move(finding));
    merged["mismatches"] = merged["mismatches"].get<uint64_t>() + runs[process]["mismatches"].get<uint64_t>();
  }
  merged["processes"] = runs.size();
  auto &ranks = merged["ranks"].get_ref<nlohmann::json::array_t &>();
  std::sort(ranks.begin(), ranks.end(), [](const auto &a, const auto &b) { return a["rank"] < b["rank"]; });
  return merged;
}

bool runFailed(const nlohmann::json &run) {
  if (run["mismatches"].get<uint64_t>())
    return true;
  const auto &ranks = run["ranks"];
  return std::any_of(ranks.begin(), ranks.end(), [](const auto &rank) {
    return rank["dispatch"]["lost"].template get<uint64_t>() || rank["combine"]["lost"].template get<uint64_t>();
  });
}

void printRun(const nlohmann::json &run) {
  auto text = [](const nlohmann::json &value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
  const nlohmann::json &layer = run["layer"];
  fmt::print("{}, {} ranks{}, {} experts, top-{}, hidden {} {}\n", text(run["device_name"]), text(layer["ranks"]),
             run["processes"] > 1 ? fmt::format(" in {} processes", text(run["processes"])) : "",
             text(layer["experts"]), text(layer["topk"]), text(layer["hidden"]), text(layer["dtype"]));
  for (const nlohmann::json &kernel : run["kernels"])
    fmt::print("{}: {} CTAs of {} threads, {} tokens a tile; {}{}{} in {:.1f} ms\n", text(kernel["kernel"]),
               text(kernel["grid"]), text(kernel["block_threads"]), text(kernel["tile_tokens"]),
               kernel["cache"] == "miss" ? "cache miss" : fmt::format("cache hit ({})", text(kernel["from"])),
               text(kernel["reason"]).empty() ? "" : ": ", text(kernel["reason"]), kernel["ms"].get<double>());
  bool checked = run["checked"].get<bool>();
  std::vector<std::vector<std::string>> rows;
  for (const nlohmann::json &rank : run["ranks"])
    for (const char *phase : {"dispatch", "combine"}) {
      bool first = phase == std::string_view("dispatch");
      const nlohmann::json &p = rank[phase];
      rows.push_back({first ? text(rank["rank"]) : "", first ? text(rank["tokens"]) : "", phase, text(p["bytes"]),
                      fmt::format("{:.1f}", p["ns"].get<double>() / 1000),
                      fmt::format("{:.2f}", p["gb_per_s"].get<double>()), first ? text(p["received"]) : "",
                      first ? text(p["dropped"]) : "", text(p["status"]),
                      first && checked ? text(rank["mismatches"]) : ""});
    }
  printTable({"rank", "tokens", "phase", "bytes", "us", "GB/s", "received", "dropped", "status", "mismatches"}, rows);
  for (const nlohmann::json &finding : run["findings"])
    fmt::print("{}\n", text(finding));
  if (uint64_t mismatches = run["mismatches"].get<uint64_t>(); checked)
    fmt::print("{}\n", mismatches ? fmt::format("{} mismatches", mismatches) : "every bit as in the reference");
}

} // namespace interlock::tool
