// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace interlock {

/// Which build of a library a file is: the linker's build id, or a digest of its bytes where it left none.
std::string buildOfFile(const std::string &file);

} // namespace interlock
