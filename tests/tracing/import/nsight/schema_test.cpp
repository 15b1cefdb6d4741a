#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"
#include "tracing/store/sqlite.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace rankscope::tracing {

namespace {

constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };

/// A report of two processes, 20 and 21 (rank 1 and 0 of MPI), in tables as schema 3.28 has them, columns that nobody
/// reads left out. 335544340 and 352321557 are the threads 20 and 21 of these processes.
constexpr const char* kExport = R"(
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.28.1'), ('EXPORT_SCHEMA_VERSION_MAJOR', '3'),
    ('EXPORT_PRODUCT_VERSION', '2026.4.1');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, ''), (2, '_Z4gemmPf'), (3, 'cudaGraphLaunch'), (4, 'cudaGraphAddKernelNode'),
    (5, 'cudaGraphInstantiate'), (6, 'CUPTI overhead'), (7, 'step 1'), (8, 'MPI_Allgather');
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES (335544320, 20, '/usr/bin/python3');
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 20, 'a'), (5, 0, 21, 'b');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,
    globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
    launchType INTEGER, graphNodeId INTEGER, graphId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1500, 0, 1, NULL, 7, 11, 335544320, 1, 1, 2, 0, NULL, NULL),
    (1100, 1200, 0, 1, NULL, 7, 11, 352321536, 1, 1, 2, 0, NULL, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,
    globalPid INTEGER, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (2000, 2900, 0, 1, NULL, 7, 12, 335544320, 4, 9);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'PAGEABLE', 'Pageable'), (2, 'DEVICE', 'Device');
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
    copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, copyCount INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3100, 0, 7, 13, 335544320, 4096, 1, 0, 2, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3200, 3210, 0, 7, 14, 335544320, 64);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (3300, 3400, 0, 7, 15, 335544320, 3, 0, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (3250, 0, 7, 16, 335544320, 42, 1), (0, 0, 7, 17, 335544320, 43, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1900, 1950, 0, 335544340, 12, 3, 0);
CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, nameId INTEGER NOT NULL, graphNodeId INTEGER NOT NULL, originalGraphNodeId INTEGER);
INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (500, 510, 1, 335544340, 4, 1, NULL);
CREATE TABLE CUDA_GRAPH_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, nameId INTEGER NOT NULL, graphId INTEGER, originalGraphId INTEGER, graphExecId INTEGER);
INSERT INTO CUDA_GRAPH_EVENTS VALUES (520, 560, 1, 335544340, 5, 4, NULL, 9);
CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES (3, 'FLUSH', 'Buffer flush (Profiler)');
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER, overheadType INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (600, 650, 0, 335544340, NULL, 6, 3);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
    nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
INSERT INTO PROFILER_OVERHEAD VALUES (700, 720, 335544340, 6, 0);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
    category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
    domainId INTEGER, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);
INSERT INTO NVTX_EVENTS VALUES (900, 3500, 59, NULL, NULL, NULL, NULL, 335544340, NULL, 7, 0, NULL, NULL, NULL),
    (0, NULL, 75, NULL, NULL, NULL, 'NCCL', 335544340, NULL, NULL, 1, NULL, NULL, NULL);
CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);
INSERT INTO MPI_RANKS VALUES (335544340, 1), (352321557, 0);
CREATE TABLE MPI_COMMUNICATORS (rank INTEGER, timestamp INTEGER, commHandle INTEGER, parentHandle INTEGER,
    localRank INTEGER, size INTEGER, groupRoot INTEGER, groupRootUid INTEGER, members TEXT, commUid INTEGER);
INSERT INTO MPI_COMMUNICATORS VALUES (1, 10, 700, 1, 0, 2, 1, 5, NULL, 99), (0, 10, 800, 1, 1, 2, 1, 5, NULL, 99),
    (1, 5, 1, NULL, 1, 2, 0, 5, NULL, 1), (0, 5, 2, NULL, 0, 2, 0, 5, NULL, 1);
CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
    textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER, recvSize INTEGER);
INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (4000, 4100, 335544340, 8, 1, NULL, 8, 16),
    (4010, 4100, 352321557, 8, 2, NULL, 8, 16), (4200, 4300, 335544340, 8, 700, NULL, 32, 64),
    (4250, 4300, 352321557, 8, 800, NULL, 32, 64);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER NOT NULL, sourceId INTEGER, typeName TEXT,
    metricId INTEGER NOT NULL, metricName TEXT NOT NULL);
INSERT INTO TARGET_INFO_GPU_METRICS VALUES (259, 1, 'GPU 3', 1, 'SMs Active [Throughput %]');
CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER NOT NULL, typeId INTEGER NOT NULL,
    metricId INTEGER NOT NULL, value INTEGER NOT NULL);
