#include "tracing/model/compact_optional.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace rankscope::tracing {

TEST(CompactOptional, IsAnOptionalInTheRoomOfItsValue)
{
    using Number = CompactOptional<std::int64_t>;
    static_assert(sizeof(Number) == sizeof(std::int64_t));
    const Number none, seven = 7, fromNone = std::optional<std::int64_t>(), fromNought = std::optional<std::int64_t>(0);
    EXPECT_FALSE(none);
    EXPECT_EQ(none, fromNone);
    EXPECT_EQ(none.value_or(3), 3);
    EXPECT_EQ(std::optional<std::int64_t>(none), std::nullopt);
    EXPECT_EQ(*seven, 7);
    EXPECT_EQ(std::optional<std::int64_t>(seven), 7);
    EXPECT_TRUE(fromNought.has_value());
    EXPECT_EQ(Number(std::nullopt), none);
}

} // namespace rankscope::tracing
