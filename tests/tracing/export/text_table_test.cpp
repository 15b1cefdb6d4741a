#include "tracing/export/text_table.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(TextTable, AlignsByWhatIsSeenNotByBytes)
{
    TextTable table({ { "what", TextTable::Align::Left }, { "time" } });
    table.add({ "a", "4.31 µs" });
    table.add({ "longer", "12 s" });
    EXPECT_EQ(table.text(), "what       time\na       4.31 µs\nlonger     12 s\n");
}

TEST(TextTable, CutsWhatIsTooWide)
{
    EXPECT_EQ(cutToWidth("abcdef", 4), "abc…");
    EXPECT_EQ(cutToWidth("µµµµ", 4), "µµµµ");
    EXPECT_EQ(cutToWidth("µµµµµ", 4), "µµµ…");
    EXPECT_EQ(cutToWidth("abc", 0), "");
}

TEST(TextTable, WrapsAtSpaces)
{
    EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{ "one two", "three" }));
    EXPECT_EQ(wrapped("longword x", 4), (std::vector<std::string>{ "longword", "x" }));
    EXPECT_TRUE(wrapped("", 10).empty());
}

} // namespace rankscope::tracing
