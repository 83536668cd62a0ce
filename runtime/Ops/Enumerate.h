// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which kernel an operation asks for: the one place that decides it, for operations that are made and for those that
// are only prepared.
#pragma once

#include "interlock/operation.hpp"

namespace interlock {

/// The kernel's spec and grid on a device that `sharing` ranks share; the rest of the report is the cache's to fill in.
/// `badInput` for what cannot be.
Result<KernelReport> planKernel(const LayerSpec &layer, KernelKind kind, const DeviceInfo &device, uint32_t sharing,
                                const OperationOptions &options);

} // namespace interlock
