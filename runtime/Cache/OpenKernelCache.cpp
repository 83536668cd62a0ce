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
  options.compiler = makePluginCompiler({config.compilerPath, config.templateDir});
  return KernelCache::open(std::move(options));
}

std::vector<std::string> cacheNotes(const KernelCache &cache) { return cache.notes(); }

} // namespace interlock
