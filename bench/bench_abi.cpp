// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-abi: what a call of the C ABI adds to the driver's own launch, with the same kernel and the same
// arguments, in turns; and from a kernel on disk to one that is loaded on the device. See bench/README.md.
#include "bench/common/Options.h"
#include "bench/common/Report.h"
#include "runtime/CApi/Handles.h"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Driver/CudaApi.h"
#include "runtime/Driver/ForwardingDriver.h"
#include "runtime/Ops/Enumerate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include <stdlib.h>

using namespace interlock;

namespace {
using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Flags : bench::DeviceOptions, bench::ReportOptions {
  uint32_t runs = 21, calls = 200, tokens = 16, loads = 50;
};

double nanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// Every call of the C ABI, as a Status.
Status checked(ilk_status status) { return status == ILK_OK ? Status() : makeError(Code::device, ilk_message()); }

/// Remembers what the library launches.
class Recorder final : public ForwardingDriver {
public:
  explicit Recorder(std::unique_ptr<Driver> below) : ForwardingDriver(std::move(below)) {}
  Driver &driver() { return *below; }
  Status launch(StreamId on, KernelId what, const LaunchConfig &how, std::span<const std::byte> with) override {
    if (recording) {
      stream = on;
      kernel = what;
      config = how;
      params.assign(with.begin(), with.end());
    }
    return below->launch(on, what, how, with);
  }

  bool recording = false;
  StreamId stream{};
  KernelId kernel{};
  LaunchConfig config;
  std::vector<std::byte> params;
};

/// The launch that is compared with.
class Raw {
public:
  virtual ~Raw() = default;
  virtual Status launch() = 0;
  virtual Status wait() = 0;
};

/// cuLaunchKernelEx, called as a program would that has the cubin and knows nothing of the library.
class CudaRaw final : public Raw {
public:
  static Result<std::unique_ptr<Raw>> make(const KernelImage &image, const Recorder &recorded) {
    auto raw = std::make_unique<CudaRaw>();
    ILK_ASSIGN_OR_RETURN(raw->api, cuda::Api::load());
    const cuda::Api &api = *raw->api;
    cuda::CudaDevice device = 0;
    cuda::CudaContext context = nullptr;
    cuda::CudaModule module = nullptr;
    ILK_RETURN_IF_ERROR(api.check("find the GPU", api.deviceGet(&device, 0)));
    ILK_RETURN_IF_ERROR(api.check("retain its context", api.primaryCtxRetain(&context, device)));
    ILK_RETURN_IF_ERROR(api.check("use its context", api.ctxPush(context)));
    const std::string &code = image.binary.empty() ? image.text : image.binary;
    ILK_RETURN_IF_ERROR(api.check("load the kernel", api.moduleLoad(&module, code.c_str(), 0, nullptr, nullptr)));
    ILK_RETURN_IF_ERROR(
        api.check("find the kernel", api.moduleGetFunction(&raw->function, module, image.entry.c_str())));
    ILK_RETURN_IF_ERROR(api.check("make a stream", api.streamCreate(&raw->stream, cuda::streamNonBlocking)));
    raw->params = recorded.params;
    raw->bytes = raw->params.size();
    const LaunchConfig &config = recorded.config;
    raw->launchConfig = {config.grid, 1, 1, config.block, 1, 1, config.dynamicSharedBytes, raw->stream, nullptr, 0};
    if (config.cluster > 1) {
      raw->attribute.id = cuda::launchClusterDimension;
      raw->attribute.value.clusterDim = {config.cluster, 1, 1};
      raw->launchConfig.attributes = &raw->attribute;
      raw->launchConfig.attributeCount = 1;
    }
    return raw;
  }
  Status launch() override {
    void *extra[] = {reinterpret_cast<void *>(1), params.data(), reinterpret_cast<void *>(2), &bytes, nullptr};
    return api->check("launch", api->launchKernel(&launchConfig, function, nullptr, extra));
  }
  Status wait() override { return api->check("wait", api->streamSynchronize(stream)); }

private:
  std::unique_ptr<const cuda::Api> api;
  cuda::CudaFunction function = nullptr;
  cuda::CudaStream stream = nullptr;
  cuda::CudaLaunchConfig launchConfig{};
  cuda::CudaLaunchAttribute attribute{};
  std::vector<std::byte> params;
  size_t bytes = 0;
};

/// The library's own driver, below everything that an operation adds: for devices that have no other way.
class DriverRaw final : public Raw {
public:
  explicit DriverRaw(Recorder &recorded) : recorded(recorded) {}
  Status launch() override {
    return recorded.driver().launch(recorded.stream, recorded.kernel, recorded.config, recorded.params);
  }
  Status wait() override { return recorded.driver().synchronize(recorded.stream); }

private:
  Recorder &recorded;
};

/// A folder of its own that goes with the object.
class Folder {
public:
  Folder() {
    std::error_code error;
    path = (std::filesystem::temp_directory_path(error) / "interlock-bench-XXXXXX").string();
    if (!mkdtemp(path.data()))
      path.clear();
  }
  ~Folder() {
    std::error_code error;
    if (!path.empty())
      std::filesystem::remove_all(path, error);
  }
  Folder(const Folder &) = delete;
  std::string path;
};

/// A layer of one rank, so that no call waits for another one.
LayerSpec layerOf(const Flags &flags) {
  LayerSpec layer;
  layer.ranks = 1;
  layer.experts = 8;
  layer.topk = 2;
  layer.hidden = 256;
  layer.maxTokens = flags.tokens;
  return layer;
}

/// A rank's buffers, by the C ABI.
struct Step {
  ilk_driver *driver = nullptr;
  ilk_cache *cache = nullptr;
  ilk_operation *operation = nullptr;
  ilk_stream stream{};
  ilk_dispatch_arguments arguments{};

