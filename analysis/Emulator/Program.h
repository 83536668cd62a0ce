// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A module, decoded once for a device: what the warps run. Registers are numbered slots of one 64-bit value per lane;
// constants have slots of their own, below zero.
#pragma once

#include "analysis/Emulator/AddressSpace.h"
#include "analysis/Emulator/Alu.h"
#include "analysis/Emulator/Chip.h"
#include "analysis/Emulator/Observer.h"
#include "analysis/PTX/Module.h"

#include <array>
#include <deque>
#include <unordered_map>

namespace interlock::emu {

inline constexpr unsigned warpLanes = 32;
using LaneMask = uint32_t;
using Slot = int32_t; ///< >= 0: a register of the frame; < 0: constant number -1-slot

struct Exec;
struct Code;
namespace gcn {
struct Image;
}

/// What the warp does after an instruction.
enum class Flow : uint8_t {
  next,    ///< go on behind it
  jumped,  ///< the handler has set the program counters
  blocked, ///< the group waits at this instruction; its Wait says for what
  yield,   ///< go on behind it, but let others run first
  fault,   ///< the machine's error is set
};
using Handler = Flow (*)(Exec &, const Code &, LaneMask);

/// State spaces as instructions name them; none is a generic address.
enum class AddressKind : uint8_t { generic, global, shared, sharedCluster, local, param, constant };

/// Special registers that a frame fills once, as pseudo-registers behind its real ones.
enum class Fixed : uint8_t {
  tidX,
  tidY,
  tidZ,
  ntidX,
  ntidY,
  ntidZ,
  ctaidX,
  ctaidY,
  ctaidZ,
  nctaidX,
  nctaidY,
  nctaidZ,
  clusteridX,
  clusteridY,
  clusteridZ,
  nclusteridX,
  nclusteridY,
  nclusteridZ,
  clusterCtaidX,
  clusterCtaidY,
  clusterCtaidZ,
  clusterNctaidX,
  clusterNctaidY,
  clusterNctaidZ,
  clusterCtarank,
  clusterNctarank,
  isExplicitCluster,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemaskEq,
  lanemaskLe,
  lanemaskLt,
  lanemaskGe,
  lanemaskGt,
  dynamicShared,
  dynamicSharedSize,
  totalSharedSize,
  localBase,
  paramBase,
  zero,
};

/// One decoded instruction; which fields count depends on the handler.
struct Code {
  Handler run = nullptr;
  const ptx::Instruction *in = nullptr;
  int32_t guard = -1;
  bool guardNegated = false;
  bool poll = false;  ///< may be what a spin loop spins on
  bool counts = true; ///< false for the helpers that one PTX instruction is split into
  uint8_t n = 1;      ///< vector elements
  uint8_t bytes = 4;  ///< of an element in memory
  uint8_t sub = 0;    ///< the family's own sub-operation
  uint8_t flags = 0;  ///< the family's own
  uint8_t nsrc = 0;
  bool signExtend = false;
  AddressKind space = AddressKind::generic, space2 = AddressKind::generic;
  Sem sem = Sem::weak;
  Scope scope = Scope::none;
  Proxy proxy = Proxy::generic;
  ptx::Type type = ptx::Type::none;
  uint8_t dstBits = 32;      ///< width of the destination register
  std::array<Slot, 8> dst{}; ///< sinkSlot where nothing is kept
  std::array<Slot, 9> src{};
  std::array<int64_t, 4> offset{}; ///< of addresses, in the order of src
  uint32_t target = 0;
  mutable Span cache; ///< the allocation that this instruction touched last
  alu::Op op{};
};
inline constexpr Slot sinkSlot = INT32_MIN;

/// A function, decoded.
struct DecodedFunction {
  const ptx::Function *source = nullptr;
  uint32_t index = 0;
  bool decoded = false;
  std::vector<Code> code; ///< ends with a `ret`
  uint32_t slots = 0;     ///< registers and pseudo-registers
  std::vector<std::pair<Slot, Fixed>> fixed;
  std::vector<std::array<uint64_t, warpLanes>> constants;
  uint64_t localBytes = 0;                                  ///< per lane: .local variables
  uint64_t paramBytes = 0;                                  ///< per lane: parameters, returned values, .param variables
  std::vector<uint64_t> variableOffset;                     ///< of source->variables, in their space
  std::vector<uint64_t> returnOffset;                       ///< of source->returns, in the param area
  std::vector<Slot> registerSlot;                           ///< of source->registers
  std::vector<std::vector<uint32_t>> tables;                ///< branch targets
  std::unordered_map<std::string_view, Slot> paramRegister; ///< .reg parameters and returns
};

/// A module on a device.
struct Program {
  ptx::Module module;
  std::string name;
  uint32_t device = 0;
  std::vector<DecodedFunction> functions; ///< as module.functions
  std::vector<uint64_t> variableAddress;  ///< as module.variables: generic address, or shared offset
  std::vector<uint64_t> ownedMemory;
  std::vector<std::string> messages; ///< of instructions that cannot be run, by Code::target
  uint64_t sharedCommon = 0;         ///< shared bytes of the module's and its device functions' variables
  std::vector<uint64_t> sharedBytes; ///< as functions: static shared memory of an entry, sharedBase left out
  uint32_t sharedAlign = 16;
  std::shared_ptr<gcn::Image> image; ///< an AMD chip's; then `module` and `functions` are empty
};

/// Decodes a module that has been checked against the chip, allocating its .global and .const variables.
Result<std::unique_ptr<Program>> decode(ptx::Module module, std::string name, const Chip &chip, uint32_t device,
                                        AddressSpace &memory);

} // namespace interlock::emu
