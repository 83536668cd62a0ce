// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A driver over another one: what a subclass does not override goes through as it is.
#pragma once

#include "interlock/device.hpp"

#include <memory>
#include <utility>

namespace interlock {

class ForwardingDriver : public Driver {
public:
  std::string_view kind() const override { return below->kind(); }
  uint32_t deviceCount() const override { return below->deviceCount(); }
  Result<DeviceInfo> info(uint32_t device) const override { return below->info(device); }

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override { return below->allocate(device, bytes); }
  Status release(DeviceAddress address) override { return below->release(address); }

  Result<size_t> windowGranularity() const override { return below->windowGranularity(); }
  Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) override {
    return below->createWindow(device, bytes, sharing);
  }
  Result<int> exportWindow(WindowId window) override { return below->exportWindow(window); }
  Result<WindowId> importWindow(int descriptor, size_t bytes) override {
    return below->importWindow(descriptor, bytes);
  }
  Status destroyWindow(WindowId window) override { return below->destroyWindow(window); }
  Result<DeviceAddress> mapWindows(std::span<const WindowId> windows) override { return below->mapWindows(windows); }
  Status unmapWindows(DeviceAddress address) override { return below->unmapWindows(address); }

  Result<StreamId> createStream(uint32_t device) override { return below->createStream(device); }
  Result<StreamId> createUrgentStream(uint32_t device) override { return below->createUrgentStream(device); }
  Status destroyStream(StreamId stream) override { return below->destroyStream(stream); }
  Status synchronize(StreamId stream) override { return below->synchronize(stream); }
  Result<bool> isIdle(StreamId stream) override { return below->isIdle(stream); }

  Status copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) override {
    return below->copyIn(stream, to, from, bytes);
  }
  Status copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) override {
    return below->copyOut(stream, to, from, bytes);
  }
  Status copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) override {
    return below->copy(stream, to, from, bytes);
  }
  Status fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) override {
    return below->fill(stream, to, value, bytes);
  }

  Result<KernelId> load(uint32_t device, const KernelImage &image) override { return below->load(device, image); }
  Status unload(KernelId kernel) override { return below->unload(kernel); }
  Status launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                std::span<const std::byte> params) override {
    return below->launch(stream, kernel, config, params);
  }
  Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config) override {
    return below->residentCtas(kernel, config);
  }

  Status beginCapture(StreamId stream) override { return below->beginCapture(stream); }
  Result<GraphId> endCapture(StreamId stream) override { return below->endCapture(stream); }
  Status launchGraph(StreamId stream, GraphId graph) override { return below->launchGraph(stream, graph); }
  Status destroyGraph(GraphId graph) override { return below->destroyGraph(graph); }

  Result<EventId> createEvent() override { return below->createEvent(); }
  Status recordEvent(StreamId stream, EventId event) override { return below->recordEvent(stream, event); }
  Result<double> elapsedNs(EventId from, EventId to) override { return below->elapsedNs(from, to); }
  Status destroyEvent(EventId event) override { return below->destroyEvent(event); }

protected:
  explicit ForwardingDriver(std::shared_ptr<Driver> below) : below(std::move(below)) {}

  std::shared_ptr<Driver> below;
};

} // namespace interlock
