// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/SpecList.h"
#include "tests/unit/spec/Specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(SpecList, ReadsBackWhatItWrote) {
  std::vector<KernelSpec> kernels;
  for (const test::Change &change : test::changes()) {
    kernels.push_back(test::smallSpec());
    change.apply(kernels.back());
  }
  auto read = parseSpecList(formatSpecList(kernels));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, kernels);
  EXPECT_TRUE(parseSpecList("")->empty());
}

TEST(SpecList, CommentsAndEmptyLinesAreNothing) {
  std::string form = canonicalForm(test::smallSpec());
  auto read = parseSpecList("# two kernels\n\n\n" + form + "\n\n# the second\n" + form.substr(0, form.size() - 1));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), 2u);
}

TEST(SpecList, WhatIsWrongIsNumbered) {
  std::string form = canonicalForm(test::smallSpec());
  for (const std::string &bad : {std::string("kernel=tea\n"), form + "more=1\n", form.substr(form.find('\n') + 1)}) {
    auto read = parseSpecList(form + "\n" + bad);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::badInput);
    EXPECT_THAT(read.error().message, testing::StartsWith("kernel 2 of the list: expected"));
  }
  KernelSpec spec = test::smallSpec();
  spec.cluster = 3;
  EXPECT_THAT(parseSpecList(canonicalForm(spec)).error().message, testing::HasSubstr("kernel 1 of the list"));
}

} // namespace
} // namespace interlock
