#include "tests/tracing/analysis/ledger/pipeline_job.h"
#include "tests/tracing/analysis/ledger/published_result.h"
#include "tracing/analysis/ledger/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace rankscope::tracing::ledger {

namespace {

struct Job {
    LedgerInput input;
    LedgerResult result;
    LedgerResult level1; ///< without the bubble rules
};

std::string tracePath(const std::string& name)
{
    const char* traces = std::getenv("RANKSCOPE_TRACES");
    return (std::filesystem::path(traces ? traces : "../shared/traces") / "pipeline_jobs" / name).string();
}

/// Points of rank-time, rounded to the three digits that METRICS 5.5 prints.
std::string points(const LedgerResult& result, const std::vector<std::string>& leaves)
{
    Ns sum = 0;
    for (const LedgerTotal& total : result.totals) {
        for (const std::string& leaf : leaves)
            sum += leafName(total.leaf) == leaf ? total.ns : 0;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", 100.0 * static_cast<double>(sum) / static_cast<double>(result.capacity));
    return text;
}

std::optional<Job> readJob(const std::string& name)
{
    Job job;
    job.input = readPipelineJob(tracePath(name));
    if (job.input.ranks.empty())
        return std::nullopt;
    job.result = computeLedger(job.input);
    LedgerInput plain = job.input;
    plain.pipeline.reset();
    job.level1 = computeLedger(plain);
    return job;
}

void expectPoints(const LedgerResult& result, const std::vector<std::pair<std::vector<std::string>, std::string>>& rows)
{
    for (const auto& [leaves, expected] : rows)
        EXPECT_EQ(points(result, leaves), expected) << leaves.front();
}

} // namespace

#define JOB_OR_SKIP(name)                                                                                              \
    const auto job = readJob(name);                                                                                    \
    if (!job)                                                                                                          \
    GTEST_SKIP() << "no " << tracePath(name) << "; set RANKSCOPE_TRACES to the folder of real traces"

TEST(PipelineJob, ArHasTheSharesOfTheDefinitionAndThePublishedSlowdown)
{
    JOB_OR_SKIP("AR.csv.gz");
    EXPECT_EQ(job->result.capacity, 32841020210256);
    EXPECT_EQ(job->result.orderViolations, 0);
    expectPoints(job->level1,
        { { { "compute" }, "45.138" }, { { "optimizer" }, "0.049" }, { { "transfer.pp" }, "0.146" },
            { { "transfer.dp" }, "0.908" }, { { "transfer.emb" }, "0.096" }, { { "transfer.clip" }, "0.025" },
            { { "communication.unsplit.tp" }, "0.014" }, { { "wait.pp" }, "13.035" }, { { "wait.dp" }, "21.487" },
            { { "wait.emb" }, "8.617" }, { { "wait.clip" }, "0.531" }, { { "tail" }, "0.071" },
            { { "kernel_gap" }, "0.001" }, { { "unattributed" }, "9.881" } });
    expectPoints(job->result,
        { { { "bubble.structural.fill" }, "0.777" }, { { "bubble.structural.steady" }, "1.812" },
            { { "bubble.structural.drain" }, "1.137" }, { { "bubble.imbalance" }, "10.399" },
            { { "wait.dp" }, "21.487" }, { { "wait.emb" }, "8.617" }, { { "wait.clip" }, "0.000" },
            { { "unattributed" }, "9.322" } });
    Ns blamed = 0;
    for (const LedgerRow& row : job->result.rows)
        blamed += row.culprit == 0 && row.cause == "compute" ? row.ns : 0;
    EXPECT_NEAR(100.0 * static_cast<double>(blamed) / static_cast<double>(job->result.capacity), 28.924, 0.0005);
    // Read once for both: the import is most of the time.
    scenario::expectPublishedResult(job->input, "AR", tracePath("published"));
}

TEST(PipelineJob, StHasTheSharesOfTheDefinitionAndThePublishedSlowdown)
{
    JOB_OR_SKIP("ST.csv.gz");
    EXPECT_EQ(job->result.capacity, 566898633968);
    EXPECT_EQ(job->result.orderViolations, 0);
    expectPoints(job->level1,
        { { { "compute" }, "44.019" }, { { "optimizer" }, "1.829" }, { { "transfer.pp" }, "0.217" },
            { { "transfer.dp" }, "3.502" }, { { "transfer.emb" }, "0.621" }, { { "transfer.clip" }, "0.416" },
            { { "communication.unsplit.tp" }, "0.002" }, { { "wait.pp" }, "36.881" }, { { "wait.dp" }, "0.277" },
            { { "wait.emb" }, "4.737" }, { { "wait.clip" }, "5.636" }, { { "tail" }, "0.130" },
            { { "kernel_gap" }, "0.003" }, { { "unattributed" }, "1.731" } });
    expectPoints(job->result,
        { { { "bubble.structural.fill" }, "5.247" }, { { "bubble.structural.steady" }, "16.507" },
            { { "bubble.structural.drain" }, "10.430" }, { { "bubble.imbalance" }, "15.665" },
            { { "wait.dp" }, "0.277" }, { { "wait.emb" }, "0.000" }, { { "wait.clip" }, "0.401" },
            { { "unattributed" }, "0.734" } });
    Ns blamed = 0;
    for (const LedgerRow& row : job->result.rows) {
        // Stage 3 of both replicas.
        const bool lastStage
            = row.culprit && std::ranges::find(job->input.ranks, *row.culprit, &RankInput::rank)->stage == 3;
        blamed += lastStage && row.cause == "compute" ? row.ns : 0;
    }
    EXPECT_NEAR(100.0 * static_cast<double>(blamed) / static_cast<double>(job->result.capacity), 13.654, 0.0005);
    // Read once for both: the import is most of the time.
    scenario::expectPublishedResult(job->input, "ST", tracePath("published"));
}

} // namespace rankscope::tracing::ledger
