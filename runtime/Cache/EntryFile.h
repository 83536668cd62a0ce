// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of one cache entry: magic and version, a manifest behind its size and digest, and the parts that the
// manifest lists with theirs.
#pragma once

#include "runtime/Cache/Artifact.h"

#include <string>
#include <string_view>

namespace interlock {

std::string encodeEntry(const Artifact &artifact, const std::string &identity);

/// The artefact of an entry whose every byte is accounted for; else why it is not, in words that fit behind
/// "the entry is damaged: ".
tl::expected<Artifact, std::string> decodeEntry(std::string_view bytes);

/// The manifest of an entry: spec, identity, meta, and the parts' names, sizes and digests.
tl::expected<nlohmann::json, std::string> manifestOf(std::string_view bytes);

} // namespace interlock
