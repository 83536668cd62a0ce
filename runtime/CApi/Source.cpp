// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ilk_kernel_*: kernels given as source, and loading and launching them.
#include "runtime/CApi/Handles.h"
#include "runtime/CApi/Status.h"
#include "runtime/CApi/Structs.h"

using namespace interlock;
using namespace interlock::capi;

namespace {

Result<SourceKernel> kernelOf(const ilk_source_kernel &given) {
  ILK_RETURN_IF_ERROR(require("the text of a source and the name of its kernel", given.source, given.entry));
  if ((given.option_count && !given.options) || (given.header_count && !given.headers))
    return makeError(Code::badInput, "expected options and headers where their number is not 0, got NULL");
  SourceKernel kernel;
  kernel.source.text = given.source;
  kernel.entry = given.entry;
  if (given.name)
    kernel.source.name = given.name;
  if (given.target)
    kernel.target = given.target;
  if (given.contract)
    kernel.contract = given.contract;
  for (size_t i = 0; i < given.option_count; ++i) {
    ILK_RETURN_IF_ERROR(require("an option", given.options[i]));
    kernel.options.emplace_back(given.options[i]);
  }
  for (size_t i = 0; i < given.header_count; ++i) {
    ILK_ASSIGN_OR_RETURN(ilk_source_header header, readElement("ilk_source_header", given.headers, i));
    ILK_RETURN_IF_ERROR(require("the name and the text of a header", header.name, header.text));
    kernel.headers.push_back({header.name, header.text});
  }
  return kernel;
}

} // namespace

extern "C" {

ilk_status ilk_kernel_compile(ilk_cache *cache, const ilk_source_kernel *source, ilk_kernel **kernel) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a cache and a place for the kernel", cache, kernel));
    ILK_ASSIGN_OR_RETURN(ilk_source_kernel given, read("ilk_source_kernel", source));
    ILK_ASSIGN_OR_RETURN(SourceKernel wanted, kernelOf(given));
    SourceOptions options{given.nvrtc_path ? given.nvrtc_path : "", given.hiprtc_path ? given.hiprtc_path : ""};
    ILK_ASSIGN_OR_RETURN(CompiledSource made, compileSource(*cache->kernels, wanted, options));
    *kernel = new ilk_kernel{std::move(made)};
    return {};
  });
}

void ilk_kernel_destroy(ilk_kernel *kernel) { delete kernel; }

ilk_status ilk_kernel_get_facts(const ilk_kernel *kernel, ilk_kernel_facts *facts) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a kernel", kernel));
    const CompiledSource &made = kernel->made;
    return write("ilk_kernel_facts", facts,
                 ilk_kernel_facts{0, made.blockThreads, made.maxThreads, made.cluster, made.sharedBytes});
  });
}

ilk_status ilk_kernel_get_part(const ilk_kernel *kernel, int32_t part, const void **bytes, size_t *size) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a kernel and places for the part and its size", kernel, bytes, size));
    const CompiledSource &made = kernel->made;
    if (part < ILK_PART_TEXT || part > ILK_PART_META)
      return makeError(Code::badInput, fmt::format("expected one of the parts of a kernel, got {}", part));
    const std::string &found = part == ILK_PART_TEXT     ? made.image.text
                               : part == ILK_PART_BINARY ? made.image.binary
                                                         : made.meta;
    *bytes = found.data();
    *size = found.size();
    return {};
  });
}

ilk_status ilk_driver_load(ilk_driver *driver, uint32_t device, const ilk_kernel *kernel, ilk_loaded *loaded) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a driver, a kernel and a place for its number", driver, kernel, loaded));
    ILK_ASSIGN_OR_RETURN(KernelId id, driver->devices->load(device, kernel->made.image));
    *loaded = uint64_t(id);
    return {};
  });
}

ilk_status ilk_driver_unload(ilk_driver *driver, ilk_loaded loaded) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a driver", driver));
    return driver->devices->unload(KernelId(loaded));
  });
}

ilk_status ilk_driver_launch(ilk_driver *driver, ilk_stream stream, const ilk_kernel *kernel, ilk_loaded loaded,
                             const ilk_launch *launch) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a driver and a kernel", driver, kernel));
    ILK_ASSIGN_OR_RETURN(ilk_launch given, read("ilk_launch", launch));
    if (given.parameter_bytes)
      ILK_RETURN_IF_ERROR(require("the parameters of a kernel", given.parameters));
    const CompiledSource &made = kernel->made;
    LaunchConfig config;
    config.grid = given.grid ? given.grid : 1;
    config.block = given.block ? given.block : std::max(made.blockThreads, 1u);
    config.cluster = given.cluster ? given.cluster : made.cluster;
    config.dynamicSharedBytes = given.dynamic_shared_bytes;
    return driver->devices->launch(StreamId(stream), KernelId(loaded), config,
                                   {static_cast<const std::byte *>(given.parameters), given.parameter_bytes});
  });
}
}
