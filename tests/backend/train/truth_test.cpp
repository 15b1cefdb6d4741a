#include "tests/backend/train/thread_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

namespace rankscope::backend {

using test::expectClose;
using test::onRanks;
using test::Outcome;
using test::splitBatch;
using test::tinyConfig;
using test::train;

namespace {

/// A way to spread the same training, which must give what one rank gives.
struct Case {
    const char* name;
    void (*change)(Config& config);
    double bound = 1e-5; ///< relative, of losses and gradient norms
};

/// Rounded inputs have 8 bits of precision, an error of 2^-9 each, which averages out in sums.
constexpr double kBf16Bound = 1e-2;
constexpr std::size_t kRepeated = 3; ///< steps done again, for the bits

void spread(Config& config, int dp, int tp, int pp)
{
    config.parallel.dp = dp;
    config.parallel.tp = tp;
    config.parallel.pp = pp;
}

void schedule(Config& config, const char* name, int dp, int pp)
{
    spread(config, dp, 1, pp);
    config.parallel.schedule = name;
}

void zero(Config& config, const char* name, int dp, int tp, int pp)
{
    spread(config, dp, tp, pp);
    config.parallel.schedule = name;
    config.parallel.zero = 1;
}

void experts(Config& config, int dp, int ep)
{
    spread(config, dp, 1, 1);
    config.parallel.ep = ep;
    config.model.experts = 4;
    config.model.topK = 2;
    config.model.capacityFactor = 0; // whoever drops tokens may drop others
}

const Case kCases[] = {
    { "dp2", [](Config& c) { spread(c, 2, 1, 1); } },
    { "dp4", [](Config& c) { spread(c, 4, 1, 1); } },
    { "pp2", [](Config& c) { spread(c, 1, 1, 2); } },
    { "pp4", [](Config& c) { spread(c, 1, 1, 4); } },
    { "dp2pp2", [](Config& c) { spread(c, 2, 1, 2); } },
    { "tp2", [](Config& c) { spread(c, 1, 2, 1); } },
    { "tp2pp2", [](Config& c) { spread(c, 1, 2, 2); } },
    { "dp2tp2", [](Config& c) { spread(c, 2, 2, 1); } },
    { "dp2zero", [](Config& c) { zero(c, "1f1b", 2, 1, 1); } },
    { "dp4zero", [](Config& c) { zero(c, "1f1b", 4, 1, 1); } },
    { "dp2tp2zero", [](Config& c) { zero(c, "1f1b", 2, 2, 1); } },
    { "interleavedDp2zero", [](Config& c) { zero(c, "interleaved", 2, 1, 2); } },
    { "zeroBubbleDp2Tp2zero", [](Config& c) { zero(c, "zb-h1", 2, 2, 2); } },
    { "bf16", [](Config& c) { c.train.dtype = "bf16"; }, kBf16Bound },
    { "bf16Dp2Tp2Pp2zero",
        [](Config& c) {
            zero(c, "1f1b", 2, 2, 2);
            c.train.dtype = "bf16";
        },
        kBf16Bound },
    { "dp2naive",
        [](Config& c) {
            spread(c, 2, 1, 1);
            c.parallel.comm = "naive";
        } },
    { "gpipe", [](Config& c) { schedule(c, "gpipe", 1, 2); } },
    { "gpipe4", [](Config& c) { schedule(c, "gpipe", 1, 4); } },
    { "interleaved", [](Config& c) { schedule(c, "interleaved", 1, 2); } },
    { "interleavedDp2", [](Config& c) { schedule(c, "interleaved", 2, 2); } },
    { "zeroBubble", [](Config& c) { schedule(c, "zb-h1", 1, 2); } },
    { "zeroBubble4", [](Config& c) { schedule(c, "zb-h1", 1, 4); } },
    { "zeroBubbleDp2", [](Config& c) { schedule(c, "zb-h1", 2, 2); } },
    { "zeroBubbleTp2",
        [](Config& c) {
            schedule(c, "zb-h1", 1, 2);
            c.parallel.tp = 2;
        } },
    { "selective", [](Config& c) { c.train.recompute = "selective"; }, 0 },
    { "full", [](Config& c) { c.train.recompute = "full"; }, 0 },
    { "selectivePp2Tp2",
        [](Config& c) {
            spread(c, 1, 2, 2);
            c.train.recompute = "selective";
        } },
    { "fullInterleavedDp2",
        [](Config& c) {
            schedule(c, "interleaved", 2, 2);
            c.train.recompute = "full";
        } },
    { "selectiveGpipeNaive",
        [](Config& c) {
            schedule(c, "gpipe", 2, 2);
            c.parallel.comm = "naive";
            c.train.recompute = "selective";
        } },
    { "fullTp2",
        [](Config& c) {
            spread(c, 1, 2, 1);
            c.train.recompute = "full";
        } },
    { "sequenceTp2",
        [](Config& c) {
            spread(c, 1, 2, 1);
            c.parallel.sequenceParallel = true;
        } },
    { "sequenceDp2Tp2Pp2",
        [](Config& c) {
            spread(c, 2, 2, 2);
            c.parallel.sequenceParallel = true;
        } },
    { "sequenceZeroBubble",
        [](Config& c) {
            schedule(c, "zb-h1", 1, 2);
            c.parallel.tp = 2;
            c.parallel.sequenceParallel = true;
        } },
    { "sequenceSelectiveInterleaved",
        [](Config& c) {
            schedule(c, "interleaved", 1, 2);
            c.parallel.tp = 2;
            c.parallel.sequenceParallel = true;
            c.train.recompute = "selective";
        } },
    { "sequenceFull",
        [](Config& c) {
            spread(c, 1, 2, 1);
            c.parallel.sequenceParallel = true;
            c.train.recompute = "full";
        } },
    { "dp2tp2pp2", [](Config& c) { spread(c, 2, 2, 2); } },
    { "expertsDp2", [](Config& c) { experts(c, 2, 1); } },
    { "expertsDp2ep2", [](Config& c) { experts(c, 2, 2); } },
    { "expertsDp4ep2", [](Config& c) { experts(c, 4, 2); } },
    { "expertsDp4ep4", [](Config& c) { experts(c, 4, 4); } },
    { "expertsTp2",
        [](Config& c) {
            experts(c, 1, 1);
            c.parallel.tp = 2;
        } },
    { "expertsAll",
        [](Config& c) {
            experts(c, 2, 2);
            c.parallel.tp = 2;
            c.parallel.pp = 2;
        } },
    { "expertsSequenceTp2",
        [](Config& c) {
            experts(c, 2, 2);
            c.parallel.tp = 2;
            c.parallel.sequenceParallel = true;
        } },
    { "expertsZeroBubble",
        [](Config& c) {
            experts(c, 2, 2);
            c.parallel.pp = 2;
            c.parallel.schedule = "zb-h1";
        } },
    { "expertsInterleavedSelective",
        [](Config& c) {
            experts(c, 2, 2);
            c.parallel.pp = 2;
            c.parallel.schedule = "interleaved";
            c.train.recompute = "selective";
        } },
    { "expertsFull",
        [](Config& c) {
            experts(c, 2, 2);
            c.train.recompute = "full";
        } },
    { "expertsNaive",
        [](Config& c) {
            experts(c, 4, 2);
            c.parallel.comm = "naive";
        } },
    { "expertsBf16",
        [](Config& c) {
            experts(c, 2, 2);
            c.train.dtype = "bf16";
        },
        kBf16Bound },
    { "expertsZero",
        [](Config& c) {
            experts(c, 4, 2);
            c.parallel.zero = 1;
        } },
};

class Layouts : public testing::TestWithParam<Case> {
protected:
    static const Outcome& truth()
    {
        static const Outcome outcome = train(tinyConfig()).front();
        return outcome;
    }
    static const Outcome& truthOfExperts()
    {
        static const Outcome outcome = [] {
            Config config = tinyConfig();
            experts(config, 1, 1);
            return train(config).front();
        }();
        return outcome;
    }
};

} // namespace

TEST_F(Layouts, TheTruthItselfLearns)
{
    ASSERT_EQ(truth().losses.size(), 20U);
    EXPECT_EQ(truth().heldOut.size(), 3U);
    EXPECT_LT(truth().losses.back(), 0.8 * truth().losses.front());
    EXPECT_LT(truthOfExperts().losses.back(), 0.8 * truthOfExperts().losses.front());
    EXPECT_NE(truthOfExperts().losses, truth().losses);
}

TEST_P(Layouts, GiveLossesAndGradientNormsOfOneRankAndRepeatBitForBit)
{
    Config config = tinyConfig();
    GetParam().change(config);
    splitBatch(config);
    const std::vector<Outcome> outcomes = train(config);
    const Outcome& one = config.model.experts > 0 ? truthOfExperts() : truth();
    for (const Outcome& outcome : outcomes) {
        expectClose(outcome.losses, one.losses, GetParam().bound);
        expectClose(outcome.heldOut, one.heldOut, GetParam().bound);
        expectClose(outcome.norms, one.norms, GetParam().bound);
    }
    const Outcome again = train(config, kRepeated).front();
    ASSERT_EQ(again.losses.size(), kRepeated);
    EXPECT_TRUE(std::ranges::equal(again.losses, std::span(outcomes.front().losses).first(kRepeated)));
    EXPECT_TRUE(std::ranges::equal(again.norms, std::span(outcomes.front().norms).first(kRepeated)));
}

INSTANTIATE_TEST_SUITE_P(
    Training, Layouts, testing::ValuesIn(kCases), [](const auto& which) { return std::string(which.param.name); });

TEST(Training, AShapedLinkChangesNoBit)
{
    Config config = tinyConfig(2, 1);
    config.train.steps = 5;
    const Outcome fast = train(config).front();
    config.links = { { .from = 0, .to = 1, .gbitPerSecond = 2, .delayUs = 100 } };
    EXPECT_EQ(train(config).front().losses, fast.losses);
}

TEST(Training, TheNaiveBaselineChangesNoBitOfTwoReplicas)
{
    // A sum of two is the same in any order, so only the time differs.
    Config config = tinyConfig(2, 1);
    const Outcome overlapped = train(config, 5).front();
    config.parallel.comm = "naive";
    EXPECT_EQ(train(config, 5).front().losses, overlapped.losses);
}

TEST(Training, ShardingTheOptimizerChangesNoBitOfTwoReplicas)
{
    // Without clipping: the norm is summed in another order.
    Config config = tinyConfig(2, 1);
    config.optimizer.clip = 0;
    const Outcome whole = train(config).front();
    config.parallel.zero = 1;
    const Outcome sharded = train(config).front();
    EXPECT_EQ(sharded.losses, whole.losses);
    EXPECT_EQ(sharded.heldOut, whole.heldOut);
}

TEST(Training, OneRanksStopEndsAllAfterTheSameStep)
{
    std::vector<int> steps(2);
    const Config config = tinyConfig(2, 1);
    onRanks(config, [&](int rank, Trainer& trainer) {
        int& done = steps[static_cast<std::size_t>(rank)];
        const RunEnd end = trainer.run({ .step = [&](const StepReport&) { ++done; },
            .validation = {},
            .shouldStop = [&] { return rank == 1 && done == 2; } });
        EXPECT_EQ(end, RunEnd::Stopped);
    });
    EXPECT_EQ(steps, (std::vector{ 3, 3 }));
}

TEST(Training, EndsAfterTheStepInWhichItsTimeIsUp)
{
    Config config = tinyConfig(1, 2);
    config.train.maxSeconds = 1e-9;
    onRanks(config, [&](int, Trainer& trainer) {
        std::vector<std::int64_t> validated;
        const RunEnd end = trainer.run({ .step = {},
            .validation = [&](const ValidationReport& report) { validated.push_back(report.step); },
            .shouldStop = {} });
        EXPECT_EQ(end, RunEnd::TimeIsUp);
        EXPECT_EQ(validated, (std::vector<std::int64_t>{ 0, 1 }));
    });
}

} // namespace rankscope::backend
