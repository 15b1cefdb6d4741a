#include "tracing/record/facts_file.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

std::string twoNames() { return encodeFact(NameFact{ 3, "matmul" }) + encodeFact(NameFact{ 4, "softmax" }); }

} // namespace

TEST(FactsFile, WhatBefellTheRunReadsBack)
{
    const FactsRead read
        = decodeFacts(encodeFact(AttemptFact{ 1, 50 }) + encodeFact(CheckpointFact{ 20, 100, 300, 40, 4096, "step-20" })
            + encodeFact(RestoredFact{ 20 }) + encodeFact(FailureFact{ 0, 500, "rank 1 died", { 1 } })
            + encodeFact(FaultFact{ "lost_rank", 1, 25, 450, 0, "moment=forward" })
            + encodeFact(LinkFact{ 3, 1500, 2'000'000'000 }));
    ASSERT_EQ(read.facts.size(), 6u);
    EXPECT_EQ(std::get<AttemptFact>(read.facts[0]).startTicks, 50u);
    EXPECT_EQ(std::get<CheckpointFact>(read.facts[1]).endTicks, 300u);
    EXPECT_EQ(std::get<CheckpointFact>(read.facts[1]).path, "step-20");
    EXPECT_EQ(std::get<RestoredFact>(read.facts[2]).step, 20);
    EXPECT_EQ(std::get<FailureFact>(read.facts[3]).ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(std::get<FaultFact>(read.facts[4]).step, 25);
    EXPECT_EQ(std::get<FaultFact>(read.facts[4]).detail, "moment=forward");
    EXPECT_EQ(std::get<LinkFact>(read.facts[5]).to, 3);
    EXPECT_EQ(std::get<LinkFact>(read.facts[5]).latencyNs, 1500);
    EXPECT_EQ(std::get<LinkFact>(read.facts[5]).bytesPerSecond, 2'000'000'000);
}

TEST(FactsFile, EveryKindOfFactReadsBack)
{
    RankFact rank;
    rank.dp = 1;
    rank.pp = 0;
    rank.peakFlops = 4e10;
    rank.device = "1 core";
    rank.threads = 2;
    const std::string bytes = encodeFact(NameFact{ 3, "matmul" })
        + encodeFact(CommunicatorFact{ 1, "dp 0", Dimension::Data, { 0, 2 } })
        + encodeFact(ProvenanceFact{ "model.layers", "6" }) + encodeFact(ProcessFact{ 2, 4, 77, 2, 123456, "node7" })
        + encodeFact(rank);

    const FactsRead read = decodeFacts(bytes);

    ASSERT_EQ(read.facts.size(), 5u);
    EXPECT_EQ(read.consumed, bytes.size());
    EXPECT_FALSE(read.corrupt);
    EXPECT_EQ(std::get<NameFact>(read.facts[0]).text, "matmul");
    EXPECT_EQ(std::get<CommunicatorFact>(read.facts[1]).members, (std::vector<std::int32_t>{ 0, 2 }));
    EXPECT_EQ(std::get<CommunicatorFact>(read.facts[1]).dimension, Dimension::Data);
    EXPECT_EQ(std::get<ProvenanceFact>(read.facts[2]).value, "6");
    EXPECT_EQ(std::get<ProcessFact>(read.facts[3]).node, "node7");
    EXPECT_EQ(std::get<ProcessFact>(read.facts[3]).processStart, 123456u);
    EXPECT_EQ(std::get<RankFact>(read.facts[4]).dp, 1);
    EXPECT_EQ(std::get<RankFact>(read.facts[4]).tp, std::nullopt);
    EXPECT_EQ(std::get<RankFact>(read.facts[4]).peakFlops, 4e10);
}

TEST(FactsFile, ATornTailAtAnyByteLeavesTheCompleteEntries)
{
    const std::string bytes = twoNames();
    const std::size_t first = encodeFact(NameFact{ 3, "matmul" }).size();
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        const FactsRead read = decodeFacts(std::string_view(bytes).substr(0, cut));
        EXPECT_EQ(read.facts.size(), cut < first ? 0u : 1u) << "cut at " << cut;
        EXPECT_EQ(read.consumed, cut < first ? 0u : first);
        EXPECT_FALSE(read.corrupt);
    }
}

TEST(FactsFile, AFlippedByteAnywhereEndsTheReadingWithoutAWrongFact)
{
    const std::string bytes = twoNames();
    const std::size_t first = encodeFact(NameFact{ 3, "matmul" }).size();
    for (std::size_t at = 0; at < first; ++at) {
        std::string broken = bytes;
        broken[at] = static_cast<char>(broken[at] ^ 0x41);
        const FactsRead read = decodeFacts(broken);
        EXPECT_TRUE(read.facts.empty()) << "byte " << at;
    }
}

TEST(FactsFile, AnEntryOfANewerProgramIsSkippedAndCounted)
{
    // A body of the one byte 99; its FNV-1a is (2166136261 ^ 99) * 16777619 mod 2^32.
    const std::uint32_t check = (2166136261u ^ 99u) * 16777619u;
    std::string entry("\1\0\0\0", 4);
    entry.append(reinterpret_cast<const char*>(&check), sizeof check);
    entry.push_back(99);

    const FactsRead read = decodeFacts(entry + encodeFact(NameFact{ 3, "matmul" }));

    EXPECT_EQ(read.unknown, 1);
    ASSERT_EQ(read.facts.size(), 1u);
    EXPECT_EQ(std::get<NameFact>(read.facts[0]).text, "matmul");
}

TEST(FactsFile, AListLongerThanItsEntryIsNotRead)
{
    std::string entry = encodeFact(CommunicatorFact{ 1, "", Dimension::Data, { 5 } });
    // The count of members lies 8 bytes before the end; the checksum is made to fit so that only the count is wrong.
    entry[entry.size() - 8] = static_cast<char>(0xff);
    std::uint32_t check = 2166136261u;
    for (std::size_t i = 8; i < entry.size(); ++i)
        check = (check ^ static_cast<unsigned char>(entry[i])) * 16777619u;
    entry.replace(4, 4, reinterpret_cast<const char*>(&check), 4);

    const FactsRead read = decodeFacts(entry);

    EXPECT_TRUE(read.facts.empty());
    EXPECT_EQ(read.unknown, 1);
}

} // namespace rankscope::tracing
