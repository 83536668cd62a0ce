// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Element types in scalar code: bits to f32 and back, rounded as the generated kernels round. Nothing here uses the
// host's own half types, so that the oracle depends on no compiler extension.
#pragma once

#include "interlock/spec.hpp"

#include <cstddef>
#include <cstdint>

namespace interlock {

/// Exact conversions to f32. f8e4m3fnuz has one NaN (0x80) and no negative zero.
float f16ToF32(uint16_t bits);
float bf16ToF32(uint16_t bits);
float f8ToF32(DType dtype, uint8_t bits);

/// Round to nearest even; overflow becomes infinity; NaN becomes the canonical 0x7fff, as PTX `cvt.rn` gives it
/// (PTX ISA, "Data Movement and Conversion Instructions: cvt").
uint16_t f32ToF16(float value);
uint16_t f32ToBf16(float value);

/// Reads or writes element `index` of a row; `storeElement` takes f32, f16 and bf16 (the combine types) only.
float loadElement(DType dtype, const std::byte *row, size_t index);
void storeElement(DType dtype, std::byte *row, size_t index, float value);

/// Whether the type is one of the 8-bit ones, whose rows travel as bytes.
bool isF8(DType dtype);

/// One fused multiply-add, as PTX `fma.rn.f32` gives it: subnormals kept, NaN canonical.
float fusedMultiplyAdd(float a, float b, float c);

} // namespace interlock
