// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// How the processes of a group come to map each other's windows, and how they find out that one of them could not go
// on.
#pragma once

#include "interlock/device.hpp"
#include "interlock/group.hpp"
#include "interlock/spec.hpp"

#include <optional>
#include <vector>

namespace interlock {

/// Windows of a driver that are not mapped yet; they go with the object, what is mapped stays.
class Windows {
public:
  Windows(Driver &driver, uint32_t ranks) : driver(driver), ids(ranks) {}
  Windows(const Windows &) = delete;
  Windows &operator=(const Windows &) = delete;
  ~Windows() {
    for (const std::optional<WindowId> &id : ids)
      if (id)
        (void)driver.destroyWindow(*id);
  }
  std::optional<WindowId> &operator[](uint32_t rank) { return ids[rank]; }
  Result<DeviceAddress> map() const;

private:
  Driver &driver;
  std::vector<std::optional<WindowId>> ids;
};

/// Tells every process of the group how this one fares: ok where all are, else an error in every one of them, a
/// process's own or the first other's. One exchange, none where the process is alone.
[[nodiscard]] Status agree(const ProcessGroup &group, const Status &mine);

/// Checks the group by itself: its numbers, and the ranks of this process.
[[nodiscard]] Status validate(const ProcessGroup &group, const LayerSpec &layer);

/// Fills `windows`, which has those of this process's ranks, with imported ones of all the others. `made` says whether
/// making them succeeded: like agree(), all processes fail together. The sizes and layers of all must be the same.
[[nodiscard]] Status exchangeWindows(Driver &driver, const ProcessGroup &group, const LayerSpec &layer, uint64_t bytes,
                                     const Status &made, Windows &windows);

} // namespace interlock
