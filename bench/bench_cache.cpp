// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-cache: what a kernel costs that is already there, and what it costs to get many of them there. Google
// Benchmark; see bench/README.md.
#include "bench/common/Report.h"
#include "interlock/device.hpp"
#include "interlock/operation.hpp"
#include "interlock/prepare.hpp"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Driver/ForwardingDriver.h"

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace interlock;

namespace {

KernelSpec dispatchSpec() {
  KernelSpec spec;
  auto model = findModel("deepseek-v3");
  spec.layer.ranks = 8;
  spec.layer.experts = model ? model->experts : 0; // an unknown model shows at the first lookup
  spec.layer.topk = model ? model->topk : 0;
  spec.layer.hidden = model ? model->hidden : 0;
  spec.layer.maxTokens = 4096;
  return spec;
}

/// A disk cache in a folder of its own that holds the kernel, made once per benchmark.
class CacheFixture : public benchmark::Fixture {
public:
  void SetUp(benchmark::State &state) override {
    std::error_code error;
    folder = (std::filesystem::temp_directory_path(error) / "interlock-bench-XXXXXX").string();
    if (!mkdtemp(folder.data())) {
      state.SkipWithError("expected a temporary folder, got none");
      return;
    }
    compiler = makePluginCompiler({});
    // In a child: a process that has compiled holds the plugin, and its children would too.
    pid_t child = ::fork();
    if (child == 0)
      ::_exit(open()->get(spec) ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      state.SkipWithError("expected the compiler plugin to make the kernel, but it failed");
  }
  void TearDown(benchmark::State &) override {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }

  /// A cache with nothing in memory.
  std::unique_ptr<KernelCache> open() {
    CacheOptions options;
    options.directory = folder;
    options.compiler = compiler;
    return KernelCache::open(std::move(options));
  }

  KernelSpec spec = dispatchSpec();
  std::string folder;
  std::shared_ptr<Compiler> compiler;
};

BENCHMARK_DEFINE_F(CacheFixture, MemoryLookup)(benchmark::State &state) {
  auto cache = open();
  (void)cache->get(spec);
  for (auto _ : state) {
    auto found = cache->get(spec);
    if (!found || found->outcome != Outcome::memory) {
      state.SkipWithError("expected a hit in memory");
      break;
    }
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK_REGISTER_F(CacheFixture, MemoryLookup);

BENCHMARK_DEFINE_F(CacheFixture, DiskHit)(benchmark::State &state) {
  for (auto _ : state) {
    auto cache = open();
    auto found = cache->get(spec);
    if (!found || found->outcome != Outcome::disk) {
      state.SkipWithError("expected a hit on disk");
      break;
    }
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK_REGISTER_F(CacheFixture, DiskHit)->Unit(benchmark::kMillisecond);

/// The time from opening the cache to the kernel, in a process that has done nothing else.
BENCHMARK_DEFINE_F(CacheFixture, DiskHitInNewProcess)(benchmark::State &state) {
  for (auto _ : state) {
    int ends[2];
    if (::pipe(ends) != 0)
      return state.SkipWithError("expected a pipe, got none");
    pid_t child = ::fork();
    if (child == 0) {
      auto begin = std::chrono::steady_clock::now();
      compiler = makePluginCompiler({});
      auto cache = open();
      auto found = cache->get(spec);
      std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      double seconds = found && found->outcome == Outcome::disk ? spent.count() : -1;
      ::_exit(::write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
    }
    double seconds = -1;
    ::close(ends[1]);
    bool told = ::read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    if (!told || seconds < 0)
      return state.SkipWithError("expected a hit on disk");
    state.SetIterationTime(seconds);
  }
}
BENCHMARK_REGISTER_F(CacheFixture, DiskHitInNewProcess)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(200);

BENCHMARK_DEFINE_F(CacheFixture, DiskHitToLoadedKernel)(benchmark::State &state) {
  auto driver = openEmulator({.modules = {.count = 0}}); // each load is a real one
  if (!driver) {
    state.SkipWithError(driver.error().message.c_str());
    return;
  }
  for (auto _ : state) {
    auto cache = open();
    auto found = cache->get(spec);
    if (!found || found->outcome != Outcome::disk) {
      state.SkipWithError("expected a hit on disk");
      break;
    }
    const Artifact &artifact = *found->artifact;
    auto kernel = (*driver)->load(0, {artifact.text, artifact.binary, artifact.facts.entry});
    if (!kernel) {
      state.SkipWithError(kernel.error().message.c_str());
      break;
    }
    state.PauseTiming();
    (void)(*driver)->unload(*kernel);
    state.ResumeTiming();
  }
}
BENCHMARK_REGISTER_F(CacheFixture, DiskHitToLoadedKernel)->Unit(benchmark::kMillisecond);

/// 32 processes that start at once on a cold cache and want one kernel. `compiled` is how many made it.
BENCHMARK_DEFINE_F(CacheFixture, ColdProcesses)(benchmark::State &state) {
  int64_t compiled = 0, failed = 0, cold = 0;
  for (auto _ : state) {
    std::string fresh = folder + "/cold" + std::to_string(cold++);
    int gate[2];
    if (::pipe(gate) != 0) {
      state.SkipWithError("expected a pipe, got none");
      break;
    }
    std::vector<pid_t> children;
    for (int i = 0; i < 32; ++i)
      if (children.push_back(::fork()); children.back() == 0) {
        char nothing;
        ::close(gate[1]);
        (void)!::read(gate[0], &nothing, 1);
        auto cache = KernelCache::open({.directory = fresh, .compiler = compiler});
        auto found = cache->get(spec);
        ::_exit(!found ? 2 : found->outcome == Outcome::miss ? 1 : 0);
      }
    ::close(gate[0]);
    ::close(gate[1]);
    for (pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      compiled += WIFEXITED(status) && WEXITSTATUS(status) == 1;
      failed += !WIFEXITED(status) || WEXITSTATUS(status) == 2;
    }
  }
  state.counters["compiled"] = benchmark::Counter(double(compiled), benchmark::Counter::kAvgIterations);
  state.counters["failed"] = double(failed);
}
BENCHMARK_REGISTER_F(CacheFixture, ColdProcesses)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

/// 500 kernels into a cold cache by as many threads.
BENCHMARK_DEFINE_F(CacheFixture, Prewarm500)(benchmark::State &state) {
  std::vector<KernelSpec> kernels(500, spec);
  for (uint32_t i = 0; i < kernels.size(); ++i)
    kernels[i].layer.maxTokens = i + 1;
  int64_t cold = 0;
  for (auto _ : state) {
    auto cache = KernelCache::open({.directory = folder + "/cold" + std::to_string(cold++), .compiler = compiler});
    PrewarmReport report = prewarm(*cache, kernels, {.threads = uint32_t(state.range(0))});
    if (report.compiled != kernels.size())
      state.SkipWithError("expected every kernel to be compiled");
  }
  state.counters["kernels"] = benchmark::Counter(double(kernels.size()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_REGISTER_F(CacheFixture, Prewarm500)
    ->ArgName("threads")
    ->RangeMultiplier(2)
    ->Range(1, std::max(2u, std::thread::hardware_concurrency()))
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

/// A driver whose launches are nothing, so that what is left is the host's side of a call.
class NoLaunch final : public ForwardingDriver {
public:
  explicit NoLaunch(std::unique_ptr<Driver> below) : ForwardingDriver(std::move(below)) {}
  Status launch(StreamId, KernelId, const LaunchConfig &, std::span<const std::byte>) override { return {}; }
};

/// dispatch() without its launch: what a step adds to the raw one.
BENCHMARK_DEFINE_F(CacheFixture, DispatchCall)(benchmark::State &state) {
  auto emulator = openEmulator({});
  if (!emulator)
    return state.SkipWithError(emulator.error().message.c_str());
  NoLaunch driver(std::move(*emulator));
  LayerSpec layer = spec.layer;
  layer.maxTokens = 16; // a window that fits any machine
  auto operation = Operation::create(driver, *open(), layer);
  auto stream = driver.createStream(0);
  if (!operation || !stream)
    return state.SkipWithError(!operation ? operation.error().message.c_str() : stream.error().message.c_str());
  for (auto _ : state) {
    auto handle = operation->dispatch(0, *stream, {4096, 0, 4096, 4096, 16}); // nothing is ever read there
    if (!handle)
      return state.SkipWithError(handle.error().message.c_str());
    benchmark::DoNotOptimize(handle);
  }
}
BENCHMARK_REGISTER_F(CacheFixture, DispatchCall);

/// Google Benchmark's JSON with the head that our other reports have.
class Reporter final : public benchmark::JSONReporter {
public:
  explicit Reporter(nlohmann::json head) : head(std::move(head)) {}
  bool ReportContext(const Context &) override {
    GetOutputStream() << "{\n  \"context\": " << head.dump() << ",\n  \"benchmarks\": [\n";
    return true;
  }

private:
  nlohmann::json head;
};
} // namespace

int main(int argc, char **argv) {
  std::string commit;
  bool writes = false;
  for (int i = 1; i < argc; ++i)
    writes = writes || std::string_view(argv[i]).starts_with("--benchmark_out=");
  std::vector<char *> arguments(argv, argv + argc);
  benchmark::Initialize(&argc, argv); // takes its own options out
  CLI::App app("lookups of a kernel that is cached; the options of Google Benchmark too");
  app.add_option("--commit", commit, "recorded in the report");
  CLI11_PARSE(app, argc, argv);
  benchmark::ConsoleReporter console;
  Reporter report(bench::newReport("cache", commit, int(arguments.size()), arguments.data()));
  benchmark::RunSpecifiedBenchmarks(&console, writes ? &report : nullptr);
  benchmark::Shutdown();
  return 0;
}
