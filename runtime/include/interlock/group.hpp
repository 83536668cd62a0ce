// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks in several processes of one host: which ranks a process runs, and how the processes reach each other while an
// operation is set up. Kernels reach each other through mapped memory only.
#pragma once

#include "interlock/status.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock INTERLOCK_API {

/// Gives `mine` to every process of the group and returns what each of them gave, in the order of their numbers, this
/// one included. All processes call it equally often, and from one thread each. When a process is gone it must return
/// an error to the others, in bounded time. MPI_Allgatherv or an all_gather_object of torch.distributed would do.
using Allgather = std::function<Result<std::vector<std::string>>(std::string_view mine)>;

/// A rank that this process runs, and the device of its driver that the rank runs on.
struct OwnRank {
  uint32_t rank = 0;
  uint32_t device = 0;
};

/// This process's place in a group. Every rank of the layer belongs to exactly one process.
struct ProcessGroup {
  uint32_t process = 0, processes = 1; ///< number of this one, and how many there are
  std::vector<OwnRank> own;
  Allgather allgather; ///< never called where there is one process
};

/// Where the processes of one host meet.
struct SocketRendezvous {
  std::string path; ///< of a Unix socket that process 0 makes; all name the same, in a folder that exists
  uint32_t process = 0, processes = 1;
  uint32_t timeoutMs = 120'000; ///< bound of the meeting, and of each exchange afterwards
};

/// Waits until all processes have come and returns an allgather over process 0. It closes with the last copy; from then
/// on, or when a process ends, the others' calls return an error that names it.
[[nodiscard]] Result<Allgather> meet(const SocketRendezvous &rendezvous);

} // namespace interlock INTERLOCK_API
