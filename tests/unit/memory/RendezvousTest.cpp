// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The ready-made bootstrap: everybody gets what everybody gave, and nobody waits for one who is gone.
#include "runtime/Memory/UnixSocket.h"
#include "tests/unit/memory/Group.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>

using namespace interlock;
using test::inGroup;
using test::Member;
using testing::HasSubstr;

namespace {

double secondsOf(const std::function<void()> &work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Rendezvous, EverybodyGetsWhatEverybodyGave) {
  for (uint32_t processes : {1u, 2u, 7u})
    inGroup(processes, [&](Member &member) {
      for (uint32_t round = 0; round < 20; ++round) {
        // Any bytes, of any length: none, many, and such as no text has.
        auto given = [&](uint32_t process) {
          return std::string(size_t(process) * round * 1000, char(0xf0 + process)) + std::string(round, '\0');
        };
        auto all = member.group.allgather(given(member.group.process));
        ASSERT_TRUE(all) << all.error().message;
        ASSERT_EQ(all->size(), processes);
        for (uint32_t process = 0; process < processes; ++process)
          EXPECT_EQ((*all)[process], given(process)) << process;
      }
    });
}

TEST(Rendezvous, LeavesNoFileBehind) {
  std::string path = test::rendezvousPath();
  auto alone = meet({path, 0, 1});
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Not waiting for the time limit, and naming who is missing.
TEST(Rendezvous, AProcessThatIsGoneIsAnErrorInAllOthers) {
  for (uint32_t gone : {0u, 2u}) {
    double seconds = secondsOf([&] {
      inGroup(4, [&](Member &member) {
        ASSERT_TRUE(member.group.allgather("here"));
        if (member.group.process == gone) {
          member.group.allgather = nullptr;
          return;
        }
        for (int again = 0; again < 2; ++again) {
          auto all = member.group.allgather("and here");
          ASSERT_FALSE(all);
          EXPECT_THAT(all.error().message, HasSubstr("process " + std::to_string(gone)));
        }
      });
    });
    EXPECT_LT(seconds, 10);
  }
}

TEST(Rendezvous, AProcessThatDoesNotCallIsATimeout) {
  double seconds = secondsOf([&] {
    inGroup(
        3,
        [&](Member &member) {
          if (member.group.process == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(3500));
            return;
          }
          EXPECT_FALSE(member.group.allgather("here"));
        },
        2000);
  });
  EXPECT_LT(seconds, 10);
}

TEST(Rendezvous, WhoeverIsAloneIsToldInTime) {
  for (uint32_t process : {0u, 1u}) {
    auto alone = meet({test::rendezvousPath(), process, 2, 200});
    ASSERT_FALSE(alone);
    EXPECT_EQ(alone.error().code, Code::timeout) << alone.error().message;
    EXPECT_THAT(alone.error().message, HasSubstr("process " + std::to_string(1 - process)));
  }
}

// It has connected and is gone before it has said its number; the others meet, and know who is missing.
TEST(Rendezvous, WhoeverEndsOnTheWayIsNamed) {
  std::string path = test::rendezvousPath();
  Result<Allgather> met = makeError(Code::internal, "not met");
  std::thread hub([&] { met = meet({path, 0, 3, 3000}); });
  auto connection = connectTo(path, Deadline(3000));
  EXPECT_TRUE(connection) << connection.error().message;
  *connection = FileDescriptor();
  auto other = meet({path, 2, 3, 20'000});
  hub.join();
  ASSERT_FALSE(met);
  EXPECT_THAT(met.error().message, HasSubstr("process 1 did not come"));
  ASSERT_TRUE(other) << other.error().message;
  auto all = (*other)("here");
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message, HasSubstr("process 1 did not come"));
}

// Those that have come are told why there is no meeting.
TEST(Rendezvous, WhoHasComeIsToldWhoHasNot) {
  std::string path = test::rendezvousPath();
  std::thread hub([&] { EXPECT_FALSE(meet({path, 0, 3, 3000})); });
  auto allgather = meet({path, 1, 3, 20'000});
  hub.join();
  ASSERT_TRUE(allgather) << allgather.error().message;
  auto all = (*allgather)("here");
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message, HasSubstr("process 2 did not come"));
}

TEST(Rendezvous, WhatCannotBeIsRefused) {
  for (const SocketRendezvous &each :
       {SocketRendezvous{"/nowhere/at/all", 0, 2, 200}, SocketRendezvous{"", 0, 2, 200},
        SocketRendezvous{std::string(200, 'x'), 0, 2, 200}, SocketRendezvous{test::rendezvousPath(), 2, 2, 200},
        SocketRendezvous{test::rendezvousPath(), 0, 0, 200}}) {
    auto refused = meet(each);
    ASSERT_FALSE(refused);
    EXPECT_FALSE(refused.error().message.empty());
  }
}

TEST(Rendezvous, TheSameNumberTwiceIsRefused) {
  std::string path = test::rendezvousPath();
  std::vector<std::thread> threads;
  std::vector<Result<Allgather>> met(3, makeError(Code::internal, "not met"));
  for (uint32_t i = 0; i < 3; ++i)
    threads.emplace_back([&, i] { met[i] = meet({path, std::min(i, 1u), 3, 2000}); });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_FALSE(met[0]);
  EXPECT_THAT(met[0].error().message, HasSubstr("once, got '1'"));
}

} // namespace
