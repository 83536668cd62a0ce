// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The name of a kernel: the digest of everything that decides its bytes, and of nothing else.
#pragma once

#include "interlock/spec.hpp"

#include <string>

namespace interlock {

/// SHA-256 of the meaning of an entry, the canonical spec, the target with all its features and the compiler's identity
/// (its own digest, templates, LLVM, assembler: CompilerPlugin.h), each behind its length. No path, time or environment
/// is in it, so that the same inputs have the same key everywhere.
std::string cacheKey(const KernelSpec &spec, const TargetInfo &target, const std::string &identity);
/// The same of whatever has a canonical form. A spec's form begins otherwise than a source's, so they cannot meet.
std::string cacheKey(const std::string &form, const TargetInfo &target, const std::string &identity);

/// What a key is made of beside the identity and what has the form. An entry holds them, so that its name can be
/// checked whoever wrote it.
struct KeyParts {
  std::string version, form, features;
};
KeyParts keyParts(const std::string &form, const TargetInfo &target);
std::string cacheKey(const KeyParts &parts, const std::string &identity);

/// Whether a text could be a key: 64 lower-case hexadecimal digits. What is not is never made part of a path.
bool isKey(std::string_view text);

} // namespace interlock
