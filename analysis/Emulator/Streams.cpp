// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Streams: work in order, grids that come and go.
#include "analysis/Emulator/AMDGCN/Start.h"
#include "analysis/Emulator/Engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace interlock::emu {

/// Runs what stands at the head of the stream; false if it has to wait.
bool Engine::runWork(Stream &stream, Work &work) {
  auto bad = [&](uint64_t address, size_t bytes) {
    fail(ErrorKind::fault, fmt::format("copy on a stream: expected {} allocated bytes at {:#x}, {}", bytes, address,
                                       memory.describe(address)));
    return true;
  };
  if (auto *launch = std::get_if<LaunchWork>(&work)) {
    if (!stream.running.empty()) {
      const Grid &before = *stream.running.back();
      bool released = before.ctasReleased == before.clusters * before.clusterSize;
      if (!launch->config.programmatic || !released || stream.running.size() > 1)
        return false;
    }
    startGrid(stream, std::move(*launch));
    return true;
  }
  if (!stream.running.empty())
    return false;
  if (auto *copy = std::get_if<CopyWork>(&work)) {
    Span to = copy->hostTo ? Span() : memory.find(copy->to, copy->bytes);
    Span from = copy->hostFrom ? Span() : memory.find(copy->from, copy->bytes);
    if (copy->bytes && !copy->hostTo && !to.host)
      return bad(copy->to, copy->bytes);
    if (copy->bytes && !copy->hostFrom && !from.host)
      return bad(copy->from, copy->bytes);
    if (copy->bytes)
      std::memmove(copy->hostTo ? copy->hostTo : to.at(copy->to), copy->hostFrom ? copy->hostFrom : from.at(copy->from),
                   copy->bytes);
  } else if (auto *fill = std::get_if<FillWork>(&work)) {
    Span to = memory.find(fill->to, fill->bytes);
    if (fill->bytes && !to.host)
      return bad(fill->to, fill->bytes);
    if (fill->bytes)
      std::memset(to.at(fill->to), fill->value, fill->bytes);
  } else if (auto *event = std::get_if<EventWork>(&work)) {
    auto it = events.find(event->event);
    if (it != events.end()) {
      if (event->wait && it->second.recordsRun < event->generation)
        return false;
      if (!event->wait) {
        ++it->second.recordsRun;
        it->second.time = timeNs;
      }
    }
  } else if (auto *callback = std::get_if<CallbackWork>(&work)) {
    (*callback)();
  }
  progress();
  return true;
}

bool Engine::pumpStream(Stream &stream) {
  bool any = false;
  while (!stream.queue.empty() && !error && runWork(stream, stream.queue.front())) {
    stream.queue.pop_front();
    any = true;
  }
  return any;
}

void Engine::pump() {
  pumpNeeded = false;
  // Clusters and grids that have ended.
  for (Device &device : devices)
    for (size_t g = 0; g < device.grids.size();) {
      Grid &grid = *device.grids[g];
      std::erase_if(grid.running, [&](const std::unique_ptr<Cluster> &cluster) {
        if (cluster->finished != cluster->ctas.size())
          return false;
        std::erase_if(sleeping, [&](const Warp *w) { return w->cta->cluster == cluster.get(); });
        return true;
      });
      if (!grid.done()) {
        ++g;
        continue;
      }
      if (grid.kernel)
        gcn::finish(*this, grid);
      for (auto &[id, stream] : streams)
        std::erase(stream.running, &grid);
      for (Device &other : devices)
        for (auto &waiting : other.grids)
          if (waiting->prerequisite == &grid) {
            waiting->prerequisite = nullptr;
            for (auto &cluster : waiting->running)
              for (auto &cta : cluster->ctas)
                wake(*cta, WaitKind::dependency);
          }
      device.grids.erase(device.grids.begin() + std::ptrdiff_t(g));
    }
  // One stream's event may let another go on.
  bool any;
  do {
    any = false;
    for (auto &[id, stream] : streams)
      any |= pumpStream(stream);
  } while (any && !error);
  if (!error)
    startClusters();
}

void Engine::discard() {
  error.reset();
  ready.clear();
  sleeping.clear();
  pending.clear();
  nextWake = ~uint64_t(0);
  if (caches)
    caches->clear();
  for (Device &device : devices)
    for (auto &grid : device.grids)
      if (grid->kernel)
        gcn::finish(*this, *grid);
  for (auto &[id, stream] : streams) {
    stream.queue.clear();
    stream.running.clear();
  }
  for (auto &[id, event] : events)
    event.recordsRun = event.recordsQueued;
  for (Device &device : devices) {
    device.grids.clear();
    device.slots.assign(options.residency, false);
    device.free = options.residency;
  }
}

} // namespace interlock::emu
