// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the subcommands of `interlock cache` share.
#pragma once

#include "runtime/Cache/DiskStore.h"
#include "runtime/tools/Tool.h"

namespace interlock::tool {

/// The folder of entries, without a cache over it: no compiler is looked for. To read it changes nothing, and fails if
/// it is not there; to write into it makes it.
[[nodiscard]] Result<DiskStore> openStoreToRead(const Context &context);
[[nodiscard]] Result<DiskStore> openStoreToWrite(const Context &context);

/// The end of a subcommand: what failed is said, and becomes the exit code.
void runInto(Context &context, Status status);

/// `enumerate`, `prewarm`, `export` and `import`.
void addCacheFill(CLI::App &cache, Context &context);

} // namespace interlock::tool
