// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-gpu: dispatch and combine of ranks that share one GPU, against a plain copy of the same bytes by the
// same CTAs, over every combination of the given ranks, tokens and geometries. See bench/README.md.
#include "bench/common/Report.h"
#include "bench/gpu/Case.h"
#include "interlock/cache.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>

using namespace interlock;

namespace {
using nlohmann::json;
using Numbers = std::vector<uint32_t>;

struct Flags {
  std::string device = "cuda", target = "sm_90a", model = "deepseek-v3", dtype = "bf16", schedule = "grid_stride", wait,
              commit, output, cacheDir, compiler;
  Numbers ranks = {2, 4, 8}, tokens = {4096, 128}, block = {0}, tile = {0}, ctas = {0}, cluster = {1};
  uint32_t hidden = 0, warmups = 5, runs = 20, timeoutMs = 2'000;
  uint64_t seed = 0;
  bool noCopies = false;
};

/// One value of each list.
struct Point {
  uint32_t ranks, tokens, cluster;
  LaunchGeometry geometry;
};

std::vector<Point> pointsOf(const Flags &flags) {
  std::vector<Point> points;
  for (uint32_t ranks : flags.ranks)
    for (uint32_t tokens : flags.tokens)
      for (uint32_t cluster : flags.cluster)
        for (uint32_t block : flags.block)
          for (uint32_t tile : flags.tile)
            for (uint32_t ctas : flags.ctas)
              points.push_back({ranks, tokens, cluster, {ctas, block, tile}});
  return points;
}

Result<bench::CaseOptions> caseOf(const Flags &flags, const Point &point) {
  bench::CaseOptions options;
  ILK_ASSIGN_OR_RETURN(ModelPreset model, findModel(flags.model));
  options.layer.ranks = point.ranks;
  options.layer.experts = model.experts;
  options.layer.topk = model.topk;
  options.layer.hidden = flags.hidden ? flags.hidden : model.hidden;
  options.layer.maxTokens = point.tokens;
  ILK_ASSIGN_OR_RETURN(options.layer.dtype, parseDType(flags.dtype));
  options.layer.combineDType = byteSize(options.layer.dtype) == 1 ? DType::bf16 : options.layer.dtype;
  ILK_ASSIGN_OR_RETURN(options.operation.schedule, parseSchedule(flags.schedule));
  if (!flags.wait.empty()) {
    ILK_ASSIGN_OR_RETURN(options.operation.wait, parseWaitStrategy(flags.wait));
  }
  options.operation.dispatch = options.operation.combine = point.geometry;
  options.operation.cluster = point.cluster;
  options.operation.timeoutNs = uint64_t(flags.timeoutMs) * 1'000'000;
  options.warmups = flags.warmups;
  options.runs = flags.runs;
  options.seed = flags.seed;
  options.copies = !flags.noCopies;
  return options;
}

Result<std::unique_ptr<Driver>> openDriver(const Flags &flags) {
  if (flags.device == "cuda")
    return openCuda();
  if (flags.device != "emulator")
    return makeError(Code::badInput, fmt::format("expected --device cuda or emulator, got '{}'", flags.device));
  EmulatorOptions options;
  options.target = flags.target;
  return openEmulator(options);
}

Result<json> measure(Driver &driver, KernelCache &cache, const Flags &flags, const Point &point) {
  ILK_ASSIGN_OR_RETURN(bench::CaseOptions options, caseOf(flags, point));
  return bench::measureCase(driver, cache, options);
}

void printLine(const Point &point, const json &phase) {
  fmt::print(
      stderr, "{} ranks, {} tokens, cluster {}, {} CTAs x {}, tile {}: {} {:.1f} us, {:.0f} GB/s{}{}\n", point.ranks,
      point.tokens, point.cluster, phase["ctas_per_rank"].get<uint32_t>(), phase["block_threads"].get<uint32_t>(),
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
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, openDriver(flags));
  ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver->info(0));
  KernelCacheConfig config;
  config.directory = flags.cacheDir;
  config.compilerPath = flags.compiler;
  auto cache = openKernelCache(config);
  report["device"] = {{"kind", driver->kind()},
                      {"name", info.name},
                      {"target", info.target},
                      {"multiprocessors", info.multiprocessors},
                      {"driver_version", info.driverVersion}};
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
  app.add_option("--device", flags.device, "cuda or emulator (whose times mean nothing)");
  app.add_option("--target", flags.target, "the emulated chip");
  app.add_option("--model", flags.model, "preset for hidden, experts and top-k");
  app.add_option("--hidden", flags.hidden, "elements per row, in place of the model's");
  app.add_option("--dtype", flags.dtype, "of the rows");
  app.add_option("--ranks", flags.ranks, "list: ranks on the device")->delimiter(',');
  app.add_option("--tokens", flags.tokens, "list: tokens per rank")->delimiter(',');
  app.add_option("--block", flags.block, "list: threads per CTA, 0 for the default")->delimiter(',');
  app.add_option("--tile", flags.tile, "list: tokens per tile, 0 for the default")->delimiter(',');
  app.add_option("--ctas-per-rank", flags.ctas, "list: CTAs of each launch, 0 for the default")->delimiter(',');
  app.add_option("--cluster", flags.cluster, "list: CTAs per cluster")->delimiter(',');
  app.add_option("--schedule", flags.schedule, "grid_stride or claimed");
  app.add_option("--wait", flags.wait, "relaxed-fence or acquire");
  app.add_option("--warmups", flags.warmups, "runs before the first that counts");
  app.add_option("--runs", flags.runs, "runs that count");
  app.add_option("--seed", flags.seed, "of rows and routing");
  app.add_option("--timeout-ms", flags.timeoutMs, "bound of every wait in a kernel");
  app.add_flag("--no-copy", flags.noCopies, "leave the plain copy out");
  app.add_option("--cache-dir", flags.cacheDir, "disk cache of kernels (default: none)");
  app.add_option("--compiler", flags.compiler, "the compiler plugin (default: as the library finds it)");
  app.add_option("--commit", flags.commit, "recorded in the report");
  app.add_option("-o,--output", flags.output, "the report (default: standard output)");
  CLI11_PARSE(app, argc, argv);
  auto code = run(flags, bench::newReport("single_gpu", flags.commit, argc, argv));
  if (code)
    return *code;
  fmt::print(stderr, "interlock-bench-gpu: {}\n", code.error().message);
  return code.error().code == Code::badInput ? 2 : 1;
}
