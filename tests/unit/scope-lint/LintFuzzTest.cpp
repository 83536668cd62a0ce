// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A bounded, deterministic run of the lint's fuzz target over mutations of the rules' examples.
#include "analysis/ScopeModel/Rules.h"
#include "tests/fuzz/Mutations.h"

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace interlock::lint {
namespace {

void feed(const std::string &text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
}

std::vector<std::string_view> examples() {
  std::vector<std::string_view> texts;
  for (const scope::Rule &rule : scope::rules())
    texts.insert(texts.end(), {rule.flagged(), rule.clean()});
  return texts;
}

TEST(LintFuzz, LinesOfTheExamples) {
  std::mt19937_64 random(2);
  const auto texts = examples();
  for (int round = 0; round < 10000; ++round)
    feed(fuzz::mutated(texts, random, true));
}

TEST(LintFuzz, BytesOfTheExamples) {
  std::mt19937_64 random(3);
  const auto texts = examples();
  for (int round = 0; round < 5000; ++round)
    feed(fuzz::mutated(texts, random, false));
}

} // namespace
} // namespace interlock::lint
