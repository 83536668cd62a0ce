// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a cache entry and an archive of entries have in common: a head, a manifest behind it, and the parts that the
// manifest lists, one after another.
//
//   8 bytes   magic: ILKENTRY or ILKARCHV
//   4 bytes   format version, little endian
//   8 bytes   size of the manifest, little endian
//   64 bytes  SHA-256 of the manifest, hexadecimal
//   manifest  a JSON object; its `parts` are objects of `name`, `size` and `sha256`
//   parts     as many bytes as the manifest says, and nothing behind them
//
// Every version keeps to this, so that damage can be told from what another version wrote; what differs is what a
// manifest says.
#pragma once

#include "interlock/status.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace interlock {

/// A file format of this shape.
struct ContainerKind {
  std::string_view magic; ///< 8 bytes
  uint32_t version;
};

constexpr size_t containerHeadSize = 8 + 4 + 8 + 64;

/// A value, or why the bytes are not such a container, in words that fit behind "it is damaged: ".
template <typename T> using Decoded = tl::expected<T, std::string>;

struct ContainerHead {
  uint32_t version = 0;
  uint64_t manifestSize = 0;
  std::string manifestDigest;
};

struct ContainerPart {
  std::string name;
  uint64_t size = 0;
  std::string digest;
};

/// What the manifest says of a part with these bytes.
nlohmann::json describePart(std::string_view name, std::string_view bytes);
/// The head and the manifest: what stands before the parts.
std::string encodeManifest(const ContainerKind &kind, const nlohmann::json &manifest);

/// Reads the first containerHeadSize bytes, of whatever version.
Decoded<ContainerHead> decodeHead(const ContainerKind &kind, std::string_view bytes);
/// Refuses what another version wrote.
Decoded<void> checkVersion(const ContainerKind &kind, const ContainerHead &head);
/// The manifest, if these are the bytes that the head speaks of.
Decoded<nlohmann::json> decodeManifest(const ContainerHead &head, std::string_view bytes);
/// The manifest's list of parts, in the order of their bytes.
Decoded<std::vector<ContainerPart>> partsOf(const nlohmann::json &manifest);
/// Refuses bytes that are not the part's.
Decoded<void> checkPart(const ContainerPart &part, std::string_view bytes);

} // namespace interlock
