// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From a source to a cached kernel.
#include "interlock/source.hpp"

#include "runtime/Cache/KernelCache.h"
#include "runtime/SourceJit/SourceCompiler.h"
#include "runtime/SourceJit/SourceForm.h"
#include "runtime/SourceJit/SourceGate.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace interlock {

StepTimes::StepTimes() : last(std::chrono::steady_clock::now()) {}

void StepTimes::step(const char *name) {
  auto now = std::chrono::steady_clock::now();
  times[name] = std::chrono::duration<double, std::milli>(now - last).count();
  last = now;
}

namespace {
/// What the cache is asked for. The compiler is looked for when the cache wants to know of it, and at most once.
class Request {
public:
  Request(const KernelCache &cache, const SourceKernel &kernel, lint::Contract contract, const SourceOptions &options)
      : cache(cache), kernel(kernel), contract(std::move(contract)), options(options) {}

  SourceRequest request() {
    SourceRequest request;
    request.form = canonicalForm(kernel);
    request.target = kernel.target;
    request.what = nameOf(kernel);
    request.toolchain = languageOf(kernel);
    request.identity = [this]() -> Result<std::string> {
      ILK_ASSIGN_OR_RETURN(const SourceCompiler *compiler, find());
      return compiler->identity();
    };
    request.compile = [this]() -> Result<std::map<std::string, std::string>> {
      ILK_ASSIGN_OR_RETURN(const SourceCompiler *compiler, find());
      return compiler->make(kernel, contract);
    };
    return request;
  }

private:
  Result<const SourceCompiler *> find() {
    if (!found) {
      ILK_ASSIGN_OR_RETURN(found, languageOf(kernel) == "hip" ? findHipCompiler(options, cache.compiler())
                                                              : findCudaCompiler(options));
    }
    return found.get();
  }

  const KernelCache &cache;
  const SourceKernel &kernel;
  lint::Contract contract;
  const SourceOptions &options;
  std::shared_ptr<SourceCompiler> found;
};
} // namespace

Result<CompiledSource> compileSource(KernelCache &cache, const SourceKernel &kernel, const SourceOptions &options) {
  ILK_RETURN_IF_ERROR(validate(kernel));
  ILK_ASSIGN_OR_RETURN(lint::Contract contract, contractOf(kernel));
  Request wanted(cache, kernel, std::move(contract), options);
  ILK_ASSIGN_OR_RETURN(Lookup found, cache.get(wanted.request()));
  const Artifact &artifact = *found.artifact;
  CompiledSource made;
  made.image = {artifact.text, artifact.binary, artifact.facts.entry};
  made.blockThreads = artifact.facts.blockThreads;
  made.maxThreads = artifact.meta.value("max_threads", 0u);
  made.cluster = artifact.facts.cluster;
  made.sharedBytes = artifact.facts.sharedBytes;
  made.meta = artifact.meta.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  made.outcome = name(found.outcome);
  made.reason = found.reason;
  made.milliseconds = found.milliseconds;
  return made;
}

Result<std::string> keyOfSource(KernelCache &cache, const SourceKernel &kernel, const SourceOptions &options) {
  ILK_RETURN_IF_ERROR(validate(kernel));
  ILK_ASSIGN_OR_RETURN(lint::Contract contract, contractOf(kernel));
  return cache.keyOf(Request(cache, kernel, std::move(contract), options).request());
}

} // namespace interlock
