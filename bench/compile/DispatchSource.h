// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The CUDA C++ dispatch of bench/kernels as NVRTC gets it, and a compiler that puts it in the generated one's place.
#pragma once

#include "bench/compile/Nvrtc.h"
#include "interlock/spec.hpp"
#include "runtime/Cache/Compiler.h"

namespace interlock::bench {

/// Name of the kernel in the source.
inline constexpr char dispatchEntry[] = "dispatch";

/// The source, and the options that fold in the numbers which the generator folds in.
const char *dispatchSource();
std::vector<std::string> dispatchOptions(const KernelSpec &spec);

/// Makes dispatch kernels (grid-stride, cluster 1) from the source and hands every other spec to `rest`, so that the
/// source can be run through a whole round trip.
std::shared_ptr<Compiler> makeSourceCompiler(Nvrtc nvrtc, std::shared_ptr<Compiler> rest);

} // namespace interlock::bench
