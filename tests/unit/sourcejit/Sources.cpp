// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sourcejit/Sources.h"

#include "runtime/SourceJit/Nvrtc.h"

namespace interlock::test {

SourceKernel addKernel(int n) {
  SourceKernel kernel;
  kernel.source = {"add.cu", R"(#include "detail/ops.h"
namespace demo {
template <typename T> __global__ void __launch_bounds__(128) add(T *x, const T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = plus(x[i], y[i]) + N;
}
} // namespace demo
)"};
  kernel.headers = {{"detail/ops.h",
                     "#include \"more.h\"\n__device__ inline float plus(float a, float b) {\n  return a + b + "
                     "ZERO;\n}\n"},
                    {"more.h", "#define ZERO 0.0f\n"}};
  kernel.entry = "demo::add<float>";
  kernel.options = {"-DN=" + std::to_string(n)};
  return kernel;
}

SourceKernel unorderedKernel() {
  SourceKernel kernel;
  kernel.source = {"bad.cu", R"(extern "C" __global__ void publish(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    int v;
    do {
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    } while (!v);
    out[0] = data[0];
  }
}
)"};
  kernel.entry = "publish";
  return kernel;
}

std::string whyNoNvrtc() {
  auto found = Nvrtc::find({});
  return found ? "" : found.error().message;
}

} // namespace interlock::test
