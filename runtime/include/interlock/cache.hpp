// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel cache as an embedder opens it.
#pragma once

#include "interlock/status.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace interlock INTERLOCK_API {

class KernelCache;

struct KernelCacheConfig {
  std::string directory;                 ///< of the disk cache, made if it is missing; empty: memory only
  uint64_t maxBytes = uint64_t(1) << 30; ///< of the disk cache; least recently used entries go first
  uint64_t maxFiles = 10'000;
  std::string compilerPath; ///< of libinterlock_compiler.so; empty: beside libinterlock.so, in ../lib, or by name
  std::string templateDir;  ///< overrides the compiler's templates, if not empty
};

/// Never fails: a directory that cannot be used leaves a cache in memory, and a compiler that is missing shows at the
/// first miss. Thread safe; several processes may share a directory.
std::shared_ptr<KernelCache> openKernelCache(const KernelCacheConfig &config);

/// Every downgrade so far, one sentence each.
std::vector<std::string> cacheNotes(const KernelCache &cache);

} // namespace interlock INTERLOCK_API
