// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/float8/Codes.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "tests/float8/CodesText.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace interlock::float8 {

namespace {
/// A code more is this many units of the least subnormal more, by the code's upper four bits (its exponent).
constexpr float steps[16] = {1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};

struct Type {
  const char *name;
  float unit;             ///< the least subnormal
  int firstNaN;           ///< codes from here to 0x7f are no numbers
  uint8_t nan, minusZero; ///< codes
};
constexpr Type types[] = {{"f8E4M3FN", 0x1p-9f, 0x7f, 0x7f, 0x80}, {"f8E4M3FNUZ", 0x1p-10f, 0x80, 0x80, 0x00}};

const Type &typeOf(const std::string &name) { return name == types[0].name ? types[0] : types[1]; }

struct Params {
  uint64_t values, codesOut, codes, valuesOut;
  uint32_t number, words;
};
} // namespace

std::string codesModule(const std::string &target, const std::string &type) {
  return fmt::format("#target = \"{}\" #block_threads = 128 : i32 !code = {} ", target, type) + text::codes;
}

Result<CodesRun> runCodes(Driver &driver, const KernelImage &image, const std::vector<float> &given) {
  constexpr uint32_t allCodes = 256, perWord = 4;
  std::vector<float> values = given;
  values.resize((values.size() + perWord - 1) / perWord * perWord);
  std::vector<uint8_t> all(allCodes);
  std::iota(all.begin(), all.end(), uint8_t(0));
  CodesRun run{std::vector<uint8_t>(values.size()), std::vector<float>(allCodes)};

  ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(0));
  ILK_ASSIGN_OR_RETURN(DeviceBuffer in, DeviceBuffer::create(driver, 0, values.size() * sizeof(float)));
  ILK_ASSIGN_OR_RETURN(DeviceBuffer codesOut, DeviceBuffer::create(driver, 0, run.codes.size()));
  ILK_ASSIGN_OR_RETURN(DeviceBuffer codes, DeviceBuffer::create(driver, 0, all.size()));
  ILK_ASSIGN_OR_RETURN(DeviceBuffer valuesOut, DeviceBuffer::create(driver, 0, run.values.size() * sizeof(float)));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, in.address(), values.data(), in.bytes()));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, codes.address(), all.data(), codes.bytes()));
  ILK_ASSIGN_OR_RETURN(KernelId kernel, driver.load(0, image));
  Params params{
      in.address(),      codesOut.address(), codes.address(), valuesOut.address(), uint32_t(values.size() / perWord),
      allCodes / perWord};
  ILK_RETURN_IF_ERROR(driver.launch(stream, kernel, {.grid = 3, .block = 128}, std::as_bytes(std::span(&params, 1))));
  ILK_RETURN_IF_ERROR(driver.copyOut(stream, run.codes.data(), codesOut.address(), codesOut.bytes()));
  ILK_RETURN_IF_ERROR(driver.copyOut(stream, run.values.data(), valuesOut.address(), valuesOut.bytes()));
  ILK_RETURN_IF_ERROR(driver.synchronize(stream));
  ILK_RETURN_IF_ERROR(driver.unload(kernel));
  ILK_RETURN_IF_ERROR(driver.destroyStream(stream));
  run.codes.resize(given.size());
  return run;
}

std::vector<float> positiveValues(const std::string &name) {
  const Type &type = typeOf(name);
  std::vector<float> values{0};
  for (int code = 1; code < 0x80; ++code)
    values.push_back(values.back() + steps[(code - 1) / 8] * type.unit);
  for (int code = type.firstNaN; code < 0x80; ++code)
    values[size_t(code)] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

float valueOf(const std::string &name, uint8_t code) {
  if (code == typeOf(name).nan)
    return std::numeric_limits<float>::quiet_NaN();
  float value = positiveValues(name)[code & 0x7f];
  return code & 0x80 ? -value : value;
}

uint8_t nearestCode(const std::string &name, float value) {
  const Type &type = typeOf(name);
  if (std::isnan(value))
    return type.nan;
  static const std::vector<float> both[] = {positiveValues(types[0].name), positiveValues(types[1].name)};
  const std::vector<float> &values = both[&type - types];
  // f32's differences are exact in double as far as the largest value.
  double magnitude = std::min(std::fabs(double(value)), double(values[size_t(type.firstNaN - 1)]));
  int best = 0;
  for (int code = 1; code < type.firstNaN; ++code) {
    double now = std::fabs(double(values[size_t(code)]) - magnitude),
           was = std::fabs(double(values[size_t(best)]) - magnitude);
    if (now < was || (now == was && code % 2 == 0))
      best = code;
  }
  if (best == 0)
    return std::signbit(value) ? type.minusZero : 0;
  return uint8_t(std::signbit(value) ? best | 0x80 : best);
}

std::string firstDifference(const std::string &type, const std::vector<float> &values, const CodesRun &run) {
  for (size_t i = 0; i < values.size(); ++i)
    if (uint8_t wanted = nearestCode(type, values[i]); run.codes[i] != wanted)
      return fmt::format("expected {} (bits {:#x}) as code {:#04x}, got {:#04x}", values[i],
                         std::bit_cast<uint32_t>(values[i]), wanted, run.codes[i]);
  for (size_t code = 0; code < run.values.size(); ++code) {
    float wanted = valueOf(type, uint8_t(code)), got = run.values[code];
    if (std::isnan(wanted) ? !std::isnan(got) : std::bit_cast<uint32_t>(wanted) != std::bit_cast<uint32_t>(got))
      return fmt::format("expected code {:#04x} as {}, got {}", code, wanted, got);
  }
  return {};
}

std::vector<float> interestingValues(const std::string &name) {
  std::vector<float> list;
  for (uint32_t bits = 0; bits <= 0xffff; ++bits)
    list.push_back(std::bit_cast<float>(bits << 16));
  auto around = [&](float value) {
    for (float each : {value, std::nextafter(value, 0.0f), std::nextafter(value, HUGE_VALF)})
      list.insert(list.end(), {each, -each});
  };
  std::vector<float> values = positiveValues(name);
  float largest = 0, before = 0;
  for (float value : values)
    if (!std::isnan(value)) {
      around(value);
      around((value + largest) / 2);
      before = largest;
      largest = value;
    }
  around(largest + (largest - before) / 2); // where a type without saturation would round up
  around(largest + (largest - before));
  for (float value : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                      std::numeric_limits<float>::denorm_min(), HUGE_VALF})
    around(value);
  return list;
}

} // namespace interlock::float8
