#include "tracing/import/importer.h"
#include "tracing/import/nsight/nsight_reader.h"
#include "tracing/import/trace_format.h"
#include "tracing/store/sqlite.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t globalTid(std::int64_t pid, std::int64_t tid) { return pid << 24 | tid; }

/// Writes exports of our own making: tables as a schema has them, a handful of rows.
class Nsight : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = (fs::temp_directory_path() / "rankscope-nsight-test-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string write(const std::string& name, const std::string& sql)
    {
        auto database = Database::open(path(name), Database::Access::Create);
        const Status status = database->execute(sql);
        if (!status)
            ADD_FAILURE() << status.error().message();
        return path(name);
    }
    std::vector<SourceTrace> read(const std::string& file)
    {
        auto traces = readTraceFile(file);
        if (!traces) {
            ADD_FAILURE() << traces.error().message();
            return {};
        }
        return std::move(*traces);
    }
    static std::vector<SourceEvent> events(SourceTrace& trace, SourceKind kind)
    {
        std::vector<SourceEvent> found;
        for (std::uint32_t lane = 0; lane < trace.lanes.size(); ++lane) {
            static_cast<void>(trace.events->visit(lane, [&](std::span<const SourceEvent> some) -> Status {
                std::ranges::copy_if(
                    some, std::back_inserter(found), [&](const SourceEvent& e) { return e.kind == kind; });
                return Done{};
            }));
        }
        return found;
    }
    static std::int64_t lossCount(const SourceTrace& trace, const std::string& kind)
    {
        const auto it = std::ranges::find(trace.losses, kind, &Loss::kind);
        return it == trace.losses.end() ? 0 : it->count;
    }

    fs::path folder_;
};

const std::string kStrings
    = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'),"
      "(3, 'cudaLaunchKernel'), (4, 'cuLaunchKernelEx'), (5, 'ncclAllReduce'), (6, 'ncclDevKernel_SendRecv'),"
      "(7, 'ncclGroupStart'), (8, 'ncclGroupEnd'), (9, 'ncclSend'), (10, 'ncclRecv'), (11, 'MPI_Send'),"
      "(12, 'MPI_Recv'), (13, 'MPI_Allreduce');";
const std::string kKernels
    = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
      "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);";
const std::string kCalls
    = "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,"
      "nameId INTEGER);";
const std::string kRanges
    = "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT,"
      "textId INTEGER, jsonText TEXT);";

std::string row(const std::string& table, const std::vector<std::string>& values)
{
    std::string sql = "INSERT INTO " + table + " VALUES (";
    for (const std::string& value : values)
        sql += (sql.back() == '(' ? "" : ", ") + value;
    return sql + ");";
}
std::string text(std::int64_t number) { return std::to_string(number); }
std::string kernel(int begin, int end, int device, int correlation, std::int64_t pid, int name)
{
    return row("CUPTI_ACTIVITY_KIND_KERNEL",
        { text(begin), text(end), text(device), "7", text(correlation), text(globalTid(pid, 0)), text(name),
            text(name) });
}
std::string call(int begin, int end, std::int64_t pid, int correlation, int name)
{
    return row("CUPTI_ACTIVITY_KIND_RUNTIME",
        { text(begin), text(end), text(globalTid(pid, pid)), text(correlation), text(name) });
}
std::string range(int begin, int end, std::int64_t pid, const std::string& name, const std::string& json = "NULL")
{
    return row("NVTX_EVENTS",
        { text(begin), end < 0 ? "NULL" : text(end), "59", text(globalTid(pid, pid)), "'" + name + "'", "NULL", json });
}

std::string traces(const std::string& name)
{
    const char* folder = std::getenv("RANKSCOPE_TRACES");
    return (fs::path(folder ? folder : "../shared/traces") / name).string();
}

std::int64_t covered(std::vector<Window> windows)
{
    std::ranges::sort(windows, {}, &Window::beginNs);
    std::int64_t sum = 0, end = INT64_MIN;
    for (const Window& window : windows) {
        sum += std::max<std::int64_t>(0, window.endNs - std::max(window.beginNs, end));
        end = std::max(end, window.endNs);
    }
    return sum;
}

} // namespace

