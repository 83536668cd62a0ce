// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The cached memory mode: a message between two waves, two workgroups and two devices arrives under every seed if LLVM
// made the hand-off, and does not under some seed if anything of it is missing or too narrow.
#include "tests/unit/emulator/AmdHarness.h"

#include <set>

namespace interlock::emu::test {
namespace {

constexpr uint64_t seedsOfRight = 150, seedsOfWrong = 400;

enum class Place { waves, groups, devices };

class Messages : public MachineTest {
protected:
  /// Where the values that arrived are wrong; -1 if the message never came.
  int wrong(const std::string &text, const std::string &kernel, Place place, uint64_t seed) {
    options.seed = seed;
    options.devices = place == Place::devices ? 2 : 1;
    open();
    unsigned lanes = waveLanes(options.chip);
    uint32_t home = place == Place::devices ? 1 : 0;
    uint64_t data = zeros(8192, home), flag = zeros(64, home), out = zeros(1024, home);
    LaunchConfig config = grid(place == Place::groups ? 2 : 1, place == Place::waves ? 2 * lanes : lanes);
    for (uint32_t device = 0; device < options.devices; ++device) {
      auto m = machine->load(device, text, "message.s");
      EXPECT_TRUE(m) << m.error().message;
      if (!m)
        return -2;
      auto k = machine->kernel(*m, kernel);
      EXPECT_TRUE(k) << k.error().message;
      if (!k)
        return -2;
      auto ok = enqueue(*k, config, {data, flag, out, device}, device);
      EXPECT_TRUE(ok) << ok.error().message;
    }
    auto ok = machine->synchronizeAll();
    if (!ok) {
      EXPECT_EQ(ok.error().kind, ErrorKind::deadlock) << ok.error().message;
      return -1;
    }
    auto got = download<uint32_t>(out, 256);
    int bad = 0;
    for (uint32_t i = 0; i < lanes; ++i) {
      bad += got[i] != 1000 + i;
      bad += got[64 + i] != 1000 + i;
      if (place == Place::waves)
        bad += got[192 + i] != 1000 + i;
    }
    return bad;
  }

  /// Instructions of a kernel, a line each, without comments.
  static std::vector<std::string> lines(const std::string &text) {
    std::vector<std::string> out;
    std::stringstream in(text);
    for (std::string line; std::getline(in, line);)
      out.push_back(line);
    return out;
  }
  static std::string bodyOf(const std::string &text, const std::string &kernel) {
    size_t begin = text.find("\n" + kernel + ":"), end = text.find(".amdhsa_kernel", begin);
    std::string body;
    for (const std::string &line : lines(text.substr(begin + 1, end - begin)))
      if (line.starts_with("\t") && line[1] != '.' && line[1] != ';')
        body += line + "\n";
    return body;
  }
  /// The text without the instructions of one kernel between two markers that contain `drop`.
  static std::string without(const std::string &text, const std::string &kernel, const std::string &section,
                             const std::string &drop) {
    std::string out;
    bool inKernel = false, inside = false;
    for (const std::string &line : lines(text)) {
      if (line.starts_with(kernel + ":"))
        inKernel = true;
      if (line.find(".amdhsa_kernel") != line.npos)
        inKernel = false;
      if (line.find(section + " begins") != line.npos)
        inside = true;
      if (line.find(section + " ends") != line.npos)
        inside = false;
      bool instruction = line.starts_with("\t") && line[1] != '.' && line[1] != ';';
      if (!(inKernel && inside && instruction && line.find(drop) != line.npos))
        out += line + "\n";
    }
    return out;
  }
  bool caught(const std::string &text, const std::string &kernel, Place place) {
    for (uint64_t seed = 1; seed <= seedsOfWrong; ++seed)
      if (wrong(text, kernel, place, seed) != 0)
        return true;
    return false;
  }
};

struct PlaceCase {
  Place place;
  const char *right, *narrow;
};
constexpr PlaceCase places[] = {{Place::waves, "message_waves_workgroup", "message_waves_wavefront"},
                                {Place::groups, "message_groups_agent", "message_groups_workgroup"},
                                {Place::devices, "message_devices_system", "message_devices_agent"}};

class MessagesOnChip : public Messages, public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    options.chip = GetParam();
    options.memory = MemoryMode::cached;
    Messages::SetUp();
  }
  std::string text = amdText("message_passing." + std::string(GetParam()) + ".s");
};

