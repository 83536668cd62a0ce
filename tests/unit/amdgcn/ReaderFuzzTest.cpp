// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A bounded, deterministic run of the reader's fuzz target over a mutated corpus.
#include "tests/fuzz/Mutations.h"
#include "tests/unit/amdgcn/Corpus.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace interlock::amdgcn {
namespace {

void feed(const std::string &text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
}

TEST(ReaderFuzz, EveryPrefix) {
  for (std::string_view text : corpus::all())
    for (size_t n = 0; n <= text.size(); ++n)
      feed(std::string(text.substr(0, n)));
}

TEST(ReaderFuzz, Mutations) {
  std::mt19937_64 random(1);
  const auto texts = corpus::all();
  for (int round = 0; round < 20000; ++round)
    feed(fuzz::mutated(texts, random, round % 2));
}

TEST(ReaderFuzz, DeepNesting) {
  for (const char *open : {"(", "[", "-", "|", "neg(", "a(", "-("})
    for (const char *before : {"v_mov_b32 ", ".set a, ", ".rodata\n.long ", "v_mov_b32 v0 offset:"}) {
      std::string deep = before;
      for (int i = 0; i < 20000; ++i)
        deep += open;
      feed(deep);
    }
}

} // namespace
} // namespace interlock::amdgcn