  ~Step() {
    ilk_operation_destroy(operation);
    ilk_cache_close(cache);
    ilk_driver_close(driver);
  }
  /// Allocated and filled with zeros: every token goes to expert 0.
  Status fill(ilk_address *address, size_t bytes) {
    ILK_RETURN_IF_ERROR(checked(ilk_driver_allocate(driver, 0, bytes, address)));
    std::vector<char> zeros(bytes);
    return checked(ilk_driver_copy_in(driver, stream, *address, zeros.data(), bytes));
  }
  Status open(const Flags &flags, const std::string &folder) {
    const LayerSpec layer = layerOf(flags);
    ilk_cache_options where{};
    where.size = sizeof where;
    where.directory = folder.c_str();
    where.compiler_path = flags.compiler.empty() ? nullptr : flags.compiler.c_str();
    ILK_RETURN_IF_ERROR(checked(ilk_cache_open(&where, &cache)));
    ilk_layer given{};
    given.size = sizeof given;
    given.ranks = layer.ranks;
    given.experts = layer.experts;
    given.topk = layer.topk;
    given.hidden = layer.hidden;
    given.dtype = ILK_BF16;
    given.max_tokens = layer.maxTokens;
    ILK_RETURN_IF_ERROR(checked(ilk_operation_create(driver, cache, &given, nullptr, &operation)));
    ILK_RETURN_IF_ERROR(checked(ilk_driver_stream_create(driver, 0, &stream)));
    arguments.size = sizeof arguments;
    arguments.tokens = layer.maxTokens;
    const size_t pairs = size_t(layer.maxTokens) * layer.topk;
    ILK_RETURN_IF_ERROR(fill(&arguments.x, size_t(layer.maxTokens) * layer.hidden * 2));
    ILK_RETURN_IF_ERROR(fill(&arguments.ids, pairs * 4));
    ILK_RETURN_IF_ERROR(fill(&arguments.weights, pairs * 4));
    return checked(ilk_driver_synchronize(driver, stream));
  }
  /// The nanoseconds of each of so many calls; what they started has ended afterwards.
  Status time(uint32_t calls, std::vector<double> &each) {
    std::vector<ilk_routing *> handles(calls);
    Status status;
    for (uint32_t i = 0; i < calls && status; ++i) {
      auto begin = Clock::now();
      ilk_status result = ilk_operation_dispatch(operation, 0, stream, &arguments, &handles[i]);
      each.push_back(nanosecondsSince(begin));
      status = checked(result);
      ilk_routing_destroy(handles[i]);
    }
    ILK_RETURN_IF_ERROR(status);
    return checked(ilk_driver_synchronize(driver, stream));
  }
};

Status timeRaw(Raw &raw, uint32_t calls, std::vector<double> &each) {
  for (uint32_t i = 0; i < calls; ++i) {
    auto begin = Clock::now();
    Status status = raw.launch();
    each.push_back(nanosecondsSince(begin));
    ILK_RETURN_IF_ERROR(status);
  }
  return raw.wait();
}

/// Medians of the calls of each run, in turns.
Result<json> compareCalls(const Flags &flags, const std::string &folder, KernelSpec &spec) {
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> device, bench::openDevice(flags, {}));
  auto recorder = std::make_shared<Recorder>(std::move(device));
  Step step;
  step.driver = new ilk_driver{recorder, recorder};
  ILK_RETURN_IF_ERROR(step.open(flags, folder));
  spec = step.operation->operation.kernel(KernelKind::dispatch).spec;
  std::vector<double> warm;
  recorder->recording = true;
  ILK_RETURN_IF_ERROR(step.time(1, warm));
  recorder->recording = false;
  auto cache = KernelCache::open({.directory = folder, .compiler = makePluginCompiler({flags.compiler, {}})});
  ILK_ASSIGN_OR_RETURN(Lookup found, cache->get(spec));
  std::unique_ptr<Raw> raw;
  if (flags.device == "cuda") {
    const Artifact &artifact = *found.artifact;
    ILK_ASSIGN_OR_RETURN(raw, CudaRaw::make({artifact.text, artifact.binary, artifact.facts.entry}, *recorder));
  } else {
    raw = std::make_unique<DriverRaw>(*recorder);
  }
  std::vector<double> abi, launch, added;
  for (uint32_t run = 0; run <= flags.runs; ++run) {
    std::vector<double> ours, theirs;
    ILK_RETURN_IF_ERROR(step.time(flags.calls, ours));
    ILK_RETURN_IF_ERROR(timeRaw(*raw, flags.calls, theirs));
    if (run == 0)
      continue; // warms caches and clocks
    abi.push_back(bench::median(ours));
    launch.push_back(bench::median(theirs));
    added.push_back(abi.back() - launch.back());
  }
  json object = {{"case", "dispatch call"},
                 {"raw", flags.device == "cuda" ? "cuLaunchKernelEx" : "the library's driver"},
                 {"calls_per_run", flags.calls}};
  bench::addRuns(object, "ilk_operation_dispatch", "ns", abi);
  bench::addRuns(object, "raw_launch", "ns", launch);
  bench::addRuns(object, "added", "ns", added);
  fmt::print(stderr, "ilk_operation_dispatch {:.0f} ns, {} {:.0f} ns: {:.0f} ns more\n", bench::median(abi),
             object["raw"].get<std::string>(), bench::median(launch), bench::median(added));
  return object;
}

