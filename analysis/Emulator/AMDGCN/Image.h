// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// An assembly text, decoded once for a device: what the waves run.
#pragma once

#include "analysis/AMDGCN/Module.h"
#include "analysis/Emulator/AMDGCN/Target.h"
#include "analysis/Emulator/AddressSpace.h"
#include "analysis/Emulator/Program.h"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace interlock::emu::gcn {

inline constexpr unsigned maxLanes = 64;

/// Numbers of scalar registers as instructions encode them; the ones behind 127 are ours.
namespace sreg {
inline constexpr uint32_t flatScratch = 102, xnackMask = 104, vcc = 106, ttmp = 108, m0 = 124, null = 125, exec = 126,
                          scc = 128, sharedBase = 130, sharedLimit = 132, privateBase = 134, privateLimit = 136,
                          flatScratchBase = 138, zero = 140, sink = 142, count = 180;
} // namespace sreg

/// What an operand's bits mean: decides how many registers it takes, what an inline constant looks like, and where the
/// sign bit is that `-` and `|…|` mean.
enum class Ty : uint8_t {
  none,
  b32,
  i32,
  f32,
  b16,
  f16,
  bf16,
  b64,
  i64,
  f64,
  pk16,
  pkf16,
  pkbf16,
  pkf32,
  b96,
  b128,
  mask
};
constexpr unsigned words(Ty t) {
  return t == Ty::none                                                                     ? 0
         : t == Ty::b64 || t == Ty::i64 || t == Ty::f64 || t == Ty::pkf32 || t == Ty::mask ? 2
         : t == Ty::b96                                                                    ? 3
         : t == Ty::b128                                                                   ? 4
                                                                                           : 1;
}

enum class SrcKind : uint8_t { none, vector, scalar, constant };

/// A decoded operand.
struct Src {
  SrcKind kind = SrcKind::none;
  Ty type = Ty::none;
  uint8_t words = 1;
  bool negated = false, absolute = false, sext = false;
  uint8_t half = 0; ///< true16: 1 low, 2 high
  uint8_t sel = 6;  ///< sdwa: BYTE_0 … BYTE_3, WORD_0, WORD_1, DWORD
  uint32_t index = 0;
  uint64_t value = 0;
};

struct WaveExec;
struct Op;
using Handler = Flow (*)(WaveExec &, const Op &);

/// Sources of a vector operation, lane after lane; the second word of a 64-bit value lies `maxLanes` behind the first.
struct Lanes {
  const uint32_t *src[4];
  unsigned n;
  const Op *op;
};
using Compute = void (*)(const Lanes &, uint32_t *out);
using Compare = uint64_t (*)(const Lanes &);

/// How the lanes of a DPP source are moved.
enum class DppKind : uint8_t {
  none,
  quadPerm,
  rowShl,
  rowShr,
  rowRor,
  waveShl,
  waveRol,
  waveShr,
  waveRor,
  rowMirror,
  rowHalfMirror,
  rowBcast15,
  rowBcast31,
  rowShare,
  rowXmask,
  rowNewbcast,
  dpp8,
};
struct Dpp {
  DppKind kind = DppKind::none;
  bool zeroFill = false, fetchInactive = false;
  uint8_t rowMask = 15, bankMask = 15;
  std::array<uint8_t, 8> select{};
};

/// How the operands of an instruction stand in the text.
enum class Form : uint8_t {
  plain,   ///< destinations, then sources
  branch,  ///< a label
  wait,    ///< counters
  global,  ///< [vdst,] vaddr, [vdata,] saddr
  flat,    ///< [vdst,] vaddr, [vdata]
  scratch, ///< as global
  buffer,  ///< vdata, vaddr, srsrc, soffset
  local,   ///< ds_*: [vdst,] vaddr [, vdata [, vdata]]
  scalar,  ///< s_load*: sdst, sbase, offset
};

/// What Entry::flags may say.
enum EntryFlag : uint32_t {
  secondDst = 1, ///< a mask behind the destination
  tied = 2,      ///< the destination is a source too, behind the others
  half16 = 4,    ///< the result has 16 bits
  intClamp = 8,  ///< `clamp` saturates: Entry `name.clamp` does so
};

/// A row of an opcode table.
struct Entry {
  std::string_view name;
  Handler run = nullptr;
  Form form = Form::plain;
  Ty dst = Ty::none;
  std::array<Ty, 4> src{};
  Compute compute = nullptr;
  Compare compare = nullptr;
  uint32_t sub = 0;   ///< the family's own
  uint32_t flags = 0; ///< EntryFlag
};

/// One decoded instruction; which fields count depends on the handler.
struct Op {
  Handler run = nullptr;
  const amdgcn::Instruction *in = nullptr;
  const Entry *entry = nullptr;
  Compute compute = nullptr;
  Compare compare = nullptr;
  std::array<Src, 5> src{};
  uint8_t nsrc = 0;
  Src dst, dst2;
  uint32_t sub = 0;
  int64_t imm = 0;     ///< offset, immediate
  int64_t imm2 = 0;    ///< a second offset, a second immediate
  uint32_t target = 0; ///< index of an instruction
  bool poll = false;   ///< may be what a spin loop spins on
  bool plain = true;   ///< no modifier, DPP or SDWA: sources can be used as they stand
  bool clamp = false;
  uint8_t outputScale = 0; ///< 1: mul:2, 2: mul:4, 3: div:2
  uint8_t opSel = 0, opSelHi = 7, negLo = 0, negHi = 0;
  uint8_t dstSel = 6, dstUnused = 0; ///< sdwa
  Dpp dpp;
  uint8_t bytes = 4;  ///< of memory, a lane
  uint8_t scope = 0;  ///< of memory: 0 wave, 1 workgroup, 2 cluster, 3 agent, 4 system
  uint32_t flags = 0; ///< the family's own
  mutable Span cache; ///< the allocation that this instruction touched last
};

struct Kernel {
  const amdgcn::Kernel *source = nullptr;
  std::string name;
  uint32_t begin = 0; ///< its first instruction
  uint32_t lanes = 64;
  uint32_t ldsBytes = 0, scratchBytes = 0, explicitBytes = 0, kernargBytes = 0;
  uint32_t maxThreads = 1024;
  bool workgroupProcessorMode = false;
};

/// A module on a device.
struct Image {
  amdgcn::Module module;
  const Target *target = nullptr;
  std::vector<Kernel> kernels;
  std::vector<Op> code;              ///< as module.instructions, and an end behind them
  std::vector<Op> second;            ///< the second halves of pairs, by Op::target of the first
  std::vector<uint64_t> address;     ///< of each instruction: where s_getpc would find it
  std::vector<std::string> messages; ///< of instructions that cannot be run, by Op::target
  std::unordered_map<std::string_view, uint64_t> symbols;
  uint32_t vgprs = 1, agprs = 0; ///< the most that any instruction names
  uint64_t got = 0;              ///< addresses of symbols, for @gotpcrel

  /// The instruction at a code address, or the size of `code`.
  uint32_t at(uint64_t address) const;
};

/// Decodes a module, allocating its data on the device. The addresses of what it allocated go into `owned`.
Result<std::shared_ptr<Image>> decode(amdgcn::Module module, const Target &target, uint32_t device,
                                      AddressSpace &memory, std::vector<uint64_t> &owned);

/// The row of an opcode, or null.
const Entry *findEntry(std::string_view opcode);

} // namespace interlock::emu::gcn
