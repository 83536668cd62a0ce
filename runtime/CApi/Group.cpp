// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ilk_group: the caller's bootstrap as the library's.
#include "interlock/group.hpp"

#include "runtime/CApi/Handles.h"
#include "runtime/CApi/Status.h"

#include <fmt/format.h>

namespace interlock::capi {
namespace {

Allgather allgatherOf(const ilk_group &group) {
  return [call = group.allgather, user = group.user,
          processes = group.processes](std::string_view mine) -> Result<std::vector<std::string>> {
    std::vector<std::string> all;
    auto take = [](void *sink, const void *bytes, size_t size) {
      static_cast<std::vector<std::string> *>(sink)->emplace_back(static_cast<const char *>(bytes), size);
    };
    ILK_RETURN_IF_ERROR(fromCallback(call(user, mine.data(), mine.size(), take, &all), "allgather"));
    if (all.size() == processes)
      return all;
    return makeError(Code::badInput, fmt::format("expected the callback allgather to give what each of {} processes "
                                                 "gave, got {}",
                                                 processes, all.size()));
  };
}

} // namespace

Result<ProcessGroup> groupOf(const ilk_group &given) {
  ProcessGroup group;
  group.process = given.process;
  group.processes = given.processes;
  if (given.rank_count)
    ILK_RETURN_IF_ERROR(require("the group's own ranks", given.ranks));
  for (size_t i = 0; i < given.rank_count; ++i)
    group.own.push_back({given.ranks[i], given.devices ? given.devices[i] : 0});
  if (given.allgather)
    group.allgather = allgatherOf(given);
  else if (given.socket) {
    SocketRendezvous place{given.socket, given.process, given.processes};
    if (given.timeout_ms)
      place.timeoutMs = uint32_t(std::min<uint64_t>(given.timeout_ms, UINT32_MAX));
    ILK_ASSIGN_OR_RETURN(group.allgather, meet(place));
  } else if (given.processes > 1) {
    return makeError(Code::badInput, fmt::format("expected a bootstrap for a group of {} processes, got neither "
                                                 "allgather nor socket",
                                                 given.processes));
  }
  return group;
}

} // namespace interlock::capi
