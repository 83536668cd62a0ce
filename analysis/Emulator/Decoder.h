// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Turns the instructions of one function into Code. Each family of instructions has a decoding function beside its
// handlers; the table of them is in Decoder.cpp.
#pragma once

#include "analysis/Emulator/Program.h"

namespace interlock::emu {

class Decoder {
public:
  Decoder(Program &program, const Chip &chip, DecodedFunction &fn)
      : program(program), chip(chip), fn(fn), source(*fn.source) {}

  void run();

  Program &program;
  const Chip &chip;
  DecodedFunction &fn;
  const ptx::Function &source;

  /// Why the instruction at hand cannot be run; decoding functions return fail(…).
  bool fail(std::string why) {
    if (error.empty())
      error = std::move(why);
    return false;
  }

  /// A value that is read: a register, a literal (cut to `bits`, converted to the float type), a symbol's address, a
  /// special register.
  Slot value(const ptx::Operand &o, ptx::Type type);
  Slot value(const ptx::Operand &o, unsigned bits);
  /// A register that is written, or sinkSlot for `_`.
  Slot dest(const ptx::Operand &o);
  /// Width of a register operand; 0 for others.
  unsigned width(const ptx::Operand &o) const;
  /// `[base+offset]`.
  bool address(const ptx::Operand &o, Slot &base, int64_t &offset);
  /// Adds an instruction. References to earlier ones become invalid.
  Code &emit(const ptx::Instruction &in, Handler run);

  Slot constant(uint64_t bits);
  Slot fixed(Fixed which);
  /// The condition code of add.cc and its kin; one a frame.
  Slot conditionCode() {
    if (condition == sinkSlot)
      condition = temp();
    return condition;
  }
  Slot temp() { return Slot(fn.slots++); }

private:
  bool symbolBase(const ptx::Operand &o, Slot &base, int64_t &offset);
  Slot special(const ptx::Operand &o);
  void instruction(const ptx::Instruction &in);

  std::string error;
  Slot condition = sinkSlot;
  std::unordered_map<uint64_t, Slot> constantSlots;
  const ptx::Instruction *current = nullptr;
};

using DecodeFn = bool (*)(Decoder &, const ptx::Instruction &);

/// State space, semantics and scope of a memory instruction, from its modifiers.
void decodeQualifiers(const ptx::Instruction &in, Code &code);
AddressKind addressKind(const ptx::Instruction &in, AddressKind none = AddressKind::generic);

// One a family; each is beside its handlers.
bool decodeAlu(Decoder &d, const ptx::Instruction &in);           // ExecMove.cpp
bool decodeMove(Decoder &d, const ptx::Instruction &in);          // ExecMove.cpp
bool decodeCvta(Decoder &d, const ptx::Instruction &in);          // ExecMove.cpp
bool decodeIsspacep(Decoder &d, const ptx::Instruction &in);      // ExecMove.cpp
bool decodeMapa(Decoder &d, const ptx::Instruction &in);          // ExecMove.cpp
bool decodeNothing(Decoder &d, const ptx::Instruction &in);       // ExecMove.cpp
bool decodeLoad(Decoder &d, const ptx::Instruction &in);          // ExecMemory.cpp
bool decodeStore(Decoder &d, const ptx::Instruction &in);         // ExecMemory.cpp
bool decodeFence(Decoder &d, const ptx::Instruction &in);         // ExecMemory.cpp
bool decodeAtomic(Decoder &d, const ptx::Instruction &in);        // ExecAtomic.cpp
bool decodeBranch(Decoder &d, const ptx::Instruction &in);        // ExecControl.cpp
bool decodeBranchIndex(Decoder &d, const ptx::Instruction &in);   // ExecControl.cpp
bool decodeCall(Decoder &d, const ptx::Instruction &in);          // ExecCall.cpp
bool decodeReturn(Decoder &d, const ptx::Instruction &in);        // ExecCall.cpp
bool decodeExit(Decoder &d, const ptx::Instruction &in);          // ExecControl.cpp
bool decodeTrap(Decoder &d, const ptx::Instruction &in);          // ExecControl.cpp
bool decodeNanosleep(Decoder &d, const ptx::Instruction &in);     // ExecControl.cpp
bool decodeGridControl(Decoder &d, const ptx::Instruction &in);   // ExecControl.cpp
bool decodeShuffle(Decoder &d, const ptx::Instruction &in);       // ExecWarp.cpp
bool decodeVote(Decoder &d, const ptx::Instruction &in);          // ExecWarp.cpp
bool decodeMatch(Decoder &d, const ptx::Instruction &in);         // ExecWarp.cpp
bool decodeRedux(Decoder &d, const ptx::Instruction &in);         // ExecWarp.cpp
bool decodeActiveMask(Decoder &d, const ptx::Instruction &in);    // ExecWarp.cpp
bool decodeElect(Decoder &d, const ptx::Instruction &in);         // ExecWarp.cpp
bool decodeBarrier(Decoder &d, const ptx::Instruction &in);       // ExecBarrier.cpp
bool decodeMbarrier(Decoder &d, const ptx::Instruction &in);      // ExecMbarrier.cpp
bool decodeCopyAsync(Decoder &d, const ptx::Instruction &in);     // ExecAsync.cpp
bool decodeStoreAsync(Decoder &d, const ptx::Instruction &in);    // ExecAsync.cpp
bool decodeLaunchControl(Decoder &d, const ptx::Instruction &in); // ExecLaunchControl.cpp

/// Handlers that the decoder itself uses.
Flow runReadClock(Exec &x, const Code &c, LaneMask lanes);
Flow runNegate(Exec &x, const Code &c, LaneMask lanes);
Flow runUnknown(Exec &x, const Code &c, LaneMask lanes);
Flow runReturn(Exec &x, const Code &c, LaneMask lanes);

} // namespace interlock::emu
