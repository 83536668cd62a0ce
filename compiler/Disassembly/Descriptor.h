// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel descriptor, 64 bytes of a code object, as directives that make it again.
#pragma once

#include "compiler/Disassembly/CodeObject.h"

namespace interlock::disassembly {

struct Descriptor {
  std::string_view kernel; ///< the function: the descriptor's symbol without ".kd"
  uint64_t address = 0;    ///< of the descriptor
  uint64_t entry = 0;      ///< of the code
  unsigned lanes = 64;     ///< of a wave
  std::string directives;  ///< lines `.amdhsa_kernel` to `.end_amdhsa_kernel`
  static constexpr uint64_t size = 64;
};

/// The descriptors of a code object, by address.
[[nodiscard]] Result<std::vector<Descriptor>> readDescriptors(const CodeObject &object);

} // namespace interlock::disassembly
