#include "tests/backend/train/recorded_run.h"

#include <gtest/gtest.h>

// Samples as they are, but for a few steps of another text. Times prove nothing here; what is recorded does.

namespace rankscope::backend {

namespace {

const std::vector<std::string> kTwoSteps{ "train.steps=2" };

constexpr const char* kSums = "SELECT group_concat(op || ' ' || n, ', ') FROM (SELECT m.op, count(*) AS n FROM "
                              "collective_match m JOIN communicator c ON c.id = m.communicator AND c.dimension = 2 "
                              "GROUP BY m.op ORDER BY m.op)";

} // namespace

TEST(MpiSample, TensorSumsFourTimesALayer)
{
    // 2 steps x 4 micro-batches x (4 layers x 4 + the head's loss and its input gradient), all of them all-reduce.
    const RecordedRun run(2, Sample{ "tensor" }, kTwoSteps);
    EXPECT_EQ(run.value(kSums), "1 144");
    // Of what both ranks do alike each counts one half: norms, embedding, biases of sums, the merged loss.
    EXPECT_EQ(run.value("SELECT group_concat(name, ', ') FROM (SELECT DISTINCT text AS name FROM signature "
                        "JOIN name ON name.id = signature.name WHERE redundant_flop = flop - flop / 2 ORDER BY text)"),
        "bias gradient, embedding, layernorm, merge cross-entropy");
    EXPECT_EQ(run.value("SELECT group_concat(sender || ' ' || receiver, ', ') FROM link WHERE latency_ns > 0 "
                        "AND bytes_per_second > 0"),
        "0 1, 1 0");
}

TEST(MpiSample, SequenceScattersAndGathersInstead)
{
    const RecordedRun run(2, Sample{ "sequence" }, kTwoSteps);
    // 2 steps x 4 micro-batches: 4 layers x (2 gathers forward, 4 backward, 4 scatters) and the head's, of which there
    // are a gather forward, one backward, a scatter and the loss; a sum of norms' gradients a step.
    EXPECT_EQ(run.value(kSums), "1 10, 2 208, 3 136");
    EXPECT_EQ(run.value("SELECT count(*) FROM collective_match WHERE parts_present < parts_expected"), "0");
    EXPECT_EQ(run.value("SELECT group_concat(text) FROM (SELECT DISTINCT text FROM signature "
                        "JOIN name ON name.id = signature.name WHERE redundant_flop > 0)"),
        "merge cross-entropy")
        << "nothing else is done twice";
}

TEST(MpiSample, RecomputeMarksWhatItComputesAgain)
{
    const RecordedRun run(2, Sample{ "recompute" }, kTwoSteps);
    // Each layer's attention once more, in every backward pass: for as many tokens as the forward ones.
    EXPECT_EQ(
        run.value("SELECT sum(work) = (SELECT sum(work) FROM kernels WHERE name = 'attention' AND pass = 'forward')"
                  " FROM kernels WHERE name = 'attention' AND pass = 'recompute'"),
        "1");
}

TEST(MpiSample, HotExpertComputesMostTokens)
{
    const RecordedRun run(2, Sample{ "hot-expert" }, { "train.steps=2", "fault.0.step=2" });
    // Of 2 replicas x 2 micro-batches x 512 tokens x 4 layers in step 2: 5 of 7 and some.
    EXPECT_EQ(run.value("SELECT max(value) > 8192 * 5 / 7 FROM counter JOIN lane ON lane.id = counter.lane "
                        "WHERE rank = 1 AND name = 'expert 4'"),
        "1");
    EXPECT_EQ(
        run.value("SELECT sum(value) FROM counter JOIN lane ON lane.id = counter.lane WHERE name LIKE 'expert %'"),
        "16384.0");
}

} // namespace rankscope::backend
