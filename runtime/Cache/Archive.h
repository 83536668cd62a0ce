// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A cache in one file: a Zstandard frame around a container (Container.h) whose parts are entries, each under its key.
// `zstd -dc FILE | tail -c +85` shows the manifest.
#pragma once

#include "interlock/prepare.hpp"
#include "runtime/Cache/DiskStore.h"

#include <string>

namespace interlock {

/// Writes every whole entry into `file`; damaged ones are left out and named, and those of another version counted.
Result<ArchiveReport> exportEntries(const DiskStore &store, const std::string &file);

/// Checks the whole archive, then publishes its entries. An entry that is damaged or of another version, or whose name
/// is not the key of what is in it, refuses the archive; so nothing but entries can come out of one, and nowhere but
/// into the store.
Result<ArchiveReport> importEntries(const DiskStore &store, const std::string &file);

} // namespace interlock
