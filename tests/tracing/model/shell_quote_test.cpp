#include "tracing/model/shell_quote.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(ShellQuote, OnlyWhatAShellWouldTakeApartIsQuoted)
{
    EXPECT_EQ(shellQuoted("runs/a-1.rsdb"), "runs/a-1.rsdb");
    EXPECT_EQ(shellQuoted("läufe/a.rsdb"), "läufe/a.rsdb");
    EXPECT_EQ(shellQuoted("my runs/a.rsdb"), "'my runs/a.rsdb'");
    EXPECT_EQ(shellQuoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shellQuoted("a$b"), "'a$b'");
    EXPECT_EQ(shellQuoted(""), "''");
}

} // namespace rankscope::tracing
