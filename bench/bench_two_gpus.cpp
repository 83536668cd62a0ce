// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-two: dispatch and combine of two ranks on two GPUs, with the ceilings of the link beside them in one
// run. See bench/README.md.
#include "bench/common/Report.h"
#include "bench/gpu/CaseFlags.h"
#include "bench/two/Link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

using namespace interlock;

namespace {
using nlohmann::json;

/// One value of each list.
struct Point {
  uint32_t tokens;
  bool ownInPlace;
  LaunchGeometry geometry;
};

struct Flags : bench::CaseFlags, bench::DeviceOptions {
  Flags() {
    runs = 11;
    warmups = 3;
    tokens = {128, 512, 2048, 8192};
    ctas = {8, 12, 16, 32, 64, 132};
    ownInPlace = {0, 1};
  }
  uint32_t ranks = 2, chain = 20;
  uint64_t linkBytes = uint64_t(256) << 20;
};

std::vector<Point> pointsOf(const Flags &flags) {
  std::vector<Point> points;
  for (uint32_t tokens : flags.tokens)
    for (uint32_t ownInPlace : flags.ownInPlace)
      for (uint32_t block : flags.block)
        for (uint32_t tile : flags.tile)
          for (uint32_t ctas : flags.ctas)
            points.push_back({tokens, ownInPlace != 0, {ctas, block, tile}});
  return points;
}

Result<bench::CaseOptions> caseOf(const Flags &flags, const Point &point) {
  ILK_ASSIGN_OR_RETURN(bench::CaseOptions options,
                       flags.caseOf(flags.ranks, point.tokens, point.ownInPlace, point.geometry));
  options.copies = false;
  options.eager = true;
  options.chain = flags.chain;
  return options;
}

/// The best figure of one ceiling kernel, over grids of at most `ctas`.
double ceiling(const json &link, const std::string &kernel, const char *way, uint32_t ctas = UINT32_MAX) {
  double best = 0;
  for (const json &each : link["kernels"])
    if (each["kernel"] == kernel && each["ctas"].get<uint32_t>() <= ctas)
      best = std::max(best, each[fmt::format("{}_gb_per_s", way)].get<double>());
  return best;
}

/// Dispatch is held against stores and combine against loads, in both directions at once, as both kernels run; and the
/// latency against what it cannot do without.
void compare(json &phase, const json &link, bool dispatch) {
  const char *kernel = dispatch ? "store" : "load";
  double best = ceiling(link, kernel, "both_ways");
  double flag = link["flag_round_trip"]["round_trip_median_us"].get<double>() / 2;
  double floor = phase["bytes_peer"].get<double>() / best / 1000 + flag;
  phase["ceiling_gb_per_s"] = best;
  phase["of_ceiling"] = phase["peer_gb_per_s"].get<double>() / best;
  phase["of_one_way_ceiling"] = phase["peer_gb_per_s"].get<double>() / ceiling(link, kernel, "one_way");
  phase["floor_us"] = floor + link["empty_graph"]["single_median_us"].get<double>();
  phase["of_floor"] = phase["kernel_median_us"].get<double>() / phase["floor_us"].get<double>();
}

void printLine(const Point &point, const json &phase) {
  fmt::print(
      stderr,
      "{} tokens{}, {} CTAs x {}, tile {}: {} {:.1f} us, eager {:.1f} us, {:.0f} GB/s to the peer, {:.3f} of the "
      "ceiling, {:.2f} of the floor, signals only {:.1f} us\n",
      point.tokens, point.ownInPlace ? ", own rows in place" : "", phase["ctas_per_rank"].get<uint32_t>(),
      phase["block_threads"].get<uint32_t>(), phase["tile_tokens"].get<uint32_t>(), phase["phase"].get<std::string>(),
      phase["kernel_median_us"].get<double>(), phase["eager_median_us"].get<double>(),
      phase["peer_gb_per_s"].get<double>(), phase["of_ceiling"].get<double>(), phase["of_floor"].get<double>(),
      phase["signals_only_median_us"].get<double>());
}

void printLink(const json &link) {
  fmt::print(stderr,
             "flag round trip {:.2f} us; empty graph {:.2f} us, a node of a chain {:.2f} us; copy engine {:.0f} "
             "GB/s one way, {:.0f} both ways\n",
             link["flag_round_trip"]["round_trip_median_us"].get<double>(),
             link["empty_graph"]["single_median_us"].get<double>(),
             link["empty_graph"]["node_of_chain_median_us"].get<double>(),
             link["copy_engine"]["one_way_gb_per_s"].get<double>(),
             link["copy_engine"]["both_ways_gb_per_s"].get<double>());
  for (const json &each : link["kernels"])
    fmt::print(stderr, "{:<10} {:>3} CTAs x {:>4}: {:.0f} GB/s one way, {:.0f} both ways\n",
               each["kernel"].get<std::string>(), each["ctas"].get<uint32_t>(), each["threads"].get<uint32_t>(),
               each["one_way_gb_per_s"].get<double>(), each["both_ways_gb_per_s"].get<double>());
}

Result<int> run(const Flags &flags, json report) {
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, bench::openDevice(flags, {.devices = 2}));
  if (driver->deviceCount() < 2)
    return makeError(Code::notFound, "expected two GPUs that reach each other, found one");
  auto cache = bench::openCache(flags, flags);
  ILK_ASSIGN_OR_RETURN(report["device"], bench::describeDevice(*driver));
  report["device"]["devices"] = driver->deviceCount();
  bench::LinkOptions link;
  link.ctas = flags.ctas;
  link.bytes = flags.linkBytes;
  link.chain = flags.chain;
  ILK_ASSIGN_OR_RETURN(report["link"], bench::measureLink(*driver, link));
  printLink(report["link"]);
  report["cases"] = json::array();
  int failures = 0;
  for (const Point &point : pointsOf(flags)) {
    ILK_ASSIGN_OR_RETURN(bench::CaseOptions options, caseOf(flags, point));
    auto measured = bench::measureCase(*driver, *cache, options);
    if (measured) {
      for (const char *phase : {"dispatch", "combine"}) {
        compare((*measured)[phase], report["link"], phase == std::string_view("dispatch"));
        printLine(point, (*measured)[phase]);
      }
      report["cases"].push_back(std::move(*measured));
    } else {
      // A point that fails is part of the record; the others still count.
      ++failures;
      const LaunchGeometry &g = point.geometry;
      fmt::print(stderr, "{} tokens, {} CTAs x {}, tile {}: {}\n", point.tokens, g.grid, g.blockThreads, g.tileTokens,
                 measured.error().message);
      report["cases"].push_back({{"tokens_per_rank", point.tokens},
                                 {"own_rows", point.ownInPlace ? "in place" : "copied"},
                                 {"ctas_per_rank", g.grid},
                                 {"block_threads", g.blockThreads},
                                 {"tile_tokens", g.tileTokens},
                                 {"error", measured.error().message}});
    }
    // What there is so far is worth having if the rest is cut off.
    if (!flags.output.empty())
      ILK_RETURN_IF_ERROR(bench::writeReport(report, flags.output));
  }
  if (flags.output.empty())
    ILK_RETURN_IF_ERROR(bench::writeReport(report, flags.output));
  return failures ? 1 : 0;
}
} // namespace

int main(int argc, char **argv) {
  // Streams that wait for each other may not share a hardware queue; the driver reads this when it starts.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  Flags flags;
  CLI::App app("dispatch and combine of two ranks on two GPUs, and the ceilings of the link between them");
  bench::addOptions(app, static_cast<bench::DeviceOptions &>(flags));
  bench::addOptions(app, static_cast<bench::CaseFlags &>(flags));
  app.add_option("--ranks", flags.ranks, "ranks, on the devices in turns");
  app.add_option("--ctas", flags.ctas, "list: CTAs of each launch, of the ceilings too")->delimiter(',');
  app.add_option("--link-bytes", flags.linkBytes, "that the ceilings move in one direction");
  app.add_option("--chain", flags.chain, "kernels in a row in one graph");
  CLI11_PARSE(app, argc, argv);
  return bench::finish("interlock-bench-two", run(flags, bench::newReport("two_gpus", flags.commit, argc, argv)));
}
