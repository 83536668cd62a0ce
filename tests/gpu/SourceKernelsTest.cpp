// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The peers of the generated kernels in CUDA C++, compiled by NVRTC, on real GPUs: the twin of
// tests/emulator/SourceKernelsTest.cpp.
#include "tests/gpu/Device.h"

#include "runtime/SourceJit/Nvrtc.h"

#include <fmt/format.h>

using namespace interlock;
using test::expectRight;
using test::GpuCase;

namespace {

class GpuSourceKernels : public test::GpuTest {
protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (auto nvrtc = Nvrtc::find({}); !IsSkipped() && !nvrtc)
      GTEST_SKIP() << nvrtc.error().message;
  }
};

TEST_F(GpuSourceKernels, EveryType) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    GpuCase each;
    each.label = fmt::format("{} from source", name(dtype));
    each.trip.layer.ranks = 4;
    each.trip.tokens = {37, 0};
    each.trip.layer.dtype = each.trip.layer.combineDType = dtype;
    each.trip.operation.kernels = KernelOrigin::source;
    expectRight(each);
  }
}

TEST_F(GpuSourceKernels, EveryScheduleAndCluster) {
  for (Schedule schedule : {Schedule::gridStride, Schedule::claimed})
    for (uint32_t cluster : {1u, 2u, 4u}) {
      auto info = test::device()->info(0);
      if (!info || (cluster > 1 && !findTarget(info->target)->clusters))
        continue;
      GpuCase each;
      each.label = fmt::format("{}, cluster {}, from source", name(schedule), cluster);
      each.trip.layer.ranks = 4;
      each.trip.tokens = {200, 3};
      each.trip.operation.kernels = KernelOrigin::source;
      each.trip.operation.schedule = schedule;
      each.trip.operation.cluster = cluster;
      each.trip.operation.dispatch = {0, 256, 4};
      each.trip.operation.combine = {0, 256, 2};
      expectRight(each);
    }
}

} // namespace
