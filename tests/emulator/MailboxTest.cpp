// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles that are claimed through mailboxes (LowerTiles.cpp), in a kernel that does nothing but count them: every tile
// once for each thread of one CTA, whatever the schedule and the caches. And the same kernel with an instruction of the
// hand-off taken out of its assembly, which shows under some seed.
#include "interlock/device.hpp"
#include "runtime/Cache/Compiler.h"
#include "runtime/Memory/DeviceBuffer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace interlock {
namespace {

struct Case {
  uint32_t cluster = 2, clusters = 1, threads = 64, tiles = 0;
};

/// The mailboxes lie in an array behind the counter. Threads of a tile come by at different times.
constexpr const char *kernel = R"(
module attributes {{ep.target = "gfx1250"}} {{
  func.func @count_tiles(%boxes: i64, %counts: i64, %tiles: i32, %unused: i32)
      attributes {{ep.kernel, ep.block_threads = {0} : i32, ep.cluster = {1} : i32}} {{
    %one = arith.constant 1 : i32
    %line = arith.constant 256 : i64
    %four = arith.constant 4 : i64
    %claim = ep.global_ptr %boxes : !sync.ptr<global>
    %mailboxes = ep.offset %claim, %line : !sync.ptr<global>
    %first = ep.global_ptr %counts : !sync.ptr<global>
    %ctas = ep.for_each_tile %tile in %tiles claim %claim through %mailboxes
        {{schedule = #ep.schedule<claimed>, cluster = {1} : i32, remote_shared = false}} {{
      %index = arith.extui %tile : i32 to i64
      %bytes = arith.muli %index, %four : i64
      %count = ep.offset %first, %bytes : !sync.ptr<global>
      %old = sync.atomic add relaxed gpu %count, %one : !sync.ptr<global>, i32
    }}
    return
  }}
}})";

class Mailboxes : public testing::Test {
protected:
  /// The assembly of the kernel, made once for each shape.
  static const std::string &textOf(const Case &each) {
    static std::map<std::pair<uint32_t, uint32_t>, std::string> texts;
    std::string &text = texts[{each.cluster, each.threads}];
    if (text.empty()) {
      auto parts = compileModule({.path = INTERLOCK_COMPILER_PLUGIN},
                                 {fmt::format(kernel, each.threads, each.cluster), "count_tiles.mlir"}, {"asm"});
      EXPECT_TRUE(parts) << parts.error().message;
      if (parts)
        text = (*parts)["asm"];
    }
    return text;
  }

  /// Every tile was counted by all threads of one CTA, and every round has made one claim. An error where it did not
  /// come to an end.
  static Result<bool> isRight(const std::string &text, const Case &each, EmulatorMemory memory, uint64_t seed) {
    ILK_ASSIGN_OR_RETURN(
        auto driver,
        openEmulator({.target = "gfx1250", .residency = 2 * each.cluster, .seed = seed, .memory = memory}));
    constexpr size_t most = 512;
    struct {
      uint32_t claim, padding[63], boxes[most];
    } memoryBefore{}, memoryAfter{};
    std::vector<uint32_t> counts(most);
    ILK_ASSIGN_OR_RETURN(DeviceBuffer boxes, DeviceBuffer::create(*driver, 0, sizeof memoryBefore));
    ILK_ASSIGN_OR_RETURN(DeviceBuffer out, DeviceBuffer::create(*driver, 0, counts.size() * 4));
    ILK_ASSIGN_OR_RETURN(StreamId stream, driver->createStream(0));
    ILK_ASSIGN_OR_RETURN(KernelId loaded, driver->load(0, {text, {}, "count_tiles"}));
    ILK_RETURN_IF_ERROR(driver->copyIn(stream, boxes.address(), &memoryBefore, sizeof memoryBefore));
    ILK_RETURN_IF_ERROR(driver->fill(stream, out.address(), 0, counts.size() * 4));
    struct {
      uint64_t boxes, counts;
      uint32_t tiles, unused;
    } params{boxes.address(), out.address(), each.tiles, 0};
    ILK_RETURN_IF_ERROR(driver->launch(stream, loaded, {each.clusters * each.cluster, each.threads, each.cluster, 0},
                                       std::as_bytes(std::span(&params, 1))));
    ILK_RETURN_IF_ERROR(driver->copyOut(stream, counts.data(), out.address(), counts.size() * 4));
    ILK_RETURN_IF_ERROR(driver->copyOut(stream, &memoryAfter, boxes.address(), sizeof memoryAfter));
    ILK_RETURN_IF_ERROR(driver->synchronize(stream));
    for (uint32_t tile = 0; tile < most; ++tile)
      if (counts[tile] != (tile < each.tiles ? each.threads : 0))
        return false;
    // A cluster beyond the last unit has touched nothing.
    uint32_t units = (each.tiles + each.cluster - 1) / each.cluster;
    for (uint32_t c = units; c < most; ++c)
      if (memoryAfter.boxes[c] != 0)
        return false;
    return memoryAfter.claim == units;
  }

