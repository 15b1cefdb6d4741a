#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace rankscope::tracing {

namespace {

constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };

/// PyTorch traces of a pipeline's ranks, as annotations alone tell it: an annotation for each action on the host, in it
/// a launch from the main thread or, for backwards, from autograd's, and the kernel a little later on the device.
class PipelineAnnotations : public testing::Test {
protected:
    struct Action {
        std::string name;
        int at; ///< us; it lasts 10
        bool autograd = false;
    };
    static std::string event(const std::string& cat, const std::string& name, int pid, int tid, int at, int duration,
        const std::string& args)
    {
        return R"({"ph":"X","cat":")" + cat + R"(","name":")" + name + R"(","pid":)" + std::to_string(pid)
            + R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(at) + R"(,"dur":)"
            + std::to_string(duration) + R"(,"args":{)" + args + "}}";
    }
    void write(int rank, int world, const std::vector<Action>& actions, const std::string& more = "") const
    {
        std::string text = R"({"schemaVersion":1,"distributedInfo":{"rank":)" + std::to_string(rank)
            + R"(,"world_size":)" + std::to_string(world) + R"(},"traceEvents":[)"
            + event("user_annotation", "ProfilerStep#7", 9, 9, 0, 200, "") + more;
        int correlation = 1;
        for (const Action& action : actions) {
            const std::string number = "\"correlation\":" + std::to_string(correlation++);
            text += "," + event("user_annotation", action.name, 9, 9, action.at, 10, "");
            text += ","
                + event("cuda_runtime", "cudaLaunchKernel", 9, action.autograd ? 10 : 9, action.at + 2, 1, number);
            text += "," + event("kernel", "gemm", 0, 7, action.at + 5, 8, number);
        }
        std::ofstream(folder_ / ("rank" + std::to_string(rank) + ".json")) << text << "]}";
    }
    void import()
    {
        const auto report = importTraces({ folder_.path().string() }, (out_ / "run.rsdb").string());
        ASSERT_TRUE(report) << report.error().message();
        reader_.emplace(std::move(*TraceReader::open((out_ / "run.rsdb").string())));
        facts_ = *reader_->provenance();
    }
    /// "forward 0", ... of the rank's kernels in order.
    std::vector<std::string> kernelsOf(int rank)
    {
        std::vector<std::string> words;
        const auto signatures = *reader_->signatures();
        const auto lanes = *reader_->lanes();
        for (const Lane& lane : lanes) {
            if (lane.rank != rank || lane.kind != LaneKind::Compute)
                continue;
            const auto kernels = *reader_->kernels(lane.id, kAll);
            for (const Kernel& kernel : kernels)
                words.push_back(
                    std::string(toString(signatures.at(static_cast<std::size_t>(raw(kernel.signature))).pass)) + " "
                    + std::to_string(kernel.microBatch.value_or(-1)));
        }
        return words;
    }
    std::optional<std::int32_t> stageOf(int rank)
    {
        const auto ranks = *reader_->ranks();
        return std::ranges::find(ranks, rank, &RankInfo::rank)->stage;
    }

    support::TemporaryDirectory folder_, out_;
    std::optional<TraceReader> reader_;
    std::map<std::string, std::string> facts_;
};

using Words = std::vector<std::string>;

} // namespace

TEST_F(PipelineAnnotations, OfTorchPipeliningGiveStagesMicroBatchesAndTheSchedule)
{
    // 1F1B of two stages and three micro-batches: stage 0 runs one forward ahead.
    write(0, 2,
        { { "PP:0F0", 0 }, { "PP:0F1", 20 }, { "PP:0B0", 50, true }, { "PP:0F2", 70 }, { "PP:0B1", 90, true },
            { "PP:0B2", 120, true } });
    write(1, 2,
        { { "PP:1F0", 20 }, { "PP:1B0", 35, true }, { "PP:1F1", 50 }, { "PP:1B1", 70, true }, { "PP:1F2", 90 },
            { "PP:1B2", 105, true } });
    import();
    EXPECT_EQ(stageOf(0), 0);
    EXPECT_EQ(stageOf(1), 1);
    EXPECT_EQ(facts_["config.parallel.pp"], "2");
    EXPECT_EQ(facts_["config.batch.micro_batches"], "3");
    EXPECT_EQ(facts_["config.parallel.schedule"], "1f1b");
    EXPECT_EQ(kernelsOf(0), (Words{ "forward 0", "forward 1", "backward 0", "forward 2", "backward 1", "backward 2" }));
    EXPECT_EQ(kernelsOf(1), (Words{ "forward 0", "backward 0", "forward 1", "backward 1", "forward 2", "backward 2" }));
}