TEST_F(Nsight, CorrelationNumbersWithSeveralCallsOrInTwoProcessesDoNotMultiplyKernels)
{
    // Number 5 is used by both processes; process 20 has a runtime and a driver call for it.
    auto found = read(write("a.sqlite",
        kStrings + kKernels + kCalls + kernel(100, 200, 0, 5, 20, 1) + kernel(150, 250, 1, 5, 21, 1)
            + call(90, 99, 20, 5, 3) + call(92, 98, 20, 5, 4) + call(95, 97, 21, 5, 3)));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].rank, 0);
    EXPECT_EQ(found[1].rank, 1);
    EXPECT_TRUE(found[1].rankIsLocal);
    EXPECT_EQ(events(found[0], SourceKind::Kernel).size(), 1u);
    EXPECT_EQ(events(found[0], SourceKind::HostCall).size(), 2u);
    EXPECT_EQ(events(found[1], SourceKind::Kernel).size(), 1u);
    EXPECT_EQ(events(found[1], SourceKind::HostCall).size(), 1u);
    EXPECT_EQ(found[0].strings[events(found[0], SourceKind::Kernel)[0].name], "void gemm<float>(float*)");
}

TEST_F(Nsight, PayloadOfTheRangeAroundTheLaunchDescribesACollective)
{
    const std::string init = R"('{"NCCL communicator ID": 77, "No. of ranks": 8, "Rank": 3, "CUDA device": 0}')";
    const std::string payload
        = R"('{"NCCL communicator ID": 77, "Message size [bytes]": 4096, "Reduction operation": "Sum"}')";
    auto found = read(write("a.sqlite",
        kStrings + kKernels + kCalls + kRanges + kernel(100, 200, 0, 5, 20, 2) + call(90, 99, 20, 5, 4)
            + range(10, 20, 20, "ncclCommInitRank", init) + range(85, 105, 20, "ncclAllReduce", payload)));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rank, 3);
    EXPECT_EQ(found[0].worldSize, 8);
    ASSERT_EQ(found[0].parts.size(), 1u);
    const SourcePart& part = found[0].parts[0];
    EXPECT_EQ(part.op, CollectiveOp::AllReduce);
    EXPECT_EQ(part.bytes, 4096);
    EXPECT_EQ(found[0].groups[part.group].name, "77");
    EXPECT_EQ(found[0].groups[part.group].size, 8);
}

/// Schemas as NCCL registers them (2.19 to 2.27); each stands there twice, once a process.
const std::string kPayloads
    = "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT,"
      "textId INTEGER, jsonText TEXT, binaryData TEXT);"
      "CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, numEntries INTEGER, payloadSize INTEGER);"
      "INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (1, 16777218, 4, 24), (1, 16777223, 3, 24), (1, 16777218, 4, 24);"
      "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, flags INTEGER,"
      "type INTEGER, name TEXT, offset INTEGER);"
      "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 16777218, 0, NULL, 18, 'NCCL communicator ID', NULL),"
      "(1, 16777218, 1, NULL, 5, 'No. of ranks', 8), (1, 16777218, 2, NULL, 5, 'Rank', NULL),"
      "(1, 16777218, 3, NULL, 5, 'CUDA device', 16), (1, 16777223, 0, NULL, 18, 'NCCL communicator ID', NULL),"
      "(1, 16777223, 1, NULL, 22, 'Message size [bytes]', 8),"
      "(1, 16777223, 2, NULL, 16777232, 'Reduction operation', 16);";

/// Eight bytes of a payload, the least first.
std::string eight(std::uint64_t number)
{
    std::string hex;
    for (int i = 0; i < 8; ++i, number >>= 8) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(number & 0xFF));
        hex += digits;
    }
    return hex;
}
std::string binaryRange(int begin, int end, const std::string& name, const std::string& payload)
{
    return row("NVTX_EVENTS",
        { text(begin), text(end), "59", text(globalTid(20, 20)), "'" + name + "'", "NULL", "NULL", payload });
}

