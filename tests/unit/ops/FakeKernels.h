// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel cache in memory whose compiler writes the spec itself as the kernel's text: what ProtocolDriver loads.
#pragma once

#include "runtime/Cache/KernelCache.h"

namespace interlock::test {

class SpecCompiler final : public Compiler {
public:
  explicit SpecCompiler(LaunchMode mode) : mode(mode) {}
  Result<std::string> identity() override { return std::string(R"({"digest": "spec", "templates": "none"})"); }
  Result<std::map<std::string, std::string>> compile(const KernelSpec &spec,
                                                     const std::vector<std::string> &) override {
    nlohmann::json meta = {{"entry", "kernel"},
                           {"target", spec.target},
                           {"ptx_isa", "8.0"},
                           {"block_threads", spec.blockThreads},
                           {"cluster", spec.cluster},
                           {"shared_bytes", 0},
                           {"cooperative", mode == LaunchMode::cooperative},
                           {"launch_mode", name(mode)}};
    return std::map<std::string, std::string>{{"ptx", canonicalForm(spec)}, {"meta", meta.dump()}};
  }

private:
  LaunchMode mode;
};

class FakeKernels {
public:
  /// `mode`: what the compiler derives for all of them.
  explicit FakeKernels(LaunchMode mode = LaunchMode::peers) {
    CacheOptions options;
    options.compiler = std::make_shared<SpecCompiler>(mode);
    kernels = KernelCache::open(std::move(options));
  }
  KernelCache &cache() { return *kernels; }

private:
  std::unique_ptr<KernelCache> kernels;
};

} // namespace interlock::test
