// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels in CUDA C++ for the tests of the room that compiles them.
#pragma once

#include "interlock/source.hpp"

#include <string>

namespace interlock::test {

/// x[i] = plus(x[i], y[i]) + N, with `plus` from a header that includes another one, and N from the options.
SourceKernel addKernel(int n = 2);

/// One CTA hands a value to another; the store and the poll are relaxed, and no fence makes up for it.
SourceKernel unorderedKernel();

/// Why there is no NVRTC here; empty if there is one.
std::string whyNoNvrtc();

} // namespace interlock::test
