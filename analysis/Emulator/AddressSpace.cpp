// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The allocation map. Addresses are never given out twice, so that a use after release is always found.
#include "analysis/Emulator/AddressSpace.h"

#include <fmt/format.h>

#include <cstring>
#include <new>

namespace interlock::emu {

uint64_t AddressSpace::allocate(uint32_t device, uint64_t bytes, uint64_t align) {
  if (bytes >> 46)
    return 0;
  Allocation a{};
  a.bytes = bytes;
  a.device = device;
  a.memory.reset(new (std::nothrow) uint8_t[bytes + 64]);
  if (!a.memory)
    return 0;
  // Host addresses as aligned as 16-byte accesses want them, so that vector loads on the host are quick.
  a.host = a.memory.get() + (64 - reinterpret_cast<uintptr_t>(a.memory.get()) % 64) % 64;
  std::memset(a.host, 0xa5, bytes);
  uint64_t address = (next + align - 1) & ~(align - 1);
  next = address + bytes + 4096; // a guard gap: running off the end is an error, not the neighbour
  allocations.emplace(address, std::move(a));
  return address;
}

bool AddressSpace::release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end() || !found->second.memory)
    return false;
  allocations.erase(found);
  return true;
}

uint64_t AddressSpace::map(std::span<const HostMemory> pieces) {
  // As far from its neighbours as an allocation; a page's alignment is more than any access asks for.
  uint64_t first = (next + 4095) & ~uint64_t(4095), address = first;
  for (const HostMemory &piece : pieces) {
    allocations.emplace(address, Allocation{piece.bytes, piece.device, nullptr, piece.host,
                                            address == first ? pieces.size() : 0, piece.shared});
    sharedPieces += piece.shared;
    address += piece.bytes;
  }
  next = address + 4096;
  return first;
}

bool AddressSpace::unmap(uint64_t address) {
  auto first = allocations.find(address);
  if (first == allocations.end() || !first->second.pieces)
    return false;
  for (uint64_t left = first->second.pieces; left; --left) {
    sharedPieces -= first->second.shared;
    first = allocations.erase(first);
  }
  return true;
}

Span AddressSpace::find(uint64_t address, uint64_t bytes) const {
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin())
    return {};
  --it;
  Span span{it->first, it->first + it->second.bytes, it->second.host};
  return span.holds(address, bytes) ? span : Span{};
}

std::string AddressSpace::describe(uint64_t address) const {
  if (address < 4096)
    return "which is a null pointer plus an offset";
  auto it = allocations.upper_bound(address);
  if (it != allocations.begin()) {
    auto before = std::prev(it);
    uint64_t end = before->first + before->second.bytes;
    if (address < end)
      return fmt::format("which is {} bytes before the end of the allocation of {} bytes at {:#x} on device {}",
                         end - address, before->second.bytes, before->first, before->second.device);
    if (it == allocations.end() || address - end <= it->first - address)
      return fmt::format("which is {} bytes past the end of the allocation of {} bytes at {:#x} on device {}",
                         address - end, before->second.bytes, before->first, before->second.device);
  }
  if (it != allocations.end())
    return fmt::format("which is {} bytes before the allocation of {} bytes at {:#x} on device {}", it->first - address,
                       it->second.bytes, it->first, it->second.device);
  return "and nothing is allocated";
}

} // namespace interlock::emu
