#include "backend/tensor/buffer.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>

namespace rankscope::backend {

TEST(Buffer, StartsAtZeroOnACacheLine)
{
    // The second is large enough for huge pages.
    for (const std::size_t count : { std::size_t{ 3 }, std::size_t{ 3'000'001 } }) {
        const Buffer buffer(count);
        EXPECT_EQ(buffer.size(), count);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
        EXPECT_TRUE(std::ranges::all_of(buffer.span(), [](float x) { return x == 0; }));
    }
}

TEST(Buffer, OfNothingIsEmpty)
{
    EXPECT_EQ(Buffer(0).size(), 0U);
    EXPECT_TRUE(Buffer().span().empty());
}

} // namespace rankscope::backend