  static void expectRight(const Case &each, EmulatorMemory memory, uint64_t seed) {
    SCOPED_TRACE(fmt::format("{} clusters of {}, {} threads, {} tiles, seed {}", each.clusters, each.cluster,
                             each.threads, each.tiles, seed));
    auto right = isRight(textOf(each), each, memory, seed);
    ASSERT_TRUE(right) << right.error().message;
    EXPECT_TRUE(*right);
  }

  /// The text without the first line that contains `drop` behind the one that names the step.
  static std::string without(const std::string &text, const std::string &step, const std::string &drop) {
    std::string out;
    std::istringstream in(text);
    enum { before, inside, behind } where = before;
    for (std::string line; std::getline(in, line);) {
      if (where == before && line.find("(" + step + ")") != line.npos)
        where = inside;
      else if (where == inside && line.find(drop) != line.npos) {
        where = behind;
        continue;
      }
      out += line + "\n";
    }
    return where == behind ? out : std::string();
  }
};

// No tile, fewer units than clusters, as many, more; the last unit with fewer tiles than the cluster has CTAs.
TEST_F(Mailboxes, GiveEveryTileOnce) {
  for (EmulatorMemory memory : {EmulatorMemory::sequential, EmulatorMemory::cached})
    for (uint32_t cluster : {2u, 4u, 8u})
      for (uint32_t clusters : {1u, 3u})
        for (uint32_t tiles : {0u, 1u, cluster, 2 * cluster + 1, 3 * cluster, 11 * cluster - 1})
          expectRight({cluster, clusters, 64, tiles}, memory, tiles);
}

// A workgroup of one wave has no barrier of its own before the cluster's.
TEST_F(Mailboxes, WorkgroupsOfOneWaveAndOfMany) {
  for (uint32_t threads : {32u, 256u})
    for (uint64_t seed = 1; seed <= 5; ++seed)
      expectRight({4, 3, threads, 37}, EmulatorMemory::cached, seed);
}

constexpr Case contended{2, 3, 64, 61};

TEST_F(Mailboxes, UnderManySeeds) {
  for (uint64_t seed = 1; seed <= 150; ++seed)
    expectRight(contended, EmulatorMemory::cached, seed);
}

struct Mutant {
  const char *step, *drop;
  bool inSequentialMemory; ///< shows there too
};
void PrintTo(const Mutant &mutant, std::ostream *out) { *out << mutant.step << " without " << mutant.drop; }

class MailboxMutants : public Mailboxes, public testing::WithParamInterface<Mutant> {};

TEST_P(MailboxMutants, Show) {
  std::string text = without(textOf(contended), GetParam().step, GetParam().drop);
  ASSERT_FALSE(text.empty());
  auto shows = [&](EmulatorMemory memory) {
    for (uint64_t seed = 1; seed <= 400; ++seed)
      if (auto right = isRight(text, contended, memory, seed); !right || !*right)
        return true;
    return false;
  };
  EXPECT_TRUE(shows(EmulatorMemory::cached));
  EXPECT_EQ(shows(EmulatorMemory::sequential), GetParam().inSequentialMemory);
}

INSTANTIATE_TEST_SUITE_P(Instructions, MailboxMutants,
                         testing::Values(Mutant{"tile.publish", "s_wait_storecnt", false},
                                         Mutant{"tile.wait", "global_inv", false},
                                         Mutant{"tile.wait", "s_barrier_wait -3", true},
                                         Mutant{"tile.acquire", "s_barrier_wait -3", true}));

} // namespace
} // namespace interlock
