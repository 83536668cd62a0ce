// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/EntryFile.h"

#include "runtime/Cache/Key.h"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace interlock {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr ContainerKind entryKind{"ILKENTRY", 2};

/// What an entry calls its text and its binary: as the compiler does for the chip.
std::pair<const char *, const char *> partsFor(const KernelSpec &spec) {
  Result<TargetInfo> target = findTarget(spec.target);
  return target ? std::pair(target->textPart(), target->binaryPart()) : std::pair("text", "binary");
}

/// What every version promises, and nothing of what it means.
struct Stored {
  ContainerHead head;
  nlohmann::json manifest;
  std::map<std::string, std::string> parts;
};

Decoded<Stored> headAndManifest(std::string_view bytes) {
  auto head = decodeHead(entryKind, bytes);
  if (!head)
    return Refusal(head.error());
  auto manifest = decodeManifest(*head, bytes.substr(containerHeadSize));
  if (!manifest)
    return Refusal(manifest.error());
  // The digest is of the manifest, which therefore says it again; format 1 did not.
  const bool says = manifest->contains("format") && (*manifest)["format"].is_number_unsigned();
  if (uint64_t format = says ? (*manifest)["format"].get<uint64_t>() : 1; format != head->version)
    return Refusal(fmt::format("it has format {} in its head and {} in its manifest", head->version, format));
  return Stored{std::move(*head), std::move(*manifest), {}};
}

Decoded<Stored> takeApart(std::string_view bytes) {
  auto stored = headAndManifest(bytes);
  if (!stored)
    return stored;
  auto described = partsOf(stored->manifest);
  if (!described)
    return Refusal(described.error());
  std::string_view rest = bytes.substr(containerHeadSize + stored->head.manifestSize);
  for (const ContainerPart &part : *described) {
    std::string_view body = rest.substr(0, part.size);
    if (auto whole = checkPart(part, body); !whole)
      return Refusal(whole.error());
    stored->parts[part.name] = body;
    rest.remove_prefix(body.size());
  }
  if (!rest.empty())
    return Refusal("it goes on behind its last part");
  return stored;
}

/// Of an entry of this format, whose parts are as its manifest says.
Decoded<void> checkFields(const nlohmann::json &manifest) {
  std::vector<const char *> fields = {"identity", "key_version", "features", "spec"};
  if (manifest.contains("source"))
    fields = {"identity", "key_version", "features", "source", "target"};
  for (const char *field : fields)
    if (!manifest.contains(field) || !manifest[field].is_string())
      return Refusal("its manifest lacks a field");
  return {};
}

/// Fails if this library would have written something else of it.
Result<Artifact> understand(Stored stored, const KeyParts &key) {
  const nlohmann::json &manifest = stored.manifest;
  const bool fromSource = manifest.contains("source");
  KernelSpec spec;
  if (fromSource) {
    spec.target = manifest["target"];
  } else {
    ILK_ASSIGN_OR_RETURN(spec, parseSpec(key.form));
  }
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  const KeyParts ours = keyParts(fromSource ? key.form : canonicalForm(spec), target);
  if (key.form != ours.form || key.version != ours.version)
    return makeError(Code::badInput, "its spec is written otherwise");
  if (key.features != ours.features)
    return makeError(Code::badInput, fmt::format("{} has other features there", target.name));
  ILK_ASSIGN_OR_RETURN(Artifact artifact, makeArtifact(spec, std::move(stored.parts[target.textPart()]),
                                                       std::move(stored.parts[target.binaryPart()]),
                                                       manifest.value("meta", nlohmann::json()).dump()));
  if (fromSource)
    artifact.source = key.form;
  return artifact;
}

tl::unexpected<NoEntry> damaged(std::string why) { return tl::unexpected(NoEntry{std::move(why)}); }
tl::unexpected<NoEntry> ofOtherVersion(std::string why, std::string key = {}) {
  return tl::unexpected(NoEntry{std::move(why), true, std::move(key)});
}

} // namespace

std::string NoEntry::sentence() const {
  return fmt::format("{}: {}", otherVersion ? "it was written by another version of Interlock" : "it is damaged", why);
}

std::string encodeEntry(const Artifact &artifact, const std::string &identity) {
  auto [text, binary] = partsFor(artifact.spec);
  const Result<TargetInfo> target = findTarget(artifact.spec.target);
  const KeyParts key = keyParts(formOf(artifact), target ? *target : TargetInfo());
  nlohmann::json manifest = {{"format", entryKind.version},
                             {"key_version", key.version},
                             {"features", key.features},
                             {"identity", identity},
                             {"meta", artifact.meta},
                             {"parts", {describePart(text, artifact.text), describePart(binary, artifact.binary)}}};
  if (artifact.source.empty()) {
    manifest["spec"] = key.form;
  } else {
    manifest["source"] = key.form;
    manifest["target"] = artifact.spec.target;
  }
  return encodeManifest(entryKind, manifest) + artifact.text + artifact.binary;
}

std::string Entry::toolchain() const {
  return artifact.source.empty() ? std::string() : artifact.meta.value("toolchain", std::string());
}

tl::expected<nlohmann::json, NoEntry> manifestOf(std::string_view bytes) {
  auto stored = headAndManifest(bytes);
  if (!stored)
    return damaged(stored.error());
  if (auto ours = checkVersion(entryKind, stored->head); !ours)
    return ofOtherVersion(ours.error());
  return std::move(stored->manifest);
}

tl::expected<Entry, NoEntry> decodeEntry(std::string_view bytes) {
  auto stored = takeApart(bytes);
  if (!stored)
    return damaged(stored.error());
  if (auto ours = checkVersion(entryKind, stored->head); !ours)
    return ofOtherVersion(ours.error());
  const nlohmann::json &manifest = stored->manifest;
  if (auto complete = checkFields(manifest); !complete)
    return damaged(complete.error());
  const KeyParts parts{manifest["key_version"], manifest[manifest.contains("source") ? "source" : "spec"],
                       manifest["features"]};
  const std::string identity = manifest["identity"];
  const std::string key = cacheKey(parts, identity);
  auto artifact = understand(std::move(*stored), parts);
  if (!artifact)
    return ofOtherVersion(artifact.error().message, key);
  return Entry{std::move(*artifact), identity, key};
}

tl::expected<Entry, NoEntry> decodeEntry(std::string_view bytes, std::string_view name) {
  auto entry = decodeEntry(bytes);
  if (const std::string &key = entry ? entry->key : entry.error().key; !key.empty() && key != name)
    return damaged("its name is not the key of what is in it");
  return entry;
}

} // namespace interlock
