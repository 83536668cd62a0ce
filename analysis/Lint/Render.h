// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A lint's results for people and for programs: text, JSON, SARIF. A renderer is told of one input after the other and
// keeps nothing of an input's text.
#pragma once

#include "analysis/Lint/Lint.h"
#include "analysis/ScopeModel/Rules.h"

#include <iosfwd>
#include <memory>

namespace interlock::lint {

/// The newest PTX ISA that the reader and the rules know, as Module::version.
inline constexpr uint32_t newestKnownIsa = 94;

/// An input that was judged.
struct Judged {
  std::string input;     ///< as it was named
  std::string_view text; ///< the PTX or the AMDGCN assembly
  uint32_t isa = 0;      ///< of PTX: its `.version`, as Module::version
  std::vector<std::string> targets;
  std::map<std::string, uint32_t> unknownDirectives; ///< as Module::unknownDirectives
  Report report;
  scope::Language language = scope::Language::ptx;
};

/// An input that could not be.
struct Unusable {
  std::string input;
  Origin at;           ///< line 0: the input as a whole
  std::string message; ///< one lower-case sentence
  /// `file:line:column: message`, or without line and column.
  std::string str() const;
};

struct Summary {
  uint32_t errors = 0, warnings = 0, notes = 0, waived = 0, unusable = 0;
  scope::Severity failOn = scope::Severity::warning;
  std::vector<Waiver> unusedWaivers; ///< of the contract file: they covered no finding of any input

  void count(const Report &report);
  /// 2 if an input was unusable, else 1 if there is a finding at or over failOn, else 0. An unused waiver is a warning.
  int exitCode() const;
};

class Renderer {
public:
  virtual ~Renderer() = default;
  virtual void judged(const Judged &input) = 0;
  virtual void unusable(const Unusable &input) = 0;
  /// Called once, last.
  virtual void finish(const Summary &summary) = 0;
};

/// `file:line:column: error: message [SL01]`, the line with a caret, related places, the fix, the section
/// that demands it. Unusable inputs and the summary are the caller's to print.
std::unique_ptr<Renderer> makeTextRenderer(std::ostream &out);
/// One JSON object; docs/guide/scope-lint.md has its fields.
std::unique_ptr<Renderer> makeJsonRenderer(std::ostream &out);
/// SARIF 2.1.0.
std::unique_ptr<Renderer> makeSarifRenderer(std::ostream &out);

/// The id under which an unused waiver is reported.
inline constexpr std::string_view unusedWaiverRule = "unused-waiver";
std::string unusedWaiverMessage(const Waiver &waiver);
/// "8.6" of 86.
std::string isaName(uint32_t isa);

} // namespace interlock::lint
