// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-gpu: dispatch and combine of ranks that share one GPU, against a plain copy of the same bytes by the
// same CTAs, over every combination of the given ranks, tokens and geometries. See bench/README.md.
#include "bench/common/Report.h"
#include "bench/gpu/CaseFlags.h"

#include <fmt/format.h>

#include <cstdlib>

using namespace interlock;

namespace {
using bench::Numbers;
using nlohmann::json;

struct Flags : bench::CaseFlags, bench::ChipOptions {
  Flags() {
    tokens = {4096, 128};
    ctas = {0};
  }
  std::string dtype = "bf16", wait;
  Numbers ranks = {2, 4, 8}, cluster = {1};
  bool noCopies = false;
};

/// One value of each list.
struct Point {
  uint32_t ranks, tokens, cluster;
  bool ownInPlace;
  LaunchGeometry geometry;
};

std::vector<Point> pointsOf(const Flags &flags) {
  std::vector<Point> points;
  for (uint32_t ranks : flags.ranks)
    for (uint32_t tokens : flags.tokens)
      for (uint32_t cluster : flags.cluster)
        for (uint32_t ownInPlace : flags.ownInPlace)
          for (uint32_t block : flags.block)
            for (uint32_t tile : flags.tile)
              for (uint32_t ctas : flags.ctas)
                points.push_back({ranks, tokens, cluster, ownInPlace != 0, {ctas, block, tile}});
  return points;
}

Result<bench::CaseOptions> caseOf(const Flags &flags, const Point &point) {
  ILK_ASSIGN_OR_RETURN(bench::CaseOptions options,
                       flags.caseOf(point.ranks, point.tokens, point.ownInPlace, point.geometry));
  ILK_ASSIGN_OR_RETURN(options.layer.dtype, parseDType(flags.dtype));
  options.layer.combineDType = byteSize(options.layer.dtype) == 1 ? DType::bf16 : options.layer.dtype;
  if (!flags.wait.empty()) {
    ILK_ASSIGN_OR_RETURN(options.operation.wait, parseWaitStrategy(flags.wait));
  }
  options.operation.cluster = point.cluster;
  options.copies = !flags.noCopies;
  return options;
}

Result<json> measure(Driver &driver, KernelCache &cache, const Flags &flags, const Point &point) {
  ILK_ASSIGN_OR_RETURN(bench::CaseOptions options, caseOf(flags, point));
  return bench::measureCase(driver, cache, options);
}

void printLine(const Point &point, const json &phase) {
  fmt::print(
      stderr, "{} ranks, {} tokens, cluster {}{}, {} CTAs x {}, tile {}: {} {:.1f} us, {:.0f} GB/s{}{}\n", point.ranks,
      point.tokens, point.cluster, point.ownInPlace ? ", own rows in place" : "",
      phase["ctas_per_rank"].get<uint32_t>(), phase["block_threads"].get<uint32_t>(),
      phase["tile_tokens"].get<uint32_t>(), phase["phase"].get<std::string>(), phase["kernel_median_us"].get<double>(),
      phase["gb_per_s"].get<double>(),
      (phase.contains("copy_ratio") ? fmt::format(", {:.3f} of a copy", phase["copy_ratio"].get<double>()) : "") +
          (phase.contains("fan_out_ratio") ? fmt::format(", {:.3f} of a fan-out", phase["fan_out_ratio"].get<double>())
                                           : ""),
      phase.contains("signals_only_median_us")
          ? fmt::format(", signals only {:.1f} us", phase["signals_only_median_us"].get<double>())
          : "");
}

Result<int> run(const Flags &flags, json report) {
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, bench::openDevice(flags, {.target = flags.target}));
  auto cache = bench::openCache(flags, flags);
  ILK_ASSIGN_OR_RETURN(report["device"], bench::describeDevice(*driver));
  report["cases"] = json::array();
  int failures = 0;
  for (const Point &point : pointsOf(flags)) {
    auto measured = measure(*driver, *cache, flags, point);
    if (measured) {
      printLine(point, (*measured)["dispatch"]);
      printLine(point, (*measured)["combine"]);
      report["cases"].push_back(std::move(*measured));
      continue;
    }
    // A point that cannot be (or that fails) is part of the record; the others still count.
    ++failures;
    fmt::print(stderr, "{} ranks, {} tokens, cluster {}, block {}, tile {}, CTAs {}: {}\n", point.ranks, point.tokens,
               point.cluster, point.geometry.blockThreads, point.geometry.tileTokens, point.geometry.grid,
               measured.error().message);
    report["cases"].push_back({{"ranks", point.ranks},
                               {"tokens_per_rank", point.tokens},
                               {"cluster", point.cluster},
                               {"own_rows", point.ownInPlace ? "in place" : "copied"},
                               {"block_threads", point.geometry.blockThreads},
                               {"tile_tokens", point.geometry.tileTokens},
                               {"ctas_per_rank", point.geometry.grid},
                               {"error", measured.error().message}});
  }
  ILK_RETURN_IF_ERROR(bench::writeReport(report, flags.output));
  return failures ? 1 : 0;
}
} // namespace

int main(int argc, char **argv) {
  // Ranks on one GPU wait for each other's kernels, so no two of their streams may share a hardware queue; the driver
  // reads this when it starts and has eight queues otherwise.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  Flags flags;
  CLI::App app("dispatch and combine of ranks that share one GPU, against a plain copy of the same bytes");
  bench::addOptions(app, static_cast<bench::ChipOptions &>(flags));
  bench::addOptions(app, static_cast<bench::CaseFlags &>(flags));
  app.add_option("--dtype", flags.dtype, "of the rows");
  app.add_option("--ranks", flags.ranks, "list: ranks on the device")->delimiter(',');
  app.add_option("--ctas-per-rank", flags.ctas, "list: CTAs of each launch, 0 for the default")->delimiter(',');
  app.add_option("--cluster", flags.cluster, "list: CTAs per cluster")->delimiter(',');
  app.add_option("--wait", flags.wait, "relaxed-fence or acquire");
  app.add_flag("--no-copy", flags.noCopies, "leave the plain copy out");
  CLI11_PARSE(app, argc, argv);
  return bench::finish("interlock-bench-gpu", run(flags, bench::newReport("single_gpu", flags.commit, argc, argv)));
}