TEST_P(MessagesOnChip, ArriveWhereLlvmOrdersThem) {
  for (const PlaceCase &each : places)
    for (uint64_t seed = 1; seed <= seedsOfRight; ++seed)
      ASSERT_EQ(wrong(text, each.right, each.place, seed), 0) << each.right << ", seed " << seed;
}

TEST_P(MessagesOnChip, ArriveInSequentialMemoryWhateverTheOrder) {
  options.memory = MemoryMode::sequential;
  for (const PlaceCase &each : places)
    for (uint64_t seed = 1; seed <= 10; ++seed)
      ASSERT_EQ(wrong(without(text, each.right, "release", ""), each.right, each.place, seed), 0);
}

TEST_P(MessagesOnChip, AreLostWithoutTheRelease) {
  unsigned differ = 0;
  for (const PlaceCase &each : places) {
    std::string mutant = without(text, each.right, "release", "");
    if (bodyOf(mutant, each.right) == bodyOf(text, each.right))
      continue;
    ++differ;
    EXPECT_TRUE(caught(mutant, each.right, each.place)) << each.right;
  }
  EXPECT_EQ(differ, 3u);
}

TEST_P(MessagesOnChip, AreLostWithoutTheAcquire) {
  unsigned differ = 0;
  for (const PlaceCase &each : places) {
    std::string mutant = without(text, each.right, "acquire", "inv");
    if (bodyOf(mutant, each.right) == bodyOf(text, each.right))
      continue;
    ++differ;
    EXPECT_TRUE(caught(mutant, each.right, each.place)) << each.right;
  }
  EXPECT_GE(differ, 2u); // waves that share an L1 need none
}

TEST_P(MessagesOnChip, AreLostWithANarrowerScope) {
  unsigned differ = 0;
  for (const PlaceCase &each : places) {
    if (bodyOf(text, each.right) == bodyOf(text, each.narrow))
      continue;
    std::string a = bodyOf(text, each.right), b = bodyOf(text, each.narrow);
    // Names of labels differ, and nothing else may.
    auto plain = [](std::string s) {
      for (size_t at; (at = s.find(".LBB")) != s.npos;)
        s.erase(at, s.find_first_of("\n ", at) - at);
      return s;
    };
    if (plain(a) == plain(b))
      continue;
    ++differ;
    EXPECT_TRUE(caught(text, each.narrow, each.place)) << each.narrow;
  }
  EXPECT_GE(differ, std::string(GetParam()) == "gfx1100" ? 2u : 3u); // there agent and system are one
}

TEST_P(MessagesOnChip, AreLostWhenNobodyWaitsForTheWriteBack) {
  std::string chip = GetParam(), kernel = "message_devices_system";
  std::string drop = chip.starts_with("gfx9") ? "vmcnt(0)" : "s_wait_storecnt";
  std::string body = bodyOf(text, kernel);
  if (body.find("buffer_wbl2") == body.npos && body.find("global_wb") == body.npos)
    GTEST_SKIP() << chip << " has no write-back";
  std::string mutant = without(text, kernel, "release", drop);
  ASSERT_NE(bodyOf(mutant, kernel), body);
  EXPECT_TRUE(caught(mutant, kernel, Place::devices));
}

TEST_P(MessagesOnChip, GoTheSameWayWithTheSameSeed) {
  // The times at which things happen are part of the interleaving.
  auto time = [&](uint64_t seed) {
    wrong(text, "message_devices_system", Place::devices, seed);
    return std::pair(machine->now(), machine->statistics().warpInstructions);
  };
  std::set<std::pair<uint64_t, uint64_t>> times;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    auto first = time(seed);
    EXPECT_EQ(first, time(seed));
    times.insert(first);
  }
  EXPECT_GT(times.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, MessagesOnChip, testing::ValuesIn(amdChips),
                         [](const auto &each) { return std::string(each.param); });

TEST_F(Messages, NeedAnAmdChip) {
  options.memory = MemoryMode::cached;
  auto m = Machine::create(options);
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().message, "expected an AMD chip for the cached memory mode, found sm_90a");
}

} // namespace
} // namespace interlock::emu::test
