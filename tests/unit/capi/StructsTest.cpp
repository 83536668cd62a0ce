// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Structs of older and of newer headers, with a struct that has grown twice.
#include "runtime/CApi/Structs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace {
struct First {
  size_t size;
  uint64_t one;
};
struct Second {
  size_t size;
  uint64_t one, two;
};
struct Third {
  size_t size;
  uint64_t one, two, three;
};
} // namespace

/// The library knows the second form.
template <> constexpr size_t interlock::capi::firstSize<Second> = sizeof(First);

namespace {
using namespace interlock;
using testing::HasSubstr;

/// The struct of another header, as the library is given it.
template <typename Other> Result<Second> readAs(const Other &given) {
  return capi::read("ilk_thing", reinterpret_cast<const Second *>(&given));
}

TEST(Structs, OfAnOlderHeaderGetDefaults) {
  auto value = readAs(First{sizeof(First), 7});
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->one, 7u);
  EXPECT_EQ(value->two, 0u);
}

TEST(Structs, OfThisHeader) {
  auto value = readAs(Second{sizeof(Second), 7, 8});
  ASSERT_TRUE(value);
  EXPECT_EQ(value->two, 8u);
}

TEST(Structs, OfANewerHeaderMaySetNothingNew) {
  auto value = readAs(Third{sizeof(Third), 7, 8, 0});
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->two, 8u);
  auto refused = readAs(Third{sizeof(Third), 7, 8, 9});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("ilk_thing"), HasSubstr("24"), HasSubstr("newer")));
}

TEST(Structs, ASizeThatWasNotSetIsRefused) {
  for (size_t size : {size_t(0), size_t(1), sizeof(First) - 1, size_t(1) << 20, std::numeric_limits<size_t>::max(),
                      size_t(0xcdcdcdcdcdcdcdcd)}) {
    auto refused = readAs(Second{size, 7, 8});
    ASSERT_FALSE(refused) << size;
    EXPECT_EQ(refused.error().code, Code::badInput);
    EXPECT_THAT(refused.error().message, HasSubstr(".size = sizeof(ilk_thing)"));
    Second out{size, 1, 2};
    EXPECT_FALSE(capi::write("ilk_thing", &out, Second{0, 7, 8}));
    EXPECT_EQ(out.one, 1u);
  }
  EXPECT_FALSE(capi::read<Second>("ilk_thing", nullptr));
  EXPECT_TRUE(capi::readOptional<Second>("ilk_thing", nullptr));
}

TEST(Structs, AreWrittenAsFarAsTheCallerKnows) {
  struct {
    First given{sizeof(First), 0};
    uint64_t behind = 42;
  } older;
  ASSERT_TRUE(capi::write("ilk_thing", reinterpret_cast<Second *>(&older.given), Second{0, 7, 8}));
  EXPECT_EQ(older.given.one, 7u);
  EXPECT_EQ(older.given.size, sizeof(First));
  EXPECT_EQ(older.behind, 42u) << "written beyond what the caller has";
  Third newer{sizeof(Third), 1, 2, 3};
  ASSERT_TRUE(capi::write("ilk_thing", reinterpret_cast<Second *>(&newer), Second{0, 7, 8}));
  EXPECT_EQ(newer.two, 8u);
  EXPECT_EQ(newer.three, 0u);
  EXPECT_EQ(newer.size, sizeof(Third));
}

TEST(Structs, AnArrayHasTheFirstOnesSize) {
  Third array[] = {{sizeof(Third), 1, 0, 0}, {sizeof(Third), 2, 0, 0}};
  auto second = capi::readElement("ilk_thing", reinterpret_cast<const Second *>(array), 1);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->one, 2u);
  EXPECT_FALSE(capi::readElement<Second>("ilk_thing", nullptr, 0));
}

} // namespace
