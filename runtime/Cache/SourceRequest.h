// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel that is not generated from a spec but given as source: what the cache needs to know of it, and who makes it.
#pragma once

#include "interlock/status.hpp"

#include <functional>
#include <map>
#include <string>

namespace interlock {

struct SourceRequest {
  /// Everything that decides what the kernel becomes, but the compiler, in one canonical text.
  std::string form;
  std::string target; ///< a chip of targets()
  std::string what;   ///< in messages: "kernel `add` of add.cu"
  /// The compiler's name, under which a directory remembers the last one that wrote there: "cuda", "hip".
  std::string toolchain;
  /// What the key needs to know of the compiler. Fails if there is none; then what is cached can still be used.
  std::function<Result<std::string>()> identity;
  /// The parts ptx, cubin (may be missing) and meta; for AMD's chips asm, hsaco and meta.
  std::function<Result<std::map<std::string, std::string>>()> compile;
};

} // namespace interlock
