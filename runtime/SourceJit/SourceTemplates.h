// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels of a spec in CUDA or HIP C++: peers of the generated ones, with the same arguments, window and results.
#pragma once

#include "interlock/source.hpp"
#include "interlock/spec.hpp"

namespace interlock {

/// Whether there is one: for dispatch and combine.
bool hasSource(KernelKind kernel);

/// The source of templates/cuda, for an AMD chip with the machine of templates/hip, for a spec, with what the generator
/// folds in as macros. How a cluster waits is not the source's to choose, so `wait` has no effect.
Result<SourceKernel> sourceOf(const KernelSpec &spec);

} // namespace interlock
