#include "tracing/analysis/live_ledger.h"

#include "tests/support/growing_run.h"
#include "tests/support/temporary_directory.h"
#include "tracing/analysis/ledger/ledger_rows.h"
#include "tracing/analysis/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

namespace rankscope::tracing {

namespace {

using Traits = support::GrowingRun::Traits;

/// In an order that does not depend on who counted.
std::vector<std::string> linesOf(const SharedRows& rows)
{
    std::vector<std::string> lines;
    for (const ledger::LedgerRow& row : rows) {
        std::ostringstream line;
        line << "step " << row.step << " rank " << row.rank << ' ' << ledger::leafName(row.leaf) << ' ' << row.ns
             << " [" << row.low << ", " << row.high << "] " << row.culprit.value_or(-1) << ' ' << row.cause << " of";
        for (const std::int32_t culprit : row.culprits)
            line << ' ' << culprit;
        lines.push_back(line.str());
    }
    std::ranges::sort(lines);
    return lines;
}

/// The lines that only one of them has, a few.
std::string difference(const std::vector<std::string>& counted, const std::vector<std::string>& expected)
{
    std::vector<std::string> more, fewer;
    std::ranges::set_difference(counted, expected, std::back_inserter(more));
    std::ranges::set_difference(expected, counted, std::back_inserter(fewer));
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(5, more.size()); ++i)
        text += "\n+ " + more[i];
    for (std::size_t i = 0; i < std::min<std::size_t>(5, fewer.size()); ++i)
        text += "\n- " + fewer[i];
    return text;
}

class LiveLedgerOfAGrowingRun : public testing::Test {
protected:
    explicit LiveLedgerOfAGrowingRun(const Traits& traits = {})
        : run_(directory_ / "run.rsdb", traits)
        , reader_(std::move(*TraceReader::open((directory_ / "run.rsdb").string())))
    {
    }

    /// Looks, and holds the result against a ledger counted as a whole.
    RunLedger look()
    {
        const auto facts = loadFacts(reader_);
        EXPECT_TRUE(facts);
        auto live = live_.refresh(reader_, *loadFactsWithoutSteps(reader_));
        EXPECT_TRUE(live) << live.error().message();
        const auto whole = computeRunLedger(reader_, *facts);
        EXPECT_TRUE(whole);
        expectSame(*live, whole->summary);
        readings_ += live_.lastWork().readings;
        return std::move(*live);
    }

    static void expectSame(const RunLedger& live, const RunLedger& whole)
    {
        EXPECT_EQ(live.capacityNs, whole.capacityNs);
        EXPECT_EQ(live.residualNs(), 0);
        EXPECT_EQ(live.steps, whole.steps);
        EXPECT_EQ(live.totals, whole.totals);
        EXPECT_EQ(live.goodput, whole.goodput);
        EXPECT_EQ(live.counted, whole.counted);
        EXPECT_EQ(live.countedSteps, whole.countedSteps);
        EXPECT_EQ(live.ranks, whole.ranks);
        EXPECT_EQ(live.orderViolations, whole.orderViolations);
        EXPECT_EQ(live.violationsBeyondError, whole.violationsBeyondError);
        EXPECT_EQ(live.flopViolations, whole.flopViolations);
        EXPECT_EQ(live.eagerSends, whole.eagerSends);
        const auto rows = linesOf(live.rows), expected = linesOf(whole.rows);
        EXPECT_TRUE(rows == expected) << difference(rows, expected);
        const auto sums = linesOf(SharedRows(*summedRows(live))), summed = linesOf(SharedRows(*summedRows(whole)));
        EXPECT_TRUE(sums == summed) << difference(sums, summed);
    }

    /// Rows come in chunks of any size, down to single ones.
    void growTo(std::int64_t steps, std::size_t most)
    {
        run_.play(steps);
        std::mt19937 random(7);
        while (run_.left() > 0 && !HasFailure()) {
            run_.write(1 + random() % most);
            look();
        }
    }

    void finish()
    {
        reader_.release(); // the writer wants the file for itself
        run_.finish();
    }

    support::TemporaryDirectory directory_;
    support::GrowingRun run_;
    TraceReader reader_;
    LiveLedger live_;
    std::size_t readings_ = 0;
};

struct LiveLedgerOfARun : LiveLedgerOfAGrowingRun, testing::WithParamInterface<Traits> {
    LiveLedgerOfARun()
        : LiveLedgerOfAGrowingRun(GetParam())
    {
    }
};

std::string nameOf(const testing::TestParamInfo<Traits>& info) { return "Seed" + std::to_string(info.param.seed); }

} // namespace

TEST_P(LiveLedgerOfARun, IsAtEachMomentTheLedgerOfWhatIsThere)
{
    growTo(14, 400);
    finish();
    look();
}

INSTANTIATE_TEST_SUITE_P(OfManyKinds, LiveLedgerOfARun,
    testing::Values(Traits{ .seed = 1 }, Traits{ .seed = 2, .clockErrorNs = 30'000 },
        Traits{ .seed = 3, .clipEvery = 3 }, Traits{ .seed = 4, .clipEvery = 0 },
        Traits{ .seed = 5, .clockErrorNs = 5'000, .clipEvery = 5, .outerEvery = 4 },
        Traits{ .seed = 6, .losesEvery = 9 }, Traits{ .seed = 7, .clipEvery = 0, .lateEvery = 11 },
        Traits{ .seed = 8, .clipEvery = 2, .outerEvery = 3, .losesEvery = 13, .lateEvery = 17 }),
    nameOf);

TEST_F(LiveLedgerOfAGrowingRun, CountsNewStepsAndFewOfThoseBefore)
{
    for (int round = 0; round < 12; ++round) {
        run_.play(4);
        run_.write(run_.left());
        const RunLedger ledger = look();
        // Four new ones, the one that was the last before, the settled one that is checked, and two to look back to.
        if (round > 1) {
            EXPECT_LE(live_.lastWork().stepsCounted, 8u);
            EXPECT_EQ(live_.lastWork().readings, 1u);
        }
    }
    const auto before = live_.refresh(reader_, *loadFactsWithoutSteps(reader_));
    const auto again = live_.refresh(reader_, *loadFactsWithoutSteps(reader_));
    ASSERT_TRUE(before && again);
    EXPECT_EQ(&*before->rows.begin(), &*again->rows.begin()) << "settled steps' rows are shared";
}

TEST_F(LiveLedgerOfAGrowingRun, TakesStepsBackThatAFailureThrewAway)
{
    growTo(6, 700);
    run_.publishCheckpoint(); // of step 5
    growTo(4, 700);
    run_.fail(5);
    look();
    growTo(8, 700);
    run_.publishCheckpoint();
    const RunLedger ledger = look();
    std::int64_t lost = 0;
    for (const ledger::StepInfo& step : ledger.steps)
        lost += step.state == ledger::StepState::Committed ? 0 : 1;
    EXPECT_EQ(lost, 4); // steps 6 to 9 of the first attempt
    EXPECT_GT(ledger.goodput.lost, 0);
    EXPECT_GT(ledger.goodput.down, 0);
    growTo(4, 300);
    finish();
    look();
}

} // namespace rankscope::tracing
