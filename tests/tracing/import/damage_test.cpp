#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace rankscope::tracing {

namespace {

constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };

/// What one damaged file becomes.
class Damage : public testing::Test {
protected:
    void import(const std::string& events)
    {
        const std::string file = (folder_ / "rank0.json").string();
        std::ofstream(file, std::ios::binary) << events;
        const auto report = importTraces({ file }, (folder_ / "run.rsdb").string());
        ASSERT_TRUE(report) << report.error().message();
        for (const Loss& loss : report->losses)
            losses_[loss.kind] += loss.count;
        auto reader = TraceReader::open((folder_ / "run.rsdb").string());
        ASSERT_TRUE(reader);
        names_ = *reader->names();
        const auto signatures = *reader->signatures();
        const auto lanes = *reader->lanes();
        for (const Lane& lane : lanes) {
            const auto kernels = *reader->kernels(lane.id, kAll);
            for (const Kernel& kernel : kernels) {
                kernels_.push_back(kernel);
                kernelNames_.push_back(names_.at(static_cast<std::size_t>(
                    raw(signatures.at(static_cast<std::size_t>(raw(kernel.signature))).name))));
            }
            const auto calls = *reader->hostCalls(lane.id, kAll);
            calls_.insert(calls_.end(), calls.begin(), calls.end());
        }
    }
    void expectBomb(const std::string& name, const std::string& packed)
    {
        ASSERT_LT(packed.size(), std::size_t{ 1 } << 20);
        const std::string file = (folder_ / name).string(), out = (folder_ / "run.rsdb").string();
        std::ofstream(file, std::ios::binary) << packed;
        const auto report = importTraces({ file }, out);
        ASSERT_FALSE(report);
        EXPECT_NE(report.error().message().find("decompresses to more than 400 times its size"), std::string::npos)
            << report.error().message();
        EXPECT_FALSE(std::filesystem::exists(out));
    }
    static std::string kernel(
        const std::string& name, const std::string& ts, const std::string& dur, const std::string& correlation = "1")
    {
        return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":7,"ts":)" + ts + R"(,"dur":)" + dur
            + R"(,"args":{"correlation":)" + correlation + "}}";
    }
    static std::string call(const std::string& ts, const std::string& correlation)
    {
        return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":)" + ts
            + R"(,"dur":1,"args":{"correlation":)" + correlation + "}}";
    }

    support::TemporaryDirectory folder_;
    std::map<std::string, std::int64_t> losses_;
    std::vector<std::string> names_;
    std::vector<Kernel> kernels_;
    std::vector<std::string> kernelNames_;
    std::vector<HostCall> calls_;
};

} // namespace

TEST_F(Damage, NumbersAbove2To53KeepEveryDigit)
{
    // 2^53 + 1 us and 2^60 + 1 as a correlation: a double would make both even.
    import("[" + kernel("a", "9007199254740.993", "1.001", "1152921504606846977") + ","
        + kernel("b", "9007199254741.000", "1") + "]");
    ASSERT_EQ(kernels_.size(), 2u);
    EXPECT_EQ(kernels_[1].beginNs - kernels_[0].beginNs, 7);
    EXPECT_EQ(kernels_[0].endNs - kernels_[0].beginNs, 1001);
    EXPECT_EQ(kernels_[0].correlation, 1152921504606846977);
}

TEST_F(Damage, NumbersAbove2To63DoNotTakeTheirEventAlong)
{
    import("[" + kernel("a", "10", "1", "18446744073709551615") + "," + kernel("b", "20", "1") + "]");
    ASSERT_EQ(kernels_.size(), 2u);
    EXPECT_EQ(kernels_[0].correlation, std::nullopt);
}

