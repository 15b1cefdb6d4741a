#include "tracing/export/traces/trace_export.h"

#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "tests/tracing/export/traces/perfetto_decoder.h"
#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/trace_ledger.h"
#include "tracing/export/traces/span_source.h"
#include "tracing/import/importer.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace rankscope::tracing {

namespace {

/// rank, what it is, name, begin and end from the first begin of the run.
using Span = std::tuple<std::int32_t, std::string, std::string, std::int64_t, std::int64_t>;

struct OpenFile {
    TraceReader reader;
    RunFacts facts;
};

OpenFile opened(const std::filesystem::path& file)
{
    auto reader = TraceReader::open(file.string());
    EXPECT_TRUE(reader) << reader.error().message();
    auto facts = loadFacts(*reader);
    EXPECT_TRUE(facts) << facts.error().message();
    return { std::move(*reader), std::move(*facts) };
}

std::string nameOf(const ExportedSpan& span)
{
    if (span.kind == ExportKind::Bubble)
        return "bubble " + std::string(toString(span.phase));
    return std::string(span.name);
}

std::vector<Span> spansOf(OpenFile& run)
{
    std::vector<Span> spans;
    auto source = SpanSource::open(run.reader, run.facts);
    EXPECT_TRUE(source) << source.error().message();
    for (const Lane& lane : run.facts.lanes) {
        for (std::size_t kind = 0; lane.kind != LaneKind::Counter && kind < kExportKindCount; ++kind) {
            const Status done = source->visit(lane, static_cast<ExportKind>(kind), [&](const ExportedSpan& span) {
                spans.emplace_back(lane.rank, toString(span.kind), nameOf(span), span.when.beginNs, span.when.endNs);
                return true;
            });
            EXPECT_TRUE(done) << done.error().message();
        }
    }
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Span& span : spans)
        first = std::min(first, std::get<3>(span));
    for (Span& span : spans) {
        std::get<3>(span) -= first;
        std::get<4>(span) -= first;
    }
    std::ranges::sort(spans);
    return spans;
}

std::vector<Span> spansOf(const std::filesystem::path& file)
{
    auto run = opened(file);
    return spansOf(run);
}

/// Everything that the ledger says about a run, by rank and leaf.
using LedgerLine = std::tuple<std::int32_t, std::string, std::int32_t, std::int64_t, std::int64_t, std::int64_t,
    std::optional<std::int32_t>, std::string>;

std::vector<LedgerLine> ledgerOf(OpenFile& run)
{
    const auto source = readLedgerSource(run.reader, run.facts);
    EXPECT_TRUE(source) << source.error().message();
    std::vector<LedgerLine> lines;
    for (const ledger::LedgerRow& row : ledger::computeLedger(source->input).rows)
        lines.emplace_back(row.rank, leafName(row.leaf), row.step, row.ns, row.low, row.high, row.culprit, row.cause);
    std::ranges::sort(lines);
    return lines;
}

/// Counters by rank, name and unit.
std::map<std::tuple<std::int32_t, std::string, std::string>, std::vector<std::pair<std::int64_t, double>>> samplesOf(
    OpenFile& run)
{
    std::map<std::tuple<std::int32_t, std::string, std::string>, std::vector<std::pair<std::int64_t, double>>> samples;
    for (const Lane& lane : run.facts.lanes) {
        const auto rows = run.reader.counters(lane.id, { INT64_MIN / 4, INT64_MAX / 4 });
        for (const CounterSample& row : *rows)
            samples[{ lane.rank, lane.name, lane.unit }].emplace_back(
                row.timeNs + run.facts.run.originUtcNs, row.value);
    }
    return samples;
}

