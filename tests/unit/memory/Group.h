// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Threads that stand for the processes of a group: each has a driver of its own and knows the others by the bootstrap
// only.
#pragma once

#include "interlock/device.hpp"
#include "interlock/group.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

namespace interlock::test {

/// A path for a rendezvous that no other test uses.
std::string rendezvousPath();

struct Member {
  ProcessGroup group; ///< with its number and the allgather; `own` is up to the test
  std::unique_ptr<Driver> driver;
};

/// Runs `work` for every process of a group, all at the same time.
void inGroup(uint32_t processes, const std::function<void(Member &)> &work, uint32_t timeoutMs = 20'000);

} // namespace interlock::test
