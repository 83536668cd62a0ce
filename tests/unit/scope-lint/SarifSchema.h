// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Holds a JSON document against a JSON schema, as far as sarif.schema.json uses the language: type, required,
// properties (no others are allowed), items, enum, const, minimum, pattern, and $ref into $defs.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace interlock::test {

/// One sentence for each place where the document does not fit.
std::vector<std::string> violations(const nlohmann::json &document, const nlohmann::json &schema);

} // namespace interlock::test
