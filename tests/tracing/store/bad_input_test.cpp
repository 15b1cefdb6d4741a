#include "tests/tracing/store/store_fixture.h"

#include "tests/support/sql.h"
#include "tests/support/temporary_directory.h"
#include "tracing/store/migration.h"

#include <filesystem>
#include <fstream>
#include <random>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// Everything a reader can be asked; true if all of it was answered.
bool readEverything(TraceReader& reader)
{
    bool good = reader.run() && reader.ranks() && reader.communicators() && reader.names() && reader.signatures()
        && reader.steps() && reader.losses() && reader.provenance() && reader.counts() && reader.window()
        && reader.latestEnds() && reader.matches(kAlways) && reader.partsOf(InstanceId{ 1 });
    const auto lanes = reader.lanes();
    if (!lanes)
        return false;
    for (const Lane& lane : *lanes) {
        const auto all = reader.visit<Kernel>(lane.id, kAlways, [](std::span<const Kernel>) { return true; });
        good = good && reader.kernels(lane.id, kAlways) && reader.ranges(lane.id, kAlways) && all;
        for (int level = 0; level < kTileLevels; ++level)
            good = good && reader.tiles(lane.id, level, kAlways);
    }
    return good;
}

} // namespace

class BadInput : public StoreTest {
protected:
    void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
    std::string openError() { return why(TraceReader::open(path_)); }

    /// A finished run with 20000 kernels and some of the rest.
    void writeRun()
    {
        auto writer = create();
        const LaneId lane = computeLane(writer);
        std::vector<Kernel> kernels;
        std::vector<Tile> tiles;
        for (std::int64_t i = 0; i < 20'000; ++i) {
            kernels.push_back(kernelAt(100 * i, 100 * i + 50));
            if (i < 2000) {
                tiles.emplace_back();
                tiles.back().lane = lane;
                tiles.back().index = i;
                tiles.back().count = static_cast<std::int32_t>(i);
            }
        }
        ASSERT_TRUE(writer.begin());
        ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(kernels)));
        ASSERT_TRUE(writer.putTiles(tiles));
        for (int i = 0; i < 300; ++i) {
            ASSERT_TRUE(writer.name("name " + std::to_string(i)));
            ASSERT_TRUE(writer.putMatch({ InstanceId{ i }, {}, CollectiveOp::AllReduce, i, 1, 1, i, i, i + 5, {} }));
        }
        ASSERT_TRUE(writer.commit());
        ASSERT_TRUE(writer.finish());
    }
};

TEST_F(BadInput, AMissingFileIsNamed) { EXPECT_EQ(openError(), "open " + path_ + ": no such file"); }

TEST_F(BadInput, AFolderIsNoRunFile)
{
    fs::create_directory(path_);
    EXPECT_EQ(openError(), "open " + path_ + ": a folder, not a run file");
}

TEST_F(BadInput, AnEmptyFileIsNoRunFile)
{
    write("");
    EXPECT_EQ(openError(), "open " + path_ + ": an empty file, not a run file");
}

TEST_F(BadInput, AFileOfAnotherKindIsNoRunFile)
{
    write("{\"traceEvents\": []}" + std::string(2000, ' '));
    EXPECT_EQ(openError(), "open " + path_ + ": not a run file (no SQLite database)");
}

TEST_F(BadInput, ADatabaseOfAnotherProgramIsSaidToBeOne)
{
    support::sql(path_, "CREATE TABLE kernel(x)");
    EXPECT_EQ(openError(),
        "open " + path_ + ": a database of another program (application_id 0x00000000, a run file has 0x52534442)");
}

TEST_F(BadInput, ANewerSchemaIsRefusedByName)
{
    writeRun();
    support::sql(path_, "PRAGMA user_version = 4");
    EXPECT_EQ(openError(), "open " + path_ + ": schema 4 is newer than this program's 3; update Rankscope");
    EXPECT_EQ(why(TraceWriter::open(path_, TraceWriter::Mode::Resume)),
        "write " + path_ + ": schema 4 is newer than this program's 3; update Rankscope");
}

