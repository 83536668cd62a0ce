// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where this code lies on disk, to find what was installed with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace interlock {

/// Where a file of ours may lie: beside what this code was linked into, and in `../folder` of that. Empty if that
/// cannot be found out.
std::vector<std::string> placesBesideOwnFile(const std::string &name, const std::string &folder);

/// The first of these places where there is a file.
std::optional<std::string> findBesideOwnFile(const std::string &name, const std::string &folder);

} // namespace interlock
