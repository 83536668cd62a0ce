// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cache/OtherVersions.h"

#include "runtime/Cache/Container.h"
#include "runtime/Cache/Digest.h"

namespace interlock::test {
namespace {

nlohmann::json manifestIn(const std::string &entry) {
  auto head = decodeHead({"ILKENTRY", 0}, entry);
  return nlohmann::json::parse(entry.substr(containerHeadSize, head->manifestSize));
}

} // namespace

std::string rewritten(const std::string &entry, uint32_t format, const std::function<void(nlohmann::json &)> &change) {
  nlohmann::json manifest = manifestIn(entry);
  change(manifest);
  const std::string parts = entry.substr(containerHeadSize + decodeHead({"ILKENTRY", 0}, entry)->manifestSize);
  return encodeManifest({"ILKENTRY", format}, manifest) + parts;
}

std::string inFormat1(const std::string &entry) {
  return rewritten(entry, 1, [](nlohmann::json &manifest) {
    for (const char *later : {"format", "key_version", "features"})
      manifest.erase(later);
  });
}

std::string withAnotherField(const std::string &entry) {
  return rewritten(entry, manifestIn(entry)["format"], [](nlohmann::json &manifest) {
    manifest["spec"] = manifest["spec"].get<std::string>() + "another=1\n";
  });
}

std::string withAnotherFeature(const std::string &entry) {
  return rewritten(entry, manifestIn(entry)["format"], [](nlohmann::json &manifest) {
    manifest["features"] = manifest["features"].get<std::string>() + " another=1";
  });
}

std::string nameOf(const std::string &entry) {
  const nlohmann::json manifest = manifestIn(entry);
  if (manifest.value("format", 1) != 2)
    return digestOf(entry);
  const std::string fields[] = {manifest["key_version"], manifest["spec"], manifest["features"], manifest["identity"]};
  return digestOfFields(fields);
}

} // namespace interlock::test
