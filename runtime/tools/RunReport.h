// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What `interlock run` says: one JSON object a process; the text for people is made from it.
#pragma once

#include "interlock/device.hpp"
#include "runtime/Ops/RoundTrip.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace interlock::tool {

/// Steps, gathered: times are the best of them, mismatches the sum; what went wrong in one of them stays.
class RunReport {
public:
  void add(StepReport step);
  /// Over the ranks of this process.
  nlohmann::json json(const Driver &driver, const DeviceInfo &info, RoundTrip &trip) const;

private:
  StepReport total;
  uint32_t steps = 0;
};

/// One object of those of all processes, their ranks in order.
nlohmann::json mergeRuns(std::vector<nlohmann::json> runs);

/// Whether bits differed or a peer was lost.
bool runFailed(const nlohmann::json &run);

/// The lines and the table for people.
void printRun(const nlohmann::json &run);

} // namespace interlock::tool
