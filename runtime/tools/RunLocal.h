// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock run --kernel …`: one local kernel instead of a round trip.
#pragma once

#include "runtime/Ops/LocalRun.h"
#include "runtime/tools/Tool.h"

namespace interlock::tool {

nlohmann::json asJson(const LocalRunReport &report, const DeviceInfo &device);
void printLocalRun(const LocalRunReport &report, const DeviceInfo &device, bool checked);
/// Whether a row was wrong, or the kernel complained of its list.
bool failed(const LocalRunReport &report);

} // namespace interlock::tool
