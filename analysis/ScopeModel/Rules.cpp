// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The rule table, and the examples by the names of their files.
#include "analysis/ScopeModel/Rules.h"

#include "analysis/ScopeModel/Examples.h"

#include <algorithm>

namespace interlock::scope {
namespace {

constexpr Rule table[] = {
#define ROW(id, language, severity, title, section, explanation, strict)                                               \
  {id, Language::language, Severity::severity, title, section, explanation, strict},
#define RULE(id, severity, title, section, explanation) ROW(id, ptx, severity, title, section, explanation, false)
#define VERIFIER_RULE(id, severity, title, section, explanation)                                                       \
  ROW(id, ptx, severity, title, section, explanation, true)
#include "analysis/ScopeModel/RuleTable.inc"
#undef VERIFIER_RULE
#undef RULE
#define RULE(id, severity, title, section, explanation) ROW(id, amdgcn, severity, title, section, explanation, false)
#include "analysis/ScopeModel/RuleTableAMDGCN.inc"
#undef RULE
#undef ROW
};

std::string_view example(std::string_view id, std::string_view kind) {
  for (const EmbeddedFile &file : embedded())
    if (file.name.substr(0, 4) == id && file.name.substr(4) == kind)
      return file.text;
  return {};
}

} // namespace

std::string_view documentOf(Language language) {
  return language == Language::ptx ? "PTX ISA" : "LLVM, User Guide for AMDGPU Backend";
}

std::string_view Rule::flagged() const { return example(id, language == Language::ptx ? ".flag.ptx" : ".flag.s"); }
std::string_view Rule::clean() const { return example(id, language == Language::ptx ? ".clean.ptx" : ".clean.s"); }
std::string_view Rule::flaggedMlir() const { return example(id, ".flag.mlir"); }
std::string_view Rule::cleanMlir() const { return example(id, ".clean.mlir"); }

std::span<const Rule> rules() { return table; }

std::span<const Rule> rules(Language language) {
  std::span<const Rule> all = rules();
  auto begin = std::find_if(all.begin(), all.end(), [&](const Rule &r) { return r.language == language; });
  auto end = std::find_if(begin, all.end(), [&](const Rule &r) { return r.language != language; });
  return {begin, end};
}

const Rule *findRule(std::string_view id) {
  for (const Rule &rule : rules())
    if (rule.id == id)
      return &rule;
  return nullptr;
}

} // namespace interlock::scope
