#include "tracing/model/kinds.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(Kinds, EveryCollectiveReadsBackFromItsWord)
{
    for (int i = 0; i <= static_cast<int>(CollectiveOp::Receive); ++i) {
        const auto op = static_cast<CollectiveOp>(i);
        EXPECT_EQ(parseCollectiveOp(toString(op)), op);
    }
}

TEST(Kinds, EveryDimensionReadsBackFromItsWord)
{
    for (int i = 0; i <= static_cast<int>(Dimension::World); ++i) {
        const auto dimension = static_cast<Dimension>(i);
        EXPECT_EQ(parseDimension(toString(dimension)), dimension);
    }
}

TEST(Kinds, WordsOfTheFieldAreUsed)
{
    EXPECT_EQ(toString(CollectiveOp::ReduceScatter), "reduce-scatter");
    EXPECT_EQ(toString(Dimension::Pipeline), "pp");
    EXPECT_EQ(toString(RangeKind::MicroBatch), "micro-batch");
    EXPECT_EQ(toString(SpanClass::Imbalance), "imbalance");
}

TEST(Kinds, ANumberFromANewerFileReadsAsUnknown)
{
    EXPECT_EQ(toString(static_cast<CollectiveOp>(200)), "unknown");
    EXPECT_EQ(parseCollectiveOp("all-shuffle"), std::nullopt);
}

} // namespace rankscope::tracing
