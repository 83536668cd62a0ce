// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Driver/CudaApi.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace interlock::cuda {

Result<std::unique_ptr<const Api>> Api::load() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(Code::notFound,
                     "no CUDA driver was found (libcuda.so.1): the emulator runs the kernels without one");
  auto api = std::make_unique<Api>();
  const char *missing = nullptr;
#define ILK_CUDA(member, symbol, ...)                                                                                  \
  if (api->member = reinterpret_cast<decltype(api->member)>(dlsym(library, symbol)); !api->member)                     \
    missing = symbol;
#include "runtime/Driver/CudaSymbols.def"
#undef ILK_CUDA
  api->funcGetParamInfo = reinterpret_cast<decltype(api->funcGetParamInfo)>(dlsym(library, "cuFuncGetParamInfo"));
  api->funcLoad = reinterpret_cast<decltype(api->funcLoad)>(dlsym(library, "cuFuncLoad"));
  if (missing)
    return makeError(Code::unsupported,
                     fmt::format("the CUDA driver lacks {}: a driver of CUDA 11.8 or later would do", missing));
  return std::unique_ptr<const Api>(std::move(api));
}

Error Api::error(const char *what, CudaResult result) const {
  const char *words = nullptr;
  if (!getErrorString || getErrorString(result, &words) != success || !words)
    words = "unknown error";
  return Error{Code::device, fmt::format("the CUDA driver failed to {}: {} ({})", what, words, result)};
}

CudaMemoryProperties Api::windowProperties(CudaDevice device, WindowSharing sharing) const {
  CudaMemoryProperties properties{};
  properties.type = memoryPinned;
  properties.handleTypes = sharing == WindowSharing::exported ? handleDescriptor : 0;
  properties.location = {memoryOnDevice, device};
  return properties;
}

Status Api::requireWindows(CudaDevice device, WindowSharing sharing) const {
  auto require = [&](int attribute, const char *what) -> Status {
    int has = 0;
    ILK_RETURN_IF_ERROR(check("describe a GPU", deviceGetAttribute(&has, attribute, device)));
    if (has)
      return {};
    return makeError(
        Code::unsupported,
        fmt::format("GPU {} cannot {}: its driver or virtual machine would have to allow it", device, what));
  };
  ILK_RETURN_IF_ERROR(require(attributeVirtualMemory, "map memory at chosen addresses"));
  if (sharing == WindowSharing::exported)
    ILK_RETURN_IF_ERROR(require(attributeExportsDescriptors, "hand memory to other processes"));
  return {};
}

uint32_t ptxIsaOfDriver(int cudaVersion) {
  struct Row {
    int cuda;
    uint32_t ptx;
  };
  constexpr Row rows[] = {{13010, 91}, {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85},
                          {12040, 84}, {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}};
  for (Row row : rows)
    if (cudaVersion >= row.cuda)
      return row.ptx;
  return 77;
}

} // namespace interlock::cuda
