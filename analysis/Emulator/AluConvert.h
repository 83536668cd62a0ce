// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the files of conversions share.
#pragma once

#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::alu {

/// cvt to or from two packed values; `op` has the types and modifiers.
tl::expected<Op, std::string> resolvePackedConvert(const ptx::Instruction &in, Op op);
/// cvt.pack.
tl::expected<Op, std::string> resolvePack(const ptx::Instruction &in);

} // namespace interlock::emu::alu
