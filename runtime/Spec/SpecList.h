// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Lists of kernels as text: canonical forms with an empty line between them. Lines that begin with # are comments.
#pragma once

#include "interlock/spec.hpp"

#include <span>

namespace interlock {

std::string formatSpecList(std::span<const KernelSpec> kernels);
/// The inverse; each kernel is validated too. The message says which one is wrong.
[[nodiscard]] Result<std::vector<KernelSpec>> parseSpecList(std::string_view text);

} // namespace interlock
