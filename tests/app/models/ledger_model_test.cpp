#include "app/models/ledger_model.h"

#include <QStringList>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

using tracing::Dimension;
using tracing::RunLedger;
using LedgerLeaf = tracing::ledger::Leaf;
using tracing::ledger::LeafKey;

constexpr std::int64_t kMs = 1'000'000;
constexpr LeafKey kCompute{ LedgerLeaf::Compute, Dimension::None };
constexpr LeafKey kWait{ LedgerLeaf::Wait, Dimension::Data };
constexpr LeafKey kHost{ LedgerLeaf::Host, Dimension::None };
constexpr LeafKey kNothing{ LedgerLeaf::Unattributed, Dimension::None };

/// Two ranks, steps 4 and 5 of 100 ms. Rank 0 computes 50 ms a step and waits 40 for rank 1's host; rank 1 computes 50
/// and launches nothing for 40; 10 of each are unattributed. In all 400 rank-ms.
RunLedger sampleLedger()
{
    RunLedger run;
    run.capacityNs = 400 * kMs;
    run.ranks = { { 0, 200 * kMs, {} }, { 1, 200 * kMs, {} } };
    run.counted = tracing::StepRange{ 4, 5 };
    run.countedSteps = 2;
    std::vector<tracing::ledger::LedgerRow> rows;
    for (const std::int64_t step : { 4, 5 }) {
        const auto index = static_cast<std::int32_t>(run.steps.size());
        tracing::ledger::StepInfo info;
        info.step = step;
        run.steps.push_back(info);
        const auto add = [&](LeafKey leaf, std::int32_t rank, std::int64_t ms) -> tracing::ledger::LedgerRow& {
            tracing::ledger::LedgerRow row;
            row.leaf = leaf;
            row.rank = rank;
            row.step = index;
            row.ns = row.low = row.high = ms * kMs;
            rows.push_back(row);
            return rows.back();
        };
        add(kCompute, 0, 50);
        add(kCompute, 1, 50);
        auto& wait = add(kWait, 0, 40);
        wait.culprit = 1;
        wait.cause = "host";
        add(kHost, 1, 40);
        add(kNothing, 0, 10);
        add(kNothing, 1, 10);
    }
    run.rows = std::move(rows);
    run.totals = { { kCompute, 200 * kMs, 200 * kMs, 200 * kMs }, { kWait, 80 * kMs, 76 * kMs, 84 * kMs },
        { kHost, 80 * kMs, 80 * kMs, 80 * kMs }, { kNothing, 40 * kMs, 40 * kMs, 40 * kMs } };
    tracing::Saving saving;
    saving.culprit = 1;
    saving.cause = "host";
    saving.prediction = { 200 * kMs, 120 * kMs, 120 * kMs, 140 * kMs };
    run.savings.push_back(saving);
    return run;
}

QStringList names(const LedgerModel& model)
{
    QStringList all;
    for (const LedgerLine& line : model.lines)
        all << QString(2 * line.depth, QLatin1Char(' ')) + line.name + " " + line.amount;
    return all;
}

TEST(LedgerModelTest, UnattributedComesFirstAndEachLeafNamesWhoIsToBlame)
{
    const LedgerModel model = ledgerModel(sampleLedger(), {});
    EXPECT_EQ(names(model),
        (QStringList{ "unattributed 10.0 %", "compute 50.0 %", "wait dp 20.0 %", "  for rank 1 20.0 %",
            "host late 20.0 %", "  rank 1 20.0 %" }))
        << names(model).join('\n').toStdString();
    EXPECT_EQ(model.lines[3].who, "host");
    EXPECT_EQ(model.lines[3].fixed, "step 100 ms → 60.0 ms (60.0 to 70.0 ms)");
    EXPECT_EQ(model.lines[2].fixed, "–"); // a share is never called a saving
    EXPECT_EQ(model.lines[3].choice.culprit, 1);
    EXPECT_EQ(model.lines[5].choice.rank, 1);
}

TEST(LedgerModelTest, TheSumIsPrintedWithItsResidualAndTheClocksError)
{
    const LedgerModel model = ledgerModel(sampleLedger(), {});
    EXPECT_EQ(model.sumAmount, "100.0 %");
    EXPECT_EQ(model.groupsHint, QStringLiteral("bar = the rank’s own window, 100 % · right: its part of all time"));
    EXPECT_EQ(model.sumOwn, "400 ms");
    EXPECT_EQ(model.residual, "residual 0 ns");
    EXPECT_EQ(model.notes, "wait dp with the clock error: 19.00 to 21.00 %");
    EXPECT_EQ(ledgerModel(sampleLedger(), { .unit = LedgerUnit::RankTime }).sumAmount, "400.0 rank-ms");
}

TEST(LedgerModelTest, SaysWhichTimeTheSharesAreOfWhereTheOverviewCountsLess)
{
    RunLedger run = sampleLedger();
    run.counted = tracing::StepRange{ 5, 5 };
    EXPECT_EQ(ledgerModel(run, {}).notes,
        "the whole run, with what lies outside of steps; the overview counts step 5 · "
        "wait dp with the clock error: 19.00 to 21.00 %");
    EXPECT_FALSE(ledgerModel(run, { .steps = run.counted }).notes.contains("overview"));
}

