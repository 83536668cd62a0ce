// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Handles of a driver: numbers that are never used twice, so a stale one is an error and not somebody else's object.
#pragma once

#include "interlock/status.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace interlock {

template <typename Id, typename State> class HandleTable {
public:
  explicit HandleTable(const char *what) : what(what) {}

  Id add(State state) {
    std::lock_guard lock(mutex);
    entries.emplace(++last, std::move(state));
    return static_cast<Id>(last);
  }
  Result<State> get(Id id) const {
    std::lock_guard lock(mutex);
    auto entry = entries.find(static_cast<uint64_t>(id));
    if (entry == entries.end())
      return unknown(id);
    return entry->second;
  }
  void set(Id id, State state) {
    std::lock_guard lock(mutex);
    entries.insert_or_assign(static_cast<uint64_t>(id), std::move(state));
  }
  Result<State> take(Id id) {
    std::lock_guard lock(mutex);
    auto entry = entries.find(static_cast<uint64_t>(id));
    if (entry == entries.end())
      return unknown(id);
    State state = std::move(entry->second);
    entries.erase(entry);
    return state;
  }

  /// Takes whatever is left.
  std::vector<State> drain() {
    std::lock_guard lock(mutex);
    std::vector<State> left;
    for (auto &[id, state] : entries)
      left.push_back(std::move(state));
    entries.clear();
    return left;
  }

private:
  tl::unexpected<Error> unknown(Id id) const {
    return makeError(Code::badInput,
                     fmt::format("expected a {} of this driver, got {}, which is not one or is destroyed", what,
                                 static_cast<uint64_t>(id)));
  }

  const char *what;
  mutable std::mutex mutex;
  std::unordered_map<uint64_t, State> entries;
  uint64_t last = 0;
};

} // namespace interlock
