// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the opaque handles are: each shares what it was made of, so that they may go in any order.
#pragma once

#include "interlock/cache.hpp"
#include "interlock/device.hpp"
#include "interlock/interlock.h"
#include "interlock/operation.hpp"
#include "interlock/source.hpp"

#include <memory>

struct ilk_driver {
  std::shared_ptr<interlock::Driver> devices;    ///< what the caller works with
  std::shared_ptr<interlock::Driver> forLibrary; ///< the same, with the caller's allocator under it if there is one
};

struct ilk_cache {
  std::shared_ptr<interlock::KernelCache> kernels;
};

struct ilk_operation {
  std::shared_ptr<interlock::Driver> driver; ///< declared before the operation, so that it outlives it
  interlock::Operation operation;
};

struct ilk_routing {
  interlock::RoutingHandle handle;
};

struct ilk_kernel {
  interlock::CompiledSource made;
};

namespace interlock::capi {

/// The layer and the options that C structs describe, not yet validated.
Result<LayerSpec> layerOf(const ilk_layer &given);
Result<OperationOptions> optionsOf(const ilk_operation_options &given);
/// A group with the caller's bootstrap, or after meeting the others at a socket.
Result<ProcessGroup> groupOf(const ilk_group &given);

/// A text that the caller frees with ilk_text_free.
Status giveText(char **out, const std::string &text);

} // namespace interlock::capi
