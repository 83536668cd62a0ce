// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// SHA-256, of bytes and of lists of fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace interlock {

/// SHA-256 as 64 hexadecimal digits.
std::string digestOf(std::string_view bytes);

/// Digest of a list of fields, each behind its length, so that no two lists give the same bytes.
std::string digestOfFields(std::span<const std::string> fields);

} // namespace interlock
