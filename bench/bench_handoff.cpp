// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-handoff: the time of one hand-off from a cluster's leader to its CTAs and back, for each wait
// strategy and release form, against the same kernel with CTA scopes (which is wrong across CTAs). See bench/README.md.
#include "bench/common/Options.h"
#include "bench/common/Report.h"
#include "runtime/Cache/Compiler.h"
#include "tests/handoff/Ring.h"

#include <fmt/format.h>

using namespace interlock;

namespace {
using handoff::RingOptions;
using nlohmann::json;

struct Flags : bench::ChipOptions, bench::ReportOptions {
  std::vector<uint32_t> clusters = {1, 2, 4, 8};
  uint32_t rings = 1, iterations = 20'000, runs = 9, block = 32;
};

/// A way to hand off. `ctaScope` rewrites the kernel's cluster scopes to cta: what it costs if order did not matter.
struct Way {
  const char *name, *wait, *release;
  bool ctaScope = false;
};
constexpr Way ways[] = {{"restricted fences", "relaxed-fence", "restricted-fence"},
                        {"restricted acquire fence, arrive.release.cluster", "relaxed-fence", "arrive"},
                        {"try_wait.acquire.cluster, arrive.release.cluster", "acquire", "arrive"},
                        {"cta scope", "acquire", "arrive", true}};

std::string replaceAll(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

struct Series {
  Way way;
  RingOptions options;
  KernelImage image;
  std::vector<double> runs;
};

Result<Series> prepare(const Flags &flags, uint32_t cluster, const Way &way) {
  Series series{way, {.target = flags.target, .cluster = cluster, .blockThreads = flags.block}, {}, {}};
  series.options.wait = way.wait;
  series.options.release = way.release;
  ILK_ASSIGN_OR_RETURN(
      auto parts, compileModule({flags.compiler, {}}, {handoff::ringModule(series.options), "ring.mlir"}, {"ptx"}));
  std::string ptx = parts["ptx"];
  if (way.ctaScope) {
    ptx = replaceAll(ptx, "mbarrier.try_wait.parity.acquire.cluster", "mbarrier.try_wait.parity.acquire.cta");
    ptx = replaceAll(ptx, "mbarrier.arrive.release.cluster", "mbarrier.arrive.release.cta");
  }
  series.image = {ptx, {}, "handoff_ring"};
  return series;
}

/// All ways of one cluster size, in turns.
Result<json> measure(Driver &driver, const Flags &flags, uint32_t cluster) {
  std::vector<Series> all;
  for (const Way &way : ways) {
    // In a cluster of one nothing crosses CTAs, so there is one way only.
    if (cluster == 1 && !way.ctaScope)
      continue;
    ILK_ASSIGN_OR_RETURN(Series series, prepare(flags, cluster, way));
    all.push_back(std::move(series));
  }
  for (uint32_t run = 0; run <= flags.runs; ++run)
    for (Series &series : all) {
      ILK_ASSIGN_OR_RETURN(handoff::RingRun ran,
                           handoff::runRing(driver, series.image, series.options, {flags.rings, flags.iterations, 0}));
      // The wrong form may hand over wrong values; the right ones may not.
      if (!series.way.ctaScope && (ran.wrong || ran.incompleteCtas))
        return makeError(Code::device, fmt::format("expected every value once, got {} wrong ones ({})", ran.wrong,
                                                   series.options.label()));
      if (run > 0) // the first is a warm-up
        series.runs.push_back(ran.nanoseconds / flags.iterations);
    }
  double base = bench::median(all.back().runs);
  json object = {{"cluster", cluster}, {"ways", json::array()}};
  for (const Series &series : all) {
    json one = {{"way", series.way.name}, {"over_cta_scope", bench::median(series.runs) / base}};
    bench::addRuns(one, "handoff", "ns", series.runs);
    fmt::print(stderr, "cluster of {}: {:.0f} ns a hand-off, {:.2f} of cta scope: {}\n", cluster,
               bench::median(series.runs), bench::median(series.runs) / base, series.way.name);
    object["ways"].push_back(std::move(one));
  }
  return object;
}

Result<int> run(Flags flags, json report) {
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, bench::openDevice(flags, {.target = flags.target}));
  ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver->info(0));
  flags.target = info.target;
  report["device"] = {{"kind", driver->kind()}, {"name", info.name}, {"driver_version", info.driverVersion}};
  report["rings"] = flags.rings;
  report["iterations"] = flags.iterations;
  report["block_threads"] = flags.block;
  report["cases"] = json::array();
  for (uint32_t cluster : flags.clusters) {
    ILK_ASSIGN_OR_RETURN(json one, measure(*driver, flags, cluster));
    report["cases"].push_back(std::move(one));
  }
  ILK_RETURN_IF_ERROR(bench::writeReport(report, flags.output));
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  Flags flags;
  CLI::App app("time of one hand-off between the CTAs of a cluster");
  bench::addOptions(app, static_cast<bench::ChipOptions &>(flags));
  bench::addOptions(app, static_cast<bench::ReportOptions &>(flags));
  app.add_option("--clusters", flags.clusters, "list: CTAs per cluster")->delimiter(',');
  app.add_option("--rings", flags.rings, "clusters side by side, a ring each");
  app.add_option("--iterations", flags.iterations, "hand-offs of a launch");
  app.add_option("--block", flags.block, "threads per CTA");
  app.add_option("--runs", flags.runs, "launches that count, after one that does not");
  CLI11_PARSE(app, argc, argv);
  return bench::finish("interlock-bench-handoff", run(flags, bench::newReport("handoff", flags.commit, argc, argv)));
}
