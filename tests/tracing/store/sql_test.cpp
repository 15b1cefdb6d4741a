#include "tests/tracing/store/store_fixture.h"

#include "tests/support/sql.h"
#include "tracing/store/schema.h"

namespace rankscope::tracing {

namespace {

/// A query's rows as lines of cells with commas between, its header first.
Result<std::vector<std::string>> linesOf(TraceReader& reader, const std::string& sql)
{
    std::vector<std::string> lines;
    const auto join = [](const std::vector<std::string>& cells) {
        std::string line;
        for (const std::string& cell : cells)
            line += (line.empty() ? "" : ",") + cell;
        return line;
    };
    TraceReader::SqlSink sink;
    sink.header = [&](const std::vector<std::string>& columns) { lines.push_back(join(columns)); };
    sink.row = [&](const std::vector<std::string>& values, const auto&) {
        lines.push_back(join(values));
        return true;
    };
    if (auto done = reader.sql(sql, sink); !done)
        return done.error();
    return lines;
}

} // namespace

using Sql = StoreTest;

TEST_F(Sql, ViewsSpeakInWordsAndEnds)
{
    auto writer = create();
    const SignatureId signature
        = *writer.signature({ *writer.name("matmul"), Pass::Backward, DataType::Float32, 1, 100, 20 });
    const std::vector<Kernel> rows{ { {}, 10, 35, signature, {}, {}, {}, {} } };
    ASSERT_TRUE(writer.append(computeLane(writer, 3), std::span<const Kernel>(rows)));
    auto reader = read();
    EXPECT_EQ(*linesOf(reader,
                  "SELECT rank, lane, begin_ns, end_ns, duration_ns, name, pass, dtype, flop, bytes FROM kernels"),
        (std::vector<std::string>{ "rank,lane,begin_ns,end_ns,duration_ns,name,pass,dtype,flop,bytes",
            "3,compute,10,35,25,matmul," + std::string(toString(Pass::Backward)) + ","
                + std::string(toString(DataType::Float32)) + ",100,20" }));
}

TEST_F(Sql, EveryTableAndViewCanBeRead)
{
    auto writer = create();
    auto reader = read();
    auto objects = *linesOf(reader,
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT IN ('fault_injection', "
        "'sqlite_stat1')");
    EXPECT_GT(objects.size(), 30u);
    objects.erase(objects.begin()); // the header
    for (const std::string& object : objects) {
        EXPECT_EQ(why(linesOf(reader, "SELECT * FROM \"" + object + "\"")), "") << object;
    }
}

TEST_F(Sql, TellsTypesApartAndStopsWhenToldTo)
{
    auto writer = create();
    auto reader = read();
    int rows = 0;
    TraceReader::SqlSink sink;
    using Type = TraceReader::SqlType;
    sink.row = [&](const std::vector<std::string>& values, const std::vector<Type>& types) {
        EXPECT_EQ(values, (std::vector<std::string>{ "", "", "1.5", "9007199254740993", "X'00FF'" }));
        EXPECT_EQ(types, (std::vector<Type>{ Type::Null, Type::Text, Type::Real, Type::Integer, Type::Blob }));
        return ++rows < 2;
    };
    const std::string row = "SELECT NULL, '', 1.5, 9007199254740993, x'00ff'";
    ASSERT_TRUE(reader.sql(row + " UNION ALL " + row + " UNION ALL " + row, sink));
    EXPECT_EQ(rows, 2);
}

TEST_F(Sql, NothingThatWritesOpensOrLoadsIsAllowed)
{
    auto writer = create();
    ASSERT_TRUE(writer.setProvenance("seed", "1"));
    auto reader = read();
    for (const char* sql : { "DELETE FROM provenance", "INSERT INTO name VALUES (9, 'x')", "DROP TABLE kernel",
             "CREATE TABLE x(y)", "CREATE TEMP TABLE x(y)", "ATTACH 'other.db' AS other", "PRAGMA query_only = OFF",
             "PRAGMA journal_mode = DELETE", "PRAGMA user_version = 7", "VACUUM", "BEGIN", "ROLLBACK",
             "SELECT load_extension('x')", "REINDEX" }) {
        const std::string reason = why(linesOf(reader, sql));
        EXPECT_NE(reason, "") << sql;
        EXPECT_EQ(reason.find('\n'), std::string::npos) << sql;
    }
    EXPECT_EQ(reader.provenance()->at("seed"), "1");
    EXPECT_EQ(linesOf(reader, "PRAGMA user_version")->at(1), std::to_string(kSchemaVersion));
}

TEST_F(Sql, TakesOneStatementAndSaysWhatIsWrongWithIt)
{
    auto writer = create();
    auto reader = read();
    EXPECT_EQ(linesOf(reader, "SELECT 1; -- and nothing else\n")->at(1), "1");
    EXPECT_EQ(
        why(linesOf(reader, "SELECT 1; SELECT 2")), "read " + path_ + ": more than one statement; give one at a time");
    EXPECT_EQ(why(linesOf(reader, "  ")), "read " + path_ + ": no statement");
    EXPECT_EQ(why(linesOf(reader, "SELECT * FROM kernles")), "read " + path_ + ": no such table: kernles");
}

TEST_F(Sql, InjectedFaultsAreOutOfReach)
{
    auto writer = create();
    ASSERT_TRUE(writer.addFault({ "slow_rank", 1, 5, 0, 100, "factor=2" }));
    auto reader = read();
    for (const char* sql : { "SELECT * FROM fault_injection", "SELECT count(*) FROM fault_injection",
             "SELECT 1 WHERE EXISTS (SELECT kind FROM fault_injection)",
             "WITH f AS (SELECT rank FROM fault_injection) SELECT * FROM f",
             "EXPLAIN SELECT kind FROM fault_injection" })
        EXPECT_NE(why(linesOf(reader, sql)).find("prohibited"), std::string::npos) << sql;

    // It is there for whoever opens the file with other means.
    EXPECT_EQ(support::sql(path_, "SELECT detail FROM fault_injection"), "factor=2");
}

TEST_F(Sql, ResultsAreKeptByAnalysisVersionAndKey)
{
    auto writer = create();
    auto reader = read();
    EXPECT_FALSE(reader.kept("ledger", 1, "all"));
    reader.keep("ledger", 1, "all", std::string("a\0b", 3));
    EXPECT_EQ(reader.kept("ledger", 1, "all"), std::string("a\0b", 3));
    EXPECT_FALSE(reader.kept("ledger", 2, "all")) << "a newer analysis does not take it";
    EXPECT_FALSE(reader.kept("ledger", 1, "steps 1:2"));
    reader.keep("ledger", 2, "all", "new");
    EXPECT_EQ(reader.kept("ledger", 2, "all"), "new");
}

TEST(Schema, DescribesEveryTableAndColumn)
{
    // A table's line and each column's line carry a comment, or the name says it all: keys and common coordinates.
    const std::string text = schemaText();
    std::size_t tables = 0;
    for (std::size_t at = text.find("CREATE TABLE"); at != std::string::npos; at = text.find("CREATE TABLE", at + 1)) {
        const std::string line = text.substr(at, text.find('\n', at) - at);
        EXPECT_NE(line.find("-- "), std::string::npos) << line;
        ++tables;
    }
    EXPECT_EQ(tables, 26u);
}

} // namespace rankscope::tracing
