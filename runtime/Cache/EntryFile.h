// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of one cache entry: a container (Container.h) whose manifest holds the spec (or a source's form and
// target), the compiler's identity and the meta part, and whose parts are the text and the binary.
#pragma once

#include "runtime/Cache/Artifact.h"
#include "runtime/Cache/Container.h"

#include <string>
#include <string_view>

namespace interlock {

std::string encodeEntry(const Artifact &artifact, const std::string &identity);

struct Entry {
  Artifact artifact;
  std::string identity; ///< of the compiler that made it

  /// The name that the entry should have. Fails if its target is none of this library's.
  Result<std::string> key() const;
  /// Name of the compiler that makes such entries, as DiskStore::readToolchain has it.
  std::string toolchain() const;
};

/// An entry whose every byte is accounted for.
Decoded<Entry> decodeEntry(std::string_view bytes);

/// The manifest alone; the bytes of the parts need not be there.
Decoded<nlohmann::json> manifestOf(std::string_view bytes);

} // namespace interlock
