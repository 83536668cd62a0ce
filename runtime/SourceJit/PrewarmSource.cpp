// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels of specs from their source, before they are needed.
#include "interlock/source.hpp"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Cache/Prewarm.h"
#include "runtime/SourceJit/SourceTemplates.h"

namespace interlock {

PrewarmReport prewarmFromSource(KernelCache &cache, std::span<const KernelSpec> kernels, const PrewarmOptions &options,
                                const SourceOptions &compilers) {
  return prewarmWith(kernels, options, [&](const KernelSpec &kernel) -> Result<Outcome> {
    if (!hasSource(kernel.kernel)) {
      ILK_ASSIGN_OR_RETURN(Lookup found, cache.get(kernel));
      return found.outcome;
    }
    ILK_ASSIGN_OR_RETURN(SourceKernel source, sourceOf(kernel));
    ILK_ASSIGN_OR_RETURN(CompiledSource made, compileSource(cache, source, compilers));
    return made.outcome == name(Outcome::miss) ? Outcome::miss : Outcome::disk;
  });
}

} // namespace interlock
