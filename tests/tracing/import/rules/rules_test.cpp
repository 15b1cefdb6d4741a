#include "tests/support/environment_variable.h"
#include "tests/support/temporary_directory.h"
#include "tracing/import/import_cache.h"
#include "tracing/import/rules/import_rules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

class Rules : public testing::Test {
protected:
    std::string write(const std::string& name, const std::string& text) const
    {
        fs::create_directories((folder_.path() / name).parent_path());
        std::ofstream(folder_.path() / name) << text;
        return (folder_.path() / name).string();
    }
    ImportRules load(const std::string& text) const
    {
        auto rules = ImportRules::load({ write("mine.toml", text) });
        if (!rules)
            ADD_FAILURE() << rules.error().message();
        return rules ? *rules : ImportRules{};
    }
    std::string refusal(const std::string& text) const
    {
        const std::string path = write("wrong.toml", text);
        const auto rules = ImportRules::load({ path });
        if (rules)
            return "accepted";
        const std::string message = rules.error().message();
        EXPECT_TRUE(message.starts_with(path + ": ")) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        return message.substr(std::min(message.size(), path.size() + 2));
    }

    support::TemporaryDirectory folder_;
};

const ImportRules& builtIn() { return ImportRules::builtIn(); }

} // namespace

TEST(NamePattern, StarsAndNumbersMatchTheWholeName)
{
    const auto numbers = [](const char* pattern, const char* name) { return NamePattern::parse(pattern)->match(name); };
    EXPECT_FALSE(numbers("gemm", "gemm2"));
    EXPECT_FALSE(numbers("gemm", "my gemm"));
    EXPECT_TRUE(numbers("*gemm*", "my gemm2"));
    EXPECT_TRUE(numbers("*ab*ab", "ababab"));
    EXPECT_FALSE(numbers("*ab*ab", "abaab_"));
    EXPECT_TRUE(numbers("*", ""));
    const auto action = numbers("PP:{stage}F{micro_batch}", "PP:12F3");
    ASSERT_TRUE(action);
    EXPECT_EQ(action->stage, 12);
    EXPECT_EQ(action->microBatch, 3);
    EXPECT_FALSE(numbers("PP:{stage}F{micro_batch}", "PP:F3"));
    EXPECT_FALSE(numbers("step {step}", "step 99999999999999999999")); // beyond 64 bits
    EXPECT_EQ(numbers("*_{step}", "iter_of_job_7")->step, 7);
    EXPECT_FALSE(NamePattern::parse("{rank}"));
    EXPECT_FALSE(NamePattern::parse("open {step"));
    EXPECT_FALSE(NamePattern::parse(""));
}

