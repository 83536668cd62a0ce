// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The rule table: the one place that knows what rules there are. docs/rules/ has a page a rule, made from it.
#pragma once

#include "analysis/ScopeModel/Finding.h"

#include <span>

namespace interlock::scope {

/// What a rule judges.
enum class Language : uint8_t { ptx, amdgcn };
/// The document whose sections a language's rules name: "PTX ISA".
std::string_view documentOf(Language language);

/// One rule of the judgement of PTX and the dialects (SLnn) or of AMDGCN (AMnn).
struct Rule {
  std::string_view id; ///< "SL01"
  Language language;
  Severity severity;            ///< of the plain case; a finding may be graver or milder and then says why
  std::string_view title;       ///< "release too narrow"
  std::string_view section;     ///< title of the section of the document that demands it
  std::string_view explanation; ///< some sentences: what is ordered by what, and why the flagged form is not
  bool strict = false;          ///< of a foreign text it is judged on demand only (Program::strict)

  /// A whole text that this rule flags.
  std::string_view flagged() const;
  /// Its nearest twin that is right.
  std::string_view clean() const;
  /// The same in the dialects, where the text cannot show it; or empty.
  std::string_view flaggedMlir() const;
  std::string_view cleanMlir() const;
};

/// All rules: those of PTX by id, then those of AMDGCN.
std::span<const Rule> rules();
/// Those of one language.
std::span<const Rule> rules(Language language);
/// The rule of that id, or null.
const Rule *findRule(std::string_view id);

} // namespace interlock::scope