TEST_F(Nsight, BinaryPayloadsSayTheSameAsTheirJson)
{
    const std::string init // the third word: 8 ranks, this one is 3
        = "x'" + eight(1) + eight(16777218) + eight(24) + eight(56) + eight(77) + eight(8 | 3ull << 32) + eight(0)
        + "'";
    const std::string reduce
        = "x'" + eight(1) + eight(16777223) + eight(24) + eight(56) + eight(77) + eight(4096) + eight(0) + "'";
    auto found = read(write("a.sqlite",
        kStrings + kKernels + kCalls + kPayloads + kernel(100, 200, 0, 5, 20, 2) + call(90, 99, 20, 5, 4)
            + binaryRange(10, 20, "ncclCommInitRank", init) + binaryRange(85, 105, "ncclAllReduce", reduce)));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rank, 3);
    EXPECT_EQ(found[0].worldSize, 8);
    ASSERT_EQ(found[0].parts.size(), 1u);
    const SourcePart& part = found[0].parts[0];
    EXPECT_EQ(part.op, CollectiveOp::AllReduce);
    EXPECT_EQ(part.bytes, 4096);
    EXPECT_EQ(found[0].groups[part.group].name, "77");
    EXPECT_EQ(found[0].groups[part.group].size, 8);
}

TEST_F(Nsight, BinaryPayloadsThatDoNotFitTheirSchemaSayNothing)
{
    const std::string shorter = "x'" + eight(1) + eight(16777223) + eight(24) + eight(56) + eight(77) + "'";
    const std::string unknown = "x'" + eight(1) + eight(16777299) + eight(8) + eight(40) + eight(77) + "'";
    for (const std::string& payload : { shorter, unknown, std::string("x'00'"), std::string("'text'") }) {
        std::remove(path("a.sqlite").c_str());
        auto found = read(write("a.sqlite",
            kStrings + kKernels + kCalls + kPayloads + kernel(100, 200, 0, 5, 20, 2) + call(90, 99, 20, 5, 4)
                + binaryRange(85, 105, "ncclAllReduce", payload)));
        ASSERT_EQ(found.size(), 1u);
        ASSERT_EQ(found[0].parts.size(), 1u);
        EXPECT_EQ(found[0].parts[0].op, CollectiveOp::AllReduce);
        EXPECT_EQ(found[0].parts[0].bytes, 0);
        EXPECT_EQ(found[0].parts[0].group, 0u);
    }
}

TEST_F(Nsight, GroupOfSendsInsideAnAllToAllIsAnAllToAll)
{
    const std::string send = R"('{"NCCL communicator ID": 7, "Message size [bytes]": 100, "Peer rank": 1}')";
    auto found = read(write("a.sqlite",
        kStrings + kKernels + kCalls + kRanges + kernel(100, 200, 0, 5, 20, 6) + call(90, 99, 20, 5, 4)
            + range(10, 120, 20, "nccl:all_to_all, op_id = 4") + range(20, 21, 20, "ncclGroupStart")
            + range(30, 31, 20, "ncclSend", send) + range(40, 41, 20, "ncclRecv", send)
            + range(50, 51, 20, "ncclSend", send) + range(80, 110, 20, "ncclGroupEnd")));
    ASSERT_EQ(found[0].parts.size(), 1u);
    EXPECT_EQ(found[0].parts[0].op, CollectiveOp::AllToAll);
    EXPECT_EQ(found[0].parts[0].bytes, 200); // two sends; receives are the peers' sends
}

TEST_F(Nsight, OpenRangesEndWithTheFileAndBadTimesAreCounted)
{
    auto found = read(write("a.sqlite",
        kStrings + kKernels + kRanges + kernel(100, 200, 0, 5, 20, 1) + kernel(300, 250, 0, 6, 20, 1)
            + range(50, -1, 20, "open")
            + row("CUPTI_ACTIVITY_KIND_KERNEL", { "NULL", "5", "0", "7", "9", text(globalTid(20, 0)), "1", "1" })));
    const auto ranges = events(found[0], SourceKind::Range);
    ASSERT_EQ(ranges.size(), 1u);
    EXPECT_EQ(ranges[0].endNs, 300);
    EXPECT_EQ(lossCount(found[0], "span without an end"), 1);
    EXPECT_EQ(lossCount(found[0], "negative duration"), 1);
    EXPECT_EQ(lossCount(found[0], "event without a time"), 1);
}

