// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of a kernel that can be printed: what each step of its making hands on.
#pragma once

#include "interlock/status.hpp"
#include "runtime/Cache/Artifact.h"
#include "runtime/tools/Tool.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace interlock::tool {

struct Part {
  std::string_view name;   ///< as --emit names it
  std::string_view suffix; ///< of a file that holds it
  bool cached = false; ///< kept in the artefact, or read out of what is kept there; the others are made anew each time
  bool binary = false; ///< for a file only
  std::string_view vendor = {}; ///< whose chips have it; empty: all
};

/// In the order of the pipeline.
std::span<const Part> parts();

/// One of parts(), or `badInput` with their names.
[[nodiscard]] Result<Part> parsePart(std::string_view name);
struct PartList {
  std::vector<Part> parts; ///< in the order of the pipeline, each once
  bool all = false;        ///< they were not named one by one: of each chip those that it has
};
/// A comma-separated list of them; `mlir` stands for every step that is MLIR and `all` for all of them.
[[nodiscard]] Result<PartList> parseParts(const std::string &names);

/// Refuses a part that the chip's vendor has not.
[[nodiscard]] Status checkPart(const Part &part, const TargetInfo &target);

/// The binary, or why there is none.
[[nodiscard]] Result<std::string> cubinOf(const std::string &binary);
/// The disassembly of a cubin by the CUDA toolkit's tools, with the lines that it knows if `lines` is set; `notFound`,
/// naming them, where there are none.
[[nodiscard]] Result<std::string> sassOf(const Context &context, const std::string &binary, bool lines = false);
/// A part that is `cached`.
[[nodiscard]] Result<std::string> cachedPart(const Context &context, const Part &part, const Artifact &artifact);

} // namespace interlock::tool
