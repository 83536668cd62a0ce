// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Arenas over several processes: each maps all windows, and what fails in one fails in all.
#include "runtime/Memory/WindowExchange.h"
#include "runtime/Driver/ForwardingDriver.h"
#include "runtime/Memory/SymmetricArena.h"
#include "tests/unit/memory/Group.h"

#include <gmock/gmock.h>

#include <chrono>
#include <mutex>

using namespace interlock;
using test::inGroup;
using test::Member;
using testing::HasSubstr;

namespace {

LayerSpec layerOf(uint32_t ranks) {
  LayerSpec layer;
  layer.ranks = ranks;
  layer.experts = 2 * ranks;
  layer.topk = 2;
  layer.hidden = 24;
  layer.maxTokens = 7;
  return layer;
}

/// Ranks in turns over the processes.
void own(Member &member, uint32_t ranks) {
  for (uint32_t rank = member.group.process; rank < ranks; rank += member.group.processes)
    member.group.own.push_back({rank, 0});
}

/// A word of a window by the process's own mapping.
class Peek {
public:
  explicit Peek(Driver &driver) : driver(driver), stream(*driver.createStream(0)) {}
  uint64_t read(DeviceAddress at) {
    uint64_t word = 0;
    EXPECT_TRUE(driver.copyOut(stream, &word, at, sizeof word));
    EXPECT_TRUE(driver.synchronize(stream));
    return word;
  }
  void write(DeviceAddress at, uint64_t word) {
    EXPECT_TRUE(driver.copyIn(stream, at, &word, sizeof word));
    EXPECT_TRUE(driver.synchronize(stream));
  }

private:
  Driver &driver;
  StreamId stream;
};

void meetAgain(Member &member) { ASSERT_TRUE(member.group.allgather("")); }

TEST(WindowExchange, EveryProcessSeesEveryWindowAtTheSameStride) {
  struct Shape {
    uint32_t processes, ranks;
  };
  for (Shape shape : {Shape{2, 2}, Shape{3, 8}, Shape{8, 8}})
    inGroup(shape.processes, [&](Member &member) {
      own(member, shape.ranks);
      auto arena = SymmetricArena::create(*member.driver, layerOf(shape.ranks), member.group);
      ASSERT_TRUE(arena) << arena.error().message;
      Peek peek(*member.driver);
      uint32_t process = member.group.process;
      meetAgain(member);
      for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
        EXPECT_EQ(arena->window(rank), arena->base() + rank * arena->stride());
        EXPECT_EQ(peek.read(arena->control(rank)), 0u) << "the control areas of all are zero";
        peek.write(arena->landing(rank, 0, 0) + 8 * process, 1000 * (rank + 1) + process);
      }
      meetAgain(member);
      for (uint32_t rank = 0; rank < shape.ranks; ++rank)
        for (uint32_t writer = 0; writer < shape.processes; ++writer)
          EXPECT_EQ(peek.read(arena->landing(rank, 0, 0) + 8 * writer), 1000 * (rank + 1) + writer);
    });
}

// One after the other, in every order: what is left stays readable and writable.
TEST(WindowExchange, ArenasGoInAnyOrder) {
  for (const std::vector<uint32_t> &order : {std::vector{0u, 1u, 2u}, std::vector{2u, 1u, 0u}, std::vector{1u, 2u, 0u}})
    inGroup(3, [&](Member &member) {
      own(member, 3);
      auto made = SymmetricArena::create(*member.driver, layerOf(3), member.group);
      ASSERT_TRUE(made) << made.error().message;
      std::optional<SymmetricArena> arena(std::move(*made));
      Peek peek(*member.driver);
      for (uint32_t round = 0; round < 3; ++round) {
        meetAgain(member);
        if (order[round] == member.group.process)
          arena.reset();
        if (arena)
          for (uint32_t rank = 0; rank < 3; ++rank) {
            peek.write(arena->landing(rank, 1, 2) + 8 * member.group.process, round);
            EXPECT_EQ(peek.read(arena->landing(rank, 1, 2) + 8 * member.group.process), round);
          }
      }
    });
}

/// What each process is told when they create an arena after `change`.
std::vector<std::string> errorsOf(uint32_t processes, const std::function<void(Member &, LayerSpec &)> &change) {
  std::vector<std::string> errors(processes);
  inGroup(processes, [&](Member &member) {
    LayerSpec layer = layerOf(processes);
    own(member, processes);
    change(member, layer);
    auto arena = SymmetricArena::create(*member.driver, layer, member.group);
    errors[member.group.process] = arena ? "" : arena.error().message;
    // Nobody is left behind: they can still speak.
    meetAgain(member);
  });
  return errors;
}

TEST(WindowExchange, WhatFailsInOneFailsInAllAndIsNamed) {
  auto errors = errorsOf(3, [](Member &member, LayerSpec &) {
    if (member.group.process == 1)
      member.group.own[0].device = 9; // its driver has one
  });
  EXPECT_THAT(errors[1], HasSubstr("expected a device below 1, got 9"));
  for (uint32_t other : {0u, 2u})
    EXPECT_THAT(errors[other], HasSubstr("process 1 of the group could not go on"));
}

class ExportsNothing final : public ForwardingDriver {
public:
  ExportsNothing() : ForwardingDriver(*openEmulator({})) {}
  Result<int> exportWindow(WindowId) override { return makeError(Code::device, "no more descriptors"); }
};

