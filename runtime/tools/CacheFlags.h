// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel cache and the compiler as the command opens them.
#pragma once

#include "interlock/spec.hpp"
#include "runtime/Cache/KernelCache.h"
#include "runtime/tools/Tool.h"

#include <map>
#include <memory>
#include <string>

namespace interlock::tool {

/// Opens the cache in the context's folder with the compiler behind it. What the cache had to go without (an
/// unwritable folder) is said on stderr, once. `templateDir` overrides the compiler's templates if it is not empty.
[[nodiscard]] Result<std::unique_ptr<KernelCache>> openCache(const Context &context, const std::string &templateDir);

/// Compiles without the cache and returns the parts that were asked for, by name.
[[nodiscard]] Result<std::map<std::string, std::string>> compileParts(const Context &context, const KernelSpec &spec,
                                                                      const std::string &templateDir,
                                                                      const std::vector<std::string> &parts);

/// The compiler's identity as JSON text, or why there is none.
[[nodiscard]] Result<std::string> compilerIdentity(const Context &context);

/// What can be said of the cache folder without making it.
struct CacheState {
  std::string directory;
  bool usable = false;
  std::string problem; ///< why it is not usable
  uint64_t entries = 0, bytes = 0;
};
CacheState cacheState(const Context &context);

/// One entry of the cache folder, as its manifest describes it.
struct CachedEntry {
  std::string key;  ///< the entry's name: hexadecimal SHA-256
  std::string path; ///< its file
  KernelSpec spec;
  uint64_t bytes = 0;
  nlohmann::json source = {}; ///< what a kernel was made of that was given as source; of the spec its target counts
};
/// A file in the place of an entry that no lookup finds.
struct UnlistedFile {
  std::string key, path;
  std::string why; ///< another version of Interlock wrote it, or it is damaged
};
/// Both in the order of their names.
struct CacheListing {
  std::vector<CachedEntry> entries;
  std::vector<UnlistedFile> unlisted;
};
/// Every entry that a lookup could find; an absent folder has none.
CacheListing cachedEntries(const Context &context);
/// Reads an entry's file with all its parts, digests checked.
[[nodiscard]] Result<Artifact> readEntry(const std::string &path);
/// Whether bytes begin as an entry's file does.
bool looksLikeEntry(const std::string &bytes);

} // namespace interlock::tool
