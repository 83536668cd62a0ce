// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Driver/HipApi.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace interlock::hip {

Result<std::unique_ptr<Api>> Api::load() {
  void *library = nullptr;
  for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"})
    if ((library = dlopen(name, RTLD_NOW | RTLD_LOCAL)))
      break;
  if (!library)
    return makeError(Code::notFound,
                     "no HIP runtime was found (libamdhip64.so): the emulator runs the kernels without one");
  auto api = std::make_unique<Api>();
  const char *missing = nullptr;
  auto resolve = [&](auto &member, const char *symbol) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, symbol));
    if (!member)
      missing = symbol;
  };
#define ILK_HIP(member, symbol, ...) resolve(api->member, symbol);
#include "runtime/Driver/HipSymbols.def"
#undef ILK_HIP
  resolve(api->getErrorString, "hipGetErrorString");
  if (missing)
    return makeError(Code::unsupported, fmt::format("the HIP runtime lacks {}: ROCm 6.0 or later would do", missing));
  return api;
}

Error Api::error(const char *what, HipResult result) const {
  const char *words = getErrorString ? getErrorString(result) : nullptr;
  return Error{Code::device,
               fmt::format("the HIP runtime failed to {}: {} ({})", what, words ? words : "unknown error", result)};
}

/// Peers and signals need memory that no cache keeps: kernels of several devices read and write it while they run.
HipMemoryProperties Api::windowProperties(int device, WindowSharing sharing) const {
  HipMemoryProperties properties{};
  properties.type = cachedWindows ? memoryPinned : memoryUncached;
  properties.handleTypes = sharing == WindowSharing::exported ? handleDescriptor : 0;
  properties.location = {memoryOnDevice, device};
  return properties;
}

} // namespace interlock::hip
