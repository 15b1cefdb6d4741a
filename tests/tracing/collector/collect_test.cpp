#include "tests/tracing/collector/job.h"

#include "tracing/record/clock.h"
#include "tracing/record/facts_file.h"

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

TEST(Collect, ARestartCountsAsAnotherAttemptWithItsFailureAndCheckpoints)
{
    const JobFolder folder;
    const auto attempt = [&](std::int32_t number, std::uint32_t firstStep) {
        for (std::int32_t rank = 0; rank < 2; ++rank) {
            ASSERT_TRUE(joined(inChild([&] {
                SmallRank{
                    .session = folder.session(), .rank = rank, .firstStep = firstStep, .steps = 3, .attempt = number
                }
                    .record([&](Recorder& recorder) {
                        if (number == 0)
                            recorder.checkpoint({ .step = 2,
                                .beginTicks = recorder.now(),
                                .blockedNs = 7,
                                .bytes = 100,
                                .path = "step-2" });
                        else if (rank == 0)
                            recorder.restored(2);
                    });
            })));
        }
    };
    attempt(0, 1);
    ASSERT_TRUE(appendJobFact(folder.session(), FailureFact{ 0, readTicks(chooseClock()), "rank 1 died", { 1 } }));
    attempt(1, 3);
    ASSERT_TRUE(collectAll(folder));

    auto reader = std::move(*TraceReader::open(folder.runFile()));
    EXPECT_EQ(valueOf(reader, "SELECT group_concat(step || '.' || attempt, ' ') FROM step WHERE rank = 1"),
        "1.0 2.0 3.0 3.1 4.1 5.1");
    EXPECT_EQ(valueOf(reader, "SELECT count(*) FROM collective_match WHERE parts_present < parts_expected"), "0");
    const auto failures = reader.failures();
    ASSERT_TRUE(failures);
    ASSERT_EQ(failures->size(), 1u);
    EXPECT_EQ(failures->front().ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(failures->front().restoredStep, 2);
    ASSERT_TRUE(failures->front().detectedNs && failures->front().reformedNs);
    EXPECT_LT(*failures->front().detectedNs, *failures->front().reformedNs);
    EXPECT_EQ(reader.checkpoints()->size(), 2u);
}

} // namespace rankscope::tracing
