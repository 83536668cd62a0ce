// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Windows: memory that is mapped side by side, of several devices and of other drivers, as another process has one.
#include "tests/unit/driver/Drivers.h"

#include <unistd.h>

namespace interlock {
namespace {

class Windows : public test::DriverTest {
protected:
  size_t granularity() {
    auto size = driver->windowGranularity();
    EXPECT_TRUE(size) << size.error().message;
    return size ? *size : 256;
  }
  WindowId create(Driver &on, uint32_t device, size_t bytes, WindowSharing sharing = WindowSharing::process) {
    auto window = on.createWindow(device, bytes, sharing);
    EXPECT_TRUE(window) << window.error().message;
    return window ? *window : WindowId{};
  }
  DeviceAddress map(Driver &on, const std::vector<WindowId> &windows) {
    auto address = on.mapWindows(windows);
    EXPECT_TRUE(address) << address.error().message;
    return address ? *address : 0;
  }
};
ILK_EVERY_DRIVER(Windows);

TEST_P(Windows, LieSideBySideWhateverTheirDevice) {
  size_t bytes = 3 * granularity();
  EXPECT_EQ(granularity() & (granularity() - 1), 0u);
  std::vector<WindowId> windows;
  for (uint32_t i = 0; i < 5; ++i)
    windows.push_back(create(*driver, i % driver->deviceCount(), bytes));
  DeviceAddress base = map(*driver, windows);
  for (WindowId window : windows)
    ok(driver->destroyWindow(window)); // what is mapped stays
  for (uint32_t i = 0; i < 5; ++i)
    ok(driver->fill(stream, base + i * bytes, uint8_t(i + 1), bytes));
  for (uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(download<uint8_t>(base + i * bytes, bytes), std::vector<uint8_t>(bytes, uint8_t(i + 1))) << i;
  // From every device to every window.
  for (uint32_t device = 0; device < driver->deviceCount(); ++device) {
    auto on = driver->createStream(device);
    ASSERT_TRUE(on);
    KernelId kernel = load(test::moveText, device);
    for (uint32_t i = 0; i < 5; ++i) {
      test::TwoPointers params{base + i * bytes + bytes - 4, base + (4 - i) * bytes};
      ok(driver->launch(*on, kernel, {}, test::bytesOf(params)));
      ok(driver->synchronize(*on));
      EXPECT_EQ(download<uint8_t>(base + i * bytes + bytes - 4, 1)[0], 5 - i);
    }
    ok(driver->unload(kernel));
    ok(driver->destroyStream(*on));
  }
  ok(driver->unmapWindows(base));
}

TEST_P(Windows, BelongToTheProcessesThatMapThem) {
  auto opened = GetParam().open();
  ASSERT_TRUE(opened) << opened.error().message;
  Driver &other = **opened;
  size_t bytes = granularity();
  WindowId mine = create(*driver, 0, bytes, WindowSharing::exported);
  WindowId theirs = create(other, other.deviceCount() - 1, bytes, WindowSharing::exported);
  auto hand = [&](Driver &from, WindowId window, Driver &to) {
    auto descriptor = from.exportWindow(window);
    EXPECT_TRUE(descriptor) << descriptor.error().message;
    auto imported = to.importWindow(*descriptor, bytes);
    EXPECT_TRUE(imported) << imported.error().message;
    close(*descriptor);
    return imported ? *imported : WindowId{};
  };
  WindowId theirsHere = hand(other, theirs, *driver), mineThere = hand(*driver, mine, other);
  DeviceAddress here = map(*driver, {mine, theirsHere}), there = map(other, {mineThere, theirs});
  for (WindowId window : {mine, theirsHere})
    ok(driver->destroyWindow(window));
  for (WindowId window : {mineThere, theirs})
    ok(other.destroyWindow(window));

  auto otherStream = other.createStream(0);
  ASSERT_TRUE(otherStream);
  auto otherSees = [&](uint64_t offset) {
    uint8_t byte = 0;
    ok(other.copyOut(*otherStream, &byte, there + offset, 1));
    ok(other.synchronize(*otherStream));
    return byte;
  };
  for (DeviceAddress window : {here, here + bytes})
    ok(driver->fill(stream, window, 0x11, bytes));
  ok(driver->synchronize(stream));
  EXPECT_EQ(otherSees(0), 0x11);
  EXPECT_EQ(otherSees(2 * bytes - 1), 0x11);
  ok(other.fill(*otherStream, there + 7, 0x22, 1));
  ok(other.synchronize(*otherStream));
  EXPECT_EQ(download<uint8_t>(here + 7, 1)[0], 0x22);

  // Whoever goes first: the memory stays as long as anybody maps it.
  ok(driver->unmapWindows(here));
  EXPECT_EQ(otherSees(7), 0x22);
  EXPECT_EQ(otherSees(8), 0x11);
  ok(other.unmapWindows(there));
  ok(other.destroyStream(*otherStream));
}

TEST_P(Windows, MisuseIsRefused) {
  size_t bytes = granularity();
  EXPECT_FALSE(driver->createWindow(driver->deviceCount(), bytes, WindowSharing::process));
  EXPECT_FALSE(driver->createWindow(0, 0, WindowSharing::process));
  EXPECT_FALSE(driver->createWindow(0, bytes + 1, WindowSharing::process));
  EXPECT_FALSE(driver->createWindow(0, size_t(1) << 60, WindowSharing::process));
  EXPECT_FALSE(driver->createWindow(0, size_t(1) << 60, WindowSharing::exported));
  WindowId window = create(*driver, 0, bytes);
  EXPECT_FALSE(driver->exportWindow(window)) << "it was made for this process";
  EXPECT_FALSE(driver->importWindow(-1, bytes));
  EXPECT_FALSE(driver->mapWindows({}));
  DeviceAddress base = map(*driver, {window});
  refused(driver->unmapWindows(base + bytes), Code::badInput);
  refused(driver->release(base), Code::badInput);
  ok(driver->destroyWindow(window));
  refused(driver->destroyWindow(window), Code::badInput, "window");
  std::vector<WindowId> gone{window};
  refused(driver->mapWindows(gone), Code::badInput, "window");
  ok(driver->unmapWindows(base));
  refused(driver->unmapWindows(base), Code::badInput);
}

// Taking the mapping away waits for what is running: a kernel may still be in it.
TEST_P(Windows, WorkInFlightIsDoneBeforeTheyGo) {
  size_t bytes = granularity();
  WindowId window = create(*driver, 0, bytes);
  DeviceAddress base = map(*driver, {window});
  ok(driver->destroyWindow(window));
  KernelId kernel = load(test::addText);
  ok(driver->fill(stream, base, 0, bytes));
  test::AddParams params{base, 1, uint32_t(bytes / 4)};
  for (int i = 0; i < 200; ++i)
    ok(driver->launch(stream, kernel, {.grid = uint32_t(bytes / 4 + 127) / 128, .block = 128}, test::bytesOf(params)));
  ok(driver->unmapWindows(base));
  ok(driver->synchronize(stream));
  ok(driver->unload(kernel));
}

// Many come and go without a rest.
TEST_P(Windows, ComeAndGo) {
  size_t bytes = granularity();
  for (int i = 0; i < 100; ++i) {
    WindowId one = create(*driver, 0, bytes), two = create(*driver, driver->deviceCount() - 1, 2 * bytes);
    DeviceAddress base = map(*driver, {one, two});
    ok(driver->fill(stream, base, uint8_t(i), bytes));
    ok(driver->fill(stream, base + bytes, uint8_t(i), 2 * bytes));
    ok(driver->synchronize(stream));
    ok(driver->destroyWindow(two));
    ok(driver->unmapWindows(base));
    ok(driver->destroyWindow(one));
  }
}

} // namespace
} // namespace interlock
