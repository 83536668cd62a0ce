// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What of the driver options is HIP's.
#include "runtime/CApi/Handles.h"
#include "tests/unit/driver/LoadFakeHip.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

/// The type of a window's memory, in a driver that was opened so.
int windowTypeOf(const ilk_driver_options &options) {
  fakeHip().allocationType = -1;
  ilk_driver *driver = nullptr;
  EXPECT_EQ(ilk_driver_open(&options, &driver), ILK_OK) << ilk_message();
  if (!driver)
    return -1;
  auto window = driver->devices->createWindow(0, 1 << 12, interlock::WindowSharing::process);
  EXPECT_TRUE(window) << window.error().message;
  ilk_driver_close(driver);
  return fakeHip().allocationType;
}

TEST(HipOptions, CachedWindowsIfAskedFor) {
  constexpr int pinned = 1, uncached = 0x40000000; // hipMemAllocationType
  ilk_driver_options options{};
  options.size = sizeof options;
  options.kind = ILK_DRIVER_HIP;
  EXPECT_EQ(windowTypeOf(options), uncached);
  options.cached_windows = 1;
  EXPECT_EQ(windowTypeOf(options), pinned);
  // As a program was built that knew no such field: whatever stands behind its struct is not read.
  options.size = offsetof(ilk_driver_options, cached_windows);
  EXPECT_EQ(windowTypeOf(options), uncached);
}

} // namespace
