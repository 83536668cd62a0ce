// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/EntryView.h"

#include "runtime/tools/InspectPtx.h"
#include "runtime/tools/LaunchView.h"

#include <fmt/format.h>

namespace interlock::tool {

nlohmann::json asJson(const CachedEntry &entry) {
  if (entry.source.is_object())
    return {{"key", entry.key},
            {"kernel", entry.source.value("entry", std::string())},
            {"target", entry.spec.target},
            {"bytes", entry.bytes},
            {"source", entry.source}};
  return {{"key", entry.key},
          {"kernel", name(entry.spec.kernel)},
          {"target", entry.spec.target},
          {"bytes", entry.bytes},
          {"spec", canonicalForm(entry.spec)}};
}

void listEntries(const Context &context, const CacheListing &listing) {
  if (context.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const CachedEntry &entry : listing.entries)
      list.push_back(asJson(entry));
    nlohmann::json unlisted = nlohmann::json::array();
    for (const UnlistedFile &file : listing.unlisted)
      unlisted.push_back({{"key", file.key}, {"problem", file.why}});
    return print({{"directory", cacheState(context).directory}, {"entries", list}, {"unlisted", unlisted}});
  }
  std::vector<std::vector<std::string>> rows;
  for (const CachedEntry &entry : listing.entries) {
    if (entry.source.is_object()) {
      rows.push_back({entry.key.substr(0, 16), entry.source.value("entry", std::string()), entry.spec.target, "-", "-",
                      "-", "-", "-", "-", std::to_string(entry.bytes)});
      continue;
    }
    const LayerSpec &layer = entry.spec.layer;
    rows.push_back({entry.key.substr(0, 16), std::string(name(entry.spec.kernel)), entry.spec.target,
                    std::to_string(layer.ranks), std::to_string(layer.experts), std::to_string(layer.topk),
                    std::to_string(layer.hidden), std::string(name(layer.dtype)), std::to_string(layer.maxTokens),
                    std::to_string(entry.bytes)});
  }
  printTable({"entry", "kernel", "target", "ranks", "experts", "top-k", "hidden", "dtype", "tokens", "bytes"}, rows);
  if (!listing.unlisted.empty())
    fmt::print("{} more are another version's or damaged: `interlock cache verify` tells which\n",
               listing.unlisted.size());
}

Status showEntry(const Context &context, const CachedEntry &entry) {
  ILK_ASSIGN_OR_RETURN(Artifact artifact, readEntry(entry.path));
  return showArtifact(context, entry, artifact);
}

Status showArtifact(const Context &context, const CachedEntry &entry, const Artifact &artifact) {
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(artifact.spec.target));
  // A kernel from source has the arguments that its author gave it.
  bool ours = artifact.source.empty();
  nlohmann::json launch = ours ? launchView(artifact) : nlohmann::json(), ptx;
  if (!target.isAMD()) {
    ILK_ASSIGN_OR_RETURN(ptx, describePtx(artifact.text, entry.key.substr(0, 16) + ".ptx"));
  }
  if (context.json) {
    nlohmann::json object = asJson(entry);
    object["parts"] = {{target.textPart(), artifact.text.size()}, {target.binaryPart(), artifact.binary.size()}};
    object["meta"] = artifact.meta;
    if (ours)
      object["launch"] = launch;
    if (!target.isAMD())
      object["ptx"] = ptx;
    print(object);
    return {};
  }
  fmt::print("{}\n{}", entry.key, entry.source.is_object() ? entry.source.dump(2) + "\n" : canonicalForm(entry.spec));
  fmt::print("{}", launchModeText(artifact));
  fmt::print("{} {} bytes, {} {} bytes\n", target.textPart(), artifact.text.size(), target.binaryPart(),
             artifact.binary.size());
  fmt::print("meta {}\n", artifact.meta.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  if (ours)
    fmt::print("{}", launchText(launch));
  if (!target.isAMD())
    fmt::print("{}", asText(ptx));
  return {};
}

Result<const CachedEntry *> findEntry(const CacheListing &listing, const std::string &what) {
  auto isMeant = [&](const auto &file) { return file.path == what || file.key.substr(0, what.size()) == what; };
  const CachedEntry *match = nullptr;
  for (const CachedEntry &entry : listing.entries) {
    if (!isMeant(entry))
      continue;
    if (match)
      return makeError(Code::badInput,
                       fmt::format("expected the start of one entry's name, got '{}' of several", what));
    match = &entry;
  }
  if (match)
    return match;
  for (const UnlistedFile &file : listing.unlisted)
    if (isMeant(file))
      return makeError(Code::badInput, fmt::format("expected an entry of use at {}, but {}", file.path, file.why));
  return match;
}

} // namespace interlock::tool
