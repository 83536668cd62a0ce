// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Captured work and times: what every driver does alike.
#include "tests/unit/driver/Drivers.h"

namespace interlock {
namespace {

using test::bytesOf;

class Graphs : public test::DriverTest {};
ILK_EVERY_DRIVER(Graphs);
class Events : public test::DriverTest {};
ILK_EVERY_DRIVER(Events);

TEST_P(Graphs, ReplayWhatWasCapturedAndRunNothingBefore) {
  constexpr uint32_t count = 64;
  DeviceAddress at = allocate(count * 4), copy = allocate(count * 4);
  KernelId kernel = load(test::addText);
  ok(driver->fill(stream, at, 0, count * 4));
  ok(driver->fill(stream, copy, 0, count * 4));
  ok(driver->synchronize(stream));

  ok(driver->beginCapture(stream));
  for (uint32_t value : {1u, 10u}) {
    test::AddParams params{at, value, count};
    ok(driver->launch(stream, kernel, {.grid = 2, .block = 32}, bytesOf(params)));
    params = {0, 0, 0}; // the graph has its own copy
  }
  ok(driver->copy(stream, copy, at, count * 4));
  auto graph = driver->endCapture(stream);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(download<uint32_t>(at, count), std::vector<uint32_t>(count, 0)) << "ran while it was captured";

  for (uint32_t replay = 1; replay <= 5; ++replay) {
    ok(driver->launchGraph(stream, *graph));
    EXPECT_EQ(download<uint32_t>(copy, count), std::vector<uint32_t>(count, 11 * replay));
  }
  // Several in flight, in order.
  for (int i = 0; i < 10; ++i)
    ok(driver->launchGraph(stream, *graph));
  EXPECT_EQ(download<uint32_t>(copy, count), std::vector<uint32_t>(count, 11 * 15));

  ok(driver->destroyGraph(*graph));
  refused(driver->launchGraph(stream, *graph), Code::badInput, "graph");
  refused(driver->destroyGraph(*graph), Code::badInput, "graph");
  ok(driver->unload(kernel));
  ok(driver->release(at));
  ok(driver->release(copy));
}

TEST_P(Graphs, RunOnAnotherStream) {
  DeviceAddress at = allocate(4);
  KernelId kernel = load(test::addText);
  ok(driver->fill(stream, at, 0, 4));
  ok(driver->synchronize(stream));
  ok(driver->beginCapture(stream));
  test::AddParams params{at, 3, 1};
  ok(driver->launch(stream, kernel, {.grid = 1, .block = 32}, bytesOf(params)));
  auto graph = driver->endCapture(stream);
  ASSERT_TRUE(graph);
  auto other = driver->createStream(0);
  ASSERT_TRUE(other);
  ok(driver->launchGraph(*other, *graph));
  ok(driver->synchronize(*other));
  EXPECT_EQ(download<uint32_t>(at, 1)[0], 3u);
  ok(driver->destroyStream(*other));
  ok(driver->destroyGraph(*graph));
  ok(driver->unload(kernel));
  ok(driver->release(at));
}

TEST_P(Graphs, ACaptureBeginsOnceAndEndsOnce) {
  EXPECT_FALSE(driver->endCapture(stream)) << "nothing was begun";
  ok(driver->beginCapture(stream));
  EXPECT_FALSE(driver->beginCapture(stream)) << "begun twice";
  auto graph = driver->endCapture(stream);
  ASSERT_TRUE(graph) << graph.error().message;
  ok(driver->launchGraph(stream, *graph)); // an empty one
  ok(driver->synchronize(stream));
  ok(driver->destroyGraph(*graph));
}

TEST_P(Events, TimesAreInTheOrderOfTheStream) {
  constexpr uint32_t count = 1000;
  DeviceAddress at = allocate(count * 4);
  KernelId kernel = load(test::addText);
  auto before = driver->createEvent(), after = driver->createEvent();
  ASSERT_TRUE(before && after);
  ok(driver->recordEvent(stream, *before));
  test::AddParams params{at, 1, count};
  for (int i = 0; i < 20; ++i)
    ok(driver->launch(stream, kernel, {.grid = 8, .block = 128}, bytesOf(params)));
  ok(driver->recordEvent(stream, *after));
  auto elapsed = driver->elapsedNs(*before, *after);
  ASSERT_TRUE(elapsed) << elapsed.error().message;
  EXPECT_GT(*elapsed, 0);
  EXPECT_LT(*elapsed, 10e9);
  // Recorded again, an event has its new time.
  ok(driver->recordEvent(stream, *before));
  auto backwards = driver->elapsedNs(*before, *after);
  ASSERT_TRUE(backwards) << backwards.error().message;
  EXPECT_LE(*backwards, 0);
  ok(driver->destroyEvent(*before));
  ok(driver->destroyEvent(*after));
  ok(driver->unload(kernel));
  ok(driver->release(at));
}

TEST_P(Events, WhatWasNotRecordedHasNoTime) {
  auto one = driver->createEvent(), two = driver->createEvent();
  ASSERT_TRUE(one && two);
  ok(driver->recordEvent(stream, *one));
  refused(driver->elapsedNs(*one, *two), Code::badInput);
  refused(driver->elapsedNs(*two, *one), Code::badInput);
  ok(driver->destroyEvent(*two));
  refused(driver->elapsedNs(*one, *two), Code::badInput, "event");
  refused(driver->recordEvent(stream, *two), Code::badInput, "event");
  ok(driver->destroyEvent(*one));
}

} // namespace
} // namespace interlock
