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

/// Streams of one device. The driver must outlive it.
class Gate {
public:
  [[nodiscard]] static Result<Gate> create(Driver &driver, uint32_t device, std::vector<StreamId> streams);
  Gate(Gate &&) noexcept;
  Gate &operator=(Gate &&) noexcept;
  ~Gate();

  /// `enqueue(i)` puts the work of stream i on it. Returns nanoseconds from the first stream's start to the last one's
  /// end, by events around the work; all streams are idle when it returns.
  [[nodiscard]] Result<double> time(const std::function<Status(size_t stream)> &enqueue);

private:
  struct State;
  explicit Gate(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace interlock::bench
