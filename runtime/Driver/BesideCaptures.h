// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A layer over a GPU's driver for processes in which somebody captures a stream: an engine may prepare an operation on
// one thread while another records a graph.
#pragma once

#include "runtime/Driver/ForwardingDriver.h"

namespace interlock {

/// Swaps the calling thread's capture mode with `*mode`: cuThreadExchangeStreamCaptureMode, or HIP's call of that name.
using ExchangeCaptureMode = int (*)(int *mode);

/// For a scope this thread may do what is not captured and does not depend on a capture. By default even another
/// thread's capture forbids that, and an attempt ends the capture with an error (CUDA driver API,
/// cuThreadExchangeStreamCaptureMode: CU_STREAM_CAPTURE_MODE_RELAXED).
class RelaxedCaptures {
public:
  explicit RelaxedCaptures(ExchangeCaptureMode exchange) : exchange(exchange) { known = exchange(&mode) == 0; }
  ~RelaxedCaptures() {
    if (known)
      (void)exchange(&mode);
  }
  RelaxedCaptures(const RelaxedCaptures &) = delete;
  RelaxedCaptures &operator=(const RelaxedCaptures &) = delete;

private:
  static constexpr int relaxed = 2; ///< CU_STREAM_CAPTURE_MODE_RELAXED, hipStreamCaptureModeRelaxed
  ExchangeCaptureMode exchange;
  int mode = relaxed; ///< then what the thread had before
  bool known = false;
};

/// What makes, asks, waits or destroys goes through with captures relaxed; what is enqueued on a stream goes through as
/// it is, since that is what a capture is about.
class BesideCaptures final : public ForwardingDriver {
  template <typename Call> auto relaxed(Call call) const {
    RelaxedCaptures scope(exchange);
    return call();
  }

public:
  BesideCaptures(std::shared_ptr<Driver> below, ExchangeCaptureMode exchange)
      : ForwardingDriver(std::move(below)), exchange(exchange) {}
  ~BesideCaptures() override {
    relaxed([&] { below.reset(); });
  }

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override {
    return relaxed([&] { return below->allocate(device, bytes); });
  }
  Status release(DeviceAddress address) override {
    return relaxed([&] { return below->release(address); });
  }

  Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) override {
    return relaxed([&] { return below->createWindow(device, bytes, sharing); });
  }
  Result<int> exportWindow(WindowId window) override {
    return relaxed([&] { return below->exportWindow(window); });
  }
  Result<WindowId> importWindow(int descriptor, size_t bytes) override {
    return relaxed([&] { return below->importWindow(descriptor, bytes); });
  }
  Status destroyWindow(WindowId window) override {
    return relaxed([&] { return below->destroyWindow(window); });
  }
  Result<DeviceAddress> mapWindows(std::span<const WindowId> windows) override {
    return relaxed([&] { return below->mapWindows(windows); });
  }
  Status unmapWindows(DeviceAddress address) override {
    return relaxed([&] { return below->unmapWindows(address); });
  }

  Result<StreamId> createStream(uint32_t device) override {
    return relaxed([&] { return below->createStream(device); });
  }
  Result<StreamId> createUrgentStream(uint32_t device) override {
    return relaxed([&] { return below->createUrgentStream(device); });
  }
  Status destroyStream(StreamId stream) override {
    return relaxed([&] { return below->destroyStream(stream); });
  }
  Status synchronize(StreamId stream) override {
    return relaxed([&] { return below->synchronize(stream); });
  }
  Result<bool> isIdle(StreamId stream) override {
    return relaxed([&] { return below->isIdle(stream); });
  }

  Result<KernelId> load(uint32_t device, const KernelImage &image) override {
    return relaxed([&] { return below->load(device, image); });
  }
  Status unload(KernelId kernel) override {
    return relaxed([&] { return below->unload(kernel); });
  }
  Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config) override {
    return relaxed([&] { return below->residentCtas(kernel, config); });
  }

  Result<GraphId> endCapture(StreamId stream) override { // which makes the graph fit to run
    return relaxed([&] { return below->endCapture(stream); });
  }
  Status destroyGraph(GraphId graph) override {
    return relaxed([&] { return below->destroyGraph(graph); });
  }
  Result<double> elapsedNs(EventId from, EventId to) override {
    return relaxed([&] { return below->elapsedNs(from, to); });
  }
  Status destroyEvent(EventId event) override {
    return relaxed([&] { return below->destroyEvent(event); });
  }

private:
  ExchangeCaptureMode exchange;
};

} // namespace interlock
