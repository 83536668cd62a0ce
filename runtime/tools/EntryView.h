// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Entries of the cache as `inspect` and `cache` print them.
#pragma once

#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/Tool.h"

namespace interlock::tool {

/// What is known of an entry without its parts.
nlohmann::json asJson(const CachedEntry &entry);
/// A table, or an object with --json.
void listEntries(const Context &context, const CacheListing &listing);
/// An entry with its parts, its meta part and what its PTX declares.
[[nodiscard]] Status showEntry(const Context &context, const CachedEntry &entry);
/// The same of an artefact that was read or made.
[[nodiscard]] Status showArtifact(const Context &context, const CachedEntry &entry, const Artifact &artifact);
/// The entry whose name begins so, or whose file it is; null if there is none, `badInput` if there are several, or if
/// it is one that no lookup finds.
[[nodiscard]] Result<const CachedEntry *> findEntry(const CacheListing &listing, const std::string &what);

} // namespace interlock::tool