INSERT INTO GPU_METRICS VALUES (1, 1000, 259, 1, 75), (2, 2000, 259, 1, 50), (2, 2000, 259, 2, 50);
CREATE TABLE TARGET_INFO_NETWORK_METRICS (metricsListId INTEGER NOT NULL, metricsIdx INTEGER NOT NULL,
    name TEXT NOT NULL, description TEXT NOT NULL, unit TEXT NOT NULL);
INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES (1, 0, 'IB: Bytes sent', '', 'B/s');
CREATE TABLE NIC_ID_MAP (nicId INTEGER NOT NULL, globalId INTEGER NOT NULL);
INSERT INTO NIC_ID_MAP VALUES (2, 17);
CREATE TABLE TARGET_INFO_NIC_INFO (GUID INTEGER, stateName TEXT, nicId INTEGER NOT NULL, name TEXT);
INSERT INTO TARGET_INFO_NIC_INFO VALUES (1, 'Active', 2, 'mlx5_0');
CREATE TABLE NET_NIC_METRIC (start INTEGER NOT NULL, end INTEGER NOT NULL, globalId INTEGER NOT NULL,
    portId INTEGER NOT NULL, metricsListId INTEGER NOT NULL, metricsIdx INTEGER NOT NULL, value INTEGER NOT NULL);
INSERT INTO NET_NIC_METRIC VALUES (1000, 2000, 17, 1, 1, 0, 1200), (2000, 3000, 17, 1, 1, 0, 3400);
CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
INSERT INTO OSRT_API VALUES (1, 2, 335544340, 1);
CREATE TABLE SCHED_EVENTS (start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL, globalTid INTEGER);
INSERT INTO SCHED_EVENTS VALUES (1, 0, 1, 335544340), (2, 0, 0, 335544340);
CREATE TABLE GENERIC_EVENTS (genericEventId INTEGER, timestamp INTEGER, typeId INTEGER, globalTid INTEGER, data TEXT);
INSERT INTO GENERIC_EVENTS VALUES (1, 5, 1, 335544340, '{}');
)";

class NsightSchema : public testing::Test {
protected:
    void SetUp() override
    {
        const std::string file = folder_ / "report.sqlite", out = folder_ / "run.rsdb";
        {
            auto database = Database::open(file, Database::Access::Create);
            const Status status = database->execute(kExport);
            ASSERT_TRUE(status) << status.error().message();
        }
        auto report = importTraces({ file }, out);
        ASSERT_TRUE(report) << report.error().message();
        losses_ = report->losses;
        auto reader = TraceReader::open(out);
        ASSERT_TRUE(reader);
        names_ = *reader->names();
        signatures_ = *reader->signatures();
        lanes_ = *reader->lanes();
        reader_.emplace(std::move(*reader));
    }
    std::string name(NameId id) const { return names_.at(static_cast<std::size_t>(raw(id))); }

    /// Rows of a rank: "lane: name" with their times.
    template <typename Row> std::map<std::string, std::vector<Window>> rows(int rank)
    {
        std::map<std::string, std::vector<Window>> found;
        for (const Lane& lane : lanes_) {
            if (lane.rank != rank)
                continue;
            const Status status = reader_->visit<Row>(lane.id, kAll, [&](std::span<const Row> some) {
                for (const Row& row : some) {
                    NameId id{};
                    if constexpr (std::is_same_v<Row, Kernel>)
                        id = signatures_.at(static_cast<std::size_t>(raw(row.signature))).name;
                    else
                        id = row.name;
                    found[lane.name + ": " + name(id)].push_back({ row.beginNs + kFirst, row.endNs + kFirst });
                }
                return true;
            });
            EXPECT_TRUE(status);
        }
        return found;
    }
    std::int64_t lossCount(const std::string& kind, const std::string& detail = "") const
    {
        std::int64_t count = 0;
        for (const Loss& loss : losses_)
            count += loss.kind == kind && loss.detail.find(detail) != std::string::npos ? loss.count : 0;
        return count;
    }

    static constexpr std::int64_t kFirst = 500; ///< the run's 0 in the report's time
    support::TemporaryDirectory folder_;
    std::optional<TraceReader> reader_;
    std::vector<std::string> names_;
    std::vector<KernelSignature> signatures_;
    std::vector<Lane> lanes_;
    std::vector<Loss> losses_;
};

using Rows = std::map<std::string, std::vector<Window>>;

} // namespace

TEST_F(NsightSchema, KernelsAndWholeGraphsAreComputeUnderTheNameThatIsThere)
{
    EXPECT_EQ(rows<Kernel>(1),
        (Rows{ { "stream 7 · GPU 0: _Z4gemmPf", { { 1000, 1500 } } },
            { "stream 7 · GPU 0: CUDA graph 4", { { 2000, 2900 } } } }));
    EXPECT_EQ(rows<Kernel>(0), (Rows{ { "stream 7 · GPU 0: _Z4gemmPf", { { 1100, 1200 } } } }));
}