TEST(NamePattern, ManyStarsOverALongNameStayQuick)
{
    std::string pattern, name(20'000, 'a');
    for (int i = 0; i < 200; ++i)
        pattern += "*a";
    EXPECT_FALSE(NamePattern::parse(pattern + "b")->match(name));
}

TEST(BuiltInRules, KnowRealAnnotations)
{
    struct Case {
        const char* name;
        RangeKind kind;
        Pass pass;
        int microBatch, stage, step; // -1: none
    };
    for (const Case& c : {
             Case{ "ProfilerStep#4", RangeKind::Step, Pass::None, -1, -1, 4 },
             Case{ "PP:2F0", RangeKind::Forward, Pass::Forward, 0, 2, -1 },
             Case{ "PP:0B7", RangeKind::Backward, Pass::Backward, 7, 0, -1 },
             Case{ "PP:1I3", RangeKind::Backward, Pass::Backward, 3, 1, -1 },
             Case{ "PP:1W3", RangeKind::Backward, Pass::Weight, 3, 1, -1 },
             Case{ "PP:1RECV_F3", RangeKind::Communication, Pass::None, -1, 1, -1 },
             Case{ "Forward 3", RangeKind::Forward, Pass::Forward, 3, -1, -1 },
             Case{ "Backward 11", RangeKind::Backward, Pass::Backward, 11, -1, -1 },
             Case{ "forward-compute", RangeKind::Forward, Pass::Forward, -1, -1, -1 },
             Case{ "backward-compute", RangeKind::Backward, Pass::Backward, -1, -1, -1 },
             Case{ "forward-send-backward-recv", RangeKind::Communication, Pass::None, -1, -1, -1 },
             Case{ "optimizer-clip-main-grad", RangeKind::Optimizer, Pass::Optimizer, -1, -1, -1 },
             Case{ "ForwardPass(buffer_id=0)", RangeKind::Forward, Pass::Forward, -1, -1, -1 },
             Case{ "DeepSpeedEngine.backward", RangeKind::Backward, Pass::Backward, -1, -1, -1 },
             Case{ "## forward ##", RangeKind::Forward, Pass::Forward, -1, -1, -1 },
             Case{ "Optimizer.step#AdamW.step", RangeKind::Optimizer, Pass::Optimizer, -1, -1, -1 },
             Case{ "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", RangeKind::Data, Pass::None, -1, -1,
                 -1 },
             Case{ "Forward LlamaDecoderLayer", RangeKind::Forward, Pass::Forward, -1, -1, -1 },
             Case{ "forward_hook", RangeKind::Annotation, Pass::None, -1, -1, -1 },
             Case{ "aten::backward", RangeKind::Annotation, Pass::None, -1, -1, -1 },
             Case{ "save_checkpoint", RangeKind::Checkpoint, Pass::None, -1, -1, -1 },
         }) {
        const AnnotationMeaning meaning = builtIn().annotation(c.name);
        EXPECT_EQ(meaning.kind, c.kind) << c.name;
        EXPECT_EQ(meaning.pass, c.pass) << c.name;
        EXPECT_EQ(meaning.microBatch.value_or(-1), c.microBatch) << c.name;
        EXPECT_EQ(meaning.stage.value_or(-1), c.stage) << c.name;
        EXPECT_EQ(meaning.step.value_or(-1), c.step) << c.name;
    }
}

TEST(BuiltInRules, KnowCommunicationByItsNames)
{
    for (const char* name : { "ncclKernel_AllReduce_RING_LL_Sum_float", "ncclDevKernel_SendRecv(ncclDevKernelArgs4K)",
             "ncclDevKernel_Generic_4", "hcom_allReduce__868_0_1", "void multimem_all_reduce_kernel<float>",
             "two_shot_all_reduce_kernel", "deep_ep::intranode::dispatch", "nvshmemx_barrier_all",
             "mscclpp::allreduce" })
        EXPECT_TRUE(builtIn().kernel(name).communication) << name;
    for (const char* name : { "ampere_sgemm_128x64_nn", "void at::native::reduce_kernel<512>", "flash_fwd_kernel" })
        EXPECT_FALSE(builtIn().kernel(name).communication) << name;
    EXPECT_EQ(builtIn().operationOf("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), CollectiveOp::ReduceScatter);
    EXPECT_EQ(builtIn().operationOf("_allgather_base"), CollectiveOp::AllGather);
    EXPECT_EQ(builtIn().operationOf("ncclDevKernel_SendRecv"), CollectiveOp::Unknown);
    EXPECT_EQ(builtIn().operationOf("nccl:recv 1<-0"), CollectiveOp::Receive);
    EXPECT_EQ(builtIn().dimensionOf("mesh_tp"), Dimension::Tensor);
    EXPECT_EQ(builtIn().dimensionOf("dp_cp"), Dimension::Data);
    EXPECT_EQ(builtIn().dimensionOf("default_pg"), Dimension::World);
    EXPECT_EQ(builtIn().dimensionOf("17"), std::nullopt);
}

TEST_F(Rules, OfTheUserComeFirst)
{
    const ImportRules rules = load(R"([[kernel]]
name = "my_fused_allreduce_*"
operation = "all-reduce"
dimension = "tp"

[[kernel]]
name = "nccl_looking_gemm"
communication = false

[[annotation]]
name = ["fwd[{stage}].{micro_batch}", "F{micro_batch}@{stage}"]
kind = "forward"

[[group]]
name = "Column Group"
dimension = "tp"

[[operation]]
name = "*reduce_to_all*"
operation = "all-reduce"
)");
    const KernelMeaning kernel = rules.kernel("my_fused_allreduce_bf16");
    EXPECT_TRUE(kernel.communication);
    EXPECT_EQ(kernel.op, CollectiveOp::AllReduce);
    EXPECT_EQ(kernel.dimension, Dimension::Tensor);
    EXPECT_FALSE(rules.kernel("nccl_looking_gemm").communication);
    EXPECT_TRUE(rules.kernel("ncclDevKernel_Generic").communication);
    EXPECT_EQ(rules.annotation("F5@2").stage, 2);
    EXPECT_EQ(rules.annotation("fwd[1].3").microBatch, 3);
    EXPECT_EQ(rules.annotation("PP:0F0").kind, RangeKind::Forward);
    EXPECT_EQ(rules.dimensionOf("column_group"), Dimension::Tensor);
    EXPECT_EQ(rules.operationOf("ReduceToAll"), CollectiveOp::AllReduce);
    EXPECT_NE(rules.fingerprint(), builtIn().fingerprint());
}

TEST_F(Rules, WrongFilesAreRefusedInOneLineThatNamesTheLine)
{
    EXPECT_TRUE(refusal("[[kernel]]\nname = \"a\"\noperation = \"sum\"\n")
                    .starts_with("line 3: operation \"sum\" is not known; expected one of unknown, all-reduce"));
    EXPECT_EQ(refusal("\n[[annotation]]\nkind = \"forward\"\n"), "line 2: the rule has no name");
    EXPECT_EQ(refusal("[[annotation]]\nname = \"a\"\n"), "line 1: the rule has no kind");
    EXPECT_TRUE(
        refusal("[[annotation]]\nname = \"a{rank}\"\nkind = \"step\"\n").starts_with("line 2: name \"a{rank}\""));
    EXPECT_TRUE(refusal("[[group]]\nname = \"a\"\ndimension = \"tp\"\ncolour = 1\n")
                    .starts_with("line 4: unknown key colour; expected one of name, dimension"));
    EXPECT_TRUE(refusal("[[kernels]]\nname = \"a\"\n").starts_with("line 1: unknown section kernels"));
    EXPECT_TRUE(refusal("[kernel]\nname = \"a\"\n").starts_with("line 1: rules are written [[kernel]]"));
    EXPECT_TRUE(refusal("[[kernel]]\nname = \"a\nb\"\n").starts_with("line 2: "));
    EXPECT_TRUE(refusal("[[kernel]]\nname = []\n").starts_with("line 2: an empty list"));
    EXPECT_FALSE(ImportRules::load({ (folder_ / "missing.toml").string() }));
}

TEST_F(Rules, OfTheUsersFolderCountAlwaysAndMakeTheImportAnotherOne)
{
    const support::EnvironmentVariable cache("XDG_CACHE_HOME", (folder_ / "cache").string());
    const support::EnvironmentVariable config("XDG_CONFIG_HOME", (folder_ / "config").string());
    const std::string trace
        = write("rank0.json", R"([{"ph":"X","cat":"kernel","name":"my_exchange","pid":0,"tid":7,"ts":1,"dur":1}])");
    const auto before = importCached({ trace });
    ASSERT_TRUE(before) << before.error().message();
    EXPECT_FALSE(importCached({ trace })->imported);
    const std::string file = write("config/rankscope/rules/10-mine.toml", "[[kernel]]\nname = \"my_*\"\n");
    const auto after = importCached({ trace });
    ASSERT_TRUE(after) << after.error().message();
    EXPECT_TRUE(after->imported);
    EXPECT_NE(after->path, before->path);
    std::ofstream(file) << "[[kernel]]\n";
    const auto refused = importCached({ trace });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(), file + ": line 1: the rule has no name");
}

} // namespace rankscope::tracing
