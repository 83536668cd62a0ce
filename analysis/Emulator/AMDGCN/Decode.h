// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From the reader's instructions to what the waves run. An instruction that cannot be run becomes one that says so when
// a wave reaches it.
#pragma once

#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Layout.h"

#include <optional>
#include <string>

namespace interlock::emu::gcn {

struct AccessKind;

class Decoder {
public:
  Decoder(Image &image, const Layout &layout) : image(image), layout(layout) {}

  void run();
  /// Now that all are counted, AGPRs get their place behind the VGPRs.
  void placeAgprs();

private:
  // Decode.cpp
  Op refusal(const amdgcn::Instruction *in, std::string why);
  void need(std::string what);
  Op instruction(const amdgcn::Instruction &in, bool second = false);

  // DecodeOperands.cpp
  void vectorUse(const Src &s);
  Src operand(const amdgcn::Operand &o, Ty type, bool destination = false);

  // DecodeModifiers.cpp
  void dpp(const amdgcn::Instruction &in, Op &op);
  void vectorModifiers(const amdgcn::Instruction &in, Op &op);
  /// `offset:0x8055`, or `offset:swizzle(NAME,…)` as LLVM writes the codes that have a name.
  static std::optional<int64_t> swizzle(const amdgcn::Instruction &in);

  // DecodePlain.cpp, DecodeWaits.cpp
  void plain(const amdgcn::Instruction &in, Op &op);
  void waits(const amdgcn::Instruction &in, Op &op);

  // DecodeMemory.cpp
  /// Cache bits as a scope (User Guide for AMDGPU Backend, "Memory Model" of each chip).
  Scope scopeOf(const amdgcn::Instruction &in, bool atomic) const;
  void memory(const amdgcn::Instruction &in, Op &op);
  /// Registers that an access reaches although the text names fewer.
  void checkWidth(const Op &op, const AccessKind &kind);

  /// AGPRs are numbered from here until the number of VGPRs is known.
  static constexpr uint32_t agprBase = 8192;

  Image &image;
  const Layout &layout;
  uint32_t at = 0;
  std::string problem;
};

} // namespace interlock::emu::gcn
