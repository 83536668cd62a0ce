// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interlock/source.hpp"

#include <string>

namespace interlock {

/// Refuses what the compiler should not be asked: a kernel without a name, texts that end early, names that are paths,
/// options that read files or name another chip, two headers of one name.
Status validate(const SourceKernel &kernel);

/// The canonical form: one JSON object with everything that decides what the kernel becomes, long texts by their
/// digest. Two kernels have the same form only if they are the same.
std::string canonicalForm(const SourceKernel &kernel);

/// The language that a target's compiler reads: "cuda" or "hip".
std::string languageOf(const SourceKernel &kernel);

/// "kernel `add` of add.cu".
std::string nameOf(const SourceKernel &kernel);

} // namespace interlock