class Export : public testing::Test {
protected:
    /// Our own recording: two ranks, two steps, spans in each other, spans that cut one another, none of length.
    std::filesystem::path own() const
    {
        const auto file = directory_ / "own.rsdb";
        support::TraceBuilder trace(file, 2);
        for (int rank = 0; rank < 2; ++rank) {
            for (std::int64_t step = 1; step <= 2; ++step) {
                const std::int64_t t = 1'000'003 * step;
                trace.step(rank, step, { t, t + 900'001 });
                trace.range(rank, { t, t + 400'000 }, RangeKind::Forward, {}, 1);
                trace.kernel(rank, { t + 10, t + 300'000 }, "matmul, \"up\"", { 1000, 64, 5000, Pass::Forward });
                trace.kernel(rank, { t + 200'000, t + 350'000 }, "gelu\nand more");
                trace.kernel(rank, { t + 350'000, t + 350'000 }, "nothing");
                trace.bubble(rank, { t + 400'000, t + 500'000 }, BubblePhase::Steady, 1 - rank);
            }
            trace.counter(rank, "memory", "bytes", 1'500'000, 0.1);
        }
        trace.collective(
            CollectiveOp::AllReduce, Dimension::Data, 4096, { { 1'600'000, 1'700'001 }, { 1'650'000, 1'700'002 } });
        trace.collective(
            CollectiveOp::AllReduce, Dimension::Data, 4096, { { 2'600'000, 2'700'001 }, { 2'650'000, 2'700'002 } });
        trace.finish();
        return file;
    }

    /// Two ranks of a pipeline on shared cores: kernels and ranges with CPU time, FLOPs, data, a message's bubble.
    std::filesystem::path onSharedCores() const
    {
        const auto file = directory_ / "cores.rsdb";
        support::TraceBuilder trace(file, 2);
        trace.startedAt(1'700'000'000'000'000'000);
        for (const auto& [key, value] : { std::pair("config.parallel.pp", "2"), { "config.batch.micro_batches", "2" },
                 { "config.parallel.schedule", "\"1f1b\"" } })
            trace.provenance(key, value);
        trace.link({ 0, 1, 2'000, 1'000'000'000 }).link({ 1, 0, 2'000, 1'000'000'000 });
        for (int rank = 0; rank < 2; ++rank) {
            RankInfo info;
            info.rank = rank;
            info.stage = rank;
            info.node = "node, the first";
            info.device = "cpu";
            info.dp = 0;
            info.clockErrorNs = 500 * rank;
            info.peakFlops = 1e9;
            trace.describe(info);
            for (std::int64_t step = 1; step <= 2; ++step) {
                const std::int64_t t = 1'000'000 * step;
                trace.step(rank, step, { t, t + 900'000 });
                trace.range(rank, { t, t + 50'000 }, RangeKind::Data, {}, 1);
                trace.range(rank, { t + 50'000, t + 500'000 }, RangeKind::Forward, {}, 1, 300'000);
                trace.kernel(rank, { t + 60'000, t + 160'000 }, "matmul", { 40'000, 64, 70'000, Pass::Forward });
                trace.kernel(rank, { t + 200'000, t + 300'000 }, "gelu", { {}, {}, 90'000, Pass::Forward });
                trace.kernel(rank, { t + 520'000, t + 600'000 }, "adamw", { {}, {}, {}, Pass::Optimizer });
                trace.bubble(rank, { t + 310'000, t + 350'000 }, BubblePhase::Drain, 1 - rank);
                trace.counter(rank, "memory", "bytes", t, 1e9 + static_cast<double>(step) / 3);
                trace.counter(rank, "loss", "nats", t + 7, 5.5 - static_cast<double>(step));
            }
        }
        trace.collective(
            CollectiveOp::AllReduce, Dimension::Data, 4096, { { 1'620'000, 1'700'001 }, { 1'650'000, 1'700'002 } });
        trace.collective(
            CollectiveOp::AllReduce, Dimension::Data, 4096, { { 2'660'000, 2'700'001 }, { 2'650'000, 2'700'002 } });
        trace.finish();
        return file;
    }

    /// Another tool's: a device with launches, copies, NCCL.
    std::filesystem::path imported() const
    {
        std::vector<std::string> files;
        for (int rank = 0; rank < 2; ++rank) {
            const std::string r = std::to_string(rank);
            files.push_back(directory_
                                .write("rank" + r + ".json",
                                    R"({"distributedInfo": {"rank": )" + r + R"(, "world_size": 2}, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 9, "tid": 1, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1, "ts": 1.001, "dur": 2, "args": {"correlation": 5}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 4.25, "dur": 9.999, "args": {"correlation": 5, "stream": 7}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 20, "dur": 3, "args": {"bytes": 512, "correlation": 6}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 8, "ts": 3)"
                                        + r + R"(, "dur": 5, "args": {"Collective name": "allreduce", "Group size": 2,
 "In msg nelems": 16, "Out msg nelems": 16, "dtype": "Float", "Process Group Name": "1",
 "Process Group Description": "mesh_dp", "Process Group Ranks": "[0, 1]", "Seq": 3}}]})")
                                .string());
        }
        const auto file = directory_ / "imported.rsdb";
        const auto report = importTraces(files, file.string());
        EXPECT_TRUE(report) << report.error().message();
        return file;
    }

    std::filesystem::path importedAgain(const std::filesystem::path& from, const char* name) const
    {
        const auto file = directory_ / name;
        const auto report = importTraces({ from.string() }, file.string());
        EXPECT_TRUE(report) << report.error().message();
        for (const Loss& loss : report ? report->losses : std::vector<Loss>())
            ADD_FAILURE() << loss.kind << ": " << loss.detail;
        return file;
    }

    static void expectGood(const ExportOutcome& outcome)
    {
        EXPECT_EQ(outcome.fault, ExportOutcome::Fault::None) << outcome.message;
    }

    /// Names of files in the folder beside run files.
    std::vector<std::string> leftovers() const
    {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
            if (entry.path().extension() != ".rsdb")
                names.push_back(entry.path().filename().string());
        }
        return names;
    }

    support::TemporaryDirectory directory_;
};

/// The steps of our own recordings are called as PyTorch calls them.
std::vector<Span> withStepNames(std::vector<Span> spans)
{
    for (Span& span : spans) {
        if (std::get<2>(span) == "step")
            std::get<2>(span) = std::get<3>(span) == 0 ? "ProfilerStep#1" : "ProfilerStep#2";
    }
    std::ranges::sort(spans);
    return spans;
}

} // namespace

TEST_F(Export, ChromeJsonComesBackWithEverySpan)
{
    for (const auto& file : { own(), imported() }) {
        auto run = opened(file);
        const auto json = directory_ / (file.stem().string() + ".json.gz");
        expectGood(exportChrome(run.reader, run.facts, json.string()));
        const auto back = importedAgain(json, "back.rsdb");
        EXPECT_EQ(spansOf(back), withStepNames(spansOf(run))) << file;
        auto again = opened(back);
        EXPECT_EQ(again.facts.ranks.size(), 2U);
        EXPECT_EQ(again.facts.steps.size(), run.facts.steps.size());
        EXPECT_EQ(again.facts.run.originUtcNs + again.facts.window.beginNs,
            run.facts.run.originUtcNs + run.facts.window.beginNs);
        const auto matches = again.reader.matches(again.facts.window);
        ASSERT_TRUE(matches);
        EXPECT_EQ(matches->size(), run.reader.matches(run.facts.window)->size());
        for (const CollectiveMatch& match : *matches)
            EXPECT_EQ(match.partsPresent, 2);
        std::filesystem::remove(back);
    }
}

TEST_F(Export, CsvComesBackWithEverySpan)
{
    for (const auto& file : { own(), imported() }) {
        auto run = opened(file);
        const auto folder = directory_ / (file.stem().string() + "-tables");
        expectGood(exportCsv(run.reader, run.facts, folder.string()));
        const auto back = importedAgain(folder / "spans.csv", "back.rsdb");
        EXPECT_EQ(spansOf(back), spansOf(run)) << file;
        auto again = opened(back);
        EXPECT_EQ(again.facts.steps.size(), run.facts.steps.size());
        const auto matches = again.reader.matches(again.facts.window);
        ASSERT_TRUE(matches);
        EXPECT_EQ(matches->size(), run.reader.matches(run.facts.window)->size());
        std::filesystem::remove(back);
    }
}

TEST_F(Export, WhatComesBackHasTheSameLedgerAndCounters)
{
    for (const auto& file : { onSharedCores(), own(), imported() }) {
        auto run = opened(file);
        const auto json = directory_ / "run.json", tables = directory_ / "tables";
        expectGood(exportChrome(run.reader, run.facts, json.string()));
        expectGood(exportCsv(run.reader, run.facts, tables.string()));
        const auto ledger = ledgerOf(run);
        if (file.stem() == "cores") {
            // Per rank and step the matmul lost 30 us and the gelu 10; the forward range lost 150 us, 110 more than
            // they.
            std::int64_t descheduled = 0;
            for (const LedgerLine& line : ledger)
                descheduled += std::get<1>(line) == "descheduled" ? std::get<3>(line) : 0;
            EXPECT_EQ(descheduled, 2 * 2 * 150'000);
        }
        for (const auto& exported : { json, tables }) { // the folder as it is: its side tables are no traces
            const auto back = importedAgain(exported, "back.rsdb");
            auto again = opened(back);
            EXPECT_EQ(again.facts.run.source, run.facts.run.source);
            EXPECT_EQ(ledgerOf(again), ledger) << file << " " << exported;
            EXPECT_EQ(samplesOf(again), samplesOf(run)) << file << " " << exported;
            EXPECT_EQ(again.facts.links, run.facts.links);
            ASSERT_EQ(again.facts.ranks.size(), run.facts.ranks.size());
            for (std::size_t r = 0; r < run.facts.ranks.size(); ++r) {
                EXPECT_EQ(again.facts.ranks[r].node, run.facts.ranks[r].node);
                EXPECT_EQ(again.facts.ranks[r].peakFlops, run.facts.ranks[r].peakFlops);
                EXPECT_EQ(again.facts.ranks[r].clockErrorNs, run.facts.ranks[r].clockErrorNs);
            }
            std::filesystem::remove(back);
        }
        std::filesystem::remove_all(tables);
    }
}

TEST_F(Export, ATableBesideTheSpansIsNoTraceAlone)
{
    auto run = opened(own());
    const auto folder = directory_ / "tables";
    expectGood(exportCsv(run.reader, run.facts, folder.string()));
    for (const char* name : { "counters.csv", "ranks.csv", "run.csv" }) {
        const auto refused = importTraces({ (folder / name).string() }, (directory_ / "no.rsdb").string());
        ASSERT_FALSE(refused) << name;
        EXPECT_NE(refused.error().message().find("spans.csv beside it"), std::string::npos)
            << refused.error().message();
    }
}

TEST_F(Export, CsvHasItsColumnsAndQuotesWhatNeedsIt)
{
    auto run = opened(own());
    const auto folder = directory_ / "tables";
    expectGood(exportCsv(run.reader, run.facts, folder.string()));
    const std::string spans = support::readText(folder / "spans.csv");
    EXPECT_TRUE(spans.starts_with("rank,lane,lane_kind,kind,name,begin_ns,end_ns,")) << spans.substr(0, 200);
    EXPECT_NE(spans.find("0,compute,compute,kernel,\"matmul, \"\"up\"\"\",1000013,1300003,"), std::string::npos);
    EXPECT_NE(spans.find(",all-reduce,dp,dp,0 1,0,1,4096,"), std::string::npos);
    EXPECT_EQ(support::readText(folder / "counters.csv"),
        "rank,name,unit,time_ns,value\n0,memory,bytes,1500000,0.1\n1,memory,bytes,1500000,0.1\n");
    EXPECT_TRUE(support::readText(folder / "ranks.csv")
                    .starts_with("rank,node,device,stage,dp,tp,ep,clock_error_ns,peak_flops\n0,"));
}

TEST_F(Export, PerfettoHoldsEverySpanOnTracksWhereSpansLieInsideEachOther)
{
    for (const auto& file : { own(), imported() }) {
        auto run = opened(file);
        const auto path = directory_ / "run.pftrace";
        const auto outcome = exportPerfetto(run.reader, run.facts, path.string());
        expectGood(outcome);
        const std::string bytes = support::readText(path);
        const PerfettoTrace trace = decodePerfetto(bytes);
        std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
        for (const auto& slice : trace.slices)
            first = std::min(first, slice.beginNs);
        std::vector<Span> spans;
        for (const auto& slice : trace.slices) {
            const bool isBubble = slice.category == "bubble";
            spans.emplace_back(std::stoi(slice.process.substr(5)), slice.category,
                isBubble ? "bubble " + slice.annotations.at("phase") : slice.name, slice.beginNs - first,
                slice.endNs - first);
        }
        std::ranges::sort(spans);
        EXPECT_EQ(spans, spansOf(run)) << file;
        EXPECT_EQ(outcome.spans, std::ssize(spans));
        // Time 0 in UTC.
        EXPECT_EQ(trace.clocks.at(1), static_cast<std::uint64_t>(run.facts.run.originUtcNs));
        EXPECT_EQ(trace.clocks.at(6), 0U);
    }
}

TEST_F(Export, PerfettoTiesTheRanksPartsAndLaunchesTogether)
{
    auto run = opened(own());
    const auto path = directory_ / "run.pftrace";
    expectGood(exportPerfetto(run.reader, run.facts, path.string()));
    const std::string bytes = support::readText(path);
    const PerfettoTrace trace = decodePerfetto(bytes);
    std::map<std::uint64_t, std::vector<std::string>> ends;
    for (const auto& slice : trace.slices) {
        for (const std::uint64_t flow : slice.flows)
            ends[flow].push_back(slice.process + " " + slice.annotations.at("operation"));
    }
    ASSERT_EQ(ends.size(), 2U); // two all-reduces
    for (auto& [flow, names] : ends) {
        std::ranges::sort(names);
        EXPECT_EQ(names, (std::vector<std::string>{ "rank 0 all-reduce", "rank 1 all-reduce" }));
    }
    ASSERT_EQ(trace.samples.size(), 2U);
    EXPECT_EQ(trace.samples[0].track, "memory");
    EXPECT_EQ(trace.samples[0].unit, "bytes");
    EXPECT_EQ(trace.samples[0].value, 0.1);

    auto other = opened(imported());
    expectGood(exportPerfetto(other.reader, other.facts, path.string()));
    const std::string otherBytes = support::readText(path);
    std::map<std::uint64_t, std::vector<std::string>> launches;
    for (const auto& slice : decodePerfetto(otherBytes).slices) {
        for (const std::uint64_t flow : slice.flows)
            launches[flow].push_back(slice.process + " " + slice.name);
    }
    std::int64_t pairs = 0;
    for (const auto& [flow, names] : launches)
        pairs += names == std::vector<std::string>{ "rank 0 cudaLaunchKernel", "rank 0 gemm" };
    EXPECT_EQ(pairs, 1);
}

TEST_F(Export, ChromeJsonIsValidAndHasFlows)
{
    auto run = opened(own());
    const auto path = directory_ / "run.json";
    expectGood(exportChrome(run.reader, run.facts, path.string()));
    rapidjson::Document document;
    document.Parse(support::readText(path).c_str());
    ASSERT_FALSE(document.HasParseError());
    int starts = 0, ends = 0, counters = 0;
    for (const auto& event : document["traceEvents"].GetArray()) {
        const std::string phase = event["ph"].GetString();
        starts += phase == "s";
        ends += phase == "f";
        counters += phase == "C" && event["args"]["value"].GetDouble() == 0.1;
    }
    EXPECT_EQ(starts, 2);
    EXPECT_EQ(ends, 2);
    EXPECT_EQ(counters, 2);
}

TEST_F(Export, StoppedExportsLeaveNothingBehind)
{
    const auto file = directory_ / "long.rsdb";
    support::TraceBuilder trace(file, 1);
    for (std::int64_t i = 0; i < 20'000; ++i)
        trace.kernel(0, { i * 10, i * 10 + 5 });
    trace.finish();
    auto run = opened(file);
    std::int64_t asked = 0;
    const ExportOptions options{ [&](std::int64_t) { return ++asked < 0; } };
    using Fault = ExportOutcome::Fault;
    EXPECT_EQ(exportPerfetto(run.reader, run.facts, (directory_ / "a").string(), options).fault, Fault::Cancelled);
    EXPECT_EQ(exportChrome(run.reader, run.facts, (directory_ / "b").string(), options).fault, Fault::Cancelled);
    EXPECT_EQ(exportCsv(run.reader, run.facts, directory_.path().string(), options).fault, Fault::Cancelled);
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
}

TEST_F(Export, AnOutputThatCannotBeMadeIsSaidInOneLine)
{
    auto run = opened(own());
    for (const auto exporter : { exportPerfetto, exportChrome, exportCsv }) {
        const auto outcome = exporter(run.reader, run.facts, "/proc/none/run", {});
        EXPECT_EQ(outcome.fault, ExportOutcome::Fault::Output);
        EXPECT_EQ(outcome.message.find('\n'), std::string::npos);
        EXPECT_NE(outcome.message.find("/proc/none/run"), std::string::npos) << outcome.message;
    }
}

} // namespace rankscope::tracing
