// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Pages of rules.
#include "analysis/Lint/Explain.h"

#include <fmt/format.h>

namespace interlock::lint {
namespace {

/// The text as an indented block, which needs no fence that the text itself could close.
std::string block(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    out += line.empty() ? "\n" : fmt::format("    {}\n", line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

} // namespace

std::string rulePage(const scope::Rule &rule) {
  std::string page = fmt::format("# {}: {}\n\n{} · {}, \"{}\"\n\n{}\n\n", rule.id, rule.title, name(rule.severity),
                                 scope::documentOf(rule.language), rule.section, rule.explanation);
  if (rule.strict)
    page += "`sync-verify-scopes` judges by it always, `scope-lint` with `--strict`.\n\n";
  page += fmt::format("## Flagged\n\n{}\n## Not flagged\n\n{}", block(rule.flagged()), block(rule.clean()));
  if (!rule.flaggedMlir().empty())
    page += fmt::format("\n## In the dialects, flagged\n\n{}\n## In the dialects, not flagged\n\n{}",
                        block(rule.flaggedMlir()), block(rule.cleanMlir()));
  return page;
}

} // namespace interlock::lint
