// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From the name of an input to the texts in it: PTX, AMDGCN assembly.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace interlock::lint {

struct InputText {
  std::string name; ///< the input's name; with `:N.sm_90a.ptx` or `:N.gfx942.s` behind it for the N-th text in a file
  std::string text;
};

/// The bytes of a file, or of standard input for "-". The error is one lower-case sentence without the name.
[[nodiscard]] tl::expected<std::string, std::string> readBytes(const std::string &name);

/// The texts of an input: the file itself; the assembly of code objects for AMD GPUs, which the interlock command
/// disassembles; or the PTX that is embedded in another executable, object, library, cubin or fatbin, which cuobjdump
/// extracts. Both are looked for in `searchPath`.
[[nodiscard]] tl::expected<std::vector<InputText>, std::string> textsOf(const std::string &name,
                                                                        const std::string &searchPath);

/// The texts in what `cuobjdump -ptx` prints.
std::vector<InputText> splitListing(std::string_view listing, const std::string &name);

} // namespace interlock::lint
