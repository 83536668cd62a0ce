// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/Artifact.h"

namespace interlock {

std::string formOf(const Artifact &artifact) {
  return artifact.source.empty() ? canonicalForm(artifact.spec) : artifact.source;
}

Result<Artifact> makeArtifact(const KernelSpec &spec, std::string text, std::string binary, const std::string &meta) {
  Artifact artifact{spec, {}, std::move(text), std::move(binary), nlohmann::json::parse(meta, nullptr, false), {}};
  const nlohmann::json &json = artifact.meta;
  auto has = [&](const char *field, bool (nlohmann::json::*isType)() const noexcept) {
    return json.contains(field) && (json[field].*isType)();
  };
  auto hasCount = [&](const char *field) {
    return has(field, &nlohmann::json::is_number_unsigned) && json[field].get<uint64_t>() <= UINT32_MAX;
  };
  Result<TargetInfo> target = findTarget(spec.target);
  bool amd = target && target->isAMD();
  bool complete = json.is_object() && has("entry", &nlohmann::json::is_string) &&
                  (amd || has("ptx_isa", &nlohmann::json::is_string)) && hasCount("block_threads") &&
                  hasCount("cluster") && hasCount("shared_bytes") && has("cooperative", &nlohmann::json::is_boolean);
  if (!complete || artifact.text.empty())
    return makeError(Code::internal,
                     "expected the compiler to state a kernel's text and launch facts, got an incomplete "
                     "answer: a compiler of this version would do");
  LaunchFacts &facts = artifact.facts;
  facts.entry = json["entry"];
  facts.ptxIsa = amd ? "" : json["ptx_isa"].get<std::string>();
  facts.blockThreads = json["block_threads"];
  facts.cluster = json["cluster"];
  facts.sharedBytes = json["shared_bytes"];
  facts.cooperative = json["cooperative"];
  // Not derived where the kernel was not made of a template; then its maker's word is all that there is.
  facts.launchMode = facts.cooperative ? LaunchMode::cooperative : LaunchMode::any;
  if (has("launch_mode", &nlohmann::json::is_string)) {
    ILK_ASSIGN_OR_RETURN(facts.launchMode, parseLaunchMode(json["launch_mode"].get<std::string>()));
  }
  return artifact;
}

} // namespace interlock
