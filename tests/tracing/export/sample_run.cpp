#include "tests/tracing/export/sample_run.h"

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMs = 1'000'000;

RankAnalysis rankOf(std::int32_t rank, std::int64_t computeNs, std::int64_t bubbleNs)
{
    RankAnalysis result;
    result.info.rank = rank;
    result.info.node = "here";
    result.info.device = "a processor, 1 thread";
    result.info.stage = rank;
    result.info.clockErrorNs = 4'000;
    result.split.windowNs = 1000 * kMs;
    result.split.computeNs = computeNs;
    result.split.optimizerNs = 20 * kMs;
    result.split.bubbleByPhaseNs = { bubbleNs, bubbleNs, 0 };
    result.split.transferNs = 5 * kMs;
    result.split.transferByDimensionNs[static_cast<std::size_t>(Dimension::Pipeline)] = 5 * kMs;
    result.split.idleNs = result.split.windowNs - result.split.sumNs();
    result.overlap = { 1000 * kMs, computeNs, 50 * kMs, 10 * kMs, 40 * kMs, 0, 1000 * kMs - computeNs - 40 * kMs };
    result.waitForRankNs.assign(2, 0);
    return result;
}

} // namespace

RunAnalysis sampleRun()
{
    RunAnalysis run;
    run.facts.run.name = "sample";
    run.facts.run.source = "rankscope";
    run.facts.run.worldSize = 2;
    run.facts.run.finished = true;
    run.window = { 100 * kMs, 1100 * kMs };
    run.counted = StepRange{ 1, 10 };
    for (std::int64_t step = 1; step <= 10; ++step)
        run.steps.push_back({ step, 0, { step * 100 * kMs, (step + 1) * 100 * kMs } });
    run.allSteps = run.steps;
    run.stepStats = stepStats(run.steps);
    // Compute 700 + 600, bubble 200 + 300, transfer 5 + 5, nothing recorded 95 + 95: 2000 rank-ms.
    run.ranks = { rankOf(0, 700 * kMs, 100 * kMs), rankOf(1, 600 * kMs, 150 * kMs) };
    for (const RankAnalysis& rank : run.ranks) {
        run.total += rank.split;
        run.facts.ranks.push_back(rank.info);
    }
    run.collectives = { CollectiveRow{ .op = CollectiveOp::Send,
        .dimension = Dimension::Pipeline,
        .count = 40,
        .bytes = 40'000,
        .transferNs = 10 * kMs,
        .lateRank = 1,
        .lateCount = 39 } };
    run.kernels = { { "matmul", "matmul", KernelFamily::Matrix, 4000, 1000 * kMs, 0.8, 3.5e9, std::nullopt },
        { "a kernel with a name that goes on and on and on and on", "a kernel with a name that goes on and on",
            KernelFamily::Other, 10, 250 * kMs, 0.2, std::nullopt, std::nullopt } };
    run.series = { { "loss", "nats", 1, { { {}, 0, 5.5 }, { {}, 1, 2.75 } } } };
    run.findings = findings(run);
    run.headline = headline(run);
    return run;
}

} // namespace rankscope::tracing
