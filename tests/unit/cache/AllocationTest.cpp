// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A hit in memory allocates nothing: this program's allocations are counted.
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {
thread_local uint64_t allocations = 0;
} // namespace

// NOLINTBEGIN: these replace the library's
void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
// NOLINTEND

namespace interlock {
namespace {

TEST(Allocation, NoneInAHit) {
  auto cache = KernelCache::open({.compiler = std::make_shared<test::FakeCompiler>()});
  const KernelSpec spec = test::numbered(0);
  ASSERT_TRUE(cache->get(spec));
  uint64_t before = allocations;
  for (int i = 0; i < 100; ++i)
    if (auto hit = cache->get(spec); !hit || hit->outcome != Outcome::memory)
      FAIL();
  EXPECT_EQ(allocations, before);
  std::string counted(1000, 'x');
  EXPECT_GT(allocations, before) << "nothing is counted";
}

} // namespace
} // namespace interlock
