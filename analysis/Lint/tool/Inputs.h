// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From the name of an input to the PTX texts in it.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace interlock::lint {

struct PtxText {
  std::string name; ///< the input's name; with `:N.sm_90a.ptx` behind it for the N-th text embedded in a file
  std::string text;
};

/// The bytes of a file, or of standard input for "-". The error is one lower-case sentence without the name.
[[nodiscard]] tl::expected<std::string, std::string> readBytes(const std::string &name);

/// The PTX of an input: the file itself, or what is embedded in an executable, object, library, cubin or fatbin, which
/// cuobjdump extracts; it is looked for in `searchPath`.
[[nodiscard]] tl::expected<std::vector<PtxText>, std::string> ptxOf(const std::string &name,
                                                                    const std::string &searchPath);

/// The texts in what `cuobjdump -ptx` prints.
std::vector<PtxText> splitListing(std::string_view listing, const std::string &name);

} // namespace interlock::lint
