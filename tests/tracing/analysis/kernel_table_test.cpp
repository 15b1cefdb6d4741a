#include "tracing/analysis/kernel_table.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

Kernel kernel(std::int32_t signature, Window window)
{
    Kernel result;
    result.signature = SignatureId{ signature };
    result.beginNs = window.beginNs;
    result.endNs = window.endNs;
    return result;
}

} // namespace

TEST(KernelTable, SumsByNameOverSignaturesAndRanks)
{
    const std::vector<std::string> names{ "", "matmul", "gelu" };
    std::vector<KernelSignature> signatures(3);
    signatures[0].name = NameId{ 1 };
    signatures[0].flop = 1000;
    signatures[1].name = NameId{ 1 };
    signatures[1].flop = 3000;
    signatures[2].name = NameId{ 2 };
    KernelTable table(names, signatures);
    table.add(std::vector{ kernel(0, { 0, 100 }), kernel(2, { 100, 150 }) }, { 0, 1000 });
    table.add(std::vector{ kernel(1, { 0, 300 }), kernel(1, { 1000, 1300 }) }, { 0, 1000 }); // the last begins outside
    const auto rows = table.rows();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].name, "matmul");
    EXPECT_EQ(rows[0].count, 2);
    EXPECT_EQ(rows[0].totalNs, 400);
    EXPECT_DOUBLE_EQ(rows[0].share, 400.0 / 450);
    EXPECT_DOUBLE_EQ(*rows[0].flops, 4000 / 400e-9); // 4000 FLOP in 400 ns: 10 GFLOP/s
    EXPECT_EQ(rows[1].name, "gelu");
    EXPECT_EQ(rows[1].flops, std::nullopt);
}

TEST(KernelTable, IgnoresASignatureThatTheFileDoesNotHave)
{
    const std::vector<std::string> names;
    const std::vector<KernelSignature> signatures;
    KernelTable table(names, signatures);
    table.add(std::vector{ kernel(9, { 0, 10 }) }, { 0, 100 });
    EXPECT_TRUE(table.rows().empty());
}

} // namespace rankscope::tracing
