// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the conformance cases share: each driver in turn, typed memory, and kernels as PTX that every chip from sm_90 on
// takes.
#pragma once

#include "interlock/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace interlock::test {

struct DriverKind {
  const char *name;
  std::function<Result<std::unique_ptr<Driver>>()> open;
};

/// Every driver there is.
std::vector<DriverKind> driverKinds();

/// `entry` takes (u64 out, u32 value, u32 n): out[i] += value for the i of a one-dimensional launch below n.
extern const char *const addText;
/// (u64 out): out[CTA] = cluster size * 100 + rank in the cluster.
extern const char *const clusterText;
/// (u64 out, u32 n): out[i] = n-1-i by way of dynamic shared memory, in one CTA that strides.
extern const char *const sharedText;
/// (u64 out, u64 in): out[0] = in[0], wherever both lie.
extern const char *const moveText;

/// The parameter buffer of addText, and of those with one or two pointers.
struct AddParams {
  uint64_t out;
  uint32_t value, n;
};
struct TwoPointers {
  uint64_t out, in;
};

template <typename T> std::span<const std::byte> bytesOf(const T &value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

/// A driver with a stream on its first device; skips with a reason where there is no such driver.
class DriverTest : public testing::TestWithParam<DriverKind> {
protected:
  void SetUp() override;
  void TearDown() override;

  DeviceAddress allocate(size_t bytes, uint32_t device = 0);
  KernelId load(const char *text, uint32_t device = 0);
  template <typename T> void upload(DeviceAddress to, const std::vector<T> &values) {
    ok(driver->copyIn(stream, to, values.data(), values.size() * sizeof(T)));
    ok(driver->synchronize(stream));
  }
  template <typename T> std::vector<T> download(DeviceAddress from, size_t count) {
    std::vector<T> values(count);
    ok(driver->copyOut(stream, values.data(), from, count * sizeof(T)));
    ok(driver->synchronize(stream));
    return values;
  }
  static void ok(const Status &status) { ASSERT_TRUE(status) << status.error().message; }
  /// A refusal in the house's form: a code and one lower-case sentence.
  template <typename T> static void refused(const T &result, Code code, const char *part = "") {
    ASSERT_FALSE(result) << "taken, expected a refusal with " << part;
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_THAT(result.error().message, testing::HasSubstr(part));
    EXPECT_NE(result.error().message.back(), '.') << result.error().message;
  }

  std::unique_ptr<Driver> driver;
  StreamId stream{};
};

#define ILK_EVERY_DRIVER(suite)                                                                                        \
  INSTANTIATE_TEST_SUITE_P(Drivers, suite, testing::ValuesIn(interlock::test::driverKinds()),                          \
                           [](const auto &info) { return std::string(info.param.name); })

} // namespace interlock::test
