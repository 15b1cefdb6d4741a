#include "backend/train/layout.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace rankscope::backend {

namespace {

/// A file of this process's own: the tests run beside each other.
std::string writeText(const char* name, const char* text)
{
    static const support::TemporaryDirectory kFolder;
    return kFolder.write(name, text).string();
}

/// A configuration without problems: any readable text will do.
Config goodConfig()
{
    Config config;
    config.data.path = writeText("text.txt", "some text\n");
    return config;
}

std::string onlyProblem(const Config& config)
{
    const auto problems = problemsOf(config);
    EXPECT_EQ(problems.size(), 1u);
    return problems.empty() ? "" : problems.front();
}

} // namespace

TEST(Layout, AGoodConfigurationHasNoProblems) { EXPECT_TRUE(problemsOf(goodConfig()).empty()); }

TEST(Layout, CheckpointsNeedAFolder)
{
    Config config = goodConfig();
    config.checkpoint.every = 10;
    EXPECT_EQ(onlyProblem(config),
        "checkpoint.dir is not set: name a folder, or set checkpoint.every to 0 and checkpoint.resume to false");
    config.checkpoint.dir = "checkpoints";
    EXPECT_TRUE(problemsOf(config).empty());
}

TEST(Layout, ElasticRunsHaveTheSmallerLayoutsOfTheSameBatch)
{
    Config config = goodConfig();
    config.parallel.dp = 4;
    config.parallel.pp = 2;
    config.batch.microBatches = 3;
    config.faults = { Fault{ .kind = "lost_rank", .rank = 7 } };
    // Twelve micro-batches in all: 4, 6 or 12 on each replica.
    const auto layouts = smallerLayouts(config);
    ASSERT_EQ(layouts.size(), 3U);
    EXPECT_EQ(layouts[0].dp, 3);
    EXPECT_EQ(layouts[0].ranks, 6);
    EXPECT_EQ(layouts[0].microBatches, 4);
    EXPECT_EQ(layouts[2].dp, 1);
    EXPECT_EQ(layouts[2].microBatches, 12);
    config.batch.microBatches = 1;
    config.parallel.ep = 2;
    config.model.experts = 2;
    ASSERT_EQ(smallerLayouts(config).size(), 1U) << "experts need two replicas";
    EXPECT_EQ(smallerLayouts(config)[0].dp, 2);
}

TEST(Layout, ElasticNeedsRestartsAndCheckpoints)
{
    Config config = goodConfig();
    config.recovery.elastic = true;
    config.checkpoint.dir = "somewhere";
    EXPECT_EQ(onlyProblem(config), "recovery.elastic = true: needs restarts; set recovery.restarts to 1 or more");
    config.recovery.restarts = 1;
    config.checkpoint.dir = "";
    EXPECT_EQ(onlyProblem(config), "recovery.elastic = true: needs checkpoints to go on from; set checkpoint.dir");
}

TEST(Layout, ZeroNeedsBuckets)
{
    Config config = goodConfig();
    config.parallel.dp = 2;
    config.parallel.zero = 1;
    EXPECT_TRUE(problemsOf(config).empty());
    EXPECT_EQ(layOut(config).ranks[0].optimizerBytes, 4 * layOut(config).ranks[0].parameters);
    config.parallel.comm = "naive";
    EXPECT_EQ(
        onlyProblem(config), "parallel.zero = 1: shares are cut from buckets; allowed with parallel.comm = naive is 0");
}

TEST(Layout, NamesTheKeyOfAnImpossibleSizeAndWhatWouldDo)
{
    Config config = goodConfig();
    config.model.layers = 6;
    config.parallel.pp = 4;
    EXPECT_EQ(onlyProblem(config), "parallel.pp = 4: must divide model.layers = 6; allowed is 1, 2, 3, 6");
    config = goodConfig();
    config.model.width = 32;
    config.model.heads = 5;
    EXPECT_EQ(onlyProblem(config), "model.heads = 5: must divide model.width = 32; allowed is 1, 2, 4, 8, 16, 32");
}

