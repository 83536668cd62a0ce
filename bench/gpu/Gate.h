// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Times work on several streams together. Everything is enqueued behind a closed gate; when it opens, all streams start
// within a microsecond or two, so what the host needs to launch is not in the measured time.
#pragma once

#include "interlock/device.hpp"
#include "runtime/Memory/DeviceBuffer.h"

#include <functional>
#include <memory>
#include <vector>

namespace interlock::bench {

/// A stream and the device that it is of.
struct GatedStream {
  StreamId stream{};
  uint32_t device = 0;
};

/// Streams of any devices. The driver must outlive it.
class Gate {
public:
  [[nodiscard]] static Result<Gate> create(Driver &driver, std::vector<GatedStream> streams);
  Gate(Gate &&) noexcept;
  Gate &operator=(Gate &&) noexcept;
  ~Gate();

  /// `enqueue(i)` puts the work of stream i on it. Returns nanoseconds from the first stream's start to the last one's
  /// end, by events around the work; all streams are idle when it returns. Clocks of two devices cannot be compared, so
  /// it is the longest of the devices' times.
  [[nodiscard]] Result<double> time(const std::function<Status(size_t stream)> &enqueue);

private:
  struct State;
  explicit Gate(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace interlock::bench