TEST_F(Nsight, MpiRanksNumberTheProcessesAndTheirCallsBecomeParts)
{
    const std::string mpi
        = "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
          "CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, commHandle "
          "INTEGER,"
          "tag INTEGER, remoteRank INTEGER, size INTEGER);"
          "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER,"
          "commHandle INTEGER, rootRank INTEGER, size INTEGER);";
    const std::string a = text(globalTid(20, 20)), b = text(globalTid(21, 21));
    const std::string file = write("a.sqlite",
        kStrings + mpi + row("MPI_RANKS", { a, "6" }) + row("MPI_RANKS", { b, "5" })
            + row("MPI_P2P_EVENTS", { "10", "30", a, "11", "9", "0", "5", "64" })
            + row("MPI_P2P_EVENTS", { "15", "32", b, "12", "8", "0", "6", "64" })
            + row("MPI_COLLECTIVES_EVENTS", { "40", "50", a, "13", "9", "NULL", "128" })
            + row("MPI_COLLECTIVES_EVENTS", { "45", "51", b, "13", "8", "NULL", "128" }));
    const auto report = importTraces({ file }, path("run.rsdb"));
    ASSERT_TRUE(report) << report.error().message();
    auto reader = std::move(*TraceReader::open(path("run.rsdb")));
    const auto matches = *reader.matches({ INT64_MIN / 4, INT64_MAX / 4 });
    ASSERT_EQ(matches.size(), 2u);
    EXPECT_EQ(matches[0].op, CollectiveOp::Send);
    EXPECT_EQ(matches[0].partsPresent, 2);
    EXPECT_EQ(matches[1].op, CollectiveOp::AllReduce);
    EXPECT_EQ(matches[1].partsPresent, 2);
    EXPECT_EQ(matches[1].lateRank, 5);
}

TEST_F(Nsight, CaptureWarningsAreLosses)
{
    auto found = read(write("a.sqlite",
        kStrings + kKernels + kernel(100, 200, 0, 5, 20, 1)
            + "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, source INTEGER, text TEXT);"
              "CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (id INTEGER, name TEXT, label TEXT);"
              "INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES (1, 'Info', 'Information'), (2, 'Warning', 'Warning');"
              "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 0, 'fine'), (2, 2, 0, 'events were lost');"));
    ASSERT_EQ(lossCount(found[0], "capture warning"), 1);
    EXPECT_EQ(std::ranges::find(found[0].losses, "capture warning", &Loss::kind)->detail, "events were lost");
}

TEST_F(Nsight, UnfinishedExportsAndReportsAreAnsweredWithTheCommandThatMakesOne)
{
    std::ofstream(path("job.sqlite")) << std::string(8192, '\0');
    std::ofstream(path("job.nsys-rep")) << "anything";
    for (const char* name : { "job.sqlite", "job.nsys-rep" }) {
        const auto refused = readTraceFile(path(name));
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message().find(
                      "nsys export --type sqlite --lazy=false --include-json true --force-overwrite true -o "
                      + path("job.sqlite") + " " + path("job.nsys-rep")),
            std::string::npos)
            << refused.error().message();
        EXPECT_EQ(refused.error().message().find('\n'), std::string::npos);
    }
    const std::string other = write("other.sqlite", "CREATE TABLE people (name TEXT);");
    EXPECT_FALSE(readTraceFile(other));
}

TEST_F(Nsight, ADatabaseCutOffGivesTheRowsBeforeTheCut)
{
    std::string sql = kStrings + kKernels;
    for (int i = 0; i < 4000; ++i)
        sql += kernel(i * 10, i * 10 + 5, 0, i, 20, 1);
    const std::string whole = write("a.sqlite", "BEGIN;" + sql + "COMMIT;");
    fs::resize_file(whole, fs::file_size(whole) / 2);
    auto traces = readTraceFile(whole);
    ASSERT_TRUE(traces) << traces.error().message();
    const auto kernels = events(traces->front(), SourceKind::Kernel);
    EXPECT_GT(kernels.size(), 1000u);
    EXPECT_LT(kernels.size(), 4000u);
    EXPECT_EQ(lossCount(traces->front(), "damaged table"), 1);
}

