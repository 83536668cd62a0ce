// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Allocation of the symmetric windows, and the address arithmetic that the host side needs.
#include "runtime/Memory/SymmetricArena.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace interlock {

namespace {
constexpr uint64_t windowAlignment = 256;

Status zeroControlAreas(Driver &driver, uint32_t device, const SymmetricArena &arena) {
  ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(device));
  Status filled;
  for (uint32_t rank = 0; rank < arena.layer().ranks && filled; ++rank)
    filled = driver.fill(stream, arena.window(rank), 0, arena.controlBytes());
  Status done = driver.synchronize(stream);
  Status destroyed = driver.destroyStream(stream);
  ILK_RETURN_IF_ERROR(filled);
  ILK_RETURN_IF_ERROR(done);
  return destroyed;
}
} // namespace

SymmetricArena::SymmetricArena(Driver &driver, const LayerSpec &layer)
    : driver(&driver), spec(layer), regions(windowLayout(layer)),
      bytesPerRank((regions.size + windowAlignment - 1) / windowAlignment * windowAlignment) {}

Result<SymmetricArena> SymmetricArena::create(Driver &driver, uint32_t device, const LayerSpec &layer) {
  ILK_RETURN_IF_ERROR(validate(layer));
  SymmetricArena arena(driver, layer);
  if (arena.bytesPerRank > std::numeric_limits<uint64_t>::max() / layer.ranks)
    return makeError(Code::badInput,
                     fmt::format("expected windows that fit 64-bit addresses, got {} ranks of {} bytes; "
                                 "a smaller capacity would do",
                                 layer.ranks, arena.bytesPerRank));
  auto allocated = driver.allocate(device, arena.size());
  if (!allocated)
    return makeError(allocated.error().code,
                     fmt::format("the symmetric arena needs {} bytes ({} windows of {}): {}", arena.size(), layer.ranks,
                                 arena.bytesPerRank, allocated.error().message));
  arena.address = *allocated;
  ILK_RETURN_IF_ERROR(zeroControlAreas(driver, device, arena));
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
    (void)driver->release(address);
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
