// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Vendors' libraries as files: which one would be loaded, and which build of it that is, without loading it.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace interlock {

struct VendorLibrary {
  std::string path;
  std::string buildId; ///< hexadecimal NT_GNU_BUILD_ID; empty if the linker left none
};

/// Where the loader would find the first of these names that is there: one that is loaded already, else its search path
/// and its cache, else `folders`. Who loads the path that this returns has what this describes.
std::optional<VendorLibrary> findVendorLibrary(std::span<const char *const> names,
                                               std::span<const char *const> folders = {});

} // namespace interlock