TEST_F(Nsight, RealTwoDevicesHaveTheFiguresOfOtherTools)
{
    if (!fs::exists(traces("nsys_2gpu")))
        GTEST_SKIP() << "no " << traces("nsys_2gpu") << "; set RANKSCOPE_TRACES to the folder of real traces";
    const auto report = importTraces({ traces("nsys_2gpu") }, path("run.rsdb"));
    ASSERT_TRUE(report) << report.error().message();
    auto reader = std::move(*TraceReader::open(path("run.rsdb")));
    const Window all{ INT64_MIN / 4, INT64_MAX / 4 };
    // In 0.01 ms, over the kernels of a device: its window is from its first to its last.
    const std::int64_t expected[2][3] = { { 25369, 1717, 2899 }, { 25610, 823, 3434 } };
    std::size_t kernelCount = 0, unknown = 0;
    const auto lanes = *reader.lanes();
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        std::vector<Window> compute, communication;
        for (const Lane& lane : lanes) {
            if (lane.rank != rank)
                continue;
            const auto kernels = *reader.kernels(lane.id, all);
            for (const Kernel& kernel : kernels)
                compute.push_back({ kernel.beginNs, kernel.endNs });
            const auto parts = *reader.collectives(lane.id, all);
            for (const CollectivePart& part : parts) {
                communication.push_back({ part.beginNs, part.endNs });
                unknown += part.op == CollectiveOp::Unknown ? 1 : 0;
            }
        }
        kernelCount += compute.size() + communication.size();
        std::vector<Window> both = compute;
        both.insert(both.end(), communication.begin(), communication.end());
        const auto [first, last] = std::pair(
            std::ranges::min(both, {}, &Window::beginNs).beginNs, std::ranges::max(both, {}, &Window::endNs).endNs);
        const auto hundredths = [](std::int64_t ns) { return (ns + 5000) / 10000; };
        EXPECT_EQ(hundredths(covered(compute)), expected[rank][0]);
        EXPECT_EQ(hundredths(covered(communication)), expected[rank][1]);
        EXPECT_EQ(hundredths(last - first - covered(both)), expected[rank][2]);
        EXPECT_EQ(covered(compute) + covered(communication), covered(both));
    }
    EXPECT_EQ(kernelCount, 4010u);
    std::size_t complete = 0;
    const auto matches = *reader.matches(all);
    for (const CollectiveMatch& match : matches)
        complete += match.partsPresent == 2 ? 1 : 0;
    EXPECT_EQ(complete, 33u); // on streams 7 and 15: every process numbers its own
    EXPECT_EQ(unknown, 2u); // the first of each device was launched before the recording; all others are all-to-alls
}

TEST_F(Nsight, RealOldSchemaOpens)
{
    if (!fs::exists(traces("nsys_old_schema")))
        GTEST_SKIP() << "no " << traces("nsys_old_schema") << "; set RANKSCOPE_TRACES to the folder of real traces";
    auto found = read(traces("nsys_old_schema") + "/report.sqlite");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rank, 0); // "MPI Rank 0"
    EXPECT_EQ(found[0].node, "nid001608");
    EXPECT_EQ(found[0].baseNs, 1687813257637297504);
    EXPECT_EQ(events(found[0], SourceKind::Kernel).size(), 5u);
    EXPECT_EQ(events(found[0], SourceKind::Copy).size(), 15u);
    EXPECT_EQ(events(found[0], SourceKind::HostCall).size(), 95u);
    EXPECT_EQ(events(found[0], SourceKind::Range).size(), 22u + 16u); // NVTX, and the profiler's overhead
}