TEST(Layout, ExpertsAreDividedAmongReplicas)
{
    Config config = goodConfig();
    config.parallel.dp = 4;
    config.parallel.ep = 2;
    EXPECT_EQ(onlyProblem(config), "parallel.ep = 2: divides experts; allowed with model.experts = 0 is 1");
    config.model.experts = 6;
    EXPECT_TRUE(problemsOf(config).empty());
    config.parallel.ep = 4;
    EXPECT_EQ(
        onlyProblem(config), "parallel.ep = 4: must divide model.experts = 6 and parallel.dp = 4; allowed is 1, 2");
    config.parallel.ep = 3;
    EXPECT_EQ(onlyProblem(config), "parallel.ep = 3: must divide parallel.dp = 4; allowed is 1, 2, 4");
    config.parallel.ep = 2;
    config.model.topK = 7;
    EXPECT_EQ(onlyProblem(config), "model.top_k = 7: there are model.experts = 6; allowed is 1 to 6");
}

TEST(Layout, ARankHoldsItsExpertsOnly)
{
    Config config = goodConfig();
    config.model = { .layers = 1, .width = 2, .heads = 1, .vocab = 256, .sequence = 2, .experts = 4 };
    config.parallel.dp = 2;
    config.parallel.ep = 2;
    const Layout layout = layOut(config);
    // An expert has 8 * 4 + 4 * 2 + 2 = 42 parameters; half of the four are another rank's.
    EXPECT_EQ(layout.ranks[1].parameters, layout.parameters - 2 * 42);
}

TEST(Layout, AHotExpertNeedsExperts)
{
    Config config = goodConfig();
    config.faults = { { .kind = "hot_expert" } };
    EXPECT_EQ(onlyProblem(config), "fault.0.kind = hot_expert: needs experts; set model.experts to 2 or more");
}

TEST(Layout, TheSequenceIsSplitOverTensorPartsThatDivideIt)
{
    Config config = goodConfig();
    config.parallel.sequenceParallel = true;
    EXPECT_EQ(onlyProblem(config),
        "parallel.sequence_parallel = true: goes with split tensors; allowed with parallel.tp = 1 is false");
    config.parallel.tp = 2;
    EXPECT_TRUE(problemsOf(config).empty());
    config.batch.microBatch = 1;
    config.model.sequence = 127;
    EXPECT_EQ(onlyProblem(config),
        "parallel.sequence_parallel = true: parallel.tp = 2 must divide batch.micro_batch x model.sequence = 1 x 127; "
        "allowed is false");
}

TEST(Layout, TensorPartsMustDivideHeadsAndVocabulary)
{
    Config config = goodConfig();
    config.model.width = 48;
    config.model.heads = 12;
    config.parallel.tp = 8;
    EXPECT_EQ(
        onlyProblem(config), "parallel.tp = 8: must divide model.heads = 12 and model.vocab = 256; allowed is 1, 2, 4");
}

TEST(Layout, SchedulesNameWhatTheyNeed)
{
    Config config = goodConfig(); // layers 4, micro-batches 4
    config.parallel.schedule = "interleaved";
    EXPECT_EQ(onlyProblem(config),
        "parallel.schedule = interleaved: needs stages; allowed with parallel.pp = 1 is 1f1b, gpipe, zb-h1");
    config.parallel.pp = 2;
    EXPECT_TRUE(problemsOf(config).empty());
    config.parallel.chunks = 3;
    EXPECT_EQ(onlyProblem(config), "parallel.chunks = 3: must divide the 2 layers of a stage; allowed is 1, 2");
    config.parallel.chunks = 2;
    config.batch.microBatches = 5;
    EXPECT_EQ(onlyProblem(config),
        "batch.micro_batches = 5: must be a multiple of parallel.pp with the interleaved schedule; allowed is 2, 4, 6 "
        "and "
        "so on");
    config.parallel.schedule = "zb-h1";
    config.train.recompute = "full";
    EXPECT_EQ(onlyProblem(config),
        "train.recompute = full: weight gradients that wait need what it drops; allowed with parallel.schedule = zb-h1 "
        "is "
        "none");
}

TEST(Layout, RecomputationKeepsTheInputsOfLayersOnly)
{
    Config config = goodConfig();
    config.batch.microBatches = 2;
    const auto activations = [&](const char* recompute) {
        config.train.recompute = recompute;
        return layOut(config).ranks[0].activationBytes;
    };
    // One micro-batch in flight of 4 x 128 rows, 4 layers: 16 C + H + 4 floats each, of which C stay and the rest is
    // there once.
    const std::int64_t rows = 4 * 128, layer = 16 * 128 + 4 + 4;
    EXPECT_EQ(activations("none") - activations("full"), 4 * rows * 3 * (layer - 128));
    // Outputs of two norms and of the GELU: 6 C, of which 5 C are there once.
    EXPECT_EQ(activations("none") - activations("selective"), 4 * rows * (4 * 6 * 128 - 5 * 128));
}

