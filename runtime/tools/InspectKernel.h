// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel, step by step: what is cached of it, what the compiler makes of its spec again, what a disassembler says.
#pragma once

#include "runtime/Cache/Artifact.h"
#include "runtime/tools/Parts.h"
#include "runtime/tools/Tool.h"

#include <string>

namespace interlock::tool {

struct InspectedKernel {
  std::string key;
  Artifact artifact;
  std::string identity; ///< of the compiler that made it
  uint64_t bytes = 0;   ///< of its entry

  /// What it was made of, if it was given as source; else null.
  nlohmann::json source() const;
};

struct InspectRequest {
  PartList parts;
  bool partsWereNamed = false; ///< then one that cannot be made is an error, and not a note
  std::string folder;          ///< to write each part to as a file; empty: they are printed
  std::string templates;
};

/// Prints or writes the parts. In a folder, PTX and cubin name lines of the file that `expanded` is written to; their
/// instructions are the cached ones. No part needs a GPU.
[[nodiscard]] Status showParts(const Context &context, const InspectedKernel &kernel, const InspectRequest &request);

} // namespace interlock::tool
