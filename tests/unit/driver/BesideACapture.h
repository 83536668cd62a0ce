// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What an engine may do with a driver while another of its threads captures a stream.
#pragma once

#include "interlock/device.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace interlock::test {

/// Makes, uses and destroys one of each thing that a driver has, all but a mapping of windows, whose address it
/// returns.
inline DeviceAddress workBesideACapture(Driver &driver, const KernelImage &image, size_t windowBytes) {
  auto value = [](auto result) {
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(typename decltype(result)::value_type());
  };
  StreamId stream = value(driver.createStream(0));
  KernelId kernel = value(driver.load(0, image));
  DeviceAddress at = value(driver.allocate(0, 64));
  char host[64] = {};
  EXPECT_TRUE(driver.copyIn(stream, at, host, sizeof host));
  EXPECT_TRUE(driver.fill(stream, at, 0, sizeof host));
  EXPECT_TRUE(driver.synchronize(stream));
  EXPECT_TRUE(driver.residentCtas(kernel, {}));
  WindowId window = value(driver.createWindow(0, windowBytes, WindowSharing::exported));
  WindowId imported = value(driver.importWindow(value(driver.exportWindow(window)), windowBytes));
  DeviceAddress windows = value(driver.mapWindows(std::vector{window}));
  // a step of its own, captured and replayed
  uint64_t params[2] = {};
  EXPECT_TRUE(driver.beginCapture(stream));
  EXPECT_TRUE(driver.launch(stream, kernel, {}, std::as_bytes(std::span(params))));
  GraphId graph = value(driver.endCapture(stream));
  EXPECT_TRUE(driver.launchGraph(stream, graph));
  EventId one = value(driver.createEvent()), two = value(driver.createEvent());
  EXPECT_TRUE(driver.recordEvent(stream, one));
  EXPECT_TRUE(driver.recordEvent(stream, two));
  EXPECT_TRUE(driver.elapsedNs(one, two));
  EXPECT_TRUE(driver.isIdle(stream));
  for (const Status &status :
       {driver.destroyEvent(one), driver.destroyEvent(two), driver.destroyGraph(graph), driver.destroyWindow(window),
        driver.destroyWindow(imported), driver.unload(kernel), driver.release(at), driver.destroyStream(stream)})
    EXPECT_TRUE(status);
  return windows;
}

} // namespace interlock::test