TEST_F(Nsight, ReportsOfOneHostLieAsFarApartAsItsSystemClockSays)
{
    // The second session began 2 s later; in between the wall clock was set back by 0.5 s.
    const auto report = [&](const std::string& name, const std::string& utc, const std::string& system) {
        return write(name,
            kStrings + kKernels + kernel(100, 200, 0, 5, 20, 1)
                + "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, systemClockNs INTEGER);"
                + row("TARGET_INFO_SESSION_START_TIME", { utc, system })
                + "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
                + row("TARGET_INFO_SYSTEM_ENV", { "'Hostname'", "'node1'" }));
    };
    const std::string a = report("a.sqlite", "1700000000000000000", "5000000000");
    const std::string b = report("b.sqlite", "1700000001500000000", "7000000000");
    const auto imported = importTraces({ a, b }, path("run.rsdb"));
    ASSERT_TRUE(imported) << imported.error().message();
    EXPECT_EQ(imported->ranks, 2);
    auto reader = TraceReader::open(path("run.rsdb"));
    ASSERT_TRUE(reader);
    const auto window = reader->window();
    EXPECT_EQ(window->beginNs, 0);
    EXPECT_EQ(window->endNs, 2'000'000'100);
}

/// A report of one rank of two, each on a host of its own: four all-reduces that end at these times.
std::string reportOfHost(int rank, std::int64_t utcNs, const std::vector<int>& endsNs)
{
    const std::int64_t pid = 20 + rank;
    const std::string place = R"('{"NCCL communicator ID": 77, "No. of ranks": 2, "Rank": )" + text(rank) + "}'";
    std::string sql = kStrings + kKernels + kCalls + kRanges + range(10, 20, pid, "ncclCommInitRank", place)
        + "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, systemClockNs INTEGER);"
        + row("TARGET_INFO_SESSION_START_TIME", { text(utcNs), text(5'000'000'000 * (rank + 1)) })
        + "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
        + row("TARGET_INFO_SYSTEM_ENV", { "'Hostname'", "'node" + text(rank) + "'" });
    for (int i = 0; i < static_cast<int>(endsNs.size()); ++i) {
        const int end = endsNs[static_cast<std::size_t>(i)];
        const std::string payload
            = R"('{"NCCL communicator ID": 77, "Message size [bytes]": 4096, "seqNumber": )" + text(i) + "}'";
        sql += kernel(end - 100'000, end, 0, i + 1, pid, 2) + call(end - 190'000, end - 180'000, pid, i + 1, 3)
            + range(end - 200'000, end - 170'000, pid, "ncclAllReduce", payload);
    }
    return sql;
}

TEST_F(Nsight, ReportsOfSeveralHostsBecomeOneRunByTheEndsOfTheirCollectives)
{
    // The clock of node1 is 3 ms ahead.
    const std::string a = write(
        "a.sqlite", reportOfHost(0, 1'700'000'000'000'000'000, { 1'000'000, 11'000'000, 25'000'000, 40'000'000 }));
    const std::string b = write(
        "b.sqlite", reportOfHost(1, 1'700'000'000'000'000'000, { 4'000'000, 14'000'000, 28'000'000, 43'000'000 }));
    const auto imported = importTraces({ a, b }, path("run.rsdb"));
    ASSERT_TRUE(imported) << imported.error().message();
    EXPECT_EQ(imported->ranks, 2);
    EXPECT_EQ(imported->worldSize, 2);
    EXPECT_TRUE(imported->clocks.starts_with("clocks moved by at most 3 ms")) << imported->clocks;
    auto reader = TraceReader::open(path("run.rsdb"));
    ASSERT_TRUE(reader);
    std::vector<std::vector<std::int64_t>> ends;
    const auto lanes = *reader->lanes();
    for (const Lane& lane : lanes) {
        const auto parts = *reader->collectives(lane.id, *reader->window());
        if (!parts.empty())
            ends.emplace_back();
        for (const CollectivePart& part : parts)
            ends.back().push_back(part.endNs);
    }
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_EQ(ends[0].size(), 4u);
    EXPECT_EQ(ends[0], ends[1]);
}

TEST_F(Nsight, ReportsOfHostsWhoseCollectivesContradictEachOtherAreNotAligned)
{
    // No one shift makes these ends agree: they are 0, 20, -12 and 35 ms apart.
    const std::string a = write(
        "a.sqlite", reportOfHost(0, 1'700'000'000'000'000'000, { 1'000'000, 51'000'000, 95'000'000, 140'000'000 }));
    const std::string b = write(
        "b.sqlite", reportOfHost(1, 1'700'000'000'000'000'000, { 1'000'000, 71'000'000, 83'000'000, 175'000'000 }));
    const auto imported = importTraces({ a, b }, path("run.rsdb"));
    ASSERT_TRUE(imported) << imported.error().message();
    EXPECT_TRUE(imported->clocks.starts_with("clocks not aligned")) << imported->clocks;
    auto reader = TraceReader::open(path("run.rsdb"));
    ASSERT_TRUE(reader);
    const auto ranks = *reader->ranks();
    ASSERT_EQ(ranks.size(), 2u);
    for (const RankInfo& rank : ranks)
        EXPECT_GE(rank.clockErrorNs, 10'000'000);
}

} // namespace rankscope::tracing
