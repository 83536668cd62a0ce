// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/EntryFile.h"

#include "runtime/Cache/Key.h"

#include <map>
#include <vector>

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
  nlohmann::json manifest = {{"identity", identity},
                             {"meta", artifact.meta},
                             {"parts", {describePart(text, artifact.text), describePart(binary, artifact.binary)}}};
  if (artifact.source.empty()) {
    manifest["spec"] = canonicalForm(artifact.spec);
  } else {
    manifest["source"] = artifact.source;
    manifest["target"] = artifact.spec.target;
  }
  return encodeManifest(entryKind, manifest) + artifact.text + artifact.binary;
}

Result<std::string> Entry::key() const {
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(artifact.spec.target));
  return cacheKey(formOf(artifact), target, identity);
}

std::string Entry::toolchain() const {
  return artifact.source.empty() ? std::string() : artifact.meta.value("toolchain", std::string());
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
  const bool fromSource = manifest->contains("source");
  std::vector<const char *> fields = {"identity", "spec"};
  if (fromSource)
    fields = {"identity", "source", "target"};
  for (const char *field : fields)
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
  KernelSpec spec;
  if (fromSource) {
    spec.target = (*manifest)["target"];
  } else if (auto parsed = parseSpec((*manifest)["spec"].get_ref<const std::string &>())) {
    spec = std::move(*parsed);
  } else {
    return Refusal(parsed.error().message);
  }
  auto [text, binary] = partsFor(spec);
  auto artifact = makeArtifact(spec, std::move(parts[text]), std::move(parts[binary]),
                               manifest->value("meta", nlohmann::json()).dump());
  if (!artifact)
    return Refusal(artifact.error().message);
  if (fromSource)
    artifact->source = (*manifest)["source"];
  return Entry{std::move(*artifact), (*manifest)["identity"]};
}

} // namespace interlock
