// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of one cache entry: a container (Container.h) whose manifest holds the spec (or a source's form and
// target), the compiler's identity, what else its name is made of, and the meta part, and whose parts are the text and
// the binary.
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
  std::string key;      ///< the name that it should have

  /// Name of the compiler that makes such entries, as DiskStore::readToolchain has it.
  std::string toolchain() const;
};

/// Why bytes are no entry.
struct NoEntry {
  std::string why;
  /// They are a whole entry, of another version of this library, which wrote or knew something else than this one.
  bool otherVersion = false;
  std::string key = {}; ///< the name that such an entry should have; empty if that is not known

  /// "it is damaged: …" or "it was written by another version of Interlock: …".
  std::string sentence() const;
};

/// An entry whose every byte is accounted for.
tl::expected<Entry, NoEntry> decodeEntry(std::string_view bytes);
/// The same, under a name, which has to be the key.
tl::expected<Entry, NoEntry> decodeEntry(std::string_view bytes, std::string_view name);

/// The manifest alone; the bytes of the parts need not be there.
tl::expected<nlohmann::json, NoEntry> manifestOf(std::string_view bytes);

} // namespace interlock
