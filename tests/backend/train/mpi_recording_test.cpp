#include "tests/backend/train/recorded_run.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

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
        "cpu [cores], gradient norm [], loss [nats], memory [bytes], optimizer state [bytes], ready to work without a core "
        "[s], throughput [tokens/s]");
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

TEST(MpiRecording, FaultsAreSeenWhereTheyStrike)
{
    // Each fault in a step of its own; sleeps last at least as long as they are told.
    const RecordedRun run(2,
        { "parallel.pp=2", "batch.micro_batches=16", "train.steps=6", "train.validate_every=0",
            "fault.0.kind=stalled_data", "fault.0.rank=0", "fault.0.ms=10", "fault.0.step=2", "fault.0.until=2",
            "fault.1.kind=host_pause", "fault.1.rank=1", "fault.1.ms=30", "fault.1.every_ms=1", "fault.1.step=3",
            "fault.1.until=3", "fault.2.kind=jitter", "fault.2.rank=0", "fault.2.ms=6", "fault.2.step=4",
            "fault.2.until=4", "fault.3.kind=imbalanced_stage", "fault.3.rank=1", "fault.3.factor=3", "fault.3.step=5",
            "fault.3.until=5" });
    const auto during = [](int rank, int step, const std::string& event) {
        return "EXISTS (SELECT 1 FROM step WHERE step.rank = " + std::to_string(rank)
            + " AND step = " + std::to_string(step) + " AND " + event + ".begin_ns >= step.begin_ns AND " + event
            + ".begin_ns < step.begin_ns + step.duration_ns)";
    };
    EXPECT_EQ(run.value("SELECT count(*) || ' ' || (min(duration_ns) >= 10000000) FROM ranges "
                        "WHERE rank = 0 AND kind = 'data' AND "
                  + during(0, 2, "ranges")),
        "16 1")
        << "all batches of step 2 are late";
    EXPECT_EQ(run.value("SELECT max(gap) >= 30000000 FROM (SELECT begin_ns - lag(begin_ns + duration_ns) OVER "
                        "(ORDER BY begin_ns) AS gap FROM kernels WHERE rank = 1 AND "
                  + during(1, 3, "kernels") + ")"),
        "1")
        << "no kernel runs while the host pauses";
    // Some kernel of hundreds sleeps for more than a tenth of the most: it lasts longer than it has a core.
    EXPECT_EQ(run.value("SELECT max(duration_ns - coalesce(cpu_ns, 0)) >= 2000000 FROM kernels WHERE rank = 0 AND "
                  + during(0, 4, "kernels")),
        "1");
    EXPECT_EQ(run.value("SELECT count(*) > 0 FROM kernels WHERE name = 'extra layer work' AND rank = 1 AND "
                  + during(1, 5, "kernels")),
        "1");
    EXPECT_EQ(run.value("SELECT count(*) FROM kernels WHERE name = 'extra layer work' AND NOT (rank = 1 AND "
                  + during(1, 5, "kernels") + ")"),
        "0");
    EXPECT_EQ(run.value("SELECT group_concat(kind || ' ' || step, ', ') FROM (SELECT DISTINCT kind, step FROM "
                        "fault_injection WHERE end_ns < 9000000000000000000 ORDER BY step)"),
        "stalled_data 2, host_pause 3, jitter 4, imbalanced_stage 5");
}

TEST(MpiRecording, ExpertsTokensAreCountedAndTheirExchangesMatch)
{
    const RecordedRun run(2,
        { "model.experts=4", "model.top_k=2", "model.capacity_factor=0", "parallel.dp=2", "parallel.ep=2",
            "batch.micro_batches=2", "train.steps=2", "train.validate_every=0" });
    // 2 replicas x 2 micro-batches x 16 tokens x 4 layers x 2 experts, in each of 2 steps.
    EXPECT_EQ(
        run.value("SELECT sum(value) FROM counter JOIN lane ON lane.id = counter.lane WHERE name LIKE 'expert %'"),
        "1024.0");
    EXPECT_EQ(
        run.value("SELECT sum(value) FROM counter JOIN lane ON lane.id = counter.lane WHERE name LIKE 'dropped%'"),
        "0.0");
    EXPECT_EQ(run.value("SELECT group_concat(rank || ' ' || name, ', ') FROM (SELECT rank, name FROM lane "
                        "WHERE name LIKE 'expert %' ORDER BY name)"),
        "0 expert 0, 0 expert 1, 1 expert 2, 1 expert 3");
    // 3 exchanges forward and 2 back, of each layer and micro-batch.
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE op = 4 AND parts_present = 2"), "80");
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE parts_present < parts_expected"), "0");
}

} // namespace rankscope::backend
