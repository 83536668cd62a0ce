// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a judgement of memory ordering says: which rule, how grave, what is wrong, where, and what would do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock::scope {

enum class Severity : uint8_t { note, warning, error };
/// "note", "warning", "error".
std::string_view name(Severity severity);

/// A place in the judged text, and in the program that the text was compiled from where it says so. Lines and columns
/// count from 1; line 0 is "nowhere".
struct Place {
  uint32_t line = 0, column = 0;
  std::string text;        ///< the instruction or operation, on one line
  std::string sourceFile;  ///< of `.loc`, or empty
  uint32_t sourceLine = 0; ///< of `.loc`, or 0
};

/// A second place that a finding speaks of: "acquired here", "written here".
struct RelatedPlace {
  std::string says;
  Place place;
};

struct Finding {
  std::string_view rule; ///< "SL01", a row of the rule table
  Severity severity = Severity::error;
  std::string function; ///< kernel or device function
  Place place;
  std::string message; ///< one lower-case sentence: expected what, got what
  std::string fix;     ///< one lower-case sentence: what would do
  std::vector<RelatedPlace> related;
};

} // namespace interlock::scope
