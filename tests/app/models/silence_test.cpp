#include "app/models/silence.h"

#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Two ranks, steps 1 and 2 of 100 ms, still being recorded; then rank 0 goes on for another second.
class SilenceTest : public testing::Test {
protected:
    SilenceTest()
        : trace_(directory_ / "live.rsdb", 2)
    {
        addStep(trace_, 1);
        addStep(trace_, 2);
    }

    std::vector<Silence> at(std::int64_t nowNs)
    {
        auto reader = tracing::TraceReader::open((directory_ / "live.rsdb").string());
        const auto run = readSnapshot(*reader);
        auto silent = readSilence(*reader, *run, nowNs);
        EXPECT_TRUE(silent) << silent.error().message();
        return *silent;
    }

    support::TemporaryDirectory directory_;
    support::TraceBuilder trace_;
};

TEST_F(SilenceTest, TellsWhoDeliversNothingAndWhatItDidLast)
{
    trace_.kernel(0, { 2 * kSecond, 12 * kSecond }, "attention");
    const auto silent = at(13 * kSecond);
    ASSERT_EQ(silent.size(), 1U); // rank 0 delivered a second ago
    EXPECT_EQ(silent[0].rank, 1);
    EXPECT_EQ(silent[0].last, "all-reduce in step 2"); // it ended at 190 ms, the step at 200
    EXPECT_EQ(silenceText(silent, 2, 13 * kSecond), "Rank 1 has recorded nothing for 12 s; last: all-reduce in step 2");
}

TEST_F(SilenceTest, SaysSoWhereAllRanksAreSilent)
{
    trace_.kernel(0, { 2 * kSecond, 3 * kSecond }, "attention");
    const QString text = silenceText(at(90 * kSecond), 2, 90 * kSecond);
    EXPECT_EQ(text,
        "Both ranks are silent: rank 1 has recorded nothing for 89 s; last: all-reduce in step 2 · rank 0 has "
        "recorded "
        "nothing for 87 s; last: attention after step 2");
}

TEST_F(SilenceTest, NobodyIsSilentWithinTwoSeconds)
{
    EXPECT_TRUE(at(2 * kSecond).empty());
    EXPECT_EQ(silenceText({}, 2, 0), "");
}

TEST(SilenceText, NamesTwoAndCountsTheOthers)
{
    std::vector<Silence> silent;
    for (int rank = 0; rank < 5; ++rank)
        silent.push_back({ rank, rank * kSecond, {} });
    EXPECT_EQ(silenceText(silent, 8, 300 * kSecond),
        "Rank 0 has recorded nothing for 5 min · rank 1 has recorded nothing for 4 min · 3 more");
    EXPECT_EQ(silenceText({ { 3, std::nullopt, {} } }, 8, 0), "Rank 3 has recorded nothing so far");
}

} // namespace
} // namespace rankscope::app