TEST(Layout, TensorPartsShareAllButWhatIsReplicated)
{
    Config config = goodConfig(); // layers 4, width 128, vocab 256, sequence 128
    config.parallel.tp = 2;
    const Layout layout = layOut(config);
    // Norms and the biases of sums are 6 C a layer; token table, positions and the last norm are whole too.
    const std::int64_t replicated = 4 * 6 * 128 + (256 + 128) * 128 + 2 * 128;
    EXPECT_EQ(2 * layout.ranks[1].parameters, layout.parameters + replicated);
}

TEST(Layout, NamesWhatIsWrongWithTheDataPath)
{
    Config config = goodConfig();
    config.data.path = "/no/such/text";
    EXPECT_EQ(onlyProblem(config), "data.path = /no/such/text: no such file or folder");
    config.data.path = "";
    EXPECT_EQ(onlyProblem(config), "data.path is not set: name a UTF-8 text file or a folder of them, plain or .gz");
    config.data.path = writeText("empty.txt", "");
    EXPECT_EQ(onlyProblem(config), "data.path = " + config.data.path + ": the file is empty");
}

TEST(Layout, RefusesALinkOfARankThatIsNotThere)
{
    Config config = goodConfig();
    config.parallel.dp = 2;
    config.links = { { .from = 0, .to = 2, .gbitPerSecond = 1, .delayUs = 0 } };
    EXPECT_EQ(onlyProblem(config), "link.0.to = 2: allowed is 0 to 1");
}

TEST(Layout, WarnsWhereRanksShareCores)
{
    Config config = goodConfig();
    EXPECT_TRUE(warningsOf(config).empty());
    config.parallel.dp = 4096;
    ASSERT_EQ(warningsOf(config).size(), 1u);
    EXPECT_TRUE(warningsOf(config).front().starts_with("4096 ranks share "));
}

TEST(Layout, StagesShareTheParametersAndReplicasRepeatThem)
{
    Config config = goodConfig();
    config.parallel.dp = 2;
    config.parallel.pp = 2;
    const Layout layout = layOut(config);
    ASSERT_EQ(layout.ranks.size(), 4u);
    EXPECT_EQ(layout.ranks[0].parameters + layout.ranks[2].parameters, layout.parameters);
    EXPECT_EQ(layout.ranks[0].parameters, layout.ranks[1].parameters);
    EXPECT_EQ(layout.ranks[3].place, (MeshPlace{ .dp = 1, .tp = 0, .pp = 1, .ep = 0 }));
    EXPECT_TRUE(layout.ranks[2].chunks.front().slice.hasHead);
    // fp32 values, gradients and two moments: 16 bytes a parameter.
    EXPECT_EQ(layout.ranks[0].weightBytes + layout.ranks[0].optimizerBytes, 16 * layout.ranks[0].parameters);
    // Stage 0 of two keeps two micro-batches, the last one.
    EXPECT_EQ(layout.ranks[0].activationBytes % 2, 0);
}

TEST(Layout, ThreadsAreWhatTheConfigurationOrTheLauncherSaysElseCoresDividedByRanks)
{
    unsetenv("OMP_NUM_THREADS");
    Config config = goodConfig();
    EXPECT_EQ(threadsOf(config, 1), availableCores());
    EXPECT_EQ(threadsOf(config, 10'000), 1);
    setenv("OMP_NUM_THREADS", "5", 1);
    EXPECT_EQ(threadsOf(config, 10'000), 5);
    unsetenv("OMP_NUM_THREADS");
    config.train.threads = 3;
    EXPECT_EQ(threadsOf(config, 10'000), 3);
}

} // namespace rankscope::backend

namespace rankscope::backend {

TEST(Layout, AGpuThatIsNotThereIsRefusedInOneLineThatSaysWhatIs)
{
    Config config;
    config.train.device = "cuda";
    const auto problems = problemsOf(config);
    const auto found = std::ranges::find_if(
        problems, [](const std::string& problem) { return problem.starts_with("train.device = cuda: "); });
    ASSERT_NE(found, problems.end());
    EXPECT_TRUE(found->ends_with("allowed here is auto, cpu")) << *found;
    EXPECT_EQ(found->find('\n'), std::string::npos);
}

TEST(Layout, WithoutAWishForADeviceTheCpuComputes)
{
    const auto problems = problemsOf(Config{});
    EXPECT_TRUE(std::ranges::none_of(problems, [](const std::string& p) { return p.starts_with("train.device"); }));
}

} // namespace rankscope::backend
