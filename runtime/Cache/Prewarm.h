// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Many kernels at once, whoever makes them.
#pragma once

#include "interlock/prepare.hpp"
#include "runtime/Cache/KernelCache.h"

#include <functional>

namespace interlock {

/// Calls `get` for each kernel, on as many threads as `options` says. It tells where the kernel came from.
PrewarmReport prewarmWith(std::span<const KernelSpec> kernels, const PrewarmOptions &options,
                          const std::function<Result<Outcome>(const KernelSpec &)> &get);

} // namespace interlock
