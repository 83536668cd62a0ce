// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Every instruction that a right hand-off needs is taken away, one at a time: the lint misses it, each time. So the
// clean corpus is clean because the code is right, and not because the lint looks elsewhere.
#include "tests/unit/lint-amdgcn/Check.h"

#include <regex>

namespace interlock::lint {
namespace {

using testing::Contains;
using testing::IsEmpty;

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string> &lines, size_t without) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i)
    if (i != without)
      text += lines[i] + "\n";
  return text;
}

struct Case {
  const char *file;
  const char *needed;   ///< lines that match are taken away
  const char *contract; ///< put in front; may be empty
  size_t times;         ///< how many such lines there are
};
void PrintTo(const Case &c, std::ostream *out) { *out << c.file << ": " << c.needed; }

class Needed : public testing::TestWithParam<Case> {};

TEST_P(Needed, IsMissed) {
  const Case &c = GetParam();
  std::string text = std::string(*c.contract ? "; contract: " : "") + c.contract + "\n" + cleanText(c.file);
  EXPECT_THAT(rulesOf(checkAssembly(text)), IsEmpty());
  std::vector<std::string> lines = linesOf(text);
  std::regex needed(c.needed);
  size_t times = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_search(lines[i], needed))
      continue;
    ++times;
    EXPECT_THAT(rulesOf(checkAssembly(joined(lines, i))), testing::Not(IsEmpty())) << i + 1 << ": " << lines[i];
  }
  EXPECT_EQ(times, c.times);
}

constexpr const char *flag = "param 1 peers=sys, signal", *far = "param 0 peers=sys\n; contract: param 1 peers=sys";
constexpr const char *device = "param 1 peers=gpu, signal";
INSTANTIATE_TEST_SUITE_P(
    Releases, Needed,
    testing::Values(Case{"message-passing-system-gfx942", "buffer_wbl2", flag, 3},
                    Case{"message-passing-system-gfx950", "buffer_wbl2", flag, 3},
                    Case{"message-passing-system-gfx1250", "global_wb", flag, 3},
                    Case{"message-passing-agent-gfx1250", "global_wb", device, 3},
                    Case{"message-passing-system-gfx1250", "s_wait_storecnt", "", 3},
                    Case{"message-passing-system-gfx1201", "global_wb", flag, 3},
                    Case{"message-passing-agent-gfx1201", "s_wait_storecnt", device, 3},
                    Case{"message-passing-agent-gfx1100", "s_waitcnt_vscnt", device, 3},
                    Case{"explicit-wait-behind-the-write-back-gfx90a", "buffer_wbl2|vmcnt\\(0\\)", flag, 3},
                    Case{"explicit-wait-behind-the-write-back-gfx942", "wbl2 sc0 sc1|vmcnt\\(0\\)", "", 3},
                    Case{"explicit-wait-behind-the-write-back-gfx950", "wbl2 sc0 sc1|vmcnt\\(0\\)", "", 3}));

INSTANTIATE_TEST_SUITE_P(Acquires, Needed,
                         testing::Values(Case{"message-passing-system-gfx90a", "buffer_(invl2|wbinvl1)", far, 4},
                                         Case{"message-passing-system-gfx942", "buffer_inv", "", 2},
                                         Case{"message-passing-system-gfx950", "buffer_inv", "", 2},
                                         Case{"message-passing-system-gfx1100", "buffer_gl[01]_inv", far, 4},
                                         Case{"message-passing-agent-gfx1201", "global_inv", "", 2},
                                         Case{"message-passing-agent-gfx1250", "global_inv", "", 2},
                                         Case{"cluster-barrier-gfx1250", "global_inv|storecnt", "", 2}));

} // namespace
} // namespace interlock::lint
