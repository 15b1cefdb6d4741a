#include "tests/support/sql.h"
#include "tests/tracing/store/store_fixture.h"
#include "tracing/store/fault_truth.h"

namespace rankscope::tracing {

using Failures = StoreTest;

TEST_F(Failures, WhatTheSupervisorAndTheNextRanksKnowComesTogether)
{
    auto writer = create();
    // Rank 0 and rank 1 of the second attempt, then the launcher's word on how the first one ended.
    ASSERT_TRUE(writer.putFailure(
        { .attempt = 0, .detectedNs = {}, .reason = {}, .ranks = {}, .reformedNs = 700, .restoredStep = 20 }));
    ASSERT_TRUE(writer.putFailure(
        { .attempt = 0, .detectedNs = {}, .reason = {}, .ranks = {}, .reformedNs = 650, .restoredStep = {} }));
    ASSERT_TRUE(writer.putFailure({ .attempt = 0,
        .detectedNs = 500,
        .reason = "rank 1 died (signal 9)",
        .ranks = { 1 },
        .reformedNs = {},
        .restoredStep = {} }));
    auto reader = read();
    const auto failures = reader.failures();
    ASSERT_TRUE(failures) << why(failures);
    ASSERT_EQ(failures->size(), 1u);
    EXPECT_EQ(failures->front().detectedNs, 500);
    EXPECT_EQ(failures->front().reason, "rank 1 died (signal 9)");
    EXPECT_EQ(failures->front().ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(failures->front().reformedNs, 700);
    EXPECT_EQ(failures->front().restoredStep, 20);
}

TEST_F(Failures, ARunOfTheFirstSchemaHasNone)
{
    {
        auto writer = create();
    }
    support::sql(path_, "DROP TABLE failure");
    support::sql(path_, "DROP TABLE link");
    support::sql(path_, "ALTER TABLE signature DROP COLUMN redundant_flop");
    support::sql(path_, "PRAGMA user_version = 1");
    auto reader = read();
    const auto failures = reader.failures();
    ASSERT_TRUE(failures) << why(failures);
    EXPECT_TRUE(failures->empty());
    EXPECT_TRUE(reader.links());
    EXPECT_TRUE(reader.signatures());
}

TEST_F(Failures, LinksAreMeasuredOnceAnAttempt)
{
    auto writer = create();
    ASSERT_TRUE(writer.putLink({ 1, 0, 900, 2'000'000'000 }));
    ASSERT_TRUE(writer.putLink({ 0, 1, 1000, 1'000'000'000 }));
    ASSERT_TRUE(writer.putLink({ 0, 1, 1100, 3'000'000'000 })); // the next attempt
    const auto links = read().links();
    ASSERT_TRUE(links) << why(links);
    EXPECT_EQ(*links, (std::vector<LinkSpeed>{ { 0, 1, 1100, 3'000'000'000 }, { 1, 0, 900, 2'000'000'000 } }));
}

TEST_F(Failures, ACheckpointIsOnePartOfEachRank)
{
    auto writer = create();
    ASSERT_TRUE(writer.putCheckpoint({ 1, 20, 100, 180, 30, 4096, "step-00000020.0.manifest" }));
    ASSERT_TRUE(writer.putCheckpoint({ 0, 20, 100, 170, 25, 4000, "step-00000020.0.manifest" }));
    const auto parts = read().checkpoints();
    ASSERT_TRUE(parts) << why(parts);
    ASSERT_EQ(parts->size(), 2u);
    EXPECT_EQ((*parts)[0].rank, 0);
    EXPECT_EQ((*parts)[1].endNs, 180);
    EXPECT_EQ((*parts)[1].blockedNs, 30);
    EXPECT_EQ((*parts)[1].bytes, 4096);
}

TEST_F(Failures, TheTruthAboutFaultsIsForScoringAndToldOnce)
{
    auto writer = create();
    const std::int64_t open = std::numeric_limits<std::int64_t>::max();
    ASSERT_TRUE(writer.addFault({ "slow_rank", 1, 5, 100, open, "factor=2" }));
    ASSERT_TRUE(writer.addFault({ "lost_rank", 0, 9, 300, open, "" }));
    ASSERT_TRUE(writer.addFault({ "slow_rank", 1, 5, 100, 250, "factor=2" })); // its end
    const auto truth = readFaultTruth(path_);
    ASSERT_TRUE(truth) << why(truth);
    ASSERT_EQ(truth->size(), 2u);
    EXPECT_EQ((*truth)[0].kind, "slow_rank");
    EXPECT_EQ((*truth)[0].endNs, 250);
    EXPECT_EQ((*truth)[1].endNs, open);
}

} // namespace rankscope::tracing
