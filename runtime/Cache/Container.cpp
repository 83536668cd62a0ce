// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/Container.h"

#include "runtime/Cache/Digest.h"

#include <fmt/format.h>

namespace interlock {
namespace {

using Refusal = tl::unexpected<std::string>;

void putInteger(std::string &bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i)
    bytes += static_cast<char>(value >> (8 * i));
}

uint64_t getInteger(std::string_view bytes, size_t at, int size) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i)
    value |= uint64_t(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

} // namespace

nlohmann::json describePart(std::string_view name, std::string_view bytes) {
  return {{"name", name}, {"size", bytes.size()}, {"sha256", digestOf(bytes)}};
}

std::string encodeManifest(const ContainerKind &kind, const nlohmann::json &manifest) {
  // Names and messages may hold bytes that are no UTF-8; replacing them beats throwing.
  std::string text = manifest.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string bytes(kind.magic);
  putInteger(bytes, kind.version, 4);
  putInteger(bytes, text.size(), 8);
  return bytes + digestOf(text) + text;
}

Decoded<ContainerHead> decodeHead(const ContainerKind &kind, std::string_view bytes) {
  if (bytes.size() < containerHeadSize || bytes.substr(0, kind.magic.size()) != kind.magic)
    return Refusal("it does not begin as it should");
  return ContainerHead{static_cast<uint32_t>(getInteger(bytes, 8, 4)), getInteger(bytes, 12, 8),
                       std::string(bytes.substr(20, 64))};
}

Decoded<void> checkVersion(const ContainerKind &kind, const ContainerHead &head) {
  if (head.version != kind.version)
    return Refusal(fmt::format("it has format {} and not {}", head.version, kind.version));
  return {};
}

Decoded<nlohmann::json> decodeManifest(const ContainerHead &head, std::string_view bytes) {
  if (bytes.size() < head.manifestSize)
    return Refusal("it ends within its manifest");
  bytes = bytes.substr(0, head.manifestSize);
  if (digestOf(bytes) != head.manifestDigest)
    return Refusal("the digest of its manifest differs");
  nlohmann::json manifest = nlohmann::json::parse(bytes, nullptr, false);
  if (!manifest.is_object())
    return Refusal("its manifest is not a JSON object");
  return manifest;
}

Decoded<std::vector<ContainerPart>> partsOf(const nlohmann::json &manifest) {
  if (!manifest.contains("parts") || !manifest["parts"].is_array())
    return Refusal("its manifest lists no parts");
  std::vector<ContainerPart> parts;
  for (const nlohmann::json &part : manifest["parts"]) {
    if (!part.is_object() || !part.contains("name") || !part["name"].is_string() || !part.contains("size") ||
        !part["size"].is_number_unsigned() || !part.contains("sha256") || !part["sha256"].is_string())
      return Refusal("its manifest describes a part badly");
    parts.push_back({part["name"], part["size"], part["sha256"]});
  }
  return parts;
}

Decoded<void> checkPart(const ContainerPart &part, std::string_view bytes) {
  if (bytes.size() != part.size)
    return Refusal(fmt::format("it ends within its part {}", part.name));
  if (digestOf(bytes) != part.digest)
    return Refusal(fmt::format("the digest of its part {} differs", part.name));
  return {};
}

} // namespace interlock