TEST(LedgerModelTest, ASavingTooSmallToSeeIsNone)
{
    // Two steps of 2.840 s would take 2.838 s: 2.84 s both, in three digits.
    RunLedger run = sampleLedger();
    run.savings.back().prediction = { 5'680 * kMs, 5'676 * kMs, 5'676 * kMs, 5'676 * kMs };
    EXPECT_EQ(ledgerModel(run, {}).lines[3].fixed, "no gain");
}

TEST(LedgerModelTest, ATotalAndOneBarARankStepDimensionOrCauseInTheOrderOfTheLeaves)
{
    const LedgerModel ranks = ledgerModel(sampleLedger(), {});
    ASSERT_EQ(ranks.groups.size(), 3U);
    EXPECT_EQ(ranks.groups[0].name, "total");
    EXPECT_EQ(ranks.groups[0].amount, "100.0 %");
    ASSERT_EQ(ranks.groups[0].bar.size(), 4U); // unattributed, compute, wait, host
    EXPECT_EQ(ranks.groups[0].bar[1].ns, 200 * kMs);
    EXPECT_EQ(ranks.groups[2].name, "rank 1");
    ASSERT_EQ(ranks.groups[2].bar.size(), 3U);
    EXPECT_EQ(ranks.groups[2].bar[0].leaf, Leaf::Unattributed);
    EXPECT_EQ(ranks.groups[2].bar[1].ns, 100 * kMs);
    EXPECT_EQ(ranks.groups[2].bar[2].leaf, Leaf::Host);

    const LedgerModel steps = ledgerModel(sampleLedger(), { .by = LedgerBy::Step });
    ASSERT_EQ(steps.groups.size(), 3U);
    EXPECT_EQ(steps.groups[1].name, "step 4");
    EXPECT_EQ(steps.groups[1].amount, "50.0 %");

    const LedgerModel dimensions = ledgerModel(sampleLedger(), { .by = LedgerBy::Dimension });
    ASSERT_EQ(dimensions.groups.size(), 3U);
    EXPECT_EQ(dimensions.groups[2].name, "dp");
    EXPECT_EQ(dimensions.groups[2].amount, "20.0 %");

    const LedgerModel causes = ledgerModel(sampleLedger(), { .by = LedgerBy::Cause });
    ASSERT_EQ(causes.groups.size(), 3U);
    EXPECT_EQ(causes.groups[2].name, "host, rank 1");
}

TEST(LedgerModelTest, UnattributedIsShownAlsoWhereThereIsNone)
{
    RunLedger run = sampleLedger();
    run.rows = run.rows.where([](const auto& row) { return row.leaf != kNothing; });
    std::erase_if(run.totals, [](const auto& total) { return total.leaf == kNothing; });
    const LedgerModel model = ledgerModel(run, {});
    EXPECT_EQ(model.lines[0].name, "unattributed");
    EXPECT_EQ(model.lines[0].amount, "0.0 %");
    EXPECT_EQ(model.lines[1].name, "compute");
}

TEST(LedgerModelTest, CountsSomeStepsOrOnlyWhatIsAvoidable)
{
    const LedgerModel one = ledgerModel(sampleLedger(), { .steps = tracing::StepRange{ 5, 5 } });
    EXPECT_EQ(one.sumOwn, "200 ms");
    EXPECT_EQ(one.sumAmount, "100.0 %");
    EXPECT_EQ(ledgerModel(sampleLedger(), { .steps = tracing::StepRange{ 7, 9 } }).problem, "The run has steps 4 to 5");

    const LedgerModel avoidable = ledgerModel(sampleLedger(), { .avoidableOnly = true });
    EXPECT_FALSE(names(avoidable).contains("compute 50.0 %"));
    EXPECT_EQ(avoidable.groups[1].amount, "25.0 %"); // rank 0 waits 80 and has 20 unattributed of 400
}

TEST(LedgerModelTest, CausesAreSaidInPlainWords)
{
    RunLedger run = sampleLedger();
    std::vector<tracing::ledger::LedgerRow> rows(run.rows.begin(), run.rows.end());
    for (auto& row : rows)
        row.cause = row.cause.empty() ? "" : "compute_amount";
    run.rows = std::move(rows);
    EXPECT_EQ(ledgerModel(run, {}).lines[3].who, "more to compute");
    EXPECT_EQ(ledgerModel(run, { .by = LedgerBy::Cause }).groups[2].name, "more to compute, rank 1");
    EXPECT_EQ(causeTitle("before the recording"), "before the recording");
}

TEST(LedgerModelTest, ReadsStepsAsPeopleWriteThem)
{
    EXPECT_EQ(parseStepRange("4:6"), (tracing::StepRange{ 4, 6 }));
    EXPECT_EQ(parseStepRange(" 5 "), (tracing::StepRange{ 5, 5 }));
    EXPECT_FALSE(parseStepRange("6:4"));
    EXPECT_FALSE(parseStepRange("1:2:3"));
    EXPECT_FALSE(parseStepRange("last"));
}

} // namespace
} // namespace rankscope::app
