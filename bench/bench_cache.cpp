// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-cache: what a kernel costs that is already there. Google Benchmark; see bench/README.md.
#include "bench/common/Report.h"
#include "interlock/device.hpp"
#include "interlock/operation.hpp"
#include "runtime/Cache/KernelCache.h"

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
    auto found = open()->get(spec);
    if (!found)
      state.SkipWithError(found.error().message.c_str());
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

BENCHMARK_DEFINE_F(CacheFixture, DiskHitToLoadedKernel)(benchmark::State &state) {
  auto driver = openEmulator({});
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
