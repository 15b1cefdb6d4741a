#include "tests/tracing/collector/job.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(Collect, TwoRanksBecomeOneRunWithEverythingInIt)
{
    const JobFolder folder;
    for (int rank = 0; rank < 2; ++rank)
        ASSERT_TRUE(joined(inChild([&] { SmallRank{ .session = folder.session(), .rank = rank }.record(); })));

    const auto summary = collectAll(folder);

    ASSERT_TRUE(summary) << summary.error().message();
    // A step: 1 range, 2 kernels, 1 message part, 1 all-reduce part, 1 counter; on rank 1 a bubble as well.
    EXPECT_EQ(summary->records, 100u * (6 + 7));
    EXPECT_EQ(whatIsWrong(folder.runFile(), 2, 100), "");
    EXPECT_FALSE(std::filesystem::exists(folder.session())) << "what is in the run file is removed";
}

} // namespace rankscope::tracing
