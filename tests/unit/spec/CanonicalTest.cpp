// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The canonical form is the cache key's input: it names every field, has one spelling, and reads back.
#include "tests/unit/spec/Specs.h"

#include <gtest/gtest.h>

#include <set>

namespace interlock {
namespace {

using test::smallSpec;

// The bytes themselves: if they change, every cache in the field is cold and the plugin's interface has changed.
TEST(Canonical, HasTheseBytes) {
  EXPECT_EQ(canonicalForm(smallSpec()),
            "kernel=dispatch\ntarget=sm_90a\nranks=8\nexperts=256\ntopk=8\nhidden=7168\n"
            "dtype=bf16\ncombine_dtype=bf16\nscale_bytes=0\nmax_tokens=4096\ncapacity=0\n"
            "expert_rows=false\nown_in_place=false\nschedule=grid_stride\ncluster=1\n"
            "block_threads=512\ntile_tokens=8\nwait=relaxed-fence\nstages=0\nprogrammatic=false\n");
}

TEST(Canonical, ReadsBackWhateverChanges) {
  std::set<std::string> forms = {canonicalForm(smallSpec())};
  for (const test::Change &change : test::changes()) {
    KernelSpec spec = smallSpec();
    change.apply(spec);
    ASSERT_NE(spec, smallSpec()) << change.field;
    ASSERT_TRUE(validate(spec)) << change.field;
    std::string form = canonicalForm(spec);
    EXPECT_TRUE(forms.insert(form).second) << change.field << " is not in the canonical form";
    auto read = parseSpec(form);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, spec) << change.field;
  }
}

// As many changes as fields: a field that is added without a case above fails here.
TEST(Canonical, EveryFieldHasACase) {
  std::string form = canonicalForm(smallSpec());
  std::set<std::string> named;
  for (size_t at = 0; at < form.size(); at = form.find('\n', at) + 1)
    named.insert(form.substr(at, form.find('=', at) - at));
  std::set<std::string> changed;
  for (const test::Change &change : test::changes())
    changed.insert(change.field);
  EXPECT_EQ(named, changed);
}

TEST(Canonical, RefusesEveryPrefix) {
  std::string form = canonicalForm(smallSpec());
  for (size_t size = 0; size < form.size(); ++size)
    EXPECT_FALSE(parseSpec(std::string_view(form).substr(0, size))) << size;
}

TEST(Canonical, RefusesAMissingOrRepeatedLine) {
  std::string form = canonicalForm(smallSpec());
  for (size_t at = 0; at < form.size();) {
    size_t end = form.find('\n', at) + 1;
    std::string line = form.substr(at, end - at);
    EXPECT_FALSE(parseSpec(form.substr(0, at) + form.substr(end))) << "without " << line;
    EXPECT_FALSE(parseSpec(form.substr(0, end) + line + form.substr(end))) << "twice " << line;
    at = end;
  }
}

TEST(Canonical, RefusesAnotherSpelling) {
  std::string form = canonicalForm(smallSpec());
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string other = form;
    size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return other.replace(at, from.size(), to);
  };
  for (const char *value : {"topk=08\n", "topk=+8\n", "topk= 8\n", "topk=8 \n", "topk=-8\n", "topk=0x8\n", "topk=\n",
                            "topk=4294967296\n", "topk=8\r\n", "topk==8\n"})
    EXPECT_FALSE(parseSpec(replaced("topk=8\n", value))) << value;
  EXPECT_FALSE(parseSpec(replaced("dtype=bf16", "dtype=BF16")));
  EXPECT_FALSE(parseSpec(replaced("expert_rows=false", "expert_rows=0")));
  EXPECT_FALSE(parseSpec(replaced("target=sm_90a", "target=sm_90")));
  EXPECT_FALSE(parseSpec(form + "\n"));
  EXPECT_FALSE(parseSpec(form + std::string(1, '\0')));
  EXPECT_FALSE(parseSpec(form + "colour=red\n"));
}

TEST(Canonical, AMessageNamesTheLine) {
  auto refused = parseSpec("kernel=dispatch\ntarget=sm_90a\nranks=many\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::badInput);
  EXPECT_EQ(refused.error().message, "expected a number for ranks, got 'many'");
}

} // namespace
} // namespace interlock
