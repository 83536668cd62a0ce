// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Token rows for round trips: finite values of every size, so that a wrong order of additions shows in the bits.
#pragma once

#include "interlock/spec.hpp"

#include <cstddef>
#include <span>

namespace interlock {

/// Fills rows of `dtype` with random finite values, zeros of both signs and subnormals among them.
void fillTestRows(DType dtype, uint64_t seed, uint64_t step, uint32_t rank, std::span<std::byte> rows);

/// Fills scales: positive f32 of moderate size for fp8 rows, any bytes otherwise (they are only forwarded).
void fillTestScales(DType dtype, uint64_t seed, uint64_t step, uint32_t rank, std::span<std::byte> scales);

} // namespace interlock
