// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/Group.h"

#include <atomic>

#include <unistd.h>

namespace interlock::test {

std::string rendezvousPath() {
  static std::atomic<int> number = 0;
  return testing::TempDir() + "interlock-" + std::to_string(getpid()) + "-" + std::to_string(++number);
}

void inGroup(uint32_t processes, const std::function<void(Member &)> &work, uint32_t timeoutMs) {
  std::string path = rendezvousPath();
  std::vector<std::thread> threads;
  for (uint32_t process = 0; process < processes; ++process)
    threads.emplace_back([&, process] {
      Member member;
      member.group.process = process;
      member.group.processes = processes;
      auto allgather = meet({path, process, processes, timeoutMs});
      ASSERT_TRUE(allgather) << allgather.error().message;
      member.group.allgather = std::move(*allgather);
      auto driver = openEmulator({});
      ASSERT_TRUE(driver) << driver.error().message;
      member.driver = std::move(*driver);
      work(member);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace interlock::test
