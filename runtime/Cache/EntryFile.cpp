// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/EntryFile.h"

#include "runtime/Cache/Digest.h"

#include <fmt/format.h>

#include <map>

namespace interlock {
namespace {

constexpr std::string_view magic = "ILKENTRY";
constexpr uint32_t formatVersion = 1;
constexpr size_t digestSize = 64;
/// magic, version, manifest size, manifest digest
constexpr size_t headerSize = magic.size() + 4 + 8 + digestSize;

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

struct Opened {
  nlohmann::json manifest;
  std::string_view parts;
};

tl::expected<Opened, std::string> open(std::string_view bytes) {
  using Refusal = tl::unexpected<std::string>;
  if (bytes.size() < headerSize || bytes.substr(0, magic.size()) != magic)
    return Refusal("it does not begin as an entry does");
  uint64_t version = getInteger(bytes, magic.size(), 4);
  if (version != formatVersion)
    return Refusal(fmt::format("it has format {} and not {}", version, formatVersion));
  uint64_t size = getInteger(bytes, magic.size() + 4, 8);
  std::string_view digest = bytes.substr(magic.size() + 12, digestSize), rest = bytes.substr(headerSize);
  if (size > rest.size())
    return Refusal("it ends within its manifest");
  std::string_view text = rest.substr(0, size);
  if (digestOf(text) != digest)
    return Refusal("the digest of its manifest differs");
  Opened opened{nlohmann::json::parse(text, nullptr, false), rest.substr(size)};
  if (!opened.manifest.is_object())
    return Refusal("its manifest is not a JSON object");
  return opened;
}

} // namespace

std::string encodeEntry(const Artifact &artifact, const std::string &identity) {
  nlohmann::json manifest = {{"spec", canonicalForm(artifact.spec)}, {"identity", identity}, {"meta", artifact.meta}};
  nlohmann::json &parts = manifest["parts"] = nlohmann::json::array();
  std::string payload;
  auto add = [&](const char *name, const std::string &bytes) {
    parts.push_back({{"name", name}, {"size", bytes.size()}, {"sha256", digestOf(bytes)}});
    payload += bytes;
  };
  add("ptx", artifact.text);
  add("cubin", artifact.binary);
  std::string text = manifest.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string bytes(magic);
  putInteger(bytes, formatVersion, 4);
  putInteger(bytes, text.size(), 8);
  return bytes + digestOf(text) + text + payload;
}

tl::expected<nlohmann::json, std::string> manifestOf(std::string_view bytes) {
  auto opened = open(bytes);
  if (!opened)
    return tl::unexpected(opened.error());
  return std::move(opened->manifest);
}

tl::expected<Artifact, std::string> decodeEntry(std::string_view bytes) {
  using Refusal = tl::unexpected<std::string>;
  auto opened = open(bytes);
  if (!opened)
    return Refusal(opened.error());
  const nlohmann::json &manifest = opened->manifest;
  if (!manifest.contains("spec") || !manifest["spec"].is_string() || !manifest.contains("meta") ||
      !manifest.contains("parts") || !manifest["parts"].is_array())
    return Refusal("its manifest lacks a field");
  std::map<std::string, std::string> parts;
  std::string_view rest = opened->parts;
  for (const nlohmann::json &part : manifest["parts"]) {
    if (!part.is_object() || !part.contains("name") || !part["name"].is_string() || !part.contains("size") ||
        !part["size"].is_number_unsigned() || !part.contains("sha256") || !part["sha256"].is_string())
      return Refusal("its manifest describes a part badly");
    std::string name = part["name"];
    size_t size = part["size"];
    if (size > rest.size())
      return Refusal(fmt::format("it ends within its part {}", name));
    std::string_view body = rest.substr(0, size);
    if (digestOf(body) != part["sha256"].get_ref<const std::string &>())
      return Refusal(fmt::format("the digest of its part {} differs", name));
    parts[name] = body;
    rest.remove_prefix(size);
  }
  if (!rest.empty())
    return Refusal("it goes on behind its last part");
  auto spec = parseSpec(manifest["spec"].get_ref<const std::string &>());
  if (!spec)
    return Refusal(spec.error().message);
  auto artifact = makeArtifact(*spec, std::move(parts["ptx"]), std::move(parts["cubin"]), manifest["meta"].dump());
  if (!artifact)
    return Refusal(artifact.error().message);
  return std::move(*artifact);
}

} // namespace interlock