TEST_F(NsightSchema, CopiesSayBetweenWhatAndSynchronisationsStandWithTheirEvents)
{
    EXPECT_EQ(rows<Copy>(1),
        (Rows{ { "copy stream 7 · GPU 0: Memcpy HtoD (Pageable -> Device)", { { 3000, 3100 } } },
            { "copy stream 7 · GPU 0: Memset", { { 3200, 3210 } } } }));
    const Rows ranges = rows<Range>(1);
    EXPECT_EQ(ranges.at("sync stream 7 · GPU 0: Stream Sync"), (std::vector<Window>{ { 3300, 3400 } }));
    EXPECT_EQ(ranges.at("sync stream 7 · GPU 0: Event 42"), (std::vector<Window>{ { 3250, 3250 } }));
    EXPECT_FALSE(ranges.contains("sync stream 7 · GPU 0: Event 43")); // its time was not collected
}

TEST_F(NsightSchema, HostRowsOfEveryTableStandOnLanesOfTheirThread)
{
    const Rows ranges = rows<Range>(1);
    EXPECT_EQ(ranges.at("thread 20 · 20: step 1"), (std::vector<Window>{ { 900, 3500 } }));
    EXPECT_EQ(
        ranges.at("CUDA graphs of thread 20 · 20: cudaGraphAddKernelNode"), (std::vector<Window>{ { 500, 510 } }));
    EXPECT_EQ(ranges.at("CUDA graphs of thread 20 · 20: cudaGraphInstantiate"), (std::vector<Window>{ { 520, 560 } }));
    EXPECT_EQ(ranges.at("overhead in thread 20 · 20: Buffer flush (Profiler)"), (std::vector<Window>{ { 600, 650 } }));
    EXPECT_EQ(ranges.at("overhead in thread 20 · 20: CUPTI overhead"), (std::vector<Window>{ { 700, 720 } }));
    EXPECT_EQ(rows<HostCall>(1), (Rows{ { "CUDA calls of thread 20 · 20: cudaGraphLaunch", { { 1900, 1950 } } } }));
}

TEST_F(NsightSchema, MpiCommunicatorsHaveTheirMembersAndTheWholeBuffer)
{
    const auto matches = *reader_->matches(kAll);
    ASSERT_EQ(matches.size(), 2u);
    EXPECT_EQ(matches[0].partsPresent, 2);
    EXPECT_EQ(matches[1].partsPresent, 2);
    EXPECT_NE(matches[0].communicator, matches[1].communicator);
    const auto communicators = *reader_->communicators();
    const auto members = [&](const CollectiveMatch& match) {
        return std::ranges::find(communicators, match.communicator, &Communicator::id)->members;
    };
    EXPECT_EQ(members(matches[0]), (std::vector<std::int32_t>{ 0, 1 }));
    EXPECT_EQ(members(matches[1]), (std::vector<std::int32_t>{ 1, 0 }));
    std::vector<std::int64_t> bytes;
    for (const Lane& lane : lanes_) {
        const auto parts = *reader_->collectives(lane.id, kAll);
        for (const CollectivePart& part : parts)
            bytes.push_back(part.bytes);
    }
    EXPECT_EQ(bytes, (std::vector<std::int64_t>{ 16, 64, 16, 64 })); // what all ranks give together
}

TEST_F(NsightSchema, CountersOfDevicesAndNetworkCardsHaveTheirNamesAndUnits)
{
    using Samples = std::vector<std::pair<std::int64_t, double>>;
    std::map<std::string, Samples> found;
    for (const Lane& lane : lanes_) {
        const auto samples = *reader_->counters(lane.id, kAll);
        for (const CounterSample& sample : samples)
            found[std::to_string(lane.rank) + " " + lane.name + " in " + lane.unit].emplace_back(
                sample.timeNs + kFirst, sample.value);
    }
    // The card stands with the machine's first unit: the process that Nsight lists first.
    EXPECT_EQ(found.at("1 IB: Bytes sent · mlx5_0 port 1 in B/s"), (Samples{ { 2000, 1200 }, { 3000, 3400 } }));
    EXPECT_EQ(lossCount("metric without a name"), 1);
}

TEST_F(NsightSchema, FactsAreKeptAndWhatIsNotReadIsCounted)
{
    const auto facts = *reader_->provenance();
    EXPECT_EQ(facts.at("file.1.schema"), "3.28.1");
    EXPECT_EQ(facts.at("file.1.nsight"), "2026.4.1");
    EXPECT_EQ(facts.at("file.1.program"), "/usr/bin/python3");
    EXPECT_EQ(lossCount("left out", "OSRT_API"), 1);
    EXPECT_EQ(lossCount("left out", "SCHED_EVENTS"), 2);
    EXPECT_EQ(lossCount("left out", "GENERIC_EVENTS"), 1);
    EXPECT_EQ(lossCount("newer schema"), 0);
}

} // namespace rankscope::tracing
