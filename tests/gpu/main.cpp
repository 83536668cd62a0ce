// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-gpu-tests: GoogleTest with a device, and with a clock: a kernel that hangs cannot be taken back, so a test
// that runs too long ends the program with its name.
#include "tests/gpu/Device.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstring>

#include <signal.h>
#include <unistd.h>

namespace {
/// What the signal handler may read: written before the alarm is set.
char runningTest[256];

void onAlarm(int) {
  const char *said[] = {"the time limit of one test ran out in ", runningTest, ": ", interlock::test::announced(),
                        "\n"};
  for (const char *part : said)
    (void)!write(STDERR_FILENO, part, strlen(part));
  _exit(124);
}

class Clock final : public testing::EmptyTestEventListener {
public:
  explicit Clock(unsigned seconds) : seconds(seconds) { signal(SIGALRM, onAlarm); }
  void OnTestStart(const testing::TestInfo &info) override {
    std::snprintf(runningTest, sizeof runningTest, "%s.%s", info.test_suite_name(), info.name());
    interlock::test::announce("");
    alarm(seconds);
  }
  void OnTestEnd(const testing::TestInfo &) override { alarm(0); }

private:
  unsigned seconds;
};
} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  interlock::test::DeviceOptions options;
  CLI::App app("the generated kernels on the GPUs of this machine");
  app.add_option("--device", options.device, "cuda (the default, but then it must be there) or emulator")
      ->check(CLI::IsMember({"cuda", "emulator"}));
  app.add_option("--compiler", options.compiler, "the compiler plugin (default: as the library finds it)");
  app.add_option("--test-seconds", options.testSeconds, "a test that takes longer ends the program");
  app.add_option("--draws", options.draws, "cases of GpuMatrix.SeededDraw (default: 150, on the emulator 10)");
  CLI11_PARSE(app, argc, argv);
  interlock::test::openDevice(options);
  // Without a GPU the tests skip, unless it was asked for by name.
  if (app.count("--device") && !interlock::test::device()) {
    std::fprintf(stderr, "interlock-gpu-tests: %s\n", interlock::test::deviceMissing().c_str());
    return 1;
  }
  testing::UnitTest::GetInstance()->listeners().Append(new Clock(options.testSeconds)); // gtest owns it
  int code = RUN_ALL_TESTS();
  interlock::test::closeDevice();
  return code;
}
