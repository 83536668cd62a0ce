// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A bounded, deterministic run of the reader's fuzz target over a mutated corpus.
#include "tests/unit/ptx/Corpus.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace interlock::ptx {
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
  std::mt19937_64 rng(1);
  const auto texts = corpus::all();
  static constexpr std::string_view splices[] = {"{",  "}",  "(", "[",          "\"",       "/*",          ".",
                                                 "::", "%r", "<", "4294967296", "0x",       "0f",          ";",
                                                 "_",  "@",  "-", "~",          "((((((((", "{{{{{{{{{{{{"};
  for (int round = 0; round < 20000; ++round) {
    std::string text(texts[rng() % texts.size()]);
    for (unsigned n = 1 + unsigned(rng() % 4); n-- && !text.empty();) {
      size_t at = rng() % text.size();
      switch (rng() % 5) {
      case 0:
        text[at] = char(rng());
        break;
      case 1:
        text.erase(at, 1 + rng() % 16);
        break;
      case 2:
        text.insert(at, splices[rng() % std::size(splices)]);
        break;
      case 3:
        text.insert(at, text.substr(rng() % text.size(), rng() % 40));
        break;
      default:
        text.resize(at);
      }
    }
    feed(text);
  }
}

TEST(ReaderFuzz, DeepNesting) {
  for (const char *open : {"{", "(", "[", "mov.b32 {", "mov.b32 -", "mov.b32 (", "mov.b32 [", "mov.b32 a|"}) {
    std::string deep = ".version 8.0\n.target sm_90\n.entry k() { mov.b32 ";
    for (int i = 0; i < 20000; ++i)
      deep += open;
    feed(deep);
  }
}

} // namespace
} // namespace interlock::ptx
