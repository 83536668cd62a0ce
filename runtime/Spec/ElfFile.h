// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a linker or a compiler has noted in a 64-bit ELF file, read without loading it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

/// The description of the first note of that owner and type among the bytes of a note segment. What is cut short ends
/// the search.
std::optional<std::string> findNote(std::string_view notes, std::string_view owner, uint32_t type);

/// The same in the note segments of a file or of a file's bytes; none if it has no such note or is no ELF file.
std::optional<std::string> noteOfFile(const std::string &path, std::string_view owner, uint32_t type);
std::optional<std::string> noteOfBytes(std::string_view bytes, std::string_view owner, uint32_t type);

/// The hexadecimal NT_GNU_BUILD_ID in an ELF file's notes; empty if it has none or cannot be read.
std::string buildIdOfFile(const std::string &path);

/// Names of the libraries that a file needs (DT_NEEDED), in its order; empty if it cannot be read.
std::vector<std::string> neededByFile(const std::string &path);

/// Lower-case hexadecimal digits of some bytes.
std::string hex(std::string_view bytes);

} // namespace interlock
