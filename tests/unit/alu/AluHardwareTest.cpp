// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The same instruction gives the same bits as on a GPU. h200.txt holds, a line a form: the width of the result and of
// the operands, the instruction, and a digest of the results that an H200 gave (PTX assembled by ptxas 13.0 for sm_90a)
// for the operands of Samples.h. Approximate instructions are not in it.
#include "tests/unit/alu/Form.h"
#include "tests/unit/alu/Samples.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace interlock::emu::alu {
namespace {

TEST(AluHardware, GivesTheBitsOfAnH200) {
  std::ifstream record(ILK_ALU_RECORD);
  ASSERT_TRUE(record) << ILK_ALU_RECORD;
  int forms = 0;
  for (std::string line; std::getline(record, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::stringstream fields(line);
    unsigned number = 0;
    std::string widthList, digest, text;
    fields >> number >> widthList >> std::hex >> digest;
    std::getline(fields >> std::ws, text);
    std::vector<unsigned> widths;
    std::stringstream list(widthList);
    for (std::string width; std::getline(list, width, ',');)
      widths.push_back(unsigned(std::stoul(width)));
    Form form(text);
    ASSERT_EQ(form.error(), "");
    std::vector<uint64_t> values = samples(number, widths);
    bool two = text.find("%q") != std::string::npos;
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a over whole words
    for (size_t lane = 0; lane < sampleLanes; ++lane) {
      const uint64_t *v = &values[lane * 4];
      Outcome outcome = form(v[0], v[1], v[2], v[3]);
      for (uint64_t word : {outcome.value, two ? outcome.second : 0})
        hash = (hash ^ word) * 0x100000001b3;
    }
    std::stringstream found;
    found << std::hex << hash;
    EXPECT_EQ(found.str(), digest) << text;
    ++forms;
  }
  EXPECT_GT(forms, 1000);
}

} // namespace
} // namespace interlock::emu::alu