/// A cache with nothing in memory, a hit on disk, and the kernel on the device.
Result<json> measureLoads(const Flags &flags, const std::string &folder, const KernelSpec &spec) {
  // None is kept, so that each load is a real one.
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> device, bench::openDevice(flags, {.modules = {.count = 0}}));
  std::vector<double> hits, loads, all;
  for (uint32_t run = 0; run <= flags.loads; ++run) {
    auto begin = Clock::now();
    auto cache = KernelCache::open({.directory = folder, .compiler = makePluginCompiler({flags.compiler, {}})});
    ILK_ASSIGN_OR_RETURN(Lookup found, cache->get(spec));
    const double hit = nanosecondsSince(begin) / 1e6;
    if (found.outcome != Outcome::disk)
      return makeError(Code::internal, fmt::format("expected a hit on disk, got {}", name(found.outcome)));
    const Artifact &artifact = *found.artifact;
    ILK_ASSIGN_OR_RETURN(KernelId kernel, device->load(0, {artifact.text, artifact.binary, artifact.facts.entry}));
    const double total = nanosecondsSince(begin) / 1e6;
    ILK_RETURN_IF_ERROR(device->unload(kernel));
    if (run == 0)
      continue;
    hits.push_back(hit);
    loads.push_back(total - hit);
    all.push_back(total);
  }
  json object = {{"case", "disk hit to loaded kernel"}};
  bench::addRuns(object, "disk_hit", "ms", hits);
  bench::addRuns(object, "load", "ms", loads);
  bench::addRuns(object, "total", "ms", all);
  fmt::print(stderr, "disk hit {:.3f} ms, load {:.3f} ms, together {:.3f} ms\n", bench::median(hits),
             bench::median(loads), bench::median(all));
  return object;
}

Status run(const Flags &flags, json report) {
  Folder folder;
  if (folder.path.empty())
    return makeError(Code::internal, "expected a temporary folder, got none");
  KernelSpec spec;
  ILK_ASSIGN_OR_RETURN(json calls, compareCalls(flags, folder.path, spec));
  ILK_ASSIGN_OR_RETURN(json loads, measureLoads(flags, folder.path, spec));
  report["device"] = flags.device;
  report["spec"] = canonicalForm(spec);
  report["cases"] = {calls, loads};
  return bench::writeReport(report, flags.output);
}
} // namespace

int main(int argc, char **argv) {
  Flags flags;
  CLI::App app("what the C ABI's dispatch call adds to the driver's launch, and from disk to a loaded kernel");
  bench::addOptions(app, static_cast<bench::DeviceOptions &>(flags));
  bench::addOptions(app, static_cast<bench::ReportOptions &>(flags));
  app.add_option("--runs", flags.runs, "turns of each kind of call")->check(CLI::Range(1, 100000));
  app.add_option("--calls", flags.calls, "calls in a turn: fewer than the driver queues")->check(CLI::Range(1, 1000));
  app.add_option("--loads", flags.loads, "loads of the kernel")->check(CLI::Range(1, 100000));
  app.add_option("--tokens", flags.tokens, "tokens of the rank")->check(CLI::Range(1, 65536));
  CLI11_PARSE(app, argc, argv);
  return bench::finish("interlock-bench-abi", run(flags, bench::newReport("abi", flags.commit, argc, argv)));
}