TEST_F(BadInput, ATruncatedFileIsSaidToBeCutOff)
{
    writeRun();
    fs::resize_file(path_, fs::file_size(path_) * 6 / 10);
    EXPECT_NE(openError().find("damaged or cut off"), std::string::npos) << openError();
    fs::resize_file(path_, 50);
    EXPECT_EQ(openError(), "open " + path_ + ": not a run file (50 bytes)");
}

TEST_F(BadInput, ADamagedMiddleGivesAnErrorWhereItIsRead)
{
    writeRun();
    const auto size = static_cast<std::streamoff>(fs::file_size(path_));
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(size / 2); // behind the small tables
    file << std::string(static_cast<std::size_t>(size / 3), '\xff');
    file.close();
    auto reader = TraceReader::open(path_);
    ASSERT_TRUE(reader) << why(reader);
    const std::string reason = why(reader->kernels(LaneId{ 1 }, kAlways));
    EXPECT_EQ(reason, "read " + path_ + ": database disk image is malformed");
    EXPECT_TRUE(reader->run()) << "the rest can still be read";
}

TEST_F(BadInput, NoDamageCrashesTheReader)
{
    writeRun();
    const std::string good = support::readText(path_);
    std::mt19937 random(1);
    int refused = 0;
    for (int variant = 0; variant < 40; ++variant) {
        std::string bad = good;
        // Far more in the first pages, where schema, lanes and blocks lie.
        for (int i = 0; i < 60; ++i)
            bad[random() % (i % 2 == 0 ? bad.size() : std::size_t{ 200'000 })] = static_cast<char>(random());
        write(bad);
        auto reader = TraceReader::open(path_);
        refused += !reader || !readEverything(*reader);
    }
    EXPECT_GT(refused, 0);
}

TEST_F(BadInput, WritersDoNotReplaceWhatIsNoRunFile)
{
    write("my notes");
    EXPECT_EQ(why(TraceWriter::open(path_, TraceWriter::Mode::Replace)),
        "write " + path_ + ": exists and is no run file; remove it or choose another name");
    EXPECT_EQ(why(TraceWriter::open(path_, TraceWriter::Mode::CreateNew)),
        "write " + path_ + ": the file exists; remove it or choose another name");
    EXPECT_EQ(
        why(TraceWriter::open(path_, TraceWriter::Mode::Resume)), "write " + path_ + ": not a run file (8 bytes)");
    EXPECT_EQ(support::readText(path_), "my notes");

    write("");
    EXPECT_TRUE(TraceWriter::open(path_, TraceWriter::Mode::Replace)) << "an empty file holds nothing";
    EXPECT_TRUE(TraceWriter::open(path_, TraceWriter::Mode::Replace)) << "a run that just began";
}

TEST_F(BadInput, AFolderThatIsNotThereIsNamed)
{
    const std::string path = (folder_ / "none/run.rsdb").string();
    EXPECT_EQ(
        why(TraceWriter::open(path, TraceWriter::Mode::CreateNew)), "write " + path + ": unable to open database file");
}

TEST_F(BadInput, OddCharactersInThePathAreJustCharacters)
{
    path_ = (folder_ / "a?b=c#d%41 e.rsdb").string();
    {
        auto writer = create();
    }
    EXPECT_TRUE(fs::exists(path_));
    EXPECT_EQ(openError(), "");
}

TEST_F(BadInput, OlderSchemasMigrateWhollyOrNotAtAll)
{
    writeRun();
    auto database = std::move(*Database::open(path_, Database::Access::ReadWrite));
    ASSERT_TRUE(database.execute("PRAGMA user_version = 1"));
    const std::vector<std::string_view> bad{ "CREATE TABLE added(x)", "CREATE TABLE added(x)" };
    EXPECT_EQ(why(migrate(database, bad)), "migrate from schema 2: table added already exists");
    EXPECT_EQ(*database.integer("PRAGMA user_version"), 1);
    EXPECT_EQ(*database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'added'"), 0);
    const std::vector<std::string_view> good{ "CREATE TABLE added(x)", "ALTER TABLE added ADD COLUMN y" };
    EXPECT_EQ(why(migrate(database, good)), "");
    EXPECT_EQ(*database.integer("PRAGMA user_version"), 3);
    EXPECT_EQ(why(migrate(database, good)), "") << "nothing left to do";
}

} // namespace rankscope::tracing
