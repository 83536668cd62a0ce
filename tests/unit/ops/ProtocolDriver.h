// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A driver for tests of the host side: its kernels are the protocol in scalar C++ on host memory, with faults that can
// be switched on. It needs no compiler, and it shows that the checks of a round trip fail when they should.
#pragma once

#include "interlock/device.hpp"
#include "interlock/spec.hpp"
#include "runtime/Spec/WindowLayout.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace interlock::test {

/// One thing that a kernel of rank 1 does wrongly.
enum class Fault {
  none,
  rowBit,        ///< one bit of a dispatched row
  strayRow,      ///< a row written behind the last one
  metaWeight,    ///< one forwarded weight
  metaToken,     ///< the source token index
  slot,          ///< one entry of the slot map
  count,         ///< one announced count
  received,      ///< the number of rows that the result states
  operation,     ///< the operation's number
  combineBit,    ///< one bit of a combined row
  combineWeight, ///< one reduced weight
  strayCombine,  ///< a row behind the last token
  combineOrder,  ///< contributions added in the reverse order
};

/// Work runs when somebody synchronises: all streams advance in turns, and a kernel that waits for a peer which never
/// comes ends with opPeerLost once nothing else can move.
class ProtocolDriver final : public Driver {
public:
  explicit ProtocolDriver(uint32_t devices) : devices(devices) {}

  Fault fault = Fault::none;
  uint64_t launches = 0;   ///< enqueued, captured ones included
  uint32_t room = 1 << 16; ///< CTAs that a device holds
  LaunchConfig last;       ///< of the last launch
  size_t allocations() const { return memory.size() + windows.size(); }

  std::string_view kind() const override { return "protocol"; }
  uint32_t deviceCount() const override { return devices; }
  Result<DeviceInfo> info(uint32_t) const override { return DeviceInfo{"scalar protocol", "sm_90a", 16, 0, 0}; }
  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override;
  Status release(DeviceAddress address) override;
  Result<size_t> windowGranularity() const override { return 256; }
  Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) override;
  Result<int> exportWindow(WindowId window) override;
  Result<WindowId> importWindow(int descriptor, size_t bytes) override;
  Status destroyWindow(WindowId window) override;
  Result<DeviceAddress> mapWindows(std::span<const WindowId> windows) override;
  Status unmapWindows(DeviceAddress address) override { return release(address); }
  Result<StreamId> createStream(uint32_t device) override;
  Status destroyStream(StreamId stream) override;
  Status synchronize(StreamId stream) override;
  Result<bool> isIdle(StreamId stream) override;
  Status copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) override;
  Status copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) override;
  Status copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) override;
  Status fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) override;
  Result<KernelId> load(uint32_t device, const KernelImage &image) override;
  Status unload(KernelId kernel) override;
  Status launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                std::span<const std::byte> params) override;
  Result<uint32_t> residentCtas(KernelId, const LaunchConfig &) override { return room; }
  Status beginCapture(StreamId stream) override;
  Result<GraphId> endCapture(StreamId stream) override;
  Status launchGraph(StreamId stream, GraphId graph) override;
  Status destroyGraph(GraphId graph) override;
  Result<EventId> createEvent() override;
  Status recordEvent(StreamId stream, EventId event) override;
  Result<double> elapsedNs(EventId from, EventId to) override;
  Status destroyEvent(EventId event) override;

private:
  /// Something enqueued: `begin` runs once, then `done` is asked until it says yes; `giveUp` ends a wait.
  struct Work {
    std::function<void()> begin;
    std::function<bool()> done;
    std::function<void()> giveUp;
    bool begun = false;
  };
  struct Stream {
    std::deque<Work> queue;
    bool capturing = false;
    std::vector<Work> captured;
  };
  Status enqueue(StreamId stream, Work work);
  Status enqueue(StreamId stream, std::function<void()> action) {
    return enqueue(stream, Work{std::move(action), {}, {}});
  }
  bool advance(bool giveUp);
  Work dispatchWork(const LayerSpec &layer, const DispatchParams &params);
  Work combineWork(const LayerSpec &layer, const CombineParams &params);

  uint32_t devices;
  uint64_t nextId = 1, clock = 0;
  std::map<DeviceAddress, std::unique_ptr<std::byte[]>> memory;
  std::map<uint64_t, size_t> windows; ///< their bytes; memory comes when they are mapped
  std::map<uint64_t, Stream> streams;
  std::map<uint64_t, KernelSpec> kernels;
  std::map<uint64_t, std::vector<Work>> graphs;
  std::map<uint64_t, uint64_t> events;
};

} // namespace interlock::test