TEST_F(Damage, SizesAndRanksOfACollectiveBeyondTheirTypesAreNotKnown)
{
    const auto reduce = [](const std::string& facts) {
        return R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":8,"ts":10,"dur":5,"args":)"
               R"({"Collective name":"allreduce","Group size":4,"dtype":"Float","Process Group Name":"0",)"
            + facts + "}}";
    };
    const std::string most = "9223372036854775807";
    import("[" + reduce(R"("In msg nelems":)" + most + R"(,"Out msg nelems":)" + most) + ","
        + reduce(R"("Global rank start":)" + most + R"(,"Global rank stride":)" + most) + "]");
    auto reader = TraceReader::open((folder_ / "run.rsdb").string());
    const auto lanes = *reader->lanes();
    for (const Lane& lane : lanes) {
        const auto parts = *reader->collectives(lane.id, kAll);
        for (const CollectivePart& part : parts)
            EXPECT_EQ(part.bytes, 0);
    }
    const auto communicators = *reader->communicators();
    for (const Communicator& communicator : communicators)
        EXPECT_TRUE(communicator.members.empty());
}

TEST_F(Damage, InvalidUtf8IsKeptAsAName)
{
    import("[" + kernel("bad\xff\xfename", "10", "1") + "," + kernel("good", "20", "1") + "]");
    ASSERT_EQ(kernels_.size(), 2u);
    EXPECT_EQ(kernelNames_[1], "good");
}

TEST_F(Damage, AKernelBeforeItsLaunchStaysWhereItIs)
{
    import("[" + kernel("early", "10", "5", "3") + "," + call("12", "3") + "]");
    ASSERT_EQ(kernels_.size(), 1u);
    EXPECT_EQ(kernels_[0].beginNs, 0);
    ASSERT_EQ(calls_.size(), 1u);
    EXPECT_EQ(calls_[0].beginNs, 2000);
}

TEST_F(Damage, ACorrelationOfManyKernelsOrOfManyCallsMultipliesNothing)
{
    // A CUDA graph's three kernels share their launch's number; number 9 has two calls.
    import("[" + kernel("g1", "10", "1", "4") + "," + kernel("g2", "12", "1", "4") + "," + kernel("g3", "14", "1", "4")
        + "," + call("9", "4") + "," + kernel("k", "20", "1", "9") + "," + call("18", "9") + "," + call("19", "9")
        + "]");
    EXPECT_EQ(kernels_.size(), 4u);
    EXPECT_EQ(calls_.size(), 3u);
}

TEST_F(Damage, OverlappingSpansOfALaneAreAllKept)
{
    import("[" + kernel("long", "10", "10") + "," + kernel("crosses", "15", "10") + "," + kernel("same", "10", "10")
        + "]");
    ASSERT_EQ(kernels_.size(), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(kernels_, {}, &Kernel::beginNs));
}

TEST_F(Damage, AnEventCutInTheMiddleLosesOnlyItself)
{
    const std::string events
        = "[" + kernel("a", "10", "1") + "," + kernel("b", "20", "1") + "," + kernel("c", "30", "1");
    import(events.substr(0, events.size() - 40));
    EXPECT_EQ(kernels_.size(), 2u);
    EXPECT_EQ(losses_["unterminated file"], 1);
}

TEST_F(Damage, TwoWritersInOneFileLoseOnlyWhatTheyWroteOver)
{
    import("[" + kernel("a", "10", "1") + R"(,{"ph":"X","cat":"kernel","na)" + kernel("b", "20", "1") + ","
        + kernel("c", "30", "1") + "," + kernel("d", "40", "1") + "]");
    // Whole events before and after the place are there; how many around it can be saved is another question.
    EXPECT_GE(kernels_.size(), 2u);
    EXPECT_EQ(kernelNames_.front(), "a");
    EXPECT_EQ(kernelNames_.back(), "d");
    EXPECT_FALSE(losses_.empty());
}

TEST_F(Damage, IdsUsedTwiceMergeNothing)
{
    // The second begin of async id 5 takes its place, an end without a begin is counted; the later key of one name
    // counts.
    import(R"([{"ph":"b","cat":"a","id":5,"name":"x","pid":1,"tid":1,"ts":10},)"
           R"({"ph":"b","cat":"a","id":5,"name":"x","pid":1,"tid":1,"ts":20},)"
           R"({"ph":"e","cat":"a","id":5,"name":"x","pid":1,"tid":1,"ts":30},)"
           R"({"ph":"e","cat":"a","id":5,"name":"x","pid":1,"tid":1,"ts":40},)"
           R"({"ph":"X","cat":"kernel","name":"old","name":"new","pid":0,"tid":7,"ts":50,"dur":1}])");
    EXPECT_EQ(losses_["end without a begin"], 1);
    ASSERT_EQ(kernelNames_.size(), 1u);
    EXPECT_EQ(kernelNames_[0], "new");
}

