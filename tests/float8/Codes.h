// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ep.quantize and ep.dequantize as a kernel, on a device, and what they must make: an oracle that knows no bits, only
// which values a type has and in which order.
#pragma once

#include "interlock/device.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace interlock::float8 {

/// The module of codes.mlir for a chip and a type, f8E4M3FN or f8E4M3FNUZ.
std::string codesModule(const std::string &target, const std::string &type);

struct CodesRun {
  std::vector<uint8_t> codes; ///< of the values that were given
  std::vector<float> values;  ///< of all 256 codes
};
[[nodiscard]] Result<CodesRun> runCodes(Driver &driver, const KernelImage &image, const std::vector<float> &values);

/// The values of codes 0 to 0x7f; a NaN where there is none.
std::vector<float> positiveValues(const std::string &type);
/// Of any code.
float valueOf(const std::string &type, uint8_t code);
/// The code of the nearest value, the even one of two; the largest for what is beyond it; the NaN for NaN.
uint8_t nearestCode(const std::string &type, float value);

/// The first place where a run of these values differs from the oracle, as a sentence; empty if it does nowhere. Of a
/// NaN that was decoded only that it is one is asked.
std::string firstDifference(const std::string &type, const std::vector<float> &values, const CodesRun &run);

/// Every bf16, both neighbours and the middle of every two values that follow each other and what is next to them,
/// f32's own subnormals and extremes: all with both signs.
std::vector<float> interestingValues(const std::string &type);

} // namespace interlock::float8
