// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The gate is a kernel of one thread per stream that waits for a flag (kernels/gate.ptx).
#include "bench/gpu/Gate.h"

#include "bench/Kernels.h"

#include <algorithm>
#include <array>
#include <map>

namespace interlock::bench {

struct Gate::State {
  State(Driver &driver, std::vector<GatedStream> streams) : driver(driver), streams(std::move(streams)) {}
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() {
    // A destructor has nobody to report to; the driver frees everything when it goes.
    for (EventId event : begin)
      (void)driver.destroyEvent(event);
    for (EventId event : end)
      (void)driver.destroyEvent(event);
    (void)driver.destroyStream(opener);
    for (auto [device, kernel] : waits)
      (void)driver.unload(kernel);
    (void)driver.unload(opens);
  }

  Status launch(StreamId stream, KernelId kernel) {
    std::array<uint64_t, 2> params{flag.address(), round};
    return driver.launch(stream, kernel, {}, std::as_bytes(std::span(params)));
  }

  Driver &driver;
  std::vector<GatedStream> streams;
  std::vector<EventId> begin, end;
  DeviceBuffer flag;
  StreamId opener{};
  std::map<uint32_t, KernelId> waits; ///< by device
  KernelId opens{};
  uint64_t round = 0;
};

Gate::Gate(std::unique_ptr<State> state) : state(std::move(state)) {}
Gate::Gate(Gate &&) noexcept = default;
Gate &Gate::operator=(Gate &&) noexcept = default;
Gate::~Gate() = default;

Result<Gate> Gate::create(Driver &driver, std::vector<GatedStream> streams) {
  auto state = std::make_unique<State>(driver, std::move(streams));
  for (size_t i = 0; i < state->streams.size(); ++i) {
    ILK_ASSIGN_OR_RETURN(EventId begin, driver.createEvent());
    state->begin.push_back(begin);
    ILK_ASSIGN_OR_RETURN(EventId end, driver.createEvent());
    state->end.push_back(end);
    uint32_t on = state->streams[i].device;
    if (!state->waits.contains(on)) {
      ILK_ASSIGN_OR_RETURN(state->waits[on], driver.load(on, {kernels::gatePtx, {}, "gate_wait"}));
    }
  }
  uint32_t device = state->streams.front().device;
  ILK_ASSIGN_OR_RETURN(state->opener, driver.createStream(device));
  ILK_ASSIGN_OR_RETURN(state->opens, driver.load(device, {kernels::gatePtx, {}, "gate_open"}));
  ILK_ASSIGN_OR_RETURN(state->flag, DeviceBuffer::create(driver, device, sizeof(uint64_t)));
  ILK_RETURN_IF_ERROR(driver.fill(state->opener, state->flag.address(), 0, sizeof(uint64_t)));
  ILK_RETURN_IF_ERROR(driver.synchronize(state->opener));
  return Gate(std::move(state));
}

Result<double> Gate::time(const std::function<Status(size_t stream)> &enqueue) {
  State &s = *state;
  ++s.round;
  Status enqueued;
  for (size_t i = 0; i < s.streams.size() && enqueued; ++i)
    enqueued = [&]() -> Status {
      const GatedStream &on = s.streams[i];
      ILK_RETURN_IF_ERROR(s.launch(on.stream, s.waits.at(on.device)));
      ILK_RETURN_IF_ERROR(s.driver.recordEvent(on.stream, s.begin[i]));
      ILK_RETURN_IF_ERROR(enqueue(i));
      return s.driver.recordEvent(on.stream, s.end[i]);
    }();
  // Also after a failure, so that no stream is left behind a closed gate.
  ILK_RETURN_IF_ERROR(s.launch(s.opener, s.opens));
  ILK_RETURN_IF_ERROR(s.driver.synchronize(s.opener));
  for (const GatedStream &on : s.streams)
    ILK_RETURN_IF_ERROR(s.driver.synchronize(on.stream));
  ILK_RETURN_IF_ERROR(enqueued);
  double longest = 0;
  for (size_t first = 0; first < s.streams.size(); ++first)
    for (size_t last = 0; last < s.streams.size(); ++last) {
      if (s.streams[first].device != s.streams[last].device)
        continue;
      ILK_ASSIGN_OR_RETURN(double ns, s.driver.elapsedNs(s.begin[first], s.end[last]));
      longest = std::max(longest, ns);
    }
  return longest;
}

} // namespace interlock::bench
