// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/EntryFile.h"

#include "runtime/Cache/Key.h"

#include <map>

namespace interlock {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr ContainerKind entryKind{"ILKENTRY", 1};

/// What an entry calls its text and its binary: as the compiler does for the chip.
std::pair<const char *, const char *> partsFor(const KernelSpec &spec) {
  Result<TargetInfo> target = findTarget(spec.target);
  return target ? std::pair(target->textPart(), target->binaryPart()) : std::pair("text", "binary");
}

} // namespace

std::string encodeEntry(const Artifact &artifact, const std::string &identity) {
  auto [text, binary] = partsFor(artifact.spec);
  nlohmann::json manifest = {{"spec", canonicalForm(artifact.spec)},
                             {"identity", identity},
                             {"meta", artifact.meta},
                             {"parts", {describePart(text, artifact.text), describePart(binary, artifact.binary)}}};
  return encodeManifest(entryKind, manifest) + artifact.text + artifact.binary;
}

Result<std::string> Entry::key() const {
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(artifact.spec.target));
  return cacheKey(artifact.spec, target, identity);
}

Decoded<nlohmann::json> manifestOf(std::string_view bytes) {
  auto head = decodeHead(entryKind, bytes);
  if (!head)
    return Refusal(head.error());
  return decodeManifest(*head, bytes.substr(containerHeadSize));
}

Decoded<Entry> decodeEntry(std::string_view bytes) {
  auto head = decodeHead(entryKind, bytes);
  if (!head)
    return Refusal(head.error());
  auto manifest = decodeManifest(*head, bytes.substr(containerHeadSize));
  if (!manifest)
    return Refusal(manifest.error());
  for (const char *field : {"spec", "identity"})
    if (!manifest->contains(field) || !(*manifest)[field].is_string())
      return Refusal("its manifest lacks a field");
  auto described = partsOf(*manifest);
  if (!described)
    return Refusal(described.error());
  std::map<std::string, std::string> parts;
  std::string_view rest = bytes.substr(containerHeadSize + head->manifestSize);
  for (const ContainerPart &part : *described) {
    std::string_view body = rest.substr(0, part.size);
    if (auto whole = checkPart(part, body); !whole)
      return Refusal(whole.error());
    parts[part.name] = body;
    rest.remove_prefix(body.size());
  }
  if (!rest.empty())
    return Refusal("it goes on behind its last part");
  auto spec = parseSpec((*manifest)["spec"].get_ref<const std::string &>());
  if (!spec)
    return Refusal(spec.error().message);
  auto [text, binary] = partsFor(*spec);
  auto artifact = makeArtifact(*spec, std::move(parts[text]), std::move(parts[binary]),
                               manifest->value("meta", nlohmann::json()).dump());
  if (!artifact)
    return Refusal(artifact.error().message);
  return Entry{std::move(*artifact), (*manifest)["identity"]};
}

} // namespace interlock
