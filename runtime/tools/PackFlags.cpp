// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/PackFlags.h"

namespace interlock::tool {

void PackFlags::addTo(CLI::App &command) {
  command.add_flag("--packed", packed, "experts get their rows packed by expert, and give them back so");
  command.add_option("--alignment", alignment, "with --packed: each expert's rows begin at a multiple of it");
  command.add_option("--packed-rows", rows, "with --packed: packed rows that there is room for (default: the most)");
  command.add_flag("--zero-padding", zeroPadding, "with --packed: rows between two experts' become zeros");
}

Result<std::optional<PackingOptions>> PackFlags::options() const {
  if (packed)
    return PackingOptions{alignment.value_or(1), rows.value_or(0), zeroPadding, 0};
  if (alignment || rows || zeroPadding)
    return makeError(Code::badInput, "expected --alignment, --packed-rows and --zero-padding with --packed, got one of "
                                     "them without");
  return std::nullopt;
}

} // namespace interlock::tool
