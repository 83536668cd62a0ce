// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Looking a whole cache over, and clearing away what is no use.
#pragma once

#include "runtime/Cache/DiskStore.h"

#include <filesystem>
#include <string>
#include <vector>

namespace interlock {

/// Something below the folder of entries, and what is wrong with it.
struct VerifiedFile {
  std::filesystem::path path;
  std::string problem;       ///< empty if it is a whole entry under its right name
  bool ofToolchain = false;  ///< it was made by the compiler that last wrote here
  bool otherVersion = false; ///< another version of this library wrote it, and this one never looks it up
};

/// Reads every entry with all its digests, and names what is no entry too. Others may write meanwhile.
std::vector<VerifiedFile> verifyEntries(const DiskStore &store);

} // namespace interlock
