// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Joins the rule table with its examples.
#include "analysis/ScopeModel/Rules.h"

#include "analysis/ScopeModel/Examples.h"

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

std::span<const Rule> rules() {
  static const std::vector<Rule> table = [] {
    std::vector<Rule> all{
#define RULE(id, severity, title, section, explanation) {id, Severity::severity, title, section, explanation, {}, {}},
#include "analysis/ScopeModel/RuleTable.inc"
#undef RULE
    };
    for (Rule &rule : all) {
      rule.flagged = example(rule.id, ".flag.ptx");
      rule.clean = example(rule.id, ".clean.ptx");
    }
    return all;
  }();
  return table;
}

const Rule *findRule(std::string_view id) {
  for (const Rule &rule : rules())
    if (rule.id == id)
      return &rule;
  return nullptr;
}

} // namespace interlock::scope