TEST(WindowExchange, WindowsThatCannotBeExportedAreAReasonInAll) {
  auto begin = std::chrono::steady_clock::now();
  auto errors = errorsOf(3, [](Member &member, LayerSpec &) {
    if (member.group.process == 1)
      member.driver = std::make_unique<ExportsNothing>();
  });
  EXPECT_EQ(errors[1], "no more descriptors");
  for (uint32_t other : {0u, 2u})
    EXPECT_EQ(errors[other], "process 1 of the group could not go on: no more descriptors");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(WindowExchange, LayersThatDifferAreFound) {
  auto errors = errorsOf(3, [](Member &member, LayerSpec &layer) {
    if (member.group.process == 2)
      layer.topk = 1;
  });
  for (const std::string &error : errors)
    EXPECT_THAT(error, HasSubstr("expected the same layer"));
}

TEST(WindowExchange, ARankOfTwoProcessesOrOfNoneIsFound) {
  auto twice = errorsOf(3, [](Member &member, LayerSpec &) {
    if (member.group.process == 2)
      member.group.own[0].rank = 0;
  });
  for (const std::string &error : twice)
    EXPECT_THAT(error, HasSubstr("process 2 has rank 0 and so has 0"));
  auto none = errorsOf(3, [](Member &, LayerSpec &layer) { layer.ranks = 4; });
  for (const std::string &error : none)
    EXPECT_THAT(error, HasSubstr("none has rank 3"));
}

TEST(WindowExchange, AProcessThatDiesMeanwhileIsAnErrorInTheOthers) {
  inGroup(3, [&](Member &member) {
    own(member, 3);
    if (member.group.process == 1) {
      member.group.allgather = nullptr; // as the end of a process closes it
      return;
    }
    auto arena = SymmetricArena::create(*member.driver, layerOf(3), member.group);
    ASSERT_FALSE(arena);
    EXPECT_THAT(arena.error().message, HasSubstr("process 1"));
  });
}

// It has given its socket's name and is gone before it has handed over anything: before the others have come to its
// socket, or after. They do not wait for their time limit, and both say whom they miss.
TEST(WindowExchange, AProcessThatDiesBeforeItHandsOverIsNamedAtOnce) {
  for (auto wait : {std::chrono::milliseconds(0), std::chrono::milliseconds(200)}) {
    auto begin = std::chrono::steady_clock::now();
    inGroup(3, [&](Member &member) {
      own(member, 3);
      if (member.group.process == 1)
        member.group.allgather = [&, real = std::move(member.group.allgather)](std::string_view mine) {
          EXPECT_TRUE(real(mine));
          std::this_thread::sleep_for(wait);
          return makeError(Code::internal, "killed");
        };
      auto arena = SymmetricArena::create(*member.driver, layerOf(3), member.group);
      member.group.allgather = nullptr; // as the end of a process closes it
      ASSERT_FALSE(arena);
      if (member.group.process != 1) {
        EXPECT_THAT(arena.error().message, HasSubstr("process 1"));
      }
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  }
}

// Process 2 comes so late that process 0 has given up meanwhile and is not to be reached: it learns who was the first.
TEST(WindowExchange, WhoComesLateLearnsWhoDiedFirst) {
  inGroup(3, [&](Member &member) {
    own(member, 3);
    member.group.allgather = [&, calls = 0, real = std::move(member.group.allgather)](std::string_view mine) mutable {
      auto all = real(mine);
      bool first = ++calls == 1;
      if (first && member.group.process == 1)
        all = makeError(Code::internal, "killed");
      if (first && member.group.process == 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
      return all;
    };
    auto arena = SymmetricArena::create(*member.driver, layerOf(3), member.group);
    member.group.allgather = nullptr; // as the end of a process closes it
    ASSERT_FALSE(arena);
    if (member.group.process != 1) {
      EXPECT_THAT(arena.error().message, HasSubstr("process 1"));
    }
  });
}

TEST(WindowExchange, AnAllgatherThatIsNoneIsRefused) {
  auto driver = openEmulator({});
  ASSERT_TRUE(driver);
  ProcessGroup group{0, 2, {{0, 0}}, {}};
  auto refused = [&](const char *says) {
    auto arena = SymmetricArena::create(**driver, layerOf(2), group);
    ASSERT_FALSE(arena);
    EXPECT_THAT(arena.error().message, HasSubstr(says));
  };
  refused("expected an allgather");
  group.allgather = [](std::string_view mine) -> Result<std::vector<std::string>> {
    return std::vector{std::string(mine)};
  };
  refused("2 entries, one a process, got 1");
  group.allgather = [](std::string_view mine) -> Result<std::vector<std::string>> {
    return std::vector{std::string(mine), std::string("{}")};
  };
  refused("what process 1 gave");
  group.allgather = [](std::string_view) -> Result<std::vector<std::string>> {
    return makeError(Code::timeout, "the network is down");
  };
  refused("the network is down");
  group.own = {{0, 0}, {0, 0}};
  refused("each once, got 0");
  group.own = {};
  refused("at least one rank");
  group = {2, 2, {{0, 0}}, {}};
  refused("a process below 2");
  group = {0, 1, {{0, 0}}, {}};
  refused("all 2 ranks in the only process, got 1");
}

TEST(Agree, IsOkOnlyWhereAllAre) {
  inGroup(3, [](Member &member) {
    EXPECT_TRUE(agree(member.group, {}));
    Status mine;
    if (member.group.process == 2)
      mine = makeError(Code::compile, "no kernel");
    Status all = agree(member.group, mine);
    ASSERT_FALSE(all);
    EXPECT_THAT(all.error().message, HasSubstr("no kernel"));
    EXPECT_EQ(all.error().code, member.group.process == 2 ? Code::compile : Code::device);
    EXPECT_TRUE(agree(member.group, {}));
  });
  ProcessGroup alone;
  EXPECT_TRUE(agree(alone, {}));
  EXPECT_FALSE(agree(alone, makeError(Code::compile, "no kernel")));
}

} // namespace