TEST_F(Damage, AStepThatIsCutOffEndsWithTheFile)
{
    import(R"([{"ph":"B","name":"ProfilerStep#1","pid":9,"tid":9,"ts":0},{"ph":"E","pid":9,"tid":9,"ts":50},)"
           R"({"ph":"B","name":"ProfilerStep#2","pid":9,"tid":9,"ts":50},)"
        + kernel("k", "60", "20") + "]");
    EXPECT_EQ(losses_["span without an end"], 1);
    auto reader = TraceReader::open((folder_ / "run.rsdb").string());
    const auto steps = *reader->steps();
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[1].step, 2);
    EXPECT_EQ(steps[1].beginNs, 50'000);
    EXPECT_EQ(steps[1].endNs, 80'000); // the last end in the file
}

TEST_F(Damage, NestingWithoutEndCostsOneEventAndNoMemory)
{
    const std::string deep(1 << 20, '[');
    import("[" + kernel("a", "10", "1")
        + R"(,{"ph":"X","cat":"kernel","name":"deep","pid":0,"tid":7,"ts":15,"args":{"x":)" + deep
        + std::string(1 << 20, ']') + "}}," + kernel("b", "20", "1") + "]");
    EXPECT_GE(kernels_.size(), 2u);
    EXPECT_EQ(kernelNames_.front(), "a");
    EXPECT_EQ(kernelNames_.back(), "b");
}

TEST_F(Damage, SixtyFourLevelsAreReadAndOneMoreIsNot)
{
    // The event and its arguments are two of them.
    const auto nested = [](int levels) {
        const auto count = static_cast<std::size_t>(levels - 2);
        return R"({"ph":"X","cat":"kernel","name":"of )" + std::to_string(levels)
            + R"(","pid":0,"tid":7,"ts":15,"dur":1,"args":{"x":)" + std::string(count, '[') + std::string(count, ']')
            + "}}";
    };
    import("[" + nested(64) + "," + nested(65) + "]");
    EXPECT_EQ(kernelNames_, std::vector<std::string>{ "of 64" });
    EXPECT_EQ(losses_["broken event"], 1);
}

TEST_F(Damage, AnEventOfMoreThanEightMiBIsLeftOutAndCounted)
{
    import("[" + kernel(std::string(std::size_t{ 9 } << 20, 'x'), "10", "1") + "," + kernel("b", "20", "1") + "]");
    EXPECT_EQ(kernelNames_, std::vector<std::string>{ "b" });
    EXPECT_FALSE(losses_.empty());
}

TEST_F(Damage, TopLevelValuesOfAMillionLevelsCostOnlyThemselves)
{
    const std::string deep = std::string(1 << 20, '[') + std::string(1 << 20, ']');
    import(R"({"distributedInfo": )" + deep + R"(, "deviceProperties": )" + deep + R"(, "note": {"a": )" + deep
        + R"(}, "traceEvents": [)" + kernel("a", "10", "1") + "]}");
    EXPECT_EQ(kernelNames_, std::vector<std::string>{ "a" });
}

/// 72 MiB of blanks with an event before and behind.
std::string blanks()
{
    const std::string event = R"({"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1})";
    return "[" + event + "," + std::string(std::size_t{ 72 } << 20, ' ') + event + "]";
}

TEST_F(Damage, AGzipBombEndsInAnErrorAtTheLimit)
{
    const std::string text = blanks();
    z_stream stream{};
    ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(1 << 20, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    expectBomb("rank0.json.gz", packed);
}

TEST_F(Damage, AZstandardBombEndsInAnErrorAtTheLimit)
{
    const std::string text = blanks();
    std::string packed(1 << 20, '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
    expectBomb("rank0.json.zst", packed);
}

} // namespace rankscope::tracing
