// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Joins the rule table with its examples.
#include "analysis/ScopeModel/Rules.h"

#include "analysis/ScopeModel/Examples.h"

#include <algorithm>
#include <string>
#include <vector>

namespace interlock::scope {
namespace {

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

std::span<const Rule> rules() {
  static const std::vector<Rule> table = [] {
    std::vector<Rule> all{
#define ROW(id, language, severity, title, section, explanation, strict)                                               \
  {id, Language::language, Severity::severity, title, section, explanation, {}, {}, strict, {}, {}},
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
    for (Rule &rule : all) {
      bool ptx = rule.language == Language::ptx;
      rule.flagged = example(rule.id, ptx ? ".flag.ptx" : ".flag.s");
      rule.clean = example(rule.id, ptx ? ".clean.ptx" : ".clean.s");
      rule.flaggedMlir = example(rule.id, ".flag.mlir");
      rule.cleanMlir = example(rule.id, ".clean.mlir");
    }
    return all;
  }();
  return table;
}

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
