#include "tests/backend/train/mpi_job.h"

#include "tests/support/sql.h"
#include "tracing/collector/collector.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

namespace {

/// Runs a job under the recorder and answers questions about the file that came out.
class RecordedRun {
public:
    RecordedRun(int ranks, const std::vector<std::string>& words)
        : job_(ranks, words)
    {
        job_.recordInto(job_.session());
        const support::Outcome outcome = job_.run();
        EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
        EXPECT_TRUE(tracing::announceJobOver(job_.session()));
        tracing::CollectOptions options;
        options.sessionDir = job_.session();
        options.out = (job_.folder() / "run.rsdb").string();
        const auto summary = tracing::collect(options);
        EXPECT_TRUE(summary) << summary.error().message();
    }

    std::string value(const std::string& query) const { return support::sql(job_.folder() / "run.rsdb", query); }

private:
    MpiJob job_;
};

} // namespace

TEST(MpiRecording, APipelinesMessagesMatchAndItsBubblesNameWhomTheyAwait)
{
    const RecordedRun run(2, { "parallel.pp=2", "batch.micro_batches=4", "train.steps=3", "train.validate_every=0" });
    // 3 steps x 4 micro-batches, one message each way, each with a sender's and a receiver's part.
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE op = 10 AND parts_present = 2"), "24");
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE parts_present < parts_expected"), "0");
    EXPECT_EQ(
        run.value(
            "SELECT group_concat(kind || 'x' || n) FROM "
            "(SELECT kind, count(*) AS n FROM range WHERE kind IN (1, 2, 3, 4, 5, 9) GROUP BY kind ORDER BY kind)"),
        // On 2 ranks: steps, 8 actions a step, as many forwards as backwards, updates, start.
        "1x6,2x48,3x24,4x24,5x6,9x2");
    // Stage 1 cannot begin before stage 0 has sent: its fill bubble awaits rank 0, but for steps in which the system
    // let stage 1 run only after that.
    EXPECT_EQ(run.value("SELECT count(*) BETWEEN 1 AND 3 FROM bubble "
                        "WHERE stage = 1 AND phase = 0 AND awaited_rank = 0 AND micro_batch = 0"),
        "1");
    EXPECT_EQ(run.value("SELECT count(*) FROM bubble WHERE stage = 1 AND phase = 0 AND micro_batch <> 0"), "0");
    EXPECT_EQ(run.value("SELECT count(*) FROM bubble WHERE stage = 0 AND phase = 0"), "0");
    EXPECT_EQ(run.value("SELECT count(*) FROM bubble WHERE awaited_rank <> 1 - stage"), "0");
    EXPECT_EQ(run.value("SELECT group_concat(rank || ':' || stage || ':' || dp) FROM rank"), "0:0:0,1:1:0");
}

TEST(MpiRecording, GradientSumsTravelWhileTheBackwardPassComputes)
{
    // 1 MB of gradients in buckets of 256 kB over 0.5 Gbit/s: a bucket is under way for at least 2 ms, while the
    // kernels of the layers below go on, however slow the machine is.
    const RecordedRun run(2,
        { "model.width=64", "parallel.dp=2", "parallel.bucket_kb=256", "batch.micro_batches=1", "batch.micro_batch=4",
            "train.steps=3", "train.validate_every=0", "link.0.from=0", "link.0.to=1", "link.0.gbit_s=0.5",
            "link.1.from=1", "link.1.to=0", "link.1.gbit_s=0.5" });
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE parts_present < parts_expected"), "0");
    EXPECT_EQ(
        run.value("SELECT count(DISTINCT step.rank || ' ' || step.step) FROM step "
                  "JOIN lane sums ON sums.rank = step.rank JOIN collective part ON part.lane = sums.id AND part.op = 1 "
                  "AND part.begin_ns >= step.begin_ns AND part.begin_ns < step.begin_ns + step.duration_ns "
                  "JOIN lane compute ON compute.rank = step.rank JOIN kernel ON kernel.lane = compute.id "
                  "AND kernel.begin_ns > part.begin_ns "
                  "AND kernel.begin_ns + kernel.duration_ns < part.begin_ns + part.duration_ns "
                  "JOIN signature ON signature.id = kernel.signature AND signature.pass = 2"),
        "6");
}

TEST(MpiRecording, ProvenanceIsThereWithThePeakAndItsSource)
{
    const RecordedRun run(1, { "train.steps=1", "train.validate_every=0", "train.seed=42" });
    EXPECT_EQ(run.value("SELECT value FROM provenance WHERE key = 'config.train.seed'"), "42");
    EXPECT_EQ(
        run.value("SELECT value FROM provenance WHERE key = 'rank.0.peak_source'"), "declared by train.peak_gflops");
    EXPECT_EQ(run.value("SELECT length(value) FROM provenance WHERE key = 'data.fnv1a'"), "16");
    EXPECT_EQ(run.value("SELECT peak_flops FROM rank"), "10000000000.0");
    EXPECT_EQ(run.value("SELECT group_concat(name || ' [' || unit || ']', ', ') FROM "
                        "(SELECT name, unit FROM lane WHERE kind = 4 ORDER BY name)"),
        "cpu [cores], gradient norm [], loss [nats], memory [bytes], throughput [tokens/s]");
}

TEST(MpiRecording, ChunksSendActivationsAndGradientsTheSameWayAndTheirMessagesMatch)
{
    const RecordedRun run(2,
        { "parallel.pp=2", "parallel.schedule=interleaved", "parallel.chunks=2", "batch.micro_batches=4",
            "train.steps=3", "train.validate_every=0" });
    // Four parts of the model: 3 steps x 4 micro-batches x 3 boundaries, one message each way.
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE op = 10 AND parts_present = 2"), "72");
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE parts_present < parts_expected"), "0");
    EXPECT_EQ(run.value("SELECT count(*) FROM collective s JOIN collective r ON r.instance = s.instance AND r.op = 11 "
                        "WHERE s.op = 10 AND s.micro_batch <> r.micro_batch"),
        "0");
}

} // namespace rankscope::backend
