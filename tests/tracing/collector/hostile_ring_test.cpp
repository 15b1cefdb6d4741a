#include "tests/tracing/collector/job.h"

#include "tracing/collector/ring_reader.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <random>

// What stands in a ring file may come from a dying process, a newer program or a bad disk.

namespace rankscope::tracing {

namespace {

std::string bytesOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string onlyRing(const JobFolder& folder)
{
    for (const auto& entry : std::filesystem::directory_iterator(folder.session())) {
        if (entry.path().string().ends_with(kRingSuffix))
            return entry.path().string();
    }
    return "";
}

/// A sound ring of one rank that has ended, for tests to break.
class HostileRing : public testing::Test {
protected:
    void SetUp() override
    {
        const SmallRank rank{ .session = folder_.session(), .worldSize = 1, .steps = 20, .ringBytes = 256u << 10 };
        ASSERT_TRUE(joined(inChild([&] { rank.record(); })));
        path_ = onlyRing(folder_);
        bytes_ = bytesOf(path_);
        ASSERT_GT(bytes_.size(), sizeof(RingHeader));
    }

    template <typename T> void set(std::size_t offset, T value)
    {
        std::memcpy(bytes_.data() + offset, &value, sizeof value);
    }
    std::size_t recordAt(std::size_t number) const { return sizeof(RingHeader) + number * sizeof(Record); }

    /// Writes the broken ring back, collects, and gives what the run file says of the loss.
    std::string lossAfterCollecting()
    {
        write(path_, bytes_);
        const auto summary = collectAll(folder_);
        if (!summary)
            return "collect failed: " + summary.error().message();
        auto reader = TraceReader::open(folder_.runFile());
        if (!reader || valueOf(*reader, "PRAGMA integrity_check") != "ok")
            return "no sound run file";
        return valueOf(*reader, "SELECT group_concat(kind || ' x' || count || ': ' || detail, '; ') FROM loss_report");
    }

    JobFolder folder_;
    std::string path_;
    std::string bytes_;
};

constexpr std::size_t kHead = offsetof(RingHeader, head);
constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();

} // namespace

TEST_F(HostileRing, AHeaderThatLiesIsRefusedFieldByField)
{
    const std::string sound = bytes_;
    const auto refused = [&] {
        write(path_, bytes_);
        bytes_ = sound;
        return !RingReader::open(path_).has_value();
    };
    set(offsetof(RingHeader, magic), std::uint64_t{ 1 });
    EXPECT_TRUE(refused()) << "magic";
    set(offsetof(RingHeader, version), std::uint32_t{ 99 });
    EXPECT_TRUE(refused()) << "version";
    set(offsetof(RingHeader, headerBytes), std::uint32_t{ 0 });
    EXPECT_TRUE(refused()) << "header";
    set(offsetof(RingHeader, recordBytes), std::uint32_t{ 1 });
    EXPECT_TRUE(refused()) << "record";
    for (const std::uint64_t capacity : { std::uint64_t{ 0 }, std::uint64_t{ 3 }, std::uint64_t{ 1 } << 40, kMax64 }) {
        set(offsetof(RingHeader, capacity), capacity);
        EXPECT_TRUE(refused()) << "capacity " << capacity;
    }
    set(offsetof(RingHeader, rank), std::int32_t{ -1 });
    EXPECT_TRUE(refused()) << "rank";
    set(offsetof(RingHeader, worldSize), std::numeric_limits<std::int32_t>::max());
    EXPECT_TRUE(refused()) << "world size";
    set(offsetof(RingHeader, clock), std::uint32_t{ 7 });
    EXPECT_TRUE(refused()) << "clock";
    bytes_.resize(100);
    EXPECT_TRUE(refused()) << "short";
    EXPECT_FALSE(refused()) << "the sound one is good";
}

TEST_F(HostileRing, ARefusedRingIsALossAndNoMore)
{
    set(offsetof(RingHeader, version), std::uint32_t{ 99 });
    EXPECT_EQ(lossAfterCollecting(),
        "unreadable ring x1: ring " + path_
            + ": ring version 99, this program reads 1: use the collector that belongs to the recorder");
}

TEST_F(HostileRing, AHeadThatMakesNoSenseIsCounted)
{
    set(kHead, kMax64 - 5);
    EXPECT_NE(lossAfterCollecting().find("rank 0: the place of its newest record makes no sense"), std::string::npos);
}

TEST_F(HostileRing, ARecordOfAnUnknownKindIsCountedAndTheOthersStay)
{
    set(recordAt(0) + offsetof(Record, kind), std::uint8_t{ 77 });
    EXPECT_EQ(lossAfterCollecting(), "unknown record x1: rank 0: kind 77, written by a newer recorder");
    auto reader = TraceReader::open(folder_.runFile());
    EXPECT_EQ(valueOf(*reader, "SELECT count(*) FROM kernel"), "39");
}

TEST_F(HostileRing, TimesThatCannotBeAreCounted)
{
    set(recordAt(0) + offsetof(Record, endTicks), kMax64 / 2); // centuries
    set(recordAt(1) + offsetof(Record, endTicks), std::uint64_t{ 5 }); // before its begin
    EXPECT_EQ(lossAfterCollecting(), "unreadable record x2: rank 0: its times cannot be of this run");
}

TEST_F(HostileRing, IdsThatNobodyToldAreShownAsLost)
{
    set(recordAt(0) + offsetof(Record, name), std::uint32_t{ 4'000'000'000u });
    set(recordAt(0) + offsetof(Record, detail), std::uint8_t{ 200 });
    set(recordAt(0) + offsetof(Record, kernel.flop), std::numeric_limits<double>::quiet_NaN());
    set(recordAt(2) + offsetof(Record, collective.communicator), std::uint32_t{ 999 });
    EXPECT_EQ(lossAfterCollecting(), "unknown process group x1: rank 0: its members were not recorded");
    auto reader = TraceReader::open(folder_.runFile());
    EXPECT_EQ(valueOf(*reader, "SELECT count(*) FROM name WHERE text = 'name 4000000000 (lost)'"), "1");
}

TEST_F(HostileRing, ATornFactsFileLosesNamesButNoSpans)
{
    for (const auto& entry : std::filesystem::directory_iterator(folder_.session())) {
        if (entry.path().string().ends_with(kFactsSuffix))
            std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 30);
    }
    lossAfterCollecting();
    auto reader = TraceReader::open(folder_.runFile());
    EXPECT_EQ(valueOf(*reader, "SELECT count(*) FROM kernel"), "40");
}

TEST_F(HostileRing, RandomBytesNeverBringTheCollectorDown)
{
    std::mt19937 random(42);
    const std::string sound = bytes_;
    for (int attempt = 0; attempt < 10; ++attempt) {
        const JobFolder folder;
        bytes_ = sound;
        // The header is mostly kept, else nothing gets past its checks; records and open spans are noise.
        for (int i = 0; i < 400; ++i) {
            const std::size_t from = i % 40 == 0 ? 64 : offsetof(RingHeader, open);
            const std::size_t at = from + random() % (recordAt(140) - from);
            bytes_[at] = static_cast<char>(random());
        }
        write(folder.session() + "/p1-1-1-0.ring", bytes_);
        const auto summary = collectAll(folder);
        ASSERT_TRUE(summary) << summary.error().message();
        auto reader = TraceReader::open(folder.runFile());
        ASSERT_TRUE(reader);
        EXPECT_EQ(valueOf(*reader, "PRAGMA integrity_check"), "ok");
    }
}

} // namespace rankscope::tracing
