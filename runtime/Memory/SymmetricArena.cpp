// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The making of the symmetric windows, and the address arithmetic that the host side needs.
#include "runtime/Memory/SymmetricArena.h"

#include "runtime/Memory/WindowExchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace interlock {

namespace {
constexpr uint64_t windowAlignment = 256;

uint64_t roundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

Status zeroControlArea(Driver &driver, uint32_t device, DeviceAddress window, uint64_t bytes) {
  ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(device));
  Status filled = driver.fill(stream, window, 0, bytes);
  Status done = driver.synchronize(stream);
  Status destroyed = driver.destroyStream(stream);
  ILK_RETURN_IF_ERROR(filled);
  ILK_RETURN_IF_ERROR(done);
  return destroyed;
}
} // namespace

SymmetricArena::SymmetricArena(Driver &driver, const LayerSpec &layer)
    : driver(&driver), spec(layer), regions(windowLayout(layer)) {}

/// The windows of this process's own ranks.
Status SymmetricArena::makeWindows(const ProcessGroup &group, Windows &windows) {
  ILK_ASSIGN_OR_RETURN(uint64_t granularity, driver->windowGranularity());
  granularity = std::max(granularity, windowAlignment);
  if (regions.size > std::numeric_limits<uint64_t>::max() / spec.ranks - granularity)
    return makeError(Code::badInput,
                     fmt::format("expected windows that fit 64-bit addresses, got {} ranks of {} bytes; "
                                 "a smaller capacity would do",
                                 spec.ranks, regions.size));
  bytesPerRank = roundUp(regions.size, granularity);
  auto sharing = group.processes > 1 ? WindowSharing::exported : WindowSharing::process;
  for (const OwnRank &own : group.own) {
    auto made = driver->createWindow(own.device, bytesPerRank, sharing);
    if (!made)
      return makeError(made.error().code, fmt::format("the symmetric arena needs {} bytes ({} windows of {}): {}",
                                                      size(), spec.ranks, bytesPerRank, made.error().message));
    windows[own.rank] = *made;
  }
  return {};
}

Result<SymmetricArena> SymmetricArena::create(Driver &driver, const LayerSpec &layer, const ProcessGroup &group) {
  ILK_RETURN_IF_ERROR(interlock::validate(layer));
  ILK_RETURN_IF_ERROR(interlock::validate(group, layer));
  SymmetricArena arena(driver, layer);
  Windows windows(driver, layer.ranks);
  Status made = arena.makeWindows(group, windows);
  if (group.processes > 1)
    ILK_RETURN_IF_ERROR(exchangeWindows(driver, group, layer, arena.bytesPerRank, made, windows));
  ILK_RETURN_IF_ERROR(made);
  ILK_ASSIGN_OR_RETURN(arena.address, windows.map());
  for (const OwnRank &own : group.own)
    ILK_RETURN_IF_ERROR(zeroControlArea(driver, own.device, arena.window(own.rank), arena.controlBytes()));
  return arena;
}

SymmetricArena::SymmetricArena(SymmetricArena &&other) noexcept
    : driver(other.driver), spec(other.spec), regions(other.regions), address(std::exchange(other.address, 0)),
      bytesPerRank(other.bytesPerRank) {}

SymmetricArena &SymmetricArena::operator=(SymmetricArena &&other) noexcept {
  std::swap(driver, other.driver);
  std::swap(spec, other.spec);
  std::swap(regions, other.regions);
  std::swap(address, other.address);
  std::swap(bytesPerRank, other.bytesPerRank);
  return *this;
}

SymmetricArena::~SymmetricArena() {
  // A destructor has nobody to report to; the driver frees everything when it goes.
  if (address)
    (void)driver->unmapWindows(address);
}

DeviceAddress SymmetricArena::result(uint32_t rank, KernelKind kind) const {
  return window(rank) + regions.results + uint64_t(kind) * sizeof(OpResult);
}

DeviceAddress SymmetricArena::counts(uint32_t rank, uint32_t buffer) const {
  return window(rank) + regions.counts + uint64_t(buffer) * spec.ranks * sizeof(uint32_t);
}

DeviceAddress SymmetricArena::landing(uint32_t rank, uint32_t buffer, uint32_t source) const {
  return window(rank) + regions.landing + (uint64_t(buffer) * spec.ranks + source) * landingBytes();
}

DeviceAddress SymmetricArena::meta(uint32_t rank, uint32_t buffer, uint32_t source) const {
  return window(rank) + regions.meta + (uint64_t(buffer) * spec.ranks + source) * metaBytes();
}

DeviceAddress SymmetricArena::expertOut(uint32_t rank, uint32_t buffer, uint32_t source) const {
  return window(rank) + regions.expertOut + (uint64_t(buffer) * spec.ranks + source) * expertOutBytes();
}

uint64_t SymmetricArena::controlBytes() const { return std::min({regions.landing, regions.meta, regions.expertOut}); }

} // namespace interlock
