#include "tracing/import/table/csv_rows.h"
#include "tracing/import/table/span_table_reader.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

using Table = std::vector<std::vector<std::string>>;

/// The same whichever way the bytes come.
Table rowsOf(const std::string& text, std::size_t atOnce)
{
    Table table;
    CsvRows rows;
    const auto add
        = [&](const std::vector<std::string_view>& cells) { table.emplace_back(cells.begin(), cells.end()); };
    for (std::size_t i = 0; i < text.size(); i += atOnce)
        EXPECT_TRUE(rows.add(std::string_view(text).substr(i, atOnce), add));
    rows.finish(add);
    return table;
}

constexpr const char* kHeader
    = "rank,lane,lane_kind,kind,name,begin_ns,end_ns,op,dimension,communicator,members,sequence,"
      "bytes,peer,pass,micro_batch,step,phase,work,correlation\n";

} // namespace

TEST(CsvRows, QuotedCellsHoldCommasQuotesAndLineBreaks)
{
    const std::string text = "a,\"b,\"\"c\"\"\",\r\n\"d\ne\",f";
    for (const std::size_t atOnce : { 1U, 2U, 100U })
        EXPECT_EQ(rowsOf(text, atOnce), (Table{ { "a", "b,\"c\"", "" }, { "d\ne", "f" } }));
}

TEST(SpanTable, RowsThatAreNotUnderstoodAreCountedAndTheOthersRead)
{
    const support::TemporaryDirectory directory;
    const auto file = directory.write("spans.csv",
        std::string(kHeader)
            + "0,compute,compute,kernel,gemm,10,20,,,,,,,,forward,3,,,128,7\n"
              "0,compute,compute,kernel,backwards,20,10,,,,,,,,,,,,,\n"
              "-4,compute,compute,kernel,gemm,10,20,,,,,,,,,,,,,\n"
              "0,host,host,wonder,gemm,10,20,,,,,,,,,,,,,\n"
              "1,c,communication,collective,send,10,20,send,pp,pp,0 1,0,64,0,,,,,,\n");
    const auto traces = readSpanTable(file.string());
    ASSERT_TRUE(traces) << traces.error().message();
    ASSERT_EQ(traces->size(), 2U);
    EXPECT_EQ((*traces)[0].events->count(), 1U);
    ASSERT_EQ((*traces)[0].losses.size(), 1U);
    EXPECT_EQ((*traces)[0].losses[0].count, 3);
    ASSERT_EQ((*traces)[1].parts.size(), 1U);
    EXPECT_EQ((*traces)[1].parts[0].op, CollectiveOp::Send);
    EXPECT_EQ((*traces)[1].groups[1].ranks, (std::vector<std::int32_t>{ 0, 1 }));
    EXPECT_FALSE(readSpanTable(directory.write("empty.csv", kHeader).string()));
    EXPECT_FALSE(readSpanTable(directory.write("other.csv", "name,age\nAda,36\n").string()));
}

} // namespace rankscope::tracing
