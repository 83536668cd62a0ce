// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/Key.h"

#include "runtime/Cache/Digest.h"

#include <fmt/format.h>

namespace interlock {
namespace {

/// So that a change of what an entry means is another key.
constexpr const char *keyVersion = "interlock-key-3";

std::string featuresOf(const TargetInfo &t) {
  return fmt::format("{} {} cc={} warp={} ptx={} clusters={} async={} restricted={} shared={} remote={} features={} "
                     "object={} f8={}",
                     t.vendor, t.name, t.computeCapability, t.warpWidth, t.minPtxIsa, t.clusters, t.asyncBarrier,
                     t.restrictedFence, t.maxSharedBytes, t.remoteShared, t.features, t.codeObject, name(t.f8));
}

} // namespace

std::string cacheKey(const KernelSpec &spec, const TargetInfo &target, const std::string &identity) {
  return cacheKey(canonicalForm(spec), target, identity);
}

std::string cacheKey(const std::string &form, const TargetInfo &target, const std::string &identity) {
  return cacheKey(keyParts(form, target), identity);
}

KeyParts keyParts(const std::string &form, const TargetInfo &target) { return {keyVersion, form, featuresOf(target)}; }

std::string cacheKey(const KeyParts &parts, const std::string &identity) {
  const std::string fields[] = {parts.version, parts.form, parts.features, identity};
  return digestOfFields(fields);
}

bool isKey(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace interlock
