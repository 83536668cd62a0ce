// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The public way to a kernel cache: a cache with the compiler plugin behind it.
#include "interlock/cache.hpp"

#include "runtime/Cache/KernelCache.h"

namespace interlock {

std::shared_ptr<KernelCache> openKernelCache(const KernelCacheConfig &config) {
  CacheOptions options;
  options.directory = config.directory;
  options.limits = {config.maxBytes, config.maxFiles};
  options.memoryEntries = config.memoryEntries;
  options.readOnly = config.readOnly;
  options.compiler = makePluginCompiler(
      {.path = config.compilerPath, .templateDir = config.templateDir, .lineFolder = config.lineFolder});
  options.log = config.log;
  return KernelCache::open(std::move(options));
}

void freeze(KernelCache &cache) { cache.freeze(true); }
void thaw(KernelCache &cache) { cache.freeze(false); }

CacheReport report(const KernelCache &cache) { return cache.report(); }

} // namespace interlock
