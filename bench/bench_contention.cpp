// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-contention: what it costs to ask for co-residency without needing it. Each local kernel alone and
// under a stream of matrix multiplications, launched as it needs and cooperatively, in both orders; and its bandwidth
// against a plain kernel that moves as many bytes with as many CTAs. See bench/README.md.
#include "bench/Kernels.h"
#include "bench/common/Options.h"
#include "bench/common/Report.h"
#include "bench/gpu/Gate.h"
#include "runtime/Ops/LocalKernel.h"
#include "runtime/Ops/LocalWork.h"
#include "runtime/Ops/Random.h"
#include "runtime/Ops/TestRows.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace interlock;

namespace {
using nlohmann::json;

struct Flags : bench::ChipOptions, bench::RepeatOptions, bench::ReportOptions {
  Flags() : RepeatOptions{.runs = 30, .warmups = 5} {}
  std::string dtype = "bf16";
  uint32_t tokens = 4096, topk = 8, hidden = 7168, ranks = 8, ctas = 0;
  // 144 CTAs of some milliseconds, one or two on each of an H200's multiprocessors, with room for a few of ours beside
  // most of them: a kernel whose CTAs may come one by one gets on, and one that wants them all at once does not.
  uint32_t gemmSize = 768, gemmDepth = 8192, gemmShared = 112 * 1024, gemms = 20;
};

constexpr uint32_t gemmThreads = 256, gemmTile = 64, copyThreads = 1024, pieceBytes = 2048;

/// Tokens that came to one rank of so many: each has the local ones among topk random experts, one at least.
DedupGroups routedGroups(const Flags &flags) {
  Random random(flags.seed, flags.tokens, flags.topk);
  DedupGroups groups;
  groups.topk = flags.topk;
  groups.tokenRows = flags.tokens;
  for (uint32_t g = 0; g < flags.tokens; ++g) {
    groups.tokens.push_back(int32_t(g));
    bool any = false;
    for (uint32_t k = 0; k < flags.topk; ++k) {
      bool here = random.below(flags.ranks) == 0 || (k + 1 == flags.topk && !any);
      any |= here;
      groups.rows.push_back(here ? int32_t(groups.expertRows++) : -1);
      groups.weights.push_back(float(random.unit()));
    }
  }
  // Expert rows are sorted by expert, so a group's are far apart.
  std::vector<int32_t> order(groups.expertRows);
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = int32_t(i);
  for (uint32_t i = groups.expertRows; i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  for (int32_t &row : groups.rows)
    row = row < 0 ? -1 : order[size_t(row)];
  return groups;
}

/// Everything on the device that one measurement needs.
class Bench {
public:
  Bench(Driver &driver, KernelCache &cache, const Flags &flags) : driver(driver), cache(cache), flags(flags) {}

  Status open(const std::string &target) {
    ILK_ASSIGN_OR_RETURN(DType dtype, parseDType(flags.dtype));
    groups = routedGroups(flags);
    ILK_RETURN_IF_ERROR(validate(groups));
    rowBytes = uint64_t(flags.hidden) * byteSize(dtype);
    for (KernelKind kind : {KernelKind::dispatchEpilogue, KernelKind::combinePrologue}) {
      KernelSpec spec = localKernel(kind, flags.topk, flags.hidden, dtype, target);
      ILK_RETURN_IF_ERROR(validate(spec));
      ILK_ASSIGN_OR_RETURN(LocalKernel kernel, LocalKernel::load(driver, cache, 0, spec));
      kernels.push_back(std::move(kernel));
    }
    ILK_ASSIGN_OR_RETURN(copy, driver.load(0, {bench::kernels::copyPtx, {}, "copy_packets"}));
    ILK_ASSIGN_OR_RETURN(fanOut, driver.load(0, {bench::kernels::copyPtx, {}, "fan_out_packets"}));
    ILK_ASSIGN_OR_RETURN(gemm, driver.load(0, {bench::kernels::gemmPtx, {}, "gemm_tiles"}));
    ILK_ASSIGN_OR_RETURN(normal, driver.createStream(0));
    ILK_ASSIGN_OR_RETURN(urgent, driver.createUrgentStream(0));
    ILK_ASSIGN_OR_RETURN(load, driver.createStream(0));
    ILK_ASSIGN_OR_RETURN(begin, driver.createEvent());
    ILK_ASSIGN_OR_RETURN(end, driver.createEvent());
    ILK_RETURN_IF_ERROR(upload(dtype));
    ILK_ASSIGN_OR_RETURN(bench::Gate made, bench::Gate::create(driver, {{normal, 0}}));
    gate.emplace(std::move(made));
    return {};
  }

  Result<json> measure(const LocalKernel &kernel) {
    bool epilogue = kernel.report().spec.kernel == KernelKind::dispatchEpilogue;
    ILK_ASSIGN_OR_RETURN(uint32_t resident, kernel.residentCtas());
    grid = flags.ctas ? flags.ctas : std::min(resident, flags.tokens);
    json object = {{"kernel", name(kernel.report().spec.kernel)},
                   {"launch_mode", name(kernel.launchMode())},
                   {"stages", kernel.report().spec.stages},
                   {"block_threads", kernel.report().spec.blockThreads},
                   {"ctas", grid},
                   {"resident_ctas", resident},
                   {"groups", groups.count()},
                   {"expert_rows", groups.expertRows},
                   {"hidden", flags.hidden},
                   {"topk", flags.topk},
                   {"dtype", flags.dtype}};
    ILK_RETURN_IF_ERROR(bandwidth(kernel, epilogue, object));
    ILK_RETURN_IF_ERROR(isolated(kernel, object));
    for (bool first : {true, false}) {
      ILK_RETURN_IF_ERROR(contended(kernel, first ? normal : urgent, first ? "contended" : "contended_urgent", object));
    }
    return object;
  }

  std::vector<LocalKernel> kernels;

private:
  Status upload(DType dtype) {
    std::vector<std::byte> rows(uint64_t(std::max(groups.tokenRows, groups.expertRows)) * rowBytes);
    fillTestRows(dtype, flags.seed, 0, 0, rows);
    for (auto [buffer, count] : {std::pair(&tokenRows, groups.tokenRows), std::pair(&expertRows, groups.expertRows)}) {
      ILK_ASSIGN_OR_RETURN(*buffer, DeviceBuffer::create(driver, 0, count * rowBytes));
      ILK_RETURN_IF_ERROR(driver.copyIn(normal, buffer->address(), rows.data(), count * rowBytes));
    }
    auto put = [&](DeviceBuffer &to, const auto &list) -> Status {
      ILK_ASSIGN_OR_RETURN(to, DeviceBuffer::create(driver, 0, list.size() * 4));
      return driver.copyIn(normal, to.address(), list.data(), list.size() * 4);
    };
    ILK_RETURN_IF_ERROR(put(tokens, groups.tokens));
    ILK_RETURN_IF_ERROR(put(rowList, groups.rows));
    ILK_RETURN_IF_ERROR(put(weights, groups.weights));
    ILK_ASSIGN_OR_RETURN(status, DeviceBuffer::create(driver, 0, 4));
    ILK_RETURN_IF_ERROR(driver.fill(normal, status.address(), 0, 4));
    uint64_t matrix = uint64_t(flags.gemmSize) * flags.gemmSize * 4,
             factor = uint64_t(flags.gemmSize) * flags.gemmDepth * 4;
    ILK_ASSIGN_OR_RETURN(gemmOut, DeviceBuffer::create(driver, 0, matrix));
    ILK_ASSIGN_OR_RETURN(gemmIn, DeviceBuffer::create(driver, 0, 2 * factor));
    ILK_RETURN_IF_ERROR(driver.fill(normal, gemmIn.address(), 0, 2 * factor));
    return driver.synchronize(normal);
  }

  Status launch(const LocalKernel &kernel, StreamId stream, bool cooperative) {
    return kernel.launch(stream, grid,
                         {.tokenRows = tokenRows.address(),
                          .expertRows = expertRows.address(),
                          .tokens = tokens.address(),
                          .rows = rowList.address(),
                          .weights = weights.address(),
                          .status = status.address(),
                          .groups = groups.count(),
                          .tokenRowCount = groups.tokenRows,
                          .expertRowCount = groups.expertRows},
                         cooperative);
  }

  template <typename... Params>
  Status launchPlain(StreamId stream, KernelId kernel, const LaunchConfig &config, Params... params) {
    std::array<uint64_t, sizeof...(Params)> list{uint64_t(params)...};
    return driver.launch(stream, kernel, config, std::as_bytes(std::span(list)));
  }
  Status launchGemm() {
    struct {
      uint64_t c, a, b;
      uint32_t n, k;
    } params{gemmOut.address(), gemmIn.address(), gemmIn.address() + uint64_t(flags.gemmSize) * flags.gemmDepth * 4,
             flags.gemmSize, flags.gemmDepth};
    uint32_t tiles = flags.gemmSize / gemmTile;
    return driver.launch(load, gemm,
                         {.grid = tiles * tiles, .block = gemmThreads, .dynamicSharedBytes = flags.gemmShared},
                         std::as_bytes(std::span(&params, 1)));
  }

  /// Microseconds of what is enqueued, on an idle GPU.
  template <typename Enqueue> Result<double> alone(Enqueue enqueue) {
    ILK_ASSIGN_OR_RETURN(double ns, gate->time([&](size_t) { return enqueue(); }));
    return ns / 1000;
  }

  /// The same bytes read and written by a plain kernel of as many CTAs, in turns with ours.
  Status bandwidth(const LocalKernel &kernel, bool epilogue, json &object) {
    uint64_t read = (epilogue ? groups.tokenRows : groups.expertRows) * rowBytes;
    uint64_t written = (epilogue ? groups.expertRows : groups.tokenRows) * rowBytes;
    uint64_t packets = (read + written) / 2 / 16;
    ILK_ASSIGN_OR_RETURN(DeviceBuffer from, DeviceBuffer::create(driver, 0, std::max(read, packets * 16)));
    ILK_ASSIGN_OR_RETURN(DeviceBuffer to, DeviceBuffer::create(driver, 0, std::max(written, packets * 16)));
    ILK_RETURN_IF_ERROR(driver.fill(normal, from.address(), 1, from.bytes()));
    ILK_RETURN_IF_ERROR(driver.synchronize(normal));
    // An epilogue writes rows several times; where rows are whole pieces a plain kernel can do just that.
    bool fans = epilogue && rowBytes % pieceBytes == 0;
    LaunchConfig config{.grid = grid, .block = copyThreads};
    std::vector<double> ours, plain;
    for (uint32_t run = 0; run < flags.warmups + flags.runs; ++run) {
      ILK_ASSIGN_OR_RETURN(double mine, alone([&] { return launch(kernel, normal, false); }));
      ILK_ASSIGN_OR_RETURN(double other, alone([&] {
                             return fans ? launchPlain(normal, fanOut, config, to.address(), from.address(),
                                                       read / pieceBytes, written / pieceBytes)
                                         : launchPlain(normal, copy, config, to.address(), from.address(), packets);
                           }));
      if (run >= flags.warmups) {
        ours.push_back(mine);
        plain.push_back(other);
      }
    }
    bench::addRuns(object, "kernel", "us", ours);
    bench::addRuns(object, "copy", "us", plain);
    object["bytes"] = read + written;
    object["gb_per_s"] = double(read + written) / bench::median(ours) / 1000;
    object["copy_kernel"] = fans ? "fan_out_packets" : "copy_packets";
    object["copy_block_threads"] = copyThreads;
    object["copy_ratio"] = bench::median(plain) / bench::median(ours);
    return {};
  }

  /// Both launches in turns, each first every other time.
  template <typename Time> Status inBothOrders(const char *name, Time time, json &object) {
    std::vector<double> plain, cooperative;
    for (uint32_t run = 0; run < flags.warmups + flags.runs; ++run)
      for (bool second : {false, true}) {
        bool asks = second != (run % 2 == 1);
        ILK_ASSIGN_OR_RETURN(double us, time(asks));
        if (run >= flags.warmups)
          (asks ? cooperative : plain).push_back(us);
      }
    bench::addRuns(object, name + std::string("_any_grid"), "us", plain);
    bench::addRuns(object, name + std::string("_cooperative"), "us", cooperative);
    object[name + std::string("_cooperative_over_any_grid")] = bench::median(cooperative) / bench::median(plain);
    return {};
  }

  Status isolated(const LocalKernel &kernel, json &object) {
    return inBothOrders(
        "isolated", [&](bool cooperative) { return alone([&] { return launch(kernel, normal, cooperative); }); },
        object);
  }

  /// Under matrix multiplications that are enqueued back to back. `stream` may have priority.
  Status contended(const LocalKernel &kernel, StreamId stream, const char *name, json &object) {
    uint32_t phase = 0;
    auto once = [&](bool cooperative) -> Result<double> {
      for (uint32_t i = 0; i < flags.gemms; ++i)
        ILK_RETURN_IF_ERROR(launchGemm());
      // Somewhere in the second multiplication: each of its elevenths in turn.
      std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(gemmUs * (1 + (phase++ % 11) / 11.0)));
      ILK_RETURN_IF_ERROR(driver.recordEvent(stream, begin));
      ILK_RETURN_IF_ERROR(launch(kernel, stream, cooperative));
      ILK_RETURN_IF_ERROR(driver.recordEvent(stream, end));
      ILK_RETURN_IF_ERROR(driver.synchronize(stream));
      ILK_ASSIGN_OR_RETURN(bool ran, driver.isIdle(load));
      ILK_RETURN_IF_ERROR(driver.synchronize(load));
      // In the emulator nothing runs before it is waited for.
      if (ran && driver.kind() == "cuda")
        return makeError(Code::badInput,
                         fmt::format("expected the multiplications to outlast the kernel, but {} of them "
                                     "had ended: more (--gemms) would do",
                                     flags.gemms));
      ILK_ASSIGN_OR_RETURN(double ns, driver.elapsedNs(begin, end));
      return ns / 1000;
    };
    return inBothOrders(name, once, object);
  }

public:
  /// One multiplication on an idle GPU: what a kernel that waits for the GPU to drain has to wait for.
  Result<double> gemmMicroseconds() {
    std::vector<double> runs;
    for (uint32_t run = 0; run < 5; ++run) {
      ILK_RETURN_IF_ERROR(driver.recordEvent(load, begin));
      ILK_RETURN_IF_ERROR(launchGemm());
      ILK_RETURN_IF_ERROR(driver.recordEvent(load, end));
      ILK_RETURN_IF_ERROR(driver.synchronize(load));
      ILK_ASSIGN_OR_RETURN(double ns, driver.elapsedNs(begin, end));
      runs.push_back(ns / 1000);
    }
    return gemmUs = bench::median(runs);
  }

private:
  Driver &driver;
  KernelCache &cache;
  const Flags &flags;
  DedupGroups groups;
  uint64_t rowBytes = 0;
  uint32_t grid = 0;
  double gemmUs = 0;
  KernelId copy{}, fanOut{}, gemm{};
  StreamId normal{}, urgent{}, load{};
  EventId begin{}, end{};
  std::optional<bench::Gate> gate;
  DeviceBuffer tokenRows, expertRows, tokens, rowList, weights, status, gemmOut, gemmIn;
};

Result<int> run(Flags flags, json report) {
  if (flags.gemmSize == 0 || flags.gemmSize % gemmTile)
    return makeError(Code::badInput,
                     fmt::format("expected --gemm-size to be a multiple of {}, got {}", gemmTile, flags.gemmSize));
  if (flags.tokens == 0 || flags.ranks == 0 || flags.runs == 0)
    return makeError(Code::badInput, "expected --tokens, --ranks and --runs of at least 1, got 0");
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, bench::openDevice(flags, {.target = flags.target}));
  ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver->info(0));
  auto cache = bench::openCache(flags, flags);
  ILK_ASSIGN_OR_RETURN(report["device"], bench::describeDevice(*driver));
  Bench bench(*driver, *cache, flags);
  ILK_RETURN_IF_ERROR(bench.open(info.target));
  ILK_ASSIGN_OR_RETURN(double gemm, bench.gemmMicroseconds());
  report["gemm"] = {{"size", flags.gemmSize},
                    {"depth", flags.gemmDepth},
                    {"dynamic_shared_bytes", flags.gemmShared},
                    {"launches", flags.gemms},
                    {"us", gemm}};
  report["cases"] = json::array();
  for (const LocalKernel &kernel : bench.kernels) {
    ILK_ASSIGN_OR_RETURN(json one, bench.measure(kernel));
    fmt::print(
        stderr,
        "{}: {:.1f} us on {} CTAs, {:.0f} GB/s, {:.3f} of a copy; cooperative over any grid: alone {:.3f}, "
        "contended {:.1f} ({:.1f} over {:.1f} us), with priority {:.1f} ({:.1f} over {:.1f} us); a GEMM {:.0f} us\n",
        one["kernel"].get<std::string>(), one["kernel_median_us"].get<double>(), one["ctas"].get<uint32_t>(),
        one["gb_per_s"].get<double>(), one["copy_ratio"].get<double>(),
        one["isolated_cooperative_over_any_grid"].get<double>(),
        one["contended_cooperative_over_any_grid"].get<double>(), one["contended_cooperative_median_us"].get<double>(),
        one["contended_any_grid_median_us"].get<double>(),
        one["contended_urgent_cooperative_over_any_grid"].get<double>(),
        one["contended_urgent_cooperative_median_us"].get<double>(),
        one["contended_urgent_any_grid_median_us"].get<double>(), gemm);
    report["cases"].push_back(std::move(one));
  }
  ILK_RETURN_IF_ERROR(bench::writeReport(report, flags.output));
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  // Streams that share a hardware queue would wait for each other; the driver reads this when it starts.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  Flags flags;
  CLI::App app("local kernels alone and under matrix multiplications, cooperative and not");
  bench::addOptions(app, static_cast<bench::ChipOptions &>(flags));
  bench::addOptions(app, static_cast<bench::RepeatOptions &>(flags));
  bench::addOptions(app, static_cast<bench::ReportOptions &>(flags));
  app.add_option("--tokens", flags.tokens, "groups: tokens that came to the rank");
  app.add_option("--topk", flags.topk, "experts per token");
  app.add_option("--ranks", flags.ranks, "ranks that the experts are spread over: one in so many is local");
  app.add_option("--hidden", flags.hidden, "elements per row");
  app.add_option("--dtype", flags.dtype, "of the rows: f32, f16 or bf16");
  app.add_option("--ctas", flags.ctas, "CTAs of each launch (default: as many as can be resident)");
  app.add_option("--gemm-size", flags.gemmSize, "rows and columns of the product");
  app.add_option("--gemm-depth", flags.gemmDepth, "length of the sums");
  app.add_option("--gemm-shared", flags.gemmShared, "bytes of shared memory that each of its CTAs takes");
  app.add_option("--gemms", flags.gemms, "multiplications that are enqueued at a time");
  CLI11_PARSE(app, argc, argv);
  return bench::finish("interlock-bench-contention",
                       run(flags, bench::newReport("contention", flags.commit, argc, argv)));
}
