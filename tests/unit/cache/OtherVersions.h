// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Entries as other versions of this library write them, made of one that this version wrote.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace interlock::test {

/// The same parts behind a manifest that `change` was done to, in a format of that number; whole.
std::string rewritten(const std::string &entry, uint32_t format, const std::function<void(nlohmann::json &)> &change);

/// As versions wrote it that did not say what a name is made of.
std::string inFormat1(const std::string &entry);
/// As a version writes it whose specs have one more field.
std::string withAnotherField(const std::string &entry);
/// As a version writes it to which the chip has one more feature.
std::string withAnotherFeature(const std::string &entry);

/// Its name, as its manifest has it. In formats other than 2 that cannot be known, and any key will do.
std::string nameOf(const std::string &entry);

} // namespace interlock::test
