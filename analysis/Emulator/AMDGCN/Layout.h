// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where code, data and LDS variables lie, and what that makes of the symbols in operands.
#pragma once

#include "analysis/Emulator/AMDGCN/Image.h"

#include <tl/expected.hpp>

namespace interlock::emu::gcn {

class Layout {
public:
  /// Gives every instruction and symbol an address, copies the data, and describes the kernels.
  Result<void> place(Image &image, uint32_t device, AddressSpace &memory, std::vector<uint64_t> &owned);
  /// Value of a symbol, label or expression in an operand of instruction `at`, or why there is none.
  tl::expected<uint64_t, std::string> value(const Image &image, const amdgcn::Operand &operand, uint32_t at) const;

private:
  std::unordered_map<std::string_view, uint64_t> slots; ///< of @gotpcrel: where the symbol's address stands
  uint32_t ldsBytes = 0;                                ///< of `.amdgpu_lds` variables
};

} // namespace interlock::emu::gcn