TEST_F(PipelineAnnotations, WithoutANumberAreCountedInEachStepAndTheGroupTellsTheStage)
{
    // Megatron's timers say neither stage nor number; the pipeline's process group is in the collectives' metadata.
    const std::string group = ","
        + event("cpu_op", "record_param_comms", 9, 9, 150, 5,
            R"("Collective name":"allreduce","In msg nelems":1,"Out msg nelems":1,"dtype":"Float","Group size":2,)"
            R"("Process Group Name":"3","Process Group Description":"PIPELINE_MODEL_PARALLEL_GROUP",)"
            R"("Process Group Ranks":"[0, 1]")");
    for (int rank = 0; rank < 2; ++rank)
        write(rank, 2,
            { { "forward-compute", 0 }, { "forward-compute", 15 }, { "forward-compute", 30 },
                { "backward-compute", 60, true }, { "backward-compute", 75, true }, { "backward-compute", 90, true } },
            group);
    import();
    EXPECT_EQ(stageOf(0), 0);
    EXPECT_EQ(stageOf(1), 1);
    EXPECT_EQ(facts_["config.parallel.schedule"], "gpipe"); // all three forwards before the first backward
    EXPECT_EQ(facts_["config.batch.micro_batches"], "3");
    EXPECT_EQ(kernelsOf(1), (Words{ "forward 0", "forward 1", "forward 2", "backward 0", "backward 1", "backward 2" }));
}

TEST_F(PipelineAnnotations, OfSeveralStagesOnARankAreModelChunks)
{
    // Two ranks, four parts of the model: rank 0 holds 0 and 2.
    write(
        0, 2, { { "PP:0F0", 0 }, { "PP:0F1", 15 }, { "PP:2F0", 40 }, { "PP:2B0", 80, true }, { "PP:0B0", 120, true } });
    write(1, 2, { { "PP:1F0", 15 }, { "PP:3F0", 55 }, { "PP:3B0", 70, true }, { "PP:1B0", 100, true } });
    import();
    EXPECT_EQ(stageOf(0), 0);
    EXPECT_EQ(stageOf(1), 1);
    EXPECT_EQ(facts_["config.parallel.pp"], "2");
    EXPECT_EQ(facts_["config.parallel.chunks"], "2");
    EXPECT_EQ(facts_["config.parallel.schedule"], "interleaved");
}

TEST_F(PipelineAnnotations, OfAForwardInABackwardAreRecomputation)
{
    write(0, 2, { { "PP:0F0", 0 }, { "PP:0B0", 50 } }, "," + event("user_annotation", "forward", 9, 9, 51, 4, ""));
    write(1, 2, { { "PP:1F0", 15 }, { "PP:1B0", 30 } });
    import();
    EXPECT_EQ(kernelsOf(0), (Words{ "forward 0", "recompute 0" }));
}

TEST_F(PipelineAnnotations, OfAJobWithoutAPipelineStillTellThePasses)
{
    write(0, 1, { { "## forward ##", 0 }, { "## backward ##", 50, true }, { "Optimizer.step#AdamW.step", 80 } });
    import();
    EXPECT_EQ(stageOf(0), std::nullopt);
    EXPECT_EQ(facts_.count("config.parallel.pp"), 0u);
    EXPECT_EQ(kernelsOf(0), (Words{ "forward -1", "backward -1", "none -1" }));
}

TEST_F(PipelineAnnotations, OfCyclesKeepTheirOwnCorrelationNumbers)
{
    // Both cycles use correlation 1: once for a forward, once for a backward.
    const auto trace = [&](const std::string& folder, const std::string& name, int at) {
        std::filesystem::create_directories(folder_ / folder);
        std::ofstream(folder_ / folder / "rank0_trace.json")
            << R"({"schemaVersion":1,"traceEvents":[)" << event("user_annotation", name, 9, 9, at, 10, "") << ","
            << event("cuda_runtime", "cudaLaunchKernel", 9, 9, at + 1, 1, R"("correlation":1)") << ","
            << event("kernel", "gemm", 0, 7, at + 3, 2, R"("correlation":1)") << "]}";
    };
    trace("iteration_1", "Forward 4", 0);
    trace("iteration_2", "Backward 4", 1000);
    import();
    EXPECT_EQ(kernelsOf(0), (Words{ "forward 4", "backward 4" }));
}

} // namespace rankscope::tracing
