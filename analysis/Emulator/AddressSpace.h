// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Device memory: allocations and pieces of host memory in one flat address space, checked to the byte.
#pragma once

#include "analysis/Emulator/Machine.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace interlock::emu {

/// Generic addresses. Device memory lies from globalBase up; below are the windows of the other spaces.
namespace window {
inline constexpr uint64_t shared = uint64_t(1) << 40;   ///< + a 32-bit shared::cluster address
inline constexpr uint64_t local = uint64_t(2) << 40;    ///< + depth of the call << 20 + offset in its frame
inline constexpr uint64_t param = uint64_t(3) << 40;    ///< + as for local
inline constexpr uint64_t code = uint64_t(4) << 40;     ///< + 16 * number of the function in its module
inline constexpr uint64_t observed = uint64_t(5) << 40; ///< what observers see for shared memory: + CTA << 24 + offset
inline constexpr uint64_t size = uint64_t(1) << 32;
inline constexpr uint64_t globalBase = uint64_t(0x7f) << 40;
} // namespace window

/// Shared addresses: a CTA's own memory starts here, and a peer's address has its rank + 1 in the upper byte.
inline constexpr uint32_t sharedBase = 1024;
inline constexpr uint32_t sharedRankShift = 24;

/// A piece of memory and where it is on the host.
struct Span {
  uint64_t begin = 1, end = 0;
  uint8_t *host = nullptr;
  bool holds(uint64_t address, uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
  uint8_t *at(uint64_t address) const { return host + (address - begin); }
};

class AddressSpace {
public:
  /// Address of fresh memory, filled with 0xa5; 0 if there is no host memory for it.
  uint64_t allocate(uint32_t device, uint64_t bytes, uint64_t align);
  /// False if no allocation starts at the address.
  bool release(uint64_t address);
  /// Gives host memory addresses, piece after piece without gaps; the first one's.
  uint64_t map(std::span<const HostMemory> pieces);
  /// Takes back what one call of map() gave. False if none gave this address.
  bool unmap(uint64_t address);
  /// Whether anything mapped may be written by another process.
  bool shared() const { return sharedPieces != 0; }
  /// The allocation that holds all the bytes, or a Span that holds nothing.
  Span find(uint64_t address, uint64_t bytes) const;
  /// Where an address lies in respect of the allocations, for messages: "4 bytes past the end of the allocation …".
  std::string describe(uint64_t address) const;

private:
  struct Allocation {
    uint64_t bytes;
    uint32_t device;
    std::unique_ptr<uint8_t[]> memory; ///< null for host memory of somebody else
    uint8_t *host;
    uint64_t pieces = 0; ///< in the first piece of a mapping: how many it has
    bool shared = false;
  };
  std::map<uint64_t, Allocation> allocations;
  uint64_t next = window::globalBase;
  uint64_t sharedPieces = 0;
};

} // namespace interlock::emu
